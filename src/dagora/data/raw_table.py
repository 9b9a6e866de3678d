"""The columns of a file as they stand there, before types are found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from dagora.data.columns.reading_options import ReadingOptions


@dataclass
class RawTable:
    """Names and columns of a file, and what its reader has to say."""

    names: list[str]
    columns: list[pa.ChunkedArray]
    text_cells: bool = False  # text may stand for numbers, as in a CSV file
    words_nulled: bool = False  # cells that say nothing are null already
    separator: str = ""  # of text, as it was found or given
    notes: tuple[str, ...] = ()  # sentences that a reader of the overview needs
    nominal: tuple[str, ...] = ()  # columns whose levels have an order that need not mean anything

    def reading(self, asked: ReadingOptions) -> ReadingOptions:
        """Reading options with what the file says."""
        return replace(asked, separated_by=self.separator, nominal=self.nominal)
