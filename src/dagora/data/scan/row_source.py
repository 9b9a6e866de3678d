"""Sources that can be scanned: they hand out their rows as Arrow record batches, as often as asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa


class RowSource(Protocol):
    """Rows that can be read any number of times; the same rows each time, in any order."""

    @property
    def title(self) -> str:
        """Its name in messages."""

    @property
    def text_cells(self) -> bool:
        """True if text may stand for numbers, as in a CSV file."""

    def schema(self) -> pa.Schema:
        """Names and types of all columns."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns; they come by name, and may come in another order."""

    def state(self) -> object:
        """Something that differs once the rows may have changed; None where that cannot be told."""


@runtime_checkable
class InTransactions(Protocol):
    """A source that sees the same rows within one transaction only."""

    @property
    def transaction(self) -> int:
        """The number of the transaction in which the next pass will be made."""


@runtime_checkable
class SplitsCells(Protocol):
    """Rows of text whose cells a mark separates."""

    separator: str


@runtime_checkable
class SaysMore(Protocol):
    """A source whose reader has something to say."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the overview needs."""


@runtime_checkable
class KnowsItsRows(Protocol):
    """A source that may say how many rows it has before they are read."""

    def expected_rows(self) -> int | None:
        """The expected number of rows; None if that is not known."""
