"""The first rows of a source, for warnings that need rows beside each other: units, copies, neighbours.

A pass keeps no rows, and these checks compare cells of a row, or a row with others. So they see the first
rows that the first pass meets, and say so where there are more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dagora.data.columns.column_type import Column
from dagora.data.columns.doubtful_columns import column_warnings
from dagora.data.columns.merged_cells import has_merged_cells, merged_warning
from dagora.data.columns.rows_alike import row_warnings
from dagora.data.scan.cell_reader import ColumnReader
from dagora.data.scan.profile import clean_cells

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.scan.codebook import Coding

MOST_ROWS, MOST_CELLS = 10_000, 4_000_000


class FirstRows:
    """Collects the first rows of a source while they are looked at."""

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep rows until there are enough."""
        left = min(MOST_ROWS, MOST_CELLS // max(1, batch.num_columns)) - self._rows
        if left > 0:
            self._batches.append(batch.slice(0, left))
            self._rows += self._batches[-1].num_rows

    def warnings(
        self,
        codings: Mapping[str, Coding],
        words: Mapping[str, tuple[str, ...]],
        rows: int,
        *,
        grouped: bool,
        counted: bool = False,
    ) -> Iterator[str]:
        """Warnings about these rows, and that no others were looked at; `rows` are those of the source.

        `words` mean missing. Rows with a missing value are left out, as they are in all passes. `counted`
        says that a column repeats rows, so that copies stand beside each other.
        """
        if not self._batches:
            return
        if self._rows < rows:
            yield (
                "mixed units, merged cells, copies and rows that depend on each other were looked for in "
                f"the first {self._rows:,} of {rows:,} rows only"
            )
        yield from merged_warning([name for name in codings if self._is_merged(name, words.get(name, ()))])
        typed = self._type_columns(codings, words)
        if typed:
            yield from column_warnings(typed)
            if not counted:
                yield from row_warnings(typed, grouped=grouped)

    def _is_merged(self, name: str, words: tuple[str, ...]) -> bool:
        seen = [np.asarray(clean_cells(batch.column(name), words).is_valid()) for batch in self._batches]
        return has_merged_cells(np.concatenate(seen))

    def _type_columns(
        self, codings: Mapping[str, Coding], words: Mapping[str, tuple[str, ...]]
    ) -> Sequence[Column]:
        """The columns of the complete rows."""
        import pyarrow as pa

        readers = {name: ColumnReader(coding) for name, coding in codings.items()}
        parts = []
        for batch in self._batches:
            seen = np.ones(batch.num_rows, dtype=np.bool_)
            for name in codings:
                seen &= np.asarray(clean_cells(batch.column(name), words.get(name, ())).is_valid())
            whole = batch.filter(pa.array(seen))
            parts.append([readers[name].read(whole.column(name)) for name in codings])
        columns = []
        for coding, cells in zip(codings.values(), zip(*parts, strict=True), strict=True):
            known = [part for part in cells if part is not None]
            if len(known) < len(cells):
                return []
            columns.append(Column(coding.variable, np.concatenate(known), None, coding.why))
        return columns
