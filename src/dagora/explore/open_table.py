"""The table that is open: its file, and its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dagora.base.phrases import printable


@dataclass(frozen=True)
class Data:
    """A table: the file, and the name under which the user knows it."""

    path: Path
    name: str
    typed: str = ""  # how the command line names it; an upload has its name alone

    def one_line(self, error: Exception) -> str:
        """The message of an error, without the path of an uploaded file, which means nothing to the user."""
        return printable(" ".join(str(error).replace(str(self.path), self.name).split()))
