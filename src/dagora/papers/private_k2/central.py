"""K2 on joined columns of bits with the exact score and its approximations, in the clear.

For a node, its parent configurations j, counts α₀ and α₁ of a configuration and ℓ = α₀ + α₁ + 1,

    f  = Σ_j [ln α₀! + ln α₁! − ln ℓ!]                     (Cooper & Herskovits 1992)
    g  = Σ_j [s(α₀) + s(α₁) − s(ℓ)],  s(x) = (x + ½) ln x − x            (after Wright & Yang 2004)
    g′ = the same with s(x) + ½ ln 2π: Stirling's formula as it is (“stirling”)

and s(0) = 0 = ln 0!. g is a reconstruction: equation 6 of the paper is missing from the text at hand, which
says that it is ln of f by Stirling's formula without ln √2π and without the remainder. It leaves out ½ ln 2π,
as if it were the same for all scores. It is not: there is one per parent configuration (two added, one
subtracted), and the number of configurations doubles with each parent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.learners.search.k2 import run_k2
from dagora.scores.local_score import TIE

Bits = NDArray[np.uint8]

SCORES = ("f", "g", "stirling")


def log_factorials(counts: NDArray[np.float64], score: str) -> NDArray[np.float64]:
    """Return ln x! of whole numbers, exactly or as a score approximates it.

    >>> [round(float(log_factorials(np.array([4.0]), score)[0]), 3) for score in SCORES]
    [3.178, 2.238, 3.157]
    """
    from scipy.special import gammaln, xlogy

    if score == "f":
        return np.asarray(gammaln(counts + 1.0))
    constant = 0.5 * math.log(2 * math.pi) if score == "stirling" else 0.0
    at_least_one = np.maximum(counts, 1.0)
    return np.where(counts > 0, xlogy(counts + 0.5, at_least_one) - counts + constant, 0.0)


def family_score(patterns: NDArray[np.int64], members: int, score: str) -> float:
    """Score of a family; `patterns` has each row's bits as a number, the child's the highest."""
    counts = np.bincount(patterns, minlength=1 << members).astype(np.float64)
    zeros, ones = np.split(counts, 2)
    terms = (
        log_factorials(zeros, score) + log_factorials(ones, score) - log_factorials(zeros + ones + 1.0, score)
    )
    return float(terms.sum())


def k2_graph(bits: Bits, names: Sequence[str], order: Sequence[int], limit: int, score: str) -> DAG:
    """The graph that K2 finds on bits[row, column] along an order of the columns.

    >>> bits = np.array([[0, 0], [1, 1]] * 20, dtype=np.uint8)
    >>> k2_graph(bits, "ab", [0, 1], 1, "f").edges
    (('a', 'b'),)
    """
    return DAG.from_parents(tuple(names), k2_parents(bits, order, limit, score))


def k2_parents(bits: Bits, order: Sequence[int], limit: int, score: str) -> list[list[int]]:
    """The parents of each column, in the sequence in which K2 takes them."""
    columns = bits.T.astype(np.int64)

    def patterns(parents: Sequence[int]) -> NDArray[np.int64]:
        total = np.zeros(len(bits), dtype=np.int64)
        for place, parent in enumerate(parents):
            total |= columns[parent] << place
        return total

    def choose(child: int, parents: Sequence[int], candidates: Sequence[int]) -> int | None:
        before, size = patterns(parents), len(parents)
        own = family_score(before | columns[child] << size, size + 1, score)
        above = before | columns[child] << (size + 1)
        values = np.array(
            [family_score(above | columns[other] << size, size + 2, score) for other in candidates]
        )
        best = float(values.max())
        if not best > own + TIE * max(abs(own), 1.0):
            return None
        return candidates[int(np.flatnonzero(values >= best - TIE * abs(best))[0])]

    return run_k2(order, limit, choose)
