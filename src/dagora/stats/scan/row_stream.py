"""The rows of a source as codes and numbers, in pieces of equal length, checked for changes on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.columns.counted_rows import row_numbers
from dagora.data.scan.cell_reader import ColumnReader
from dagora.data.scan.changes import changed_rows, refuse_changed
from dagora.data.scan.profile import clean_cells
from dagora.data.scan.row_source import InTransactions
from dagora.stats.moments import BLOCK_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.scan.codebook import Coding
    from dagora.data.scan.row_source import RowSource

# Rows of a piece. Blocks of moments divide it, so that moments are those of a table in memory to the last
# bit.
PIECE_ROWS = 8 * BLOCK_ROWS

Piece = list[NDArray[Any]]
# Words that mean missing, by column.
Words = dict[str, tuple[str, ...]]


class RowStream:
    """A source and the coding of its columns; `rows` is how many complete rows its first pass had.

    With `filled`, rows with a missing value in any of its columns are left out before they are judged. With
    `weights`, every piece ends with the numbers of the column of that name.
    """

    def __init__(
        self,
        source: RowSource,
        codings: Sequence[Coding],
        rows: int,
        state: object,
        filled: Words | None = None,
        weights: str | None = None,
    ) -> None:
        self._weights = weights
        self._source, self._codings, self._rows, self._state = source, codings, rows, state
        self._filled = filled
        self.passes = 0

    @property
    def title(self) -> str:
        """The name of the source in messages."""
        return self._source.title

    @property
    def transaction(self) -> int:
        """The number of the transaction of the next pass; 0 where the source knows none."""
        return self._source.transaction if isinstance(self._source, InTransactions) else 0

    def pieces(self, columns: Sequence[int]) -> Iterator[Piece]:
        """Codes or numbers of some columns: pieces of `PIECE_ROWS` rows, and the rest."""
        refuse_changed(self._source, self._state)
        self.passes += 1
        waiting: list[Piece] = []
        length, total = 0, 0
        for piece in self._read(columns):
            waiting.append(piece)
            length += len(piece[0])
            total += len(piece[0])
            while length >= PIECE_ROWS:
                joined = join(waiting)
                yield [column[:PIECE_ROWS] for column in joined]
                waiting = [[column[PIECE_ROWS:] for column in joined]]
                length -= PIECE_ROWS
        if length:
            yield join(waiting)
        refuse_changed(self._source, self._state)
        if total != self._rows:
            raise changed_rows(self.title, f"it has {total} rows now, and had {self._rows} before")

    def _read(self, columns: Sequence[int]) -> Iterator[Piece]:
        import pyarrow as pa

        names = [self._codings[column].variable.name for column in columns]
        read = names if self._filled is None else list(dict.fromkeys([*names, *self._filled]))
        if self._weights is not None:
            read = [*read, self._weights]
        readers = [ColumnReader(self._codings[column]) for column in columns]
        for batch in self._source.batches(read):
            if self._filled is not None:
                batch = complete_part(batch, self._filled)  # noqa: PLW2901
            if not batch.num_rows:
                continue
            piece: Piece = []
            for reader, name in zip(readers, names, strict=True):
                values = reader.read(batch.column(name))
                if values is None:
                    raise changed_rows(self.title, "a cell is missing that was not before")
                piece.append(values)
            if self._weights is not None:
                piece.append(row_numbers(pa.chunked_array([batch.column(self._weights)])))
            yield piece


def complete_part(batch: pa.RecordBatch, words: Words) -> pa.RecordBatch:
    """The rows of a batch without a missing value."""
    import pyarrow as pa

    mask = np.ones(batch.num_rows, dtype=np.bool_)
    for name in words:
        column = clean_cells(batch.column(name), words[name])
        if column.null_count:
            mask &= np.asarray(column.is_valid())
    return batch if mask.all() else batch.filter(pa.array(mask))


def join(pieces: list[Piece]) -> Piece:
    """Pieces one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    return [np.concatenate(parts) for parts in zip(*pieces, strict=True)]
