"""Is a time limit kept? Every method on wide, long and tiny tables: how late `dagora learn` ends.

    python benchmarks/time_limits.py [--tables pigs long …] [--methods tabu …] [--limits 1 5] [-o FILE]

Each cell is a fresh process that finds its kernels compiled. Its clock starts when it begins to read. Late is
what passes between the limit and the end of the process, counted in seconds of wall clock or in seconds of
CPU, whichever is less: on a busy machine the wall clock also counts the work of others. A cell that is late
is measured three times, and the least counts. "refused" is exit code 2 with one line, which is an answer.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dagora.learners.registry import METHODS
from report import deliver, machine, markdown_table
from runs import WORKERS, network_file, note

LIMITS = (0.01, 1.0, 5.0, 20.0)
TRIES = 3
PATIENCE = 60.0  # a process that is later than this is ended
LONG, FEW = 1_000_000, 50

OVER_SITES = "federation"
OWN_OBJECTIVE = "statistics"


@dataclass(frozen=True)
class Ending:
    """How a process with a time limit ended."""

    late: float
    answer: str


def allowed(limit: float) -> float:
    """Seconds after the limit within which every method promises to end."""
    return max(0.5, 0.05 * limit)


def sampled(network: str, rows: int) -> Callable[[Path], None]:
    """A sample of a network of the reference data."""

    def write(file: Path) -> None:
        source = network_file(network)
        command = ["simulate", "--sem", f"bif:{source}", "--rows", str(rows), "-o", str(file), "--quiet"]
        subprocess.run([sys.executable, "-m", "dagora", *command], check=True)

    return write


def drawn(rows: int, columns: int, *, discrete: bool) -> Callable[[Path], None]:
    """Columns of which each depends on an earlier one, at random."""

    def write(file: Path) -> None:
        random = np.random.default_rng(1)
        values = random.integers(0, 3, (rows, columns)) if discrete else random.normal(size=(rows, columns))
        for j in range(1, columns):
            earlier = values[:, random.integers(j)]
            if discrete:
                values[:, j] = np.where(random.random(rows) < 0.6, earlier, values[:, j])
            else:
                values[:, j] += 0.8 * earlier / np.sqrt(1 + earlier.var())
        header = ",".join(f"v{j}" for j in range(columns))
        np.savetxt(file, values, "%d" if discrete else "%.4f", ",", header=header, comments="")

    return write


# Name of a table → how it is written, and whether its columns are discrete.
TABLES: dict[str, tuple[Callable[[Path], None], bool]] = {
    "tiny": (drawn(20, 3, discrete=True), True),
    "tiny-numbers": (drawn(20, 3, discrete=False), False),
    "pigs": (sampled("pigs", 5000), True),
    "munin": (sampled("munin", 1000), True),
    "numbers-1041": (drawn(1000, 1041, discrete=False), False),
    "long": (drawn(LONG, 20, discrete=True), True),
    "long-numbers": (drawn(LONG, 20, discrete=False), False),
    "5000": (drawn(FEW, 5000, discrete=True), True),
    "numbers-5000": (drawn(FEW, 5000, discrete=False), False),
    "20000": (drawn(FEW, 20_000, discrete=True), True),
    "numbers-20000": (drawn(FEW, 20_000, discrete=False), False),
    "200000": (drawn(FEW, 200_000, discrete=True), True),
}


def methods_for(discrete: bool) -> Iterator[str]:
    """Methods that learn from such a table."""
    for method in METHODS:
        if method.takes != OVER_SITES and not (discrete and method.takes == OWN_OBJECTIVE):
            yield method.name


def cpu_seconds(process: int) -> float:
    """CPU time that a running process has used; 0 where it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ending(arguments: Sequence[str], limit: float) -> Ending:
    """Run the command with a time limit in a fresh process, and see how late it ends."""
    with tempfile.TemporaryDirectory() as folder:
        started, told = Path(folder, "started"), Path(folder, "told")
        line = [sys.executable, str(WORKERS / "clocked.py"), str(started), *arguments]
        with told.open("wb") as said:
            process = subprocess.Popen(
                [*line, "--time-limit", str(limit)], stdout=subprocess.DEVNULL, stderr=said
            )
            begun, used = None, None
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                time.sleep(0.005)
                if begun is None and started.exists():
                    begun = float(started.read_text(encoding="utf-8") or "nan")
                if begun is not None and used is None and time.monotonic() >= begun + limit:
                    used = cpu_seconds(process.pid)
                if begun is not None and time.monotonic() > begun + limit + PATIENCE:
                    os.kill(process.pid, signal.SIGKILL)
            ended = time.monotonic()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
        words = told.read_text(encoding="utf-8").strip().splitlines()
    if begun is None or used is None:
        late = 0.0
    else:
        late = min(ended - begun - limit, usage.ru_utime + usage.ru_stime - used)
    answers = {0: "graph", 2: "refused", -9: "killed"}
    answer = answers.get(code, f"exit code {code}")
    return Ending(max(0.0, late), answer if code in {0, -9} else f"{answer}: {words[-1] if words else ''}")


def settled_ending(arguments: Sequence[str], limit: float) -> Ending:
    """The least late of some tries; only one where that is in time."""
    found = ending(arguments, limit)
    for _ in range(TRIES - 1):
        if found.late <= allowed(limit) or found.answer == "killed":
            break
        found = min(found, ending(arguments, limit), key=lambda each: each.late)
    return found


def main() -> None:
    """Measure all cells and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--methods", nargs="+", help="default: all that learn from the table")
    parser.add_argument("--limits", nargs="+", type=float, default=LIMITS)
    parser.add_argument("--folder", type=Path, help="folder where the tables are kept for a next time")
    parser.add_argument("-o", "--output", type=Path, help="file for the table")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in given.tables:
            write, discrete = TABLES[name]
            file = folder / f"{name}.csv"
            if not file.exists():
                write(file)
            for method in methods_for(discrete):
                if given.methods and method not in given.methods:
                    continue
                cells = []
                for limit in given.limits:
                    found = settled_ending(["learn", str(file), "--method", method, "--json"], limit)
                    note(f"{name} {method} {limit:g} s: {found.late:.2f} s late, {found.answer}")
                    mark = "**" if found.late > allowed(limit) else ""
                    cells.append(f"{mark}{found.late:.2f}{mark} {found.answer.partition(':')[0]}")
                rows.append((name, method, *cells))
    header = ("table", "method", *(f"{limit:g} s" for limit in given.limits))
    deliver(f"{machine()}\n\n{markdown_table(header, rows)}", given.output)


if __name__ == "__main__":
    main()
