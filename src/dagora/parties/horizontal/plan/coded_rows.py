"""A site's rows as integers, by the codebook: codes of discrete columns, fixed point for continuous ones.

A continuous value x becomes z = rint(2ᵇ · clip((x − c) / w, −1, 1)), where c and w are the centre and half
the width of its range. The number b of bits follows from the largest number of rows N that the plan allows:
sums of products of two such integers over N rows stay below 2⁶² in size. So every term of a sum is an integer
from one row, and the sum over all rows does not depend on which site has which row. A weight w becomes
rint(2ᵇ · w / W) with the largest weight W of the codebook.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.levels import level_name
from dagora.data.columns.ordinal import alike
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.series import Panel
from dagora.data.table import Table
from dagora.data.time_steps import same_step
from dagora.parties.horizontal.plan.codebook import OTHER, Codebook, ColumnCoding, scores_on_grid
from dagora.stats.fixed_point import quantise

SUM_BITS = 62  # sums of products stay within 64 bits with their sign
# A site refuses a range that would change more than this share of its rows.
MOST_CLIPPED = 0.01


def fraction_bits(largest_rows: int) -> int:
    """The number b of bits of a continuous value.

    >>> fraction_bits(1 << 22), fraction_bits(1000), fraction_bits(1 << 30)
    (20, 26, 16)
    """
    return (SUM_BITS - (largest_rows - 1).bit_length()) // 2


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The rows of a site: `codes` of every column (0 where continuous), `numbers` of the continuous ones.

    Where the rows are series, `starts` has the first row of each, and at last the number of rows. `weights`
    are None where the rows count alike.
    """

    schema: Schema
    codes: NDArray[np.uint16]
    numbers: NDArray[np.int64]
    bits: int
    starts: NDArray[np.int64] | None = None
    weights: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    @cached_property
    def digest(self) -> str:
        """A name for exactly these rows, which stays in the site's own log."""
        hashed = sha256(repr((self.codes.shape, self.numbers.shape, self.bits)).encode())
        hashed.update(np.ascontiguousarray(self.codes).tobytes())
        hashed.update(np.ascontiguousarray(self.numbers).tobytes())
        for more in (self.starts, self.weights):
            if more is not None:
                hashed.update(np.ascontiguousarray(more).tobytes())
        return hashed.hexdigest()


def code_rows(
    table: Table,
    codebook: Codebook,
    largest_rows: int,
    panel: Panel | None = None,
    weights: NDArray[np.float64] | None = None,
) -> CodedRows:
    """The rows of a table that follows the codebook (see `follow_codebook`), as integers.

    `panel` has the starts of series, for a table whose rows are in its order.
    """
    check_weights(weights, codebook.largest_weight)
    bits = fraction_bits(largest_rows)
    check_number_of_rows(table.n_rows, largest_rows)
    codes = np.zeros((len(codebook.columns), table.n_rows), dtype=np.uint16)
    numbers = np.zeros((len(codebook.continuous), table.n_rows), dtype=np.int64)
    next_number = 0
    for position, (coding, values) in enumerate(zip(codebook, table.columns, strict=True)):
        if coding.continuous:
            scored = scores_on_grid(values, coding.grid) if coding.grid else values
            numbers[next_number] = quantise(scored, coding.low, coding.high, bits)
            next_number += 1
        else:
            codes[position] = values
    starts = None if panel is None else panel.starts
    weighed = None if weights is None else code_weights(weights, codebook.largest_weight, bits)
    return CodedRows(codebook.schema, codes, numbers, bits, starts, weighed)


def code_weights(weights: NDArray[np.float64], largest: float, bits: int) -> NDArray[np.int64]:
    """Weights as integers, 2ᵇ for the largest that there may be.

    >>> code_weights(np.array([0.0, 1.0, 4.0]), 4.0, 3)
    array([0, 2, 8])
    """
    return np.rint(np.ldexp(weights / largest, bits)).astype(np.int64)


def check_weights(weights: NDArray[np.float64] | None, largest: float) -> None:
    """Refuse rows without weights where the codebook weighs them, others with, and weights above the largest.

    >>> check_weights(None, 2.5)
    Traceback (most recent call last):
    dagora.DataError: the codebook weighs rows (largest_weight 2.5): weights says which column of this ...
    """
    if weights is None and largest:
        raise DataError(
            f"the codebook weighs rows (largest_weight {largest:g}): {option('weights')} says which column "
            "of this table has the weights"
        )
    if weights is None:
        return
    if not largest:
        raise DataError(
            f"rows count alike by the codebook, and these have weights: leave {option('weights')} out, or "
            "agree on a largest_weight in the codebook and the policies"
        )
    if float(weights.max(initial=0.0)) > largest:
        raise DataError(
            f"the largest weight here is {float(weights.max()):g}, and the codebook's largest_weight is "
            f"{largest:g}: agree on a larger one"
        )


