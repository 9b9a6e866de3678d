"""The default on wide discrete tables: does it end by itself, and above tabu search with restarts?

    python benchmarks/wide_auto.py [--problems link madelon …] [--threads 1] [--output FILE.md]

link, munin and pigs are samples of 10 000 rows of those networks, without the columns that came out constant;
the others are tables of the reference data, cut at the mean of each column, without the class. `auto` gets no
time limit; then tabu search gets the CPU seconds that `auto` took, and restarts until they are used up. Each
line is a fresh process that finds its kernels compiled. All clocks are those of CPU time, also the one by
which `auto` ends: so another job on the machine does not change who wins.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

import dagora
from problems import run_learner, sample_file
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import data_file, note

NETWORKS = ("pigs", "link", "munin")
# Name of a table → columns that are left out.
TABLES = {"madelon": (), "isolet5": ("letter",), "parkinson": ("class",), "androgen": ("class",)}
ROWS, SEED = 10_000, 1
SECONDS, MEMORY = 300.0, 8e9
WARM_ROWS, WARMING = 200, 5.0
HEADER = ("table", "columns", "rows", "learner", "CPU s", "peak GB", "BIC", "edges", "status")


@dataclass(frozen=True)
class Found:
    """What a learner came to on a table."""

    cpu: float
    peak: float
    score: float
    edges: int
    status: str
    message: str

    def row(self, name: str, table: dagora.Table, learner: str) -> list[str]:
        """A line of the report."""
        return [
            name,
            str(len(table.names)),
            str(table.n_rows),
            learner,
            digits(self.cpu),
            f"{self.peak / 1e9:.2f}",
            f"{self.score:.2f}",
            str(self.edges),
            self.status,
        ]


def table_file(folder: Path, name: str) -> Path:
    """Write the rows of a problem."""
    if name in NETWORKS:
        return sample_file(folder, name, ROWS, SEED)
    source = data_file("tables", f"{name}.csv.gz")
    file = folder / f"{name}.csv"
    dagora.write_table(dagora.read_table(source, discretise="mean", drop=TABLES[name]), file)
    return file


def measure(file: Path, method: str, limit: float | None, threads: int, **options: object) -> Found:
    """Learn in a fresh process, after another one has filled the cache of compiled kernels."""
    common = {"threads": threads, "cpu_clock": True, "score": "bic", "penalty": 1.0, **options}
    run_learner(file, method, seeds=[], limit=WARMING, warm_rows=WARM_ROWS, **common)
    outcome = run_learner(file, method, seeds=[SEED], limit=limit, warm=False, **common)
    run = outcome["runs"][0]
    found = Found(run["cpu"], outcome["peak"], run["score"], len(run["edges"]), run["status"], run["message"])
    note(f"  {method}: {found.score:.2f} after {found.cpu:.1f} s of CPU, {found.peak / 1e9:.2f} GB")
    return found


def judge(name: str, ours: Found, tabu: Found, threads: int) -> list[str]:
    """Whether the default kept its promises on a table."""
    lead = ours.score - tabu.score
    kept = lead > 0 and ours.cpu <= SECONDS * threads and ours.peak <= MEMORY
    measured = f"{lead:+.2f}, {digits(ours.cpu)} s of CPU, {ours.peak / 1e9:.2f} GB"
    promise = f"above tabu with restarts, in {SECONDS:.0f} s and {MEMORY / 1e9:.0f} GB"
    return [name, promise, measured, verdict(kept)]


def main() -> None:
    """Measure all problems and print a report."""
    parser = argparse.ArgumentParser(description="The default on wide discrete tables.")
    every = (*NETWORKS, *TABLES)
    parser.add_argument("--problems", nargs="+", default=every, choices=every, metavar="NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    lines, judged, sentences = [], [], []
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.problems:
            note(name)
            file = table_file(Path(temporary), name)
            table = dagora.read_table(file)
            ours = measure(file, "auto", None, options.threads)
            tabu = measure(file, "tabu", ours.cpu, options.threads, restarts=1_000_000_000)
            lines += [ours.row(name, table, "auto"), tabu.row(name, table, "tabu with restarts")]
            judged.append(judge(name, ours, tabu, options.threads))
            sentences.append(f"- {name}: {ours.message}.")
    text = [
        "## The default on wide tables",
        f"{options.threads} thread(s); seconds are CPU seconds, also where `auto` ends by itself.",
        markdown_table(HEADER, lines),
        "\n".join(sentences),
        promises(judged),
        machine("dagora", "numpy", "numba"),
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
