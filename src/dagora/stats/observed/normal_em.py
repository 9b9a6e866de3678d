"""Means and covariances of continuous columns with missing values, by EM for the multivariate normal.

E-step: in each row, the missing values are expected given the seen ones, μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o), with
the covariance Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om that is left. M-step: mean and scatter of the rows completed so, plus
what is left. The limit is the maximum-likelihood estimate of the normal distribution from the cells that were
seen (Dempster, Laird & Rubin 1977; Little & Rubin 2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.errors import DataError
from dagora.base.wording import option
from dagora.kernels.decorators import kernel
from dagora.stats.statistics import Moments

Floats = NDArray[np.float64]

# A squared pivot below this share of its variance is rounding: the column depends on those before it.
COLLINEAR = 1e-12
# EM ends where no standardised entry of the moments changes by more.
TOLERANCE = 1e-7
MOST_STEPS = 1000


@dataclass(frozen=True)
class ExpectedMoments:
    """Rows with each missing value replaced by its conditional mean, and the sum of their covariances."""

    rows: Floats
    left: Floats
    log_likelihood: float


@dataclass(frozen=True)
class PatternedRows:
    """Values, a row for each case, with rows that have the same missing values next to each other.

    `order` are the rows' positions in the data; pattern k has the rows `starts[k]` to `starts[k + 1]`.
    """

    values: Floats
    seen: NDArray[np.bool_]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, values: Floats, seen: NDArray[np.bool_]) -> PatternedRows:
        """Sort the rows of a matrix by the pattern of their missing values."""
        packed = np.packbits(seen, axis=1)
        order = np.lexsort(packed.T[::-1]).astype(np.int64)
        ordered = packed[order]
        change = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
        starts = np.concatenate([[0], change, [len(order)]]).astype(np.int64)
        sorted_seen = seen[order]
        return cls(np.where(sorted_seen, values[order], 0.0), sorted_seen, order, starts)

    def expect(self, mean: Floats, covariance: Floats) -> ExpectedMoments:
        """The E-step under a normal distribution; rows come back in the order that they have here."""
        rows = self.values.copy()
        left = np.zeros_like(covariance)
        log_likelihood = expect_rows(rows, self.seen, self.starts, mean, covariance, left)
        return ExpectedMoments(rows, left, log_likelihood)


def moments_of(expected: ExpectedMoments) -> Moments:
    """The moments of rows whose missing values are expectations: those of the rows, and what is left."""
    mean = expected.rows.mean(axis=0)
    centred = expected.rows - mean
    return Moments(len(centred), mean, centred.T @ centred + expected.left)


def normal_moments(
    values: Floats,
    seen: NDArray[np.bool_],
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
    budget: Budget | None = None,
) -> Moments:
    """Maximum-likelihood moments of columns with missing values; `values` has a row for each case.

    Where time is up, EM ends after the step that it is in.

    >>> holes = np.array([[True, True], [True, True], [True, True], [True, False]])
    >>> found = normal_moments(np.array([[0.0, 1.0], [1.0, 3.5], [2.0, 4.5], [3.0, 0.0]]), holes)
    >>> found.n, found.mean.round(3)
    (4, array([1.5  , 3.875]))
    """
    rows = PatternedRows.of(values, seen)
    number = np.maximum(1, seen.sum(axis=0))
    mean = np.where(seen, values, 0.0).sum(axis=0) / number
    spread = (np.where(seen, values - mean, 0.0) ** 2).sum(axis=0) / number
    covariance = np.diag(spread)
    scale = np.sqrt(np.where(spread > 0, spread, 1.0))
    found = Moments(len(values), mean, covariance * len(values))
    for _ in range(most_steps):
        found = moments_of(rows.expect(mean, covariance))
        moved = max(
            np.abs((found.mean - mean) / scale).max(initial=0.0),
            np.abs((found.covariance - covariance) / np.outer(scale, scale)).max(initial=0.0),
        )
        mean, covariance = found.mean, found.covariance
        if moved <= tolerance or (budget is not None and budget.exhausted):
            break
    return found


def check_estimable(n_rows: int, columns: int, what: str = "continuous columns") -> None:
    """Refuse tables with too few rows for a covariance of all columns."""
    if n_rows <= columns + 1:
        raise DataError(
            f"{n_rows} rows are too few to model the missing values of {columns} {what}: leave "
            f"columns out ({option('drop')}), or choose {option('missing', 'drop')}"
        )


@kernel
def expect_rows(
    rows: Floats,
    seen: NDArray[np.bool_],
    starts: NDArray[np.int64],
    mean: Floats,
    covariance: Floats,
    left: Floats,
) -> float:
    """Fill missing values of sorted rows by their means, sum covariances, return the log-likelihood."""
    d = len(mean)
    factor = np.zeros((d, d))
    weights = np.zeros((d, d))
    here = np.empty(d, dtype=np.int64)
    gone = np.empty(d, dtype=np.int64)
    standard = np.empty(d)
    total = 0.0
    for k in range(len(starts) - 1):
        begin, end = starts[k], starts[k + 1]
        n_here, n_gone = 0, 0
        for i in range(d):
            if seen[begin, i]:
                here[n_here] = i
                n_here += 1
            else:
                gone[n_gone] = i
                n_gone += 1
        log_determinant = 0.0
        for a in range(n_here):
            i = here[a]
            rest = covariance[i, i]
            for b in range(a):
                entry = covariance[i, here[b]]
                for c in range(b):
                    entry -= factor[a, c] * factor[b, c]
                factor[a, b] = entry / factor[b, b] if factor[b, b] > 0 else 0.0
                rest -= factor[a, b] * factor[a, b]
            factor[a, a] = np.sqrt(rest) if rest > COLLINEAR * covariance[i, i] else 0.0
            if factor[a, a] > 0:
                log_determinant += 2 * np.log(factor[a, a])
        for m in range(n_gone):
            for a in range(n_here):
                entry = covariance[here[a], gone[m]]
                for c in range(a):
                    entry -= factor[a, c] * weights[m, c]
                weights[m, a] = entry / factor[a, a] if factor[a, a] > 0 else 0.0
        for m in range(n_gone):
            for other in range(n_gone):
                entry = covariance[gone[m], gone[other]]
                for a in range(n_here):
                    entry -= weights[m, a] * weights[other, a]
                left[gone[m], gone[other]] += (end - begin) * entry
        for row in range(begin, end):
            square = 0.0
            for a in range(n_here):
                entry = rows[row, here[a]] - mean[here[a]]
                for c in range(a):
                    entry -= factor[a, c] * standard[c]
                standard[a] = entry / factor[a, a] if factor[a, a] > 0 else 0.0
                square += standard[a] * standard[a]
            for m in range(n_gone):
                value = mean[gone[m]]
                for a in range(n_here):
                    value += weights[m, a] * standard[a]
                rows[row, gone[m]] = value
            total -= 0.5 * (square + log_determinant + n_here * np.log(2 * np.pi))
    return total
