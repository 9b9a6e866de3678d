"""Measured cells in a file of JSON lines: a line per cell, written to disk as soon as the cell is done.

A run that was killed while writing leaves an incomplete last line. It is dropped, and that cell is measured
again. Any other line that is not a cell is an error: the file is damaged or has another purpose.

Cells that are kept for good lie beside it, packed (`.jsonl.gz`): they are read first and never written to.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.base.files import read_text, report_failure
from dagora.base.parsing import parse_json
from dagora.papers.cell import cell_key

if TYPE_CHECKING:
    from dagora.papers.cell import Numbers, Parameters
    from dagora.papers.experiment import Experiment


class CellFile:
    """The cells of one or more experiments, by key."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Numbers]:
        """All cells, packed or not; none where there is no file."""
        packed = self.path.with_name(f"{self.path.name}.gz")
        found = self.parse(packed, gzip.decompress(packed.read_bytes()).decode()) if packed.exists() else {}
        return found | (self.parse(self.path, read_text(self.path)) if self.path.exists() else {})

    def parse(self, path: Path, text: str) -> dict[str, Numbers]:
        """The cells of a text, a line each."""
        found: dict[str, Numbers] = {}
        for number, line in enumerate(text.split("\n")[:-1], 1):
            try:
                content = parse_json(line)
                key = cell_key(content["item"], content["revision"], content["parameters"])
                found[key] = dict(content["numbers"])
            except (KeyError, TypeError, ValueError, FormatError):
                raise FormatError(
                    f"{path}: line {number} is no measured cell: repair or delete that line"
                ) from None
        return found

    def append(
        self, experiment: Experiment, parameters: Parameters, numbers: Numbers, seconds: float
    ) -> None:
        """Add a cell at the end and wait until it is on disk."""
        from dagora.base.version import versions

        content = {
            "item": experiment.name,
            "revision": experiment.revision,
            "parameters": dict(parameters),
            "numbers": dict(numbers),
            "seconds": round(seconds, 4),
            "dagora": versions()["dagora"],
        }
        line = json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"
        with report_failure(self.path, FormatError), self.path.open("ab") as handle:
            handle.write(line.encode())
            handle.flush()
            os.fsync(handle.fileno())

    def repair(self) -> None:
        """Remove an incomplete last line, so that the next cell starts on a line of its own."""
        if not self.path.exists():
            return
        with report_failure(self.path, FormatError), self.path.open("r+b") as handle:
            content = handle.read()
            if content and not content.endswith(b"\n"):
                handle.truncate(content.rfind(b"\n") + 1)
