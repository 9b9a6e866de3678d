"""The design of rows: weights of a survey, and groups of rows that are not independent.

The columns that say so are no variables. A weight is how much a row counts, in any unit: what follows is the
same for all multiples. Rows of weight 0 are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col, option
from dagora.data.columns.column_names import check_about_rows
from dagora.data.columns.counted_rows import MOST_EXACT, row_numbers
from dagora.data.columns.decimal_mark import numbers_by_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from dagora.data.columns.reading_options import ReadingOptions

WEIGHTS = "says how much each row counts"
GROUP = "names the group of each row"


@dataclass(frozen=True, eq=False)
class RowDesign:
    """The weight of each row, and the number of its group, from 0; None where there are none.

    `by_weight` and `by_group` are the names of the columns that said so; `within` names the columns of which
    only the difference to the mean of the group is looked at. Weights are held in multiples of `unit`.

    >>> design = RowDesign(np.array([1.0, 2.5]), by_weight="w", unit=2.0)
    >>> design.take([1]).weights, design.given_weights
    (array([2.5]), array([2., 5.]))
    >>> raise design.refusal()
    Traceback (most recent call last):
    dagora.OptionError: rows with weights or groups (weights="w") are not taken here: learn, bootstrap, ...
    """

    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    by_weight: str | None = None
    by_group: str | None = None
    within: tuple[str, ...] = ()
    unit: float = 1.0

    @property
    def given_weights(self) -> NDArray[np.float64] | None:
        """The weights as the column has them."""
        return None if self.weights is None else self.weights * self.unit

    def take(self, rows: ArrayLike) -> RowDesign:
        """The design of some rows, by position or by a mask; the groups that are left are counted anew."""
        chosen = np.asarray(rows)
        groups = self.groups
        if groups is not None:
            groups = np.unique(groups[chosen], return_inverse=True)[1].reshape(-1).astype(np.int64)
        weights = None if self.weights is None else self.weights[chosen]
        return replace(self, weights=weights, groups=groups)

    @property
    def asked(self) -> str:
        """The options that were given, in words."""
        named = {"weights": self.by_weight, "group": self.by_group}
        return " and ".join(option(name, column) for name, column in named.items() if column)

    def refusal(self, why: str = "") -> OptionError:
        """The error where rows can only count alike and be independent."""
        if why:
            return OptionError(f"{why}, and knows of no {self.asked}: leave one of them out")
        return OptionError(
            f"rows with weights or groups ({self.asked}) are not taken here: learn, bootstrap, sample, "
            "score, candidates, fit, effect and check take them, from the file or frame itself"
        )


def read_design(
    names: Sequence[str], columns: list[pa.ChunkedArray], reading: ReadingOptions
) -> tuple[RowDesign | None, NDArray[np.int64] | None]:
    """The weights and groups of the rows, and the positions of the rows that are kept.

    Rows of weight 0 are left out of all columns, in place. Both are None where nothing was asked for.

    >>> import pyarrow as pa
    >>> from dagora.data.columns.reading_options import ReadingOptions
    >>> columns = [pa.chunked_array([["a", "b", "a"]]), pa.chunked_array([[0.5, 0.0, 2.0]])]
    >>> design, kept = read_design(["x", "w"], columns, ReadingOptions(weights="w"))
    >>> design.given_weights, kept, columns[0].to_pylist()
    (array([0.5, 2. ]), array([0, 2]), ['a', 'a'])
    """
    if not reading.has_design:
        return None, None
    weights = groups = kept = None
    unit = 1.0
    if reading.weights is not None:
        own = columns[check_about_rows("weights", names, reading)]
        weights, unit = read_weights(
            reading.weights,
            numbers_by_mark(reading.weights, own, dict(zip(names, columns, strict=True)), reading),
        )
    if reading.group is not None:
        groups = read_groups(reading.group, columns[check_about_rows("group", names, reading)])
    design = RowDesign(weights, groups, reading.weights, reading.group, tuple(reading.within_groups), unit)
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        for k, column in enumerate(columns):
            columns[k] = column.take(kept)
        design = design.take(kept)
    return design, kept


def read_weights(name: str, cells: pa.ChunkedArray) -> tuple[NDArray[np.float64], float]:
    """The weights in multiples of a unit, and the unit; what is no weight is refused.

    The unit is a power of two near the largest, so that no sum of weights or of their squares overflows, and
    no digit is lost.
    """
    values = checked_weights(name, cells)
    largest = float(values.max(initial=0.0))
    if largest == 0:
        raise DataError(f"{option('weights', name)}: all weights are 0, so there is no row")
    unit = 2.0 ** (math.frexp(largest)[1] - 1)
    return values / unit, unit


def checked_weights(name: str, cells: pa.ChunkedArray, begin: int = 0) -> NDArray[np.float64]:
    """The numbers of a column of weights; `begin` rows came before."""
    values = row_numbers(cells)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        raise DataError(
            f"{col(name)} is to weigh rows ({option('weights', name)}), and data row "
            f"{begin + int(wrong.argmax()) + 1} holds no number of 0 or more"
        )
    return values


def read_groups(name: str, cells: pa.ChunkedArray) -> NDArray[np.int64]:
    """The number of the group of each row; a missing group is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = cells.is_null()
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        cells = pc.utf8_trim_whitespace(cells)
        missing = pc.or_(missing, pc.equal(cells, "").fill_null(True))
    if pc.any(missing).as_py():
        row = missing.index(value=True).as_py() + 1
        raise DataError(
            f"{col(name)} is to say which rows belong together ({option('group', name)}), and data row {row} "
            "has no value in it"
        )
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if isinstance(whole, pa.ChunkedArray):  # no rows, or many dictionaries
        whole = whole.unify_dictionaries().chunk(0)
    found, codes = np.unique(np.asarray(whole.indices, dtype=np.int64), return_inverse=True)
    if len(found) < 2:
        raise DataError(f"{option('group', name)}: all rows belong to one group, and 2 are needed")
    return codes.reshape(-1).astype(np.int64)


def whole_weights_warning(design: RowDesign | None) -> list[str]:
    """A sentence about weights that may be numbers of rows: all are whole, and not all the same."""
    if design is None or design.weights is None or design.by_weight is None:
        return []
    least = float(design.weights.min())
    if float(design.weights.max()) >= MOST_EXACT * least:  # every ratio of such numbers is whole
        return []
    ratios = design.weights / least
    if np.ptp(ratios) == 0 or not (ratios == np.rint(ratios)).all():
        return []
    multiples = f"the weights in {col(design.by_weight)} are whole multiples of the smallest"
    way_out = f"{option('counts', design.by_weight)} says so, and every row counts in full"
    return [f"{multiples}: if they count rows, {way_out}"]
