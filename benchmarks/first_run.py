"""What the first run after an installation costs: each command in a fresh process, with no kernel kept.

    python benchmarks/first_run.py [--only NAME …] [--kernels] [--repeats 1] [--output FILE.md]

Each command runs twice on a small simulated table: with an empty folder for compiled kernels, then again with
what the first run left there. CPU seconds include processes that the command started. `--kernels` lists the
kernels that the command's own process compiled, each with its CPU seconds and without those within it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from dagora.cli.main import run as run_command
from report import deliver, digits, machine, markdown_table, verdict
from runs import WORKERS, network_file, note, one_thread

PROMISED = {"learn": 4.0}
PROMISED_ELSE = 8.0
DISCRETE, CONTINUOUS = "discrete.csv", "continuous.csv"
COMMANDS = {
    "learn": ["learn", DISCRETE],
    "hill-climb": ["learn", DISCRETE, "--method", "hill-climb"],
    "tabu": ["learn", DISCRETE, "--method", "tabu"],
    "ges": ["learn", DISCRETE, "--method", "ges"],
    "order-search": ["learn", DISCRETE, "--method", "order-search"],
    "dynamic": ["learn", DISCRETE, "--method", "dynamic"],
    "astar": ["learn", DISCRETE, "--method", "astar"],
    "ilp": ["learn", DISCRETE, "--method", "ilp"],
    "notears": ["learn", CONTINUOUS, "--method", "notears"],
    "sample order": ["sample", CONTINUOUS, "--method", "order", "--score", "bge"],
    "sample partition": ["sample", CONTINUOUS, "--method", "partition", "--score", "bge"],
    "sample gp": ["sample", CONTINUOUS, "--method", "order", "--score", "gp"],
}


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    wall: float
    cpu: float
    kernels: list[dict[str, Any]]


def simulate(folder: Path) -> None:
    """Write the two tables."""
    discrete = ["--sem", f"bif:{network_file('child')}", "--rows", "1000", "-o", str(folder / DISCRETE)]
    continuous = ["--nodes", "8", "--degree", "1", "--sem", "gaussian", "--rows", "200"]
    for model in (discrete, [*continuous, "-o", str(folder / CONTINUOUS)]):
        if run_command(["simulate", *model, "--seed", "1", "--quiet"]):
            sys.exit("the tables could not be simulated")


def measure(command: list[str], tables: Path, kernels: Path) -> Cost:
    """Run a command in a process of its own that keeps its kernels in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    answer = kernels / "kernels.json"
    done = subprocess.run(
        [sys.executable, str(WORKERS / "first_run.py"), str(answer), *command],
        cwd=tables,
        env={**os.environ, **one_thread(), "NUMBA_CACHE_DIR": str(kernels)},
        capture_output=True,
        text=True,
        check=False,
    )
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, json.loads(answer.read_text(encoding="utf-8"))["kernels"])


def listing(kernels: list[dict[str, Any]]) -> str:
    """The kernels, those that took longest first."""
    rows = [
        (digits(each["seconds"]), each["kernel"], each["arguments"].replace("|", "/"))
        for each in sorted(kernels, key=lambda each: -each["seconds"])
    ]
    return markdown_table(["CPU s", "kernel", "arguments"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), metavar="NAME")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows, details = [], []
    about = machine("dagora", "numba", "numpy")
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder)
        simulate(tables)
        for name in arguments.only:
            cold, warm = [], []
            for _ in range(arguments.repeats):
                with tempfile.TemporaryDirectory() as kernels:
                    cold.append(measure(COMMANDS[name], tables, Path(kernels)))
                    warm.append(measure(COMMANDS[name], tables, Path(kernels)))
            compiled = cold[0].kernels
            wall = median(each.wall for each in cold)
            limit = PROMISED.get(name, PROMISED_ELSE)
            rows.append(
                (
                    name,
                    f"{len(compiled)}",
                    digits(median(each.cpu for each in cold)),
                    digits(wall),
                    digits(median(each.cpu for each in warm)),
                    digits(median(each.wall for each in warm)),
                    f"≤ {limit:.0f} s",
                    verdict(wall <= limit),
                )
            )
            note(" | ".join(rows[-1]))
            if arguments.kernels:
                details.append(f"### {name}\n\n{listing(compiled)}")
    header = ["command", "kernels", "CPU s", "wall s", "CPU s again", "wall s again", "promise", ""]
    deliver("\n\n".join([about, markdown_table(header, rows), *details]), arguments.output)


if __name__ == "__main__":
    main()
