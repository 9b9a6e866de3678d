"""Correlations of normal variables behind ordered levels and numbers.

An ordered column is taken as a normal variable that was cut at thresholds, which its margin gives. The
correlation of two such columns is the polychoric one (Olsson 1979), with a number the polyserial one (Olsson,
Drasgow & Dorans 1982), each by maximum likelihood for its pair. Numbers are taken by their ranks, as normal
scores (the nonparanormal: Liu, Lafferty & Wasserman 2009), or as they are. Estimates by pairs need not be
correlations of any variables together: eigenvalues below a floor are then raised to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from dagora.base.errors import DataError
from dagora.base.wording import col, setting
from dagora.data.columns.levels import NUMBER
from dagora.data.schema import Kind, Variable
from dagora.data.table import Table

Floats = NDArray[np.float64]

LARGEST = 0.995
"""Largest correlation that is looked for: beyond it, one column determines the other."""

FLOOR = 1e-3
"""Least eigenvalue of the matrix."""

LEAST = 1e-300
STEP = 1e-3
FEWEST = 4
"""Rows that a table is worth at least."""

NUMBER_IN_FRONT = re.compile(NUMBER)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)


class PairEstimate(NamedTuple):
    """A correlation, and the rows of two numbers that would tell it as precisely."""

    correlation: float
    rows: float


class LatentCorrelations(NamedTuple):
    """Correlations of normal variables, with the rows that they are worth.

    `rows` is the harmonic mean over pairs of the rows of numbers that would be as precise, `moved` the
    largest change that a floor on eigenvalues made.
    """

    matrix: Floats
    rows: int
    moved: float


def is_ordered(variable: Variable) -> bool:
    """Return True for levels with an order: declared, two of them, or numbers.

    >>> is_ordered(Variable("a", Kind.DISCRETE, ("1", "2", "10")))
    True
    >>> is_ordered(Variable("b", Kind.DISCRETE, tuple("xyz")))
    False
    """
    return variable.ordered or len(variable.levels) <= 2 or all(map(is_number, variable.levels))


def is_number(text: str) -> bool:
    """Return True for a text that is a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def rising(variable: Variable) -> list[int]:
    """The codes of levels in their order; numbers, also in front of words, are sorted as such.

    >>> rising(Variable("a", Kind.DISCRETE, ("1", "10 or more", "2")))
    [0, 2, 1]
    """
    codes = list(range(len(variable.levels)))
    numbers = [NUMBER_IN_FRONT.match(level) for level in variable.levels]
    if variable.ordered or not all(numbers):
        return codes
    return sorted(codes, key=lambda code: float(numbers[code][0]))  # type: ignore[index]


def in_order(variable: Variable, codes: NDArray[np.generic]) -> NDArray[np.int64]:
    """Codes whose order is that of the levels."""
    return np.argsort(rising(variable))[codes.astype(np.int64)]


def normal_scores(values: Floats) -> Floats:
    """The normal quantiles of ranks; equal values share their mean rank.

    >>> normal_scores(np.array([3.0, 1.0, 2.0])).round(2).tolist()
    [0.67, -0.67, 0.0]
    """
    return np.asarray(ndtri(rankdata(values) / (len(values) + 1)))


def latent_correlations(
    table: Table, owner: str, declared: Collection[str] = (), *, ranks: bool = True
) -> LatentCorrelations:
    """The correlations of the normal variables behind all columns.

    `declared` are columns whose levels count as ordered as they stand; `ranks` takes numbers by their ranks.
    """
    for name in declared:
        if name not in table.names:
            raise DataError(f"{setting('ordinal', name)}: there is no {col(name)}")
    columns: list[Floats | NDArray[np.int64]] = []
    discrete: list[bool] = []
    for place, variable in enumerate(table.schema):
        if variable.kind is Kind.CONTINUOUS:
            values = table.values(place)
            columns.append(normal_scores(values) if ranks else values)
            discrete.append(False)
        elif is_ordered(variable) or variable.name in declared:
            columns.append(in_order(variable, table.codes(place)))
            discrete.append(True)
        else:
            raise DataError(
                f"{owner} needs an order of levels, and those of {col(variable.name)} have none "
                f"({', '.join(variable.levels[:3])}, …): {setting('ordinal', variable.name)} takes them as "
                "they are sorted, a data frame's ordered categories say another order; or leave the column "
                "out"
            )
    for name, column in zip(table.names, columns, strict=True):
        if not (column != column[0]).any():
            raise DataError(f"{col(name)} is constant, and {owner} is not defined on it: leave it out")
    d = len(columns)
    found, rows = np.eye(d), []
    for i in range(d):
        for j in range(i):
            pair = correlation(columns[i], columns[j], discrete[i], discrete[j])
            found[i, j] = found[j, i] = pair.correlation
            rows.append(min(pair.rows, float(table.n_rows)))
    matrix, moved = with_floor(found)
    worth = len(rows) / sum(1 / each for each in rows) if rows else float(table.n_rows)
    return LatentCorrelations(matrix, max(FEWEST, round(worth)), moved)


