"""Open files that may be compressed."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from dagora.base.errors import DataError
from dagora.base.files import open_unpacked


def open_bytes(file: Path) -> BinaryIO:
    """Open a file that may be compressed."""
    return open_unpacked(file, error=DataError) if is_packed(file) else file.open("rb")


def is_packed(file: Path) -> bool:
    """Return True if the name says that the file is compressed."""
    return file.suffix.lower() == ".gz"
