"""Linearly dependent columns: each is a weighted sum of others, as a total is of its parts.

The likelihood of a Gaussian network has no maximum on such columns, and what rounding leaves of their
residuals depends on the order of the columns. With a little noise in every column, determinants are the same
in any order, and equivalent graphs score the same. Which of the columns is the sum cannot be seen: the user
must know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.base.wording import option
from dagora.stats.data_warnings import listing
from dagora.stats.statistics import Moments

# Eigenvalues of a matrix of correlations below this are rounding, also of numbers in fixed point; of moments
# by EM, below the second number.
ROUNDING, EM_ROUNDING = 1e-9, 1e-6
# The noise that is added to linearly dependent columns, in units of their variance.
NOISE = 1e-6
# A column belongs to a sum if it has more than this share in it.
SHARE = 1e-3
# With more columns, looking would take longer than many searches.
MOST_COLUMNS = 1000


def dependent_columns(moments: Moments, names: Sequence[str], rounding: float = ROUNDING) -> list[str]:
    """Names of columns that are weighted sums of others; empty with fewer rows than tell.

    >>> x = np.array([[1.0, 2.0], [4.0, 0.0], [2.0, 5.0], [0.0, 1.0], [3.0, 3.0]])
    >>> rows = np.column_stack([x, x @ [1.0, 3.0], [1.0, 0.0, 0.0, 2.0, 5.0]])
    >>> centred = rows - rows.mean(axis=0)
    >>> dependent_columns(Moments(5, rows.mean(axis=0), centred.T @ centred), ["a", "b", "total", "other"])
    ['a', 'b', 'total']
    """
    if moments.n <= len(names) or len(names) > MOST_COLUMNS:
        return []
    spread = np.sqrt(np.diag(moments.scatter))
    correlations = moments.scatter / np.outer(spread, spread)
    try:
        np.linalg.cholesky(correlations - rounding * np.eye(len(names)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(correlations)
        shares = np.linalg.norm(vectors[:, values < rounding], axis=1)
        return [name for name, share in zip(names, shares, strict=True) if share > SHARE]
    return []


def with_noise(moments: Moments) -> Moments:
    """Moments with a little noise in every column.

    >>> with_noise(Moments(3, np.zeros(2), np.array([[2.0, 2.0], [2.0, 2.0]]))).scatter.tolist()
    [[2.000002, 2.0], [2.0, 2.000002]]
    """
    scatter = moments.scatter.copy()
    scatter[np.diag_indices_from(scatter)] *= 1 + NOISE
    return Moments(moments.n, moments.mean, scatter)


def dependence_warnings(found: list[str], instead: str = "") -> list[str]:
    """A warning about linearly dependent columns, if any; `instead` is a score that needs no noise."""
    if not found:
        return []
    other = f", or choose {option('score', instead)}" if instead else ""
    warning = (
        f"columns are linearly dependent, each is a weighted sum of the others: {listing(found)}; many "
        "networks fit them equally well, and edges among them were chosen with a little noise added: leave "
        f"one out ({option('drop', found[-1])}){other}"
    )
    return [warning]


def near_dependence_warnings(found: list[str]) -> list[str]:
    """A warning about columns that are nearly dependent, of which rows tell more than sums of squares."""
    warning = (
        "columns are nearly linearly dependent, each is almost a weighted sum of the others: "
        f"{listing(found)}; families were scored from the rows, as sums of squares hold too few digits for "
        "them (over sites or beyond memory, a little noise is added instead): leave one out "
        f"({option('drop', found[-1])}) if it was computed from the others"
    )
    return [warning]
