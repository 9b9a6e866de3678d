"""The place of the reference data: the folder that DAGORA_DATA names, else ../shared/data."""

from __future__ import annotations

import os
from pathlib import Path

from dagora.base.errors import DataError


def reference_file(name: str) -> Path:
    """Path of a file of the reference data; if it is missing, an error that says what to do.

    >>> reference_file("no such/file.csv")
    Traceback (most recent call last):
    dagora.DataError: the reference data are needed: there is no file ...; set DAGORA_DATA ...
    """
    file = Path(os.environ.get("DAGORA_DATA") or Path("..", "shared", "data")) / name
    if not file.is_file():
        raise DataError(
            f"the reference data are needed: there is no file {file}; set DAGORA_DATA to their folder"
        )
    return file
