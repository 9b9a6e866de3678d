"""Columns of statistics programs: numbers of one type only, some of whose values have labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.cells import is_text
from dagora.data.columns.column_names import declare_kinds
from dagora.data.columns.levels import level_name
from dagora.data.columns.missing import extend_na
from dagora.data.schema import Kind

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions

LARGEST_WHOLE = 2.0**53  # beyond, a float does not tell whole numbers apart
MOST_NAMED = 5  # columns that one sentence names
Labels = Mapping[Any, str]  # of numbers or texts


def whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floats as whole numbers if all of them are: formats that hold floats alone do not tell.

    >>> import pyarrow as pa
    >>> [str(whole_numbers(pa.chunked_array([column])).type) for column in ([1.0, None], [1.0, 1.5])]
    ['int64', 'double']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type) or column.null_count == len(column):
        return column
    whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), LARGEST_WHOLE))
    return column.cast(pa.int64()) if pc.all(whole).as_py() else column


def float_column(values: Iterable[float | None]) -> pa.ChunkedArray:
    """Numbers as a column; NaN is missing."""
    import pyarrow as pa

    cells = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    missing = np.isnan(cells)
    return whole_numbers(pa.chunked_array([pa.array(cells, mask=missing)]))


class LabelReader:
    """Makes levels of labels, in all columns but those that are to be numbers."""

    def __init__(self, names: Sequence[str], reading: ReadingOptions) -> None:
        declared = declare_kinds(names, reading)
        numbers = {name for name in names if declared.get(name) is Kind.CONTINUOUS} | set(reading.numbers)
        if reading.numbers_for:
            numbers |= {name for name in names if name not in declared}
        self._numbers, self._na = numbers, reading.na
        self._partly: dict[str, dict[str, str]] = {}
        self.nominal: list[str] = []

    def read(self, name: str, column: pa.ChunkedArray, labels: Labels) -> pa.ChunkedArray:
        """A column by its labels; as it is, where a value has none."""
        if not labels or name in self._numbers:
            return column
        levels = with_labels(column, labels)
        if levels is not None:
            self.nominal.append(name)
            return levels
        if found := labels_that_occur(column, labels):
            self._partly[name] = found
        return column

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on columns of which only some values have labels."""
        if not self._partly:
            return ()
        told = [
            f"'{name}' ({', '.join(f'{value} is {label!r}' for value, label in [*labels.items()][:3])})"
            for name, labels in self._partly.items()
        ]
        codes = [(name, value) for name, labels in self._partly.items() for value in labels]
        listed = some_of(told, MOST_NAMED)
        means_missing = option("na", extend_na(self._na, codes[:MOST_NAMED]))
        return (
            f"read as numbers, as some values have no label: {listed}; if one means missing, {means_missing}",
        )


def with_labels(column: pa.ChunkedArray, labels: Labels) -> pa.ChunkedArray | None:
    """Values by their labels, in the order of the values; None where a value has no label.

    A label whose value occurs nowhere is no level: codebooks have labels of what was never answered.

    >>> import pyarrow as pa
    >>> with_labels(pa.chunked_array([[2, 1, None]]), {1.0: "low", 2.0: "high"}).to_pylist()
    ['high', 'low', None]
    >>> with_labels(pa.chunked_array([[2, 3]]), {1.0: "low", 2.0: "high"})
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.string() if is_text(column.type) else pa.float64()
    of_kind = str if is_text(column.type) else (int, float)
    values = sorted(value for value in labels if isinstance(value, of_kind))
    places = pc.index_in(column.cast(kind), value_set=pa.array(values, kind))
    if places.null_count != column.null_count:
        return None
    whole = places.combine_chunks() if places.num_chunks else pa.array([], pa.int32())
    texts = unlike([str(labels[value]).strip() for value in values], values)
    used = whole.unique().drop_null().sort()
    levels = pa.array(texts, pa.string()).take(used)
    whole = pc.index_in(whole, value_set=used, skip_nulls=True)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(whole, levels, ordered=True)])


def unlike(texts: Sequence[str], values: Sequence[object]) -> list[str]:
    """Labels of which no two are equal and none is empty: the value helps.

    >>> unlike(["yes", "other", "other", ""], [1, 8.0, 9.0, 3])
    ['yes', 'other (8)', 'other (9)', '3']
    """
    written, number = [level_name(value) for value in values], Counter(texts)
    return [
        f"{text} ({value})" if text and number[text] > 1 else text or value
        for text, value in zip(texts, written, strict=True)
    ]


def labels_that_occur(column: pa.ChunkedArray, labels: Labels) -> dict[str, str]:
    """The labels of values that occur, by these values as text."""
    seen = {level_name(value) for value in column.unique().drop_null().to_pylist()}
    return {level_name(value): label for value, label in labels.items() if level_name(value) in seen}
