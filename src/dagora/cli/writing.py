"""Write the files that a command was asked for; where one fails, the others are still written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dagora.base.errors import DagoraError
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Files:
    """Files that a command writes one after the other; failures are told at the end, in one line.

    The result is printed between the two: `write` every file, print, then `end`.
    """

    def __init__(self) -> None:
        self.written: list[str] = []
        self.notes: list[str] = []
        self._failures: list[tuple[str, int]] = []

    def write(self, path: str | None, writer: Callable[[str], Sequence[str] | None]) -> None:
        """Let `writer` write the file, if one was asked for, and keep its notes or its failure."""
        if not path:
            return
        try:
            self.notes += writer(path) or []
        except MemoryError:
            self._failures.append((f"cannot write {path}: out of memory", 1))
        except DagoraError as error:
            line = " ".join(str(error).split())
            self._failures.append((line if path in line else f"cannot write {path}: {line}", 2))
        else:
            self.written.append(path)

    def end(self) -> None:
        """Name every file that was not written, in one line; exit with code 2, or 1 without memory."""
        if self._failures:
            echo(f"dagora: error: {'; '.join(line for line, _ in self._failures)}", err=True)
            raise click.exceptions.Exit(max(code for _, code in self._failures))
