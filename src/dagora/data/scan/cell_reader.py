"""The cells of a column as codes or numbers, by the coding that the first pass decided.

Where cells come as places in a list of words (text in Parquet files), or are small whole numbers, each is one
look-up in a short table; the table of a list of words is kept while batches come with the same list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import DataError
from dagora.data.columns.cells import is_text, parse_floats
from dagora.data.scan.changes import changed_value
from dagora.data.scan.profile import as_words, clean_cells, cleaned_words, with_cleaned_words
from dagora.kernels.decorators import kernel

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from dagora.data.scan.codebook import Coding

# Whole numbers are looked up in a table if all that are known lie within so many of each other.
TABLE_LENGTH = 1 << 16


class ColumnReader:
    """Reads the cells of one column; None stands for cells some of which are missing."""

    def __init__(self, coding: Coding) -> None:
        self._coding = coding
        self._results: NDArray[Any] | None = coding.numbers
        if coding.codes is not None:
            small = coding.variable.cardinality <= 256
            self._results = coding.codes.astype(np.uint8) if small else coding.codes
        # The list of words that was met last, the table of its places, and which of them mean missing.
        self._words: pa.Array | None = None
        self._table: tuple[NDArray[Any], NDArray[np.bool_]] | None = None
        self._lost: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._first, self._by_number = self._number_table()

    def read(self, cells: pa.Array) -> NDArray[Any] | None:
        """Codes of discrete cells, numbers of continuous ones."""
        if self._results is None:
            return self._read_numbers(self._clean(cells))
        if self._coding.text:
            return self._read_words(cells)
        column = self._clean(cells)
        if column.null_count:
            return None
        if self._by_number is not None:
            return self._looked_up(small_integers(column), self._first, *self._by_number)
        return self._results[self._places(column)]

    def _clean(self, cells: pa.Array) -> pa.Array:
        import pyarrow as pa

        if self._coding.text and pa.types.is_dictionary(cells.type):
            return with_cleaned_words(cells, self._coding.words)
        days = self._coding.variable.name if self._coding.days else None
        return clean_cells(cells, self._coding.words, days_of=days)

    def _read_words(self, cells: pa.Array) -> NDArray[Any] | None:
        """Text cells, each of which is a place in a list of words."""
        encoded = as_words(cells)
        if encoded.null_count:
            return None
        if self._words is None or not self._words.equals(encoded.dictionary):
            known = cleaned_words(encoded.dictionary, self._coding.words)
            self._words, self._table = encoded.dictionary, self._table_of(known)
            self._lost = np.asarray(known.is_null())
        assert self._table is not None
        places = small_integers(encoded.indices)
        if self._lost.any() and self._lost[places].any():
            return None
        return self._looked_up(places, 0, *self._table)

    def _table_of(self, values: pa.Array) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The code or number of each of some values, and a mask of the known ones."""
        import pyarrow.compute as pc

        assert self._results is not None
        assert self._coding.values is not None
        own = self._coding.values.cast(values.type)
        places = np.asarray(pc.index_in(values, value_set=own).fill_null(-1))
        known = places >= 0
        return self._results[np.where(known, places, 0)], known

    def _number_table(self) -> tuple[int, tuple[NDArray[Any], NDArray[np.bool_]] | None]:
        """A table over the whole numbers from the smallest known one to the largest, where it is short."""
        import pyarrow as pa

        values = self._coding.values
        if self._results is None or values is None or not pa.types.is_integer(values.type):
            return 0, None
        known = values.to_pylist()
        first, last = min(known), max(known)
        if last - first >= TABLE_LENGTH or not -(2**62) < first <= last < 2**62:
            return 0, None
        table = np.zeros(last - first + 1, dtype=self._results.dtype)
        present = np.zeros(len(table), dtype=np.bool_)
        places = np.array(known, dtype=np.int64) - first
        table[places], present[places] = self._results, True
        return first, (table, present)

    def _looked_up(
        self, places: NDArray[Any], first: int, table: NDArray[Any], known: NDArray[np.bool_]
    ) -> NDArray[Any]:
        out = np.empty(len(places), dtype=table.dtype)
        if not look_up(places, first, table, known, out):
            raise self._change_error()
        return out

    def _places(self, column: pa.Array) -> NDArray[np.int64]:
        """The position of each cell among the known values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        assert self._coding.values is not None
        if pa.types.is_dictionary(column.type):
            values = self._coding.values.cast(column.dictionary.type)
            known = np.asarray(pc.index_in(column.dictionary, value_set=values).fill_null(-1))
            indices = np.asarray(column.indices)
            places = known[indices] if len(known) else np.full(len(indices), -1)
        else:
            values = self._coding.values.cast(column.type)
            places = np.asarray(pc.index_in(column, value_set=values).fill_null(-1))
        if (places < 0).any():
            raise self._change_error()
        found: NDArray[np.int64] = places
        return found

    def _read_numbers(self, column: pa.Array) -> NDArray[np.float64] | None:
        """Numbers as they are."""
        import pyarrow as pa

        if column.null_count:
            return None
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if is_text(column.type):
            texts = pa.chunked_array([column])
            plain = texts if self._coding.reader is None else self._coding.reader.plain(texts)
            parsed = parse_floats(plain) if is_text(plain.type) else plain
            if parsed is None:
                raise self._change_error()
            column = parsed.combine_chunks()
        values = np.asarray(column.cast(pa.float64(), safe=False), dtype=np.float64)
        if np.isinf(values).any():
            raise self._change_error()
        return values

    def _change_error(self) -> DataError:
        return changed_value(self._coding.variable.name)


def small_integers(column: pa.Array) -> NDArray[Any]:
    """Whole numbers in one of the two types that the kernel is compiled for."""
    values = np.asarray(column)
    return values if values.dtype in (np.int32, np.int64) else values.astype(np.int64)


@kernel
def look_up(
    places: NDArray[Any], first: int, table: NDArray[Any], known: NDArray[np.bool_], out: NDArray[Any]
) -> bool:
    """Fill `out` with `table[place - first]`; False as soon as a place is beyond the table or not known."""
    for i in range(len(places)):
        place = np.int64(places[i]) - first
        if place < 0 or place >= len(known) or not known[place]:
            return False
        out[i] = table[place]
    return True
