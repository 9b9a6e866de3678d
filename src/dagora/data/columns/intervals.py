"""Cut the values of a continuous column into intervals.

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

from dagora.base.errors import OptionError
from dagora.data.schema import MAX_LEVELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("mean", "width", "quantile")


def check_intervals(method: str, bins: int) -> None:
    """Refuse an unknown method, or a number of intervals that it cannot make."""
    if method not in METHODS:
        raise OptionError(f"there is no method '{method}' to discretise: choose {', '.join(METHODS)}")
    if not isinstance(bins, int | np.integer) or not 2 <= bins <= MAX_LEVELS:
        raise OptionError(option="bins", value=bins, must=f"be a whole number from 2 to {MAX_LEVELS}")
    if method == "mean" and bins != 2:
        raise OptionError(f"a split at the mean makes 2 bins, not {bins}: choose width or quantile")


def cut(values: NDArray[np.float64], method: str, bins: int) -> tuple[tuple[str, ...], NDArray[np.uint16]]:
    """Return the names of the intervals and the code of each value.

    >>> cut(np.array([0.0, 1.0, 2.0, 9.0]), "mean", 2)
    (('(-inf, 3]', '(3, inf)'), array([0, 0, 0, 1], dtype=uint16))
    """
    edges = choose_edges(values, method, bins)
    return interval_names(edges), np.searchsorted(edges, values, side="left").astype(np.uint16)


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