def check_series(panel: Panel | None, step: float) -> None:
    """Refuse rows that are no series, or whose steps have another length than the sites agreed on.

    >>> check_series(None, 1.0)
    Traceback (most recent call last):
    dagora.DataError: the plan is about series: time says which column of this table holds the time...
    """
    if panel is None:
        raise DataError(
            f"the plan is about series: {option('time')} says which column of this table holds the time, and "
            f"{option('series')} which series a row belongs to"
        )
    if panel.step is not None and not same_step(panel.step, step):
        raise DataError(
            f"the steps of time are {panel.step:.7g} long here, and {step:.7g} by the plan: a series lives "
            "whole at one site, in steps of one length at all of them"
        )


def check_number_of_rows(n_rows: int, largest_rows: int) -> None:
    """Refuse a site with more rows than all sites together may have."""
    if n_rows > largest_rows:
        raise DataError(
            f"there are {n_rows} rows, more than the {largest_rows} agreed on for all sites together"
        )


def follow_codebook(table: Table, codebook: Codebook) -> Table:
    """A site's table recoded by the codebook: its columns in that order, with those levels and ranges.

    Values that do not fit the codebook are refused; the message may quote data and is for the site's owner.
    Discrete columns that follow it already stay as they are.
    """
    lacking = [coding.name for coding in codebook if coding.name not in table.names]
    if lacking:
        raise DataError(f"column '{lacking[0]}' of the codebook is not in the table")
    columns: list[NDArray[Any]] = []
    for coding in codebook:
        position = table.schema.index(coding.name)
        columns.append(_follow(coding, table.schema[position], table.columns[position]))
    return Table(
        codebook.schema, tuple(columns), table.overview and table.overview.selecting(codebook.schema.names)
    )


def _follow(coding: ColumnCoding, own: Variable, values: NDArray[Any]) -> NDArray[Any]:
    if own == coding.variable and not coding.continuous:
        return values
    if not coding.continuous and not coding.cuts:
        if own.kind is Kind.CONTINUOUS:
            found, places = np.unique(values, return_inverse=True)
            own, values = Variable(own.name, Kind.DISCRETE, tuple(map(level_name, found.tolist()))), places
            if not set(own.levels) <= set(coding.levels):
                raise DataError(
                    f"column '{coding.name}' holds numbers that are not levels, and the codebook lists levels"
                )
        if own.ordered and coding.ordered and not alike(own.levels, coding.levels):
            raise DataError(
                f"the levels of column '{coding.name}' are in the order {' < '.join(own.levels)} here, and "
                f"{' < '.join(coding.levels)} in the codebook: agree on one order"
            )
        return _recode(coding, own, values)
    numbers = _as_numbers(coding, own, values)
    if coding.cuts:
        return np.searchsorted(np.array(coding.cuts), numbers, side="left").astype(np.uint16)
    if coding.grid:
        return numbers
    outside = int(((numbers < coding.low) | (numbers > coding.high)).sum())
    if outside > MOST_CLIPPED * len(numbers):
        raise DataError(
            f"column '{coding.name}': {outside} of {len(numbers)} values are outside the codebook's range "
            f"from {coding.low:g} to {coding.high:g}, more than {MOST_CLIPPED:.0%}: agree on a wider range"
        )
    return numbers


def _recode(coding: ColumnCoding, own: Variable, values: NDArray[Any]) -> NDArray[np.uint16]:
    levels = coding.variable.levels
    code = {level: position for position, level in enumerate(levels)}
    used = set(np.unique(values).tolist())
    strange = [level for position, level in enumerate(own.levels) if level not in code and position in used]
    if strange and not coding.other:
        raise DataError(
            f"column '{coding.name}' has levels that the codebook lacks "
            f"({some_of(map(repr, strange))}): it lists {', '.join(map(repr, levels[:5]))}"
            f"{', …' if len(levels) > 5 else ''}; write the column alike, or agree on other = true"
        )
    rest = code[OTHER] if coding.other else 0
    codes = np.array([code.get(level, rest) for level in own.levels], dtype=np.uint16)
    return np.asarray(codes[values], dtype=np.uint16)


def _as_numbers(coding: ColumnCoding, own: Variable, values: NDArray[Any]) -> NDArray[np.float64]:
    if own.kind is Kind.CONTINUOUS:
        return values
    try:
        numbers = np.array([float(level) for level in own.levels])
    except ValueError:
        raise DataError(f"column '{coding.name}' holds text, and the codebook has numbers for it") from None
    return np.asarray(numbers[values], dtype=np.float64)


def reading_by(codebook: Codebook, reading: ReadingOptions) -> ReadingOptions:
    """The reading options of a site: only the columns of the codebook, discrete or continuous as it says."""
    names = [coding.name for coding in codebook]
    numbers = [coding.name for coding in codebook if coding.continuous or coding.cuts]
    return replace(
        reading,
        discrete=[name for name in names if name not in set(numbers)],
        continuous=numbers,
        only=tuple(names),
        levels={coding.name: coding.levels for coding in codebook if coding.levels},
    )
