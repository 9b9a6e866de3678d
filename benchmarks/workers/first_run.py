"""Run the command once; write the kernels that it compiles, with their CPU seconds, as JSON to a file."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from numba.core import event

from dagora.cli.main import run


class Stopwatch(event.Listener):  # type: ignore[misc]  # numba has no types
    """CPU seconds that each kernel takes to compile, without the kernels that are compiled within it."""

    def __init__(self) -> None:
        self.kernels: list[dict[str, Any]] = []
        self._begun: list[float] = []
        self._within: list[float] = [0.0]

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """Note the begin."""
        self._begun.append(time.process_time())
        self._within.append(0.0)

    def on_end(self, event: Any) -> None:
        """Note the kernel and what it took by itself."""
        whole = time.process_time() - self._begun.pop()
        itself = whole - self._within.pop()
        self._within[-1] += whole
        function = event.data["dispatcher"].py_func
        self.kernels.append(
            {
                "kernel": f"{function.__module__.removeprefix('dagora.')}.{function.__qualname__}",
                "arguments": str(event.data["args"]),
                "seconds": itself,
            }
        )


def main() -> None:
    """Run the command given after the name of the file that gets the answer."""
    answer, *command = sys.argv[1:]
    stopwatch = Stopwatch()
    event.register("numba:compile", stopwatch)
    code = run(command)
    Path(answer).write_text(json.dumps({"kernels": stopwatch.kernels}), encoding="utf-8")
    sys.exit(code)


if __name__ == "__main__":
    main()
