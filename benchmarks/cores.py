"""How much faster more cores make the work that can be shared, and whether the answer stays the same.

    python benchmarks/cores.py [--jobs 1 2 16] [--repeats 3] [--only NAME …] [--output FILE.md]

Wall seconds of a warm process, the median of some repeats; needs the networks of the reference data. `answer`
are the first digits of a digest of the result: it must not depend on the number of jobs. `alone` is the share
of the work that one core must do by itself, if Amdahl's law is all that holds the others back: with that
share, no number of cores is more than its inverse times as fast. BLAS has threads of its own: set
OMP_NUM_THREADS=1 to see what jobs alone do.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter

import dagora
from dagora.data.table import Table
from dagora.network.sample import sample_network
from many_columns import simulate
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import network_file, note

WANTED = {2: 1.8, 16: 8.0}
HEADER = ("work", "jobs", "seconds", "times as fast", "alone", "answer")


@cache
def rows_of(network: str, rows: int) -> Table:
    """Rows drawn from a network of the reference data."""
    return sample_network(dagora.read_network(network_file(network)), rows, seed=1)


@cache
def gaussian(nodes: int, rows: int, edges: float) -> Table:
    """Rows of a random linear network."""
    return dagora.simulate(dagora.random_dag("er", nodes, edges, seed=1), "gaussian", rows, seed=1).table


@cache
def wide(columns: int, degree: float) -> Table:
    """1000 rows of a random linear network, columns scaled as they are made."""
    return simulate(columns, degree, 1000, 1, (0.1, 1.0), scaled=True)[0]


def candidates(score: str, table: Table, jobs: int, **limits: int) -> str:
    """Candidate parent sets as text."""
    found = dagora.candidates(table, score, jobs=jobs, **limits)
    return repr([(sets.scores.tolist(), sets.masks.tolist()) for sets in found])


def edges_of(method: str, table: Table, jobs: int, **options: object) -> str:
    """Edges and score of a learned graph as text."""
    found = dagora.learn(table, method, jobs=jobs, seed=1, **options)
    return repr((sorted(found.graph.edges), found.score))  # of a CPDAG, those that have a direction


WORK: dict[str, Callable[[int], str]] = {
    "BIC candidates, alarm × 3000": lambda jobs: candidates("bic", rows_of("alarm", 3000), jobs),
    "BDeu candidates, child × 2000": lambda jobs: candidates("bdeu", rows_of("child", 2000), jobs),
    "hill climbing, 2000 numbers": lambda jobs: edges_of("hill-climb", wide(2000, 4.0), jobs),
    "hill climbing, pigs × 2000": lambda jobs: edges_of("hill-climb", rows_of("pigs", 2000), jobs),
    "BOSS, 500 numbers": lambda jobs: edges_of("boss", wide(500, 10.0), jobs),
    "PC, 500 numbers": lambda jobs: edges_of("pc", wide(500, 4.0), jobs),
    "order search, 16 chains, alarm × 1000": lambda jobs: edges_of(
        "order-search", rows_of("alarm", 1000), jobs, chains=16
    ),
    "partition MCMC, 16 chains of 200, 20 columns": lambda jobs: repr(
        dagora.sample(gaussian(20, 200, 2.0), jobs=jobs, chains=16, draws=200).edge_probability.tolist()
    ),
    "GP scores, 10 columns, to 2 parents": lambda jobs: candidates(
        "gp", gaussian(10, 300, 1.0), jobs, max_parents=2
    ),
    "bootstrap, 200 hill climbs, alarm × 1000": lambda jobs: repr(
        dagora.bootstrap(rows_of("alarm", 1000), "hill-climb", jobs=jobs).edge_frequency.tolist()
    ),
    "NOTEARS, 200 columns": lambda jobs: edges_of("notears", gaussian(200, 400, 2.0), jobs),
    "NOTEARS, 500 columns": lambda jobs: edges_of("notears", gaussian(500, 1000, 2.0), jobs),
}


def measure(work: Callable[[int], str], jobs: int, repeats: int) -> tuple[float, str]:
    """Median wall seconds, and the digest of the answer."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        answer = work(jobs)
        times.append(perf_counter() - start)
    return median(times), hashlib.sha256(answer.encode()).hexdigest()[:6]


def main() -> None:
    """Measure all work by the number of jobs, and print a report."""
    parser = argparse.ArgumentParser(description="Shared work by the number of jobs.")
    cores = os.cpu_count() or 1
    parser.add_argument("--jobs", nargs="+", type=int, default=sorted({1, 2, cores}))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="beginnings of names")
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    lines, judged = [], []
    warnings.simplefilter("ignore", dagora.DagoraWarning)
    for name, work in WORK.items():
        if not name.startswith(tuple(options.only)):
            continue
        work(1)  # compiles
        found = {jobs: measure(work, jobs, options.repeats) for jobs in options.jobs}
        alone = found[options.jobs[0]]
        for jobs, (taken, answer) in found.items():
            faster = alone[0] / taken
            serial = f"{(jobs / faster - 1) / (jobs - 1):.3f}" if jobs > 1 else ""
            note(f"{name}: {jobs} jobs, {taken:.2f} s, {faster:.2f} times, {serial}, {answer}")
            lines.append([name, str(jobs), digits(taken), f"{faster:.2f}", serial, answer])
            if jobs in WANTED:
                kept = faster >= WANTED[jobs] and answer == alone[1]
                judged.append(
                    [name, f"{WANTED[jobs]:g} × on {jobs}, same answer", f"{faster:.2f}", verdict(kept)]
                )
    text = [
        "## Work shared among cores",
        f"Wall seconds, median of {options.repeats}. BLAS: {os.environ.get('OMP_NUM_THREADS', 'all')}.",
        markdown_table(HEADER, lines),
        promises(judged),
        machine("dagora", "numpy", "numba"),
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
