"""An order of the columns in which each depends on one of those before it, as far as that can be.

A few columns drawn at random hardly depend on each other, where each has a few neighbours among many: what is
learned from them is easier than the whole. Columns that are neighbours stand for it better. How much a pair
depends is the mutual information of both columns, cut into a few bins, in some of the rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import AnyTable
from dagora.data.schema import Kind

BINS = 4  # more need more rows for a table of two columns
MOST_ROWS = 500  # about 30 for each cell of such a table
MOST_COLUMNS = 400  # of a wider table, so many are drawn


def related_columns(table: AnyTable, seed: int = 0) -> list[str]:
    """Names of columns: one to begin with, then always the one that depends most on one of those before it.

    >>> from dagora.data.table import Table
    >>> a, b, c = np.random.default_rng(1).normal(size=(3, 200))
    >>> table = Table.from_numpy(np.stack([a, b, c, a + b / 9], axis=1), names=["a", "b", "c", "like a"])
    >>> order = related_columns(table)
    >>> abs(order.index("a") - order.index("like a"))
    1
    """
    random = np.random.default_rng(seed)
    names = random.permutation(np.array(table.schema.names, dtype=np.object_)).tolist()
    some, others = names[:MOST_COLUMNS], names[MOST_COLUMNS:]
    picked = np.sort(random.permutation(table.n_rows)[:MOST_ROWS])
    near = information(np.stack([bin_cells(table, name, picked) for name in some]))
    order = [0]
    nearest = near[0].copy()
    nearest[0] = -np.inf
    while len(order) < len(some):
        chosen = int(nearest.argmax())
        order.append(chosen)
        nearest = np.maximum(nearest, near[chosen])
        nearest[order] = -np.inf
    return [*(some[k] for k in order), *others]


def bin_cells(table: AnyTable, name: str, picked: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of each picked cell of a column; levels beyond the most frequent share a bin."""
    place = table.schema.index(name)
    cells = np.asarray(table.columns[place])[picked]
    if table.schema[place].kind is Kind.CONTINUOUS:
        ranks = np.argsort(np.argsort(cells, kind="stable"), kind="stable")
        return ranks * BINS // len(picked)
    codes, found = np.unique(cells, return_inverse=True)
    sizes = np.bincount(found, minlength=len(codes))
    rank = np.empty(len(codes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(codes))
    return np.minimum(rank[found], BINS - 1)


def information(bins: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mutual information of all pairs of rows of `bins`.

    >>> information(np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1]])).round(4).tolist()[0][1:]
    [0.6931, 0.0]
    """
    columns, rows = bins.shape
    marks = (bins[:, :, None] == np.arange(BINS)).astype(np.float64)  # column, row, bin
    flat = marks.transpose(0, 2, 1).reshape(columns * BINS, rows)
    joint = (flat @ flat.T / rows).reshape(columns, BINS, columns, BINS).transpose(0, 2, 1, 3)
    alone = marks.mean(axis=1)
    expected = alone[:, None, :, None] * alone[None, :, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint / expected), 0.0)
    return np.asarray(terms.sum(axis=(2, 3)))
