"""Turn continuous columns into discrete ones.

Each method chooses edges e₁ < … < e_k; the levels are the intervals (-inf, e₁], (e₁, e₂], …, (e_k, inf), in
that order.

- `mean`: one edge, the mean; x > mean is the upper level (the two states of the data in the RBNets paper).
- `width`: intervals of equal width from the smallest to the largest value. An empty one stays a level.
- `quantile`: edges at the observed values up to which a fraction i / bins of the rows lies. Where ties make
  edges coincide they are merged: there can be fewer levels than asked for, but none is empty.

A constant column gets a single level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagora.data.schema import MAX_LEVELS, Kind, Schema, Variable
from dagora.data.table import Table, require_table
from dagora.errors import DataError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

METHODS = ("mean", "width", "quantile")


def discretise(
    table: Table, method: str = "mean", bins: int = 2, columns: Iterable[str] | None = None
) -> Table:
    """Return the table with its continuous columns (or only those named) cut into intervals.

    >>> table = Table.from_numpy([[0.0], [1.0], [2.0], [9.0]], names=["x"])
    >>> halves = discretise(table)
    >>> halves.schema[0].levels, halves.codes(0)
    (('(-inf, 3]', '(3, inf)'), array([0, 0, 0, 1], dtype=uint16))
    >>> discretise(table, "quantile", bins=2).codes(0)
    array([0, 0, 1, 1], dtype=uint16)
    """
    require_table(table)
    if method not in METHODS:
        raise OptionError(f"there is no method '{method}' to discretise: choose {', '.join(METHODS)}")
    if not isinstance(bins, int | np.integer) or not 2 <= bins <= MAX_LEVELS:
        raise OptionError(f"bins must be a whole number from 2 to {MAX_LEVELS}, not {bins}")
    if method == "mean" and bins != 2:
        raise OptionError(f"a split at the mean makes 2 bins, not {bins}: choose width or quantile")
    chosen = [i for i, variable in enumerate(table.schema) if variable.kind is Kind.CONTINUOUS]
    if columns is not None:
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        chosen = [table.schema.index(name) for name in named]
    variables, arrays = list(table.schema), list(table.columns)
    for i in chosen:
        name = variables[i].name
        if variables[i].kind is Kind.DISCRETE:
            raise DataError(f"column '{name}' is discrete already: leave it out of the columns to discretise")
        edges = choose_edges(arrays[i], method, bins)
        variables[i] = Variable(name, Kind.DISCRETE, interval_names(edges))
        arrays[i] = np.searchsorted(edges, arrays[i], side="left").astype(np.uint16)
    return Table(Schema(variables), tuple(arrays))


def choose_edges(values: NDArray[np.float64], method: str, bins: int) -> NDArray[np.float64]:
    """Return the inner edges, increasing; none for a constant column."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.empty(0)
    if method == "mean":
        edges = np.array([values.mean()])
    elif method == "width":
        # Halved before they are subtracted, so that the range cannot overflow.
        edges = 2 * (low / 2 + (high / 2 - low / 2) * (np.arange(1, bins) / bins))
    else:
        edges = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    # An edge at the largest value, by a tie or by rounding, leaves the top interval empty: move it down.
    edges = np.where(edges >= high, values[values < high].max(), np.maximum(edges, low))
    return np.unique(edges)


def interval_names(edges: NDArray[np.float64]) -> tuple[str, ...]:
    """Name the intervals between edges, with as few digits as tell the edges apart."""
    texts: list[str] = []
    for digits in range(4, 18):
        texts = [f"{edge + 0.0:.{digits}g}" for edge in edges]
        if len({float(text) for text in texts}) == len(texts):
            break
    bounds = ["-inf", *texts, "inf"]
    closed = ["]"] * len(texts) + [")"]
    return tuple(f"({a}, {b}{end}" for a, b, end in zip(bounds[:-1], bounds[1:], closed, strict=True))