def correlation(
    one: NDArray[np.generic], other: NDArray[np.generic], cut: bool, other_cut: bool
) -> PairEstimate:
    """The correlation behind two columns, each cut at thresholds or a number."""
    if cut and other_cut:
        return polychoric(one.astype(np.int64), other.astype(np.int64))
    if cut:
        return polyserial(other.astype(np.float64), one.astype(np.int64))
    if other_cut:
        return polyserial(one.astype(np.float64), other.astype(np.int64))
    found = np.corrcoef(one.astype(np.float64), other.astype(np.float64))[0, 1]
    return PairEstimate(float(np.clip(found, -LARGEST, LARGEST)), float(len(one)))


def thresholds(codes: NDArray[np.int64]) -> Floats:
    """The cuts of a standard normal variable that give the levels their shares, −∞ and ∞ included."""
    _, counts = np.unique(codes, return_counts=True)
    inner = ndtri(np.cumsum(counts)[:-1] / len(codes))
    return np.concatenate([[-np.inf], inner, [np.inf]])


def polychoric(one: NDArray[np.int64], other: NDArray[np.int64]) -> PairEstimate:
    """The polychoric correlation of two columns of ordered levels.

    Of a table cut at both medians it is sin(π (4 p − 1) / 2), where p is the share of the first cell.

    >>> a = np.repeat([0, 0, 1, 1], [40, 10, 10, 40])
    >>> b = np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    >>> round(polychoric(a, b).correlation, 4)
    0.809
    """
    rows, columns = np.unique(one, return_inverse=True)[1], np.unique(other, return_inverse=True)[1]
    counts = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(counts, (rows, columns), 1.0)
    across, down = thresholds(one), thresholds(other)

    def loss(rho: float) -> float:
        below = both_below(across, down, rho)
        cells = below[1:, 1:] - below[:-1, 1:] - below[1:, :-1] + below[:-1, :-1]
        return -float((counts * np.log(np.maximum(cells, LEAST))).sum())

    return best(loss)


def polyserial(numbers: Floats, codes: NDArray[np.int64]) -> PairEstimate:
    """The polyserial correlation of a number with ordered levels."""
    z = (numbers - numbers.mean()) / numbers.std()
    cuts, place = thresholds(codes), np.unique(codes, return_inverse=True)[1]
    upper, lower = cuts[place + 1], cuts[place]

    def loss(rho: float) -> float:
        left = np.sqrt(1 - rho**2)
        share = ndtr((upper - rho * z) / left) - ndtr((lower - rho * z) / left)
        return -float(np.log(np.maximum(share, LEAST)).sum())

    return best(loss)


def best(loss: Callable[[float], float]) -> PairEstimate:
    """The correlation of the least loss; the curvature there says how precise it is, in rows of numbers."""
    found = minimize_scalar(loss, bounds=(-LARGEST, LARGEST), method="bounded", options={"xatol": 1e-7})
    rho = float(found.x)
    if abs(rho) > LARGEST - 2 * STEP:  # one column as good as determines the other: no curvature to speak of
        return PairEstimate(rho, np.inf)
    curvature = (loss(rho + STEP) - 2 * loss(rho) + loss(rho - STEP)) / STEP**2
    return PairEstimate(rho, max(float(FEWEST), (1 - rho**2) ** 2 * curvature))


def both_below(across: Floats, down: Floats, rho: float) -> Floats:
    """The probability that two normal variables of some correlation lie below each pair of cuts.

    Φ(h) Φ(k) + ∫ exp(−(h² + k² − 2 h k sin t) / (2 cos² t)) dt / 2π from 0 to arcsin ρ (Plackett 1954).

    >>> both_below(np.array([0.0, np.inf]), np.array([0.0]), 0.5).round(4).tolist()
    [[0.3333], [0.5]]
    """
    h, k = across[:, None], down[None, :]
    finite = np.isfinite(h) & np.isfinite(k)
    p, q = np.where(finite, h, 0.0), np.where(finite, k, 0.0)
    half = np.arcsin(rho) / 2
    angles = half * (NODES + 1)
    sine, cosine = np.sin(angles), np.cos(angles) ** 2
    inside = np.exp(-(p[..., None] ** 2 + q[..., None] ** 2 - 2 * (p * q)[..., None] * sine) / (2 * cosine))
    return np.asarray(ndtr(h) * ndtr(k) + np.where(finite, half * (inside @ WEIGHTS) / (2 * np.pi), 0.0))


def with_floor(correlations: Floats) -> tuple[Floats, float]:
    """The nearest matrix, about, with no eigenvalue below the floor, and the largest change of an entry."""
    values, vectors = np.linalg.eigh(correlations)
    if values[0] >= FLOOR:
        return correlations, 0.0
    raised = (vectors * np.maximum(values, FLOOR)) @ vectors.T
    spread = np.sqrt(np.diag(raised))
    found = raised / np.outer(spread, spread)
    return found, float(np.abs(found - correlations).max())
