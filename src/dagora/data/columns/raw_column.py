"""A column on its way to a type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from dagora.data.columns.spelled_numbers import DecimalMarks
    from dagora.data.schema import Kind


@dataclass(slots=True)
class RawColumn:
    """A column on its way to a type; what was found about it so far.

    `spelled` is the text of a column of floats: rows that are dropped may leave only whole numbers of it.
    `marks` says what its numbers tell about the mark before decimals, and `written` are its texts, where
    they can be read in two ways. `leaves_codes` says that nobody has said what its numbers mean, `merged`
    that its values stand in the first row of a block each.
    """

    name: str
    declared: Kind | None
    cells: pa.ChunkedArray
    spelled: pa.ChunkedArray | None = None
    holes: Mapping[str, int] = field(default_factory=dict)
    doubtful: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    left_out: str | None = None
    spelling: str = ""
    codes: Mapping[str, int] = field(default_factory=dict)
    leaves_codes: bool = True
    merged: bool = False
    marks: DecimalMarks | None = None
    written: pa.ChunkedArray | None = None
