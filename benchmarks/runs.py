"""Where the benchmarks find the data and the peers, and how they run a worker in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from peers import python_of

ROOT = Path(__file__).resolve().parent.parent
WORKERS = ROOT / "benchmarks" / "workers"
# Importing and loading may take as long as this on top of a worker's own limit.
GRACE = 300.0


class WorkerError(RuntimeError):
    """A worker ended with an error."""


def data_file(folder: str, name: str) -> Path:
    """A file of the reference data."""
    file = Path(os.environ.get("DAGORA_DATA", ROOT.parent / "shared" / "data")) / folder / name
    if not file.exists():
        sys.exit(f"{file}: no such file; set DAGORA_DATA to the folder of the reference data")
    return file


def network_file(name: str) -> Path:
    """A network of the reference data."""
    return data_file("networks", f"{name}.bif.gz")


def run_worker(
    script: str, *arguments: object, peer: str | None = None, limit: float = 0.0, **environment: str
) -> dict[str, Any] | None:
    """Run a worker in a fresh process and return its outcome; None where it passed its limit."""
    variables = {**os.environ, **environment}
    if peer is not None:
        variables.pop("PYTHONPATH", None)
    python = sys.executable if peer is None else str(python_of(peer))
    try:
        done = subprocess.run(
            [python, str(WORKERS / script), *map(str, arguments)],
            capture_output=True,
            text=True,
            env=variables,
            timeout=limit + GRACE if limit else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode in {-signal.SIGALRM, -signal.SIGPROF}:
        return None
    if done.returncode:
        raise WorkerError(f"{script} failed:\n{done.stderr.strip()}")
    outcome: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return outcome


def one_thread() -> dict[str, str]:
    """Environment variables that keep numerical libraries on one thread."""
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def note(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)
