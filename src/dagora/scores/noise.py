"""The number of edges that a penalised likelihood finds between independent columns.

Two independent columns are joined if the gain in log-likelihood exceeds the price of the k parameters that
an edge needs. Of m rows, twice the gain is −m ln(1 − R²), and R² is Beta(k/2, (m − k − 1)/2). For two
continuous columns, k = 1, that is exact. For r and s levels, k = (r − 1)(s − 1), it takes the place of χ²
with k degrees of freedom (Wilks 1938), to which it tends: G² of few rows has such a tail, not that of χ². It
is no larger than 2 m ln min(r, s). In tables of both kinds a continuous column has the features z and z²: k
= 2 (r − 1) beside r levels, and k = 4 beside another. Rows that are extreme in both columns can bring that
gain almost alone; its tail is exponential (`chance_of_squares`). The price (ln m)/2 of BIC grows slowly with
the rows, the number of pairs with the square of the columns: with many columns chance alone brings edges
(Chen & Chen 2008).

Levels that few rows have, and columns with outliers, can bring more than this beside continuous columns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind, Schema
from dagora.stats.indicators import POWERS

Floats = NDArray[np.float64]


def noise_edges(schema: Schema, rows: int, price: float) -> float:
    """Expected number of pairs that gain from an edge if all columns are independent.

    `price` is that of a parameter, in nats.
    """
    levels = np.array([len(one.levels) for one in schema if one.kind is Kind.DISCRETE], dtype=np.float64)
    continuous = len(schema) - len(levels)
    if not len(levels):
        return gaussian_noise_edges(continuous, rows, price)
    edges = discrete_noise_edges(levels, rows, price)
    if continuous:
        beside = np.array([chance_of_gain(POWERS * (r - 1), rows, price) for r in levels])
        edges += continuous * float(beside.sum())
        edges += continuous * (continuous - 1) / 2 * chance_of_squares(rows, price)
    return edges


def discrete_noise_edges(levels: Floats, rows: int, price: float) -> float:
    """Expected number of pairs that gain from an edge if all discrete columns are independent.

    >>> round(discrete_noise_edges(np.full(300, 2.0), 200, math.log(200) / 2))
    994
    """
    different, counts = np.unique(levels, return_counts=True)
    edges = 0.0
    for i, (r, many) in enumerate(zip(different, counts.tolist(), strict=True)):
        for s, others in zip(different[i:], counts[i:].tolist(), strict=True):
            parameters = (r - 1) * (s - 1)
            if price * parameters >= rows * math.log(max(r, 1.0)):  # r is the smaller one
                continue
            pairs = many * (many - 1) / 2 if r == s else many * others
            edges += pairs * chance_of_gain(parameters, rows, price)
    return edges


def gaussian_noise_edges(columns: int, rows: int, price: float) -> float:
    """Expected number of pairs that gain from an edge if all continuous columns are independent.

    >>> round(gaussian_noise_edges(300, 200, math.log(200) / 2))
    994
    """
    if rows <= 2:
        return 0.0  # no parent is possible: the fit would be perfect
    return columns * (columns - 1) / 2 * chance_of_gain(1, rows, price)


def chance_of_gain(parameters: float, rows: int, price: float) -> float:
    """The probability that parameters which mean nothing gain more than their price.

    >>> round(chance_of_gain(1, 30, 3.0), 4)
    0.019
    """
    from scipy.special import betaincc

    if parameters <= 0 or rows <= 1:
        return 0.0
    left = max(rows - parameters - 1, 1.0)
    explained = -math.expm1(-2 * price * parameters / rows)
    return float(betaincc(parameters / 2, left / 2, explained))


def chance_of_squares(rows: int, price: float) -> float:
    """The same for two continuous columns with their squares: above e^(−(t + 4)/s) at twice the gain t.

    The exponential tail was fitted to 2 million pairs of independent normal columns, from 20 to 500 rows.

    >>> round(chance_of_squares(30, 45 / 8) * 1e4, 1)  # simulated: 1.0
    0.8
    """
    parameters = POWERS**2
    scale = 2 + 3.2 * min(1.0, (100 / max(1, rows)) ** 0.4)
    tail = math.exp(-(2 * price * parameters + 4) / scale)
    return max(chance_of_gain(parameters, rows, price), tail)
