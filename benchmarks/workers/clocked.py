"""Run the command `dagora`, and write to a file when its clock started: `clocked.py FILE ARGUMENT…`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from dagora.base.budget import Budget
from dagora.cli.main import main

started = Path(sys.argv[1])
plain = Budget.__init__


def noting(budget: Budget, seconds: float | None = None) -> None:
    """Make a budget; the first one with a limit is the command's."""
    if seconds is not None and not started.exists():
        started.write_text(repr(time.monotonic()), encoding="utf-8")
    plain(budget, seconds)


Budget.__init__ = noting  # type: ignore[method-assign]
main(sys.argv[2:])
