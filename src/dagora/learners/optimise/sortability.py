"""Sortability: the agreement of sorted columns with the order of a graph, and a baseline that only sorts.

In simulated linear models variance tends to grow along directed paths, so that sorting the columns by
variance nearly gives a causal order; a method on raw data may do well for that reason alone. Var-sortability
(Reisach, Seiler & Weichwald 2021) measures it. With E^k the pairs (i, j) joined by a directed path of length
k,

    v = Σ_k Σ_{(i,j) ∈ E^k} increasing(Var x_i, Var x_j) / Σ_k |E^k|,    k = 1 … d − 1,

where `increasing` is 1 for a smaller value before a larger one, ½ for a tie, else 0. A pair counts once for
each path length that joins it, however many such paths there are. R²-sortability (Reisach, Tami, Seiler,
Chambaz & Weichwald 2023) replaces the variance by the R² of a column regressed on all others, which does not
depend on units. A value near 1 means that sorting gives the order, near 0 the reversed order; chance gives ½.

`sort_and_regress` sorts the columns and regresses each on those before it. The papers choose the penalty by
BIC; here it is the lasso with the program's λ, so that the two objectives can be compared.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from dagora.graph.dag import DAG
from dagora.kernels.decorators import kernel
from dagora.scores.lasso_kernels import solve_lasso
from dagora.scores.local_score import TIE
from dagora.stats.statistics import Moments

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
# Eigenvalues of a correlation matrix below this share of the largest one are rounding errors of zero.
SINGULAR = 1e-12
# Up to this precision a Cholesky factor is good enough; it takes a tenth of the time of eigenvalues.
LARGEST_PRECISION = 1e6
# From this share of paths on there is a warning: sorting the columns alone nearly gives the order.
SORTABLE = 0.9


def report_sortability(
    graph: DAG, covariance: NDArray[np.float64], remedy: str | None
) -> tuple[dict[str, float], list[str]]:
    """The sortability of a graph on data of that covariance, and warnings; empty for a graph without edges.

    `remedy` says how to make the method independent of units; None if it already is.

    >>> report_sortability(DAG("ab", [("a", "b")]), np.array([[1.0, 2.0], [2.0, 5.0]]), None)[0]
    {'varsortability': 1.0, 'r2_sortability': 0.5}
    """
    if not graph.edges:
        return {}, []
    support = graph.to_numpy()
    by_variance = varsortability(support, np.diag(covariance))
    by_fit = r2_sortability(support, covariance)
    warnings = []
    if by_variance >= SORTABLE and remedy is not None:
        warnings.append(
            f"var-sortability {by_variance:.0%}: along nearly all directed paths the variance grows, so the "
            f"directions may come from the units of the columns alone; {remedy}"
        )
    if by_fit >= SORTABLE:
        warnings.append(
            f"R²-sortability {by_fit:.0%}: along nearly all directed paths, columns are better explained by "
            "all others; the directions may come from that alone"
        )
    return {"varsortability": by_variance, "r2_sortability": by_fit}, warnings


def varsortability(weights: Matrix | NDArray[np.bool_], variances: Vector) -> float:
    """Share of directed paths from a lower to a strictly higher variance; NaN for a graph without edges.

    >>> varsortability(np.array([[0, 2.0, 0], [0, 0, -1.0], [0, 0, 0]]), np.array([1.0, 5.0, 5.0]))
    0.8333333333333334
    """
    return path_agreement(np.asarray(weights) != 0, variances)


def r2_sortability(weights: Matrix | NDArray[np.bool_], covariance: Matrix) -> float:
    """Share of directed paths from a lower to a strictly higher R² on all other columns.

    >>> covariance = np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> r2_sortability(np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]]), covariance)
    0.8333333333333334
    """
    return path_agreement(np.asarray(weights) != 0, r_squared(covariance))


def path_agreement(support: NDArray[np.bool_], values: Vector) -> float:
    """Share of the paths of an acyclic support along which the values rise, summed over path lengths."""
    tails, heads = np.nonzero(support)
    starts = np.searchsorted(tails, np.arange(len(support) + 1))
    agreeing, paths = count_agreement(heads, starts, np.ascontiguousarray(values, dtype=np.float64))
    return agreeing / paths if paths else float("nan")


@kernel
def count_agreement(heads: NDArray[np.int64], starts: NDArray[np.int64], values: Vector) -> tuple[float, int]:
    """Sum of `increasing` over pairs and path lengths, and the number of those.

    The children of i are `heads` from `starts[i]` to `starts[i + 1]`.
    """
    d = len(values)
    reached, following = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    level = np.full(d, -1, dtype=np.int64)  # the last path length at which a variable was reached
    agreeing, paths = 0.0, 0
    for tail in range(d):
        level[:] = -1
        reached[0] = tail
        size = 1
        for length in range(1, d):
            number = 0
            for k in range(size):
                for edge in range(starts[reached[k]], starts[reached[k] + 1]):
                    head = heads[edge]
                    if level[head] != length:
                        level[head] = length
                        following[number] = head
                        number += 1
            if number == 0:
                break
            for k in range(number):
                head = following[k]
                rise = values[head] - values[tail]
                tie = TIE * max(abs(values[head]), abs(values[tail]))
                agreeing += 1.0 if rise > tie else (0.0 if rise < -tie else 0.5)
            paths += number
            reached, following, size = following, reached, number
    return agreeing, paths


def r_squared(covariance: Matrix) -> Vector:
    """R² of each column regressed on all others: 1 − 1/(C⁻¹)_jj for the correlation matrix C.

    If C is singular, the R² of columns that the others determine is 1. That of a constant column is 0.

    >>> r_squared(np.array([[1.0, 1.0], [1.0, 2.0]])).round(12)
    array([0.5, 0.5])
    """
    spread = np.sqrt(np.diag(covariance))
    spread = np.where(spread > 0, spread, 1.0)
    correlation = covariance / np.outer(spread, spread)
    np.fill_diagonal(correlation, 1.0)
    if (well := well_conditioned_precisions(correlation)) is not None:
        return 1 - 1 / np.maximum(well, 1.0)
    roots, vectors = np.linalg.eigh(correlation)
    null = roots <= SINGULAR * roots[-1]
    determined = (vectors[:, null] ** 2).sum(axis=1) > SINGULAR
    precision = (vectors[:, ~null] ** 2 / roots[~null]).sum(axis=1)
    # Up to rounding a precision is at least 1: the residual variance is at most the variance.
    return np.where(determined, 1.0, 1 - 1 / np.maximum(precision, 1.0))


def well_conditioned_precisions(correlation: Matrix) -> Vector | None:
    """The diagonal of the inverse by a Cholesky factor; None if the matrix is singular, or nearly so."""
    factor, failed = dpotrf(correlation, lower=True)
    if failed:
        return None
    inverse, failed = dpotri(factor, lower=True)
    # A precision has an error of about its size times that of the roundings.
    return None if failed or not inverse.diagonal().max() < LARGEST_PRECISION else inverse.diagonal()


def sort_and_regress(
    second: Moments | Matrix, lambda1: float, by: Literal["variance", "r2"] = "variance"
) -> Matrix:
    """Sort the columns, then regress each on those before it by the lasso; [i, j] is the weight of i → j.

    `second` is a covariance matrix, or `Moments` that contain one.

    >>> sort_and_regress(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.25)
    array([[0.  , 0.  ], [0.75, 0.  ]])
    """
    covariance = second.covariance if isinstance(second, Moments) else second
    matrix = np.ascontiguousarray(covariance, dtype=np.float64)
    d = len(matrix)
    values = np.diag(matrix) if by == "variance" else r_squared(matrix)
    weights = np.zeros((d, d))
    free = np.zeros(d, dtype=np.bool_)
    gradient, factor, ridge = np.empty(d), np.empty((d, d)), np.zeros(d)
    for child in sorted_columns(values):
        column = np.zeros(d)
        solve_lasso(matrix, int(child), free, lambda1, ridge, column, gradient, factor)
        weights[:, child] = column
        free[child] = True
    return weights


def sorted_columns(values: Vector) -> NDArray[np.int64]:
    """Positions in ascending order of their values; values equal up to rounding keep their order.

    >>> sorted_columns(np.array([1.0 + 1e-15, 1.0, 0.5]))
    array([2, 0, 1])
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    group = np.cumsum(np.diff(ascending, prepend=ascending[:1]) > TIE * np.abs(ascending))
    return order[np.lexsort((order, group))]
