"""A million rows and 30 discrete columns: reading, hill climbing and memory; and how fast the library starts.

    python benchmarks/large_table.py [--rows 1000000] [--output FILE.md]

The rows come from a random network (2 to 4 levels) and go through a CSV file. Each line is measured in a
fresh process, imports and loading of compiled kernels included, memory as the most the process ever held.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import dagora
from dagora.network.networks import DiscreteNetwork
from report import deliver, digits, machine, markdown_table
from runs import cores, note, run_worker

ROWS = 1_000_000
COLUMNS = 30
READ_COLUMNS = 20
DEGREE = 1.5
SEED = 1
STARTS = 10
CLIMB_SECONDS, CLIMB_MEMORY = 60.0, 2e9
READ_SECONDS = 10.0
IMPORT_SECONDS, HELP_SECONDS = 0.3, 0.5


def random_network(nodes: int, seed: int, degree: float = DEGREE) -> DiscreteNetwork:
    """A random graph whose tables are drawn from Dirichlet(1/2), so that parents matter."""
    rng = np.random.default_rng(seed)
    graph = dagora.random_dag("er", nodes, degree, seed=rng)
    sizes = {node: int(rng.integers(2, 5)) for node in graph}
    levels = {node: tuple(f"level{k}" for k in range(size)) for node, size in sizes.items()}
    tables = {
        node: rng.dirichlet(np.full(sizes[node], 0.5), size=[sizes[parent] for parent in graph.parents(node)])
        for node in graph
    }
    return DiscreteNetwork(graph, levels, tables)


def measure_large(rows: int) -> tuple[list[list[str]], str]:
    """Lines about reading and learning, and a sentence on what was learned."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wide, narrow, truth = folder / "wide.csv", folder / "narrow.csv", folder / "truth.json"
        note(f"sampling and writing {rows:,} rows")
        network = random_network(COLUMNS, SEED)
        table = dagora.sample_network(network, rows, SEED)
        dagora.write_table(table, wide)
        dagora.write_table(table.select(table.names[:READ_COLUMNS]), narrow)
        dagora.write_graph(network.graph, truth)
        size = narrow.stat().st_size / 1e6
        lines = []
        note("reading")
        read = worker(narrow, 0)
        lines.append(
            [
                f"read CSV, {rows:,} × {READ_COLUMNS} ({size:.0f} MB)",
                digits(read["reading"]),
                f"{READ_SECONDS:.0f}",
                f"{read['reading_peak'] / 1e9:.2f}",
                "",
                verdict(read["reading"] < READ_SECONDS, rows),
            ]
        )
        # One thread comes first: that is the default.
        for threads in sorted({1, cores()}):
            note(f"hill climbing, {threads} threads")
            climbed = worker(wide, threads, truth)
            kept = climbed["wall"] < CLIMB_SECONDS and climbed["peak"] < CLIMB_MEMORY
            lines.append(
                [
                    f"hill climbing, {rows:,} × {COLUMNS}, {threads} thread{'s' * (threads > 1)}",
                    digits(climbed["wall"]),
                    f"{CLIMB_SECONDS:.0f}",
                    f"{climbed['peak'] / 1e9:.2f}",
                    f"{CLIMB_MEMORY / 1e9:.0f}",
                    verdict(kept, rows),
                ]
            )
    lead = 100 * (climbed["score"] - climbed["truth_score"]) / abs(climbed["truth_score"])
    sentence = (
        f"The climb took {climbed['steps']:.0f} steps to {len(climbed['edges'])} edges (the generating graph "
        f"has {len(network.graph.edges)}) and ended with the status {climbed['status']} and a BIC that is "
        f"{lead:+.3f} % against the generating graph's; memory includes reading the file "
        f"({climbed['reading_peak'] / 1e9:.2f} GB before the climb)."
    )
    return lines, sentence


def worker(*arguments: object) -> dict[str, Any]:
    """A worker without a limit."""
    outcome = run_worker("read_and_climb.py", *arguments)
    assert outcome is not None
    return outcome


def measure_starts() -> list[list[str]]:
    """Whole processes, interpreter included: best and median of ten."""
    command = Path(sys.executable).with_name("dagora")
    helping = [str(command)] if command.exists() else [sys.executable, "-m", "dagora"]
    lines = []
    for what, arguments, target in (
        ("python, importing nothing", [sys.executable, "-c", "pass"], None),
        ("python, `import dagora`", [sys.executable, "-c", "import dagora"], IMPORT_SECONDS),
        ("python, `from dagora import learn`", [sys.executable, "-c", "from dagora import learn"], None),
        (
            f"`{'dagora' if command.exists() else 'python -m dagora'} --help`",
            [*helping, "--help"],
            HELP_SECONDS,
        ),
    ):
        note(what)
        times = [start_time(arguments) for _ in range(STARTS)]
        lines.append(
            [
                what,
                digits(min(times)),
                digits(median(times)),
                "" if target is None else f"{target}",
                "" if target is None else verdict(median(times) < target),
            ]
        )
    return lines


def start_time(arguments: list[str]) -> float:
    """Wall seconds of a process that prints to nowhere."""
    begun = time.perf_counter()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=os.environ)
    return time.perf_counter() - begun


def verdict(kept: bool, rows: int = ROWS) -> str:
    """Targets are about the full table."""
    if rows < ROWS:
        return "small run"
    return "kept" if kept else "missed"


def main() -> None:
    parser = argparse.ArgumentParser(description="Large tables and starting time.")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the large table")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    where = machine("dagora", "numpy", "numba", "pyarrow")
    starts = measure_starts()
    lines, sentence = measure_large(options.rows)
    text = [
        "## A large table",
        "Each line is a fresh process; imports and loading of compiled kernels count.",
        markdown_table(["job", "seconds", "target s", "peak GB", "target GB", ""], lines),
        sentence,
        "## Starting",
        f"Wall seconds of whole processes, {STARTS} of each.",
        markdown_table(["command", "best s", "median s", "target s", ""], starts),
        where,
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
