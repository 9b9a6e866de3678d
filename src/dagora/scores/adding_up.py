"""Which columns add up: each is a weighted sum of others, as a total is of its parts.

The likelihood of a Gaussian network has no maximum on such columns. A score that stops at what rounding
leaves is finite, but it depends on the order of the columns, and equivalent graphs differ: the user must
know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.stats.data_warnings import listing
from dagora.stats.statistics import Moments
from dagora.wording import option

# Eigenvalues of a matrix of correlations below this are rounding, also of numbers in fixed point.
ROUNDING = 1e-9
# A column belongs to a sum if it has more than this share in it.
SHARE = 1e-3
# With more columns, looking would take longer than many searches.
MOST_COLUMNS = 1000


def columns_adding_up(moments: Moments, names: Sequence[str]) -> list[str]:
    """Names of columns that are weighted sums of others; empty with fewer rows than tell.

    >>> x = np.array([[1.0, 2.0], [4.0, 0.0], [2.0, 5.0], [0.0, 1.0], [3.0, 3.0]])
    >>> rows = np.column_stack([x, x @ [1.0, 3.0], [1.0, 0.0, 0.0, 2.0, 5.0]])
    >>> centred = rows - rows.mean(axis=0)
    >>> columns_adding_up(Moments(5, rows.mean(axis=0), centred.T @ centred), ["a", "b", "total", "other"])
    ['a', 'b', 'total']
    """
    if moments.n <= len(names) or len(names) > MOST_COLUMNS:
        return []
    spread = np.sqrt(np.diag(moments.scatter))
    correlations = moments.scatter / np.outer(spread, spread)
    try:
        np.linalg.cholesky(correlations - ROUNDING * np.eye(len(names)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(correlations)
        shares = np.linalg.norm(vectors[:, values < ROUNDING], axis=1)
        return [name for name, share in zip(names, shares, strict=True) if share > SHARE]
    return []


def adding_up_doubts(moments: Moments, names: Sequence[str], score: str) -> list[str]:
    """A sentence about columns that add up, where some do."""
    found = columns_adding_up(moments, names)
    if not found:
        return []
    told = (
        f"columns add up, each is a weighted sum of the others: {listing(found)}; under the score {score} "
        f"their edges follow rounding: leave one out ({option('drop', found[-1])}), or choose "
        f"{option('score', 'bge')}"
    )
    return [told]
