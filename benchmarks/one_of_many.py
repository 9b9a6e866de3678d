"""The Markov blanket of one variable among very many: seconds, and how much of the true blanket is found.

    .venv/bin/python benchmarks/one_of_many.py [--columns 1000 10000 100000] [--targets 10] [--method auto]
        [--rows 1000] [--degree 4] [--seed 1] [--output FILE.md]

Columns are linear in their parents, with normal noise and weights of 0.5 to 2, on a random graph, each scaled
to variance 1 as it is made. The table is in memory, its columns are known to be numbers, targets are drawn at
random. Seconds are those of `learn`, after a small table has compiled the kernels; memory is the most that
the process ever held.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from pathlib import Path

import numpy as np

import dagora
from dagora.data.schema import Kind, Schema, Variable
from report import deliver, digits, machine, markdown_table
from runs import note

HEADER = ("columns", "targets", "median s", "longest s", "median CPU s", "precision", "recall", "peak GB")
SMALL = 100  # columns of the table that compiles the kernels


def simulate(columns: int, degree: float, rows: int, seed: int) -> tuple[dagora.Table, list[set[int]]]:
    """A table, and the parents of each column; edges lead to later columns."""
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, columns, size=(round(columns * degree / 2), 2)))
    parents: list[set[int]] = [set() for _ in range(columns)]
    for tail, head in ends[ends[:, 0] < ends[:, 1]].tolist():
        parents[head].add(tail)
    values = random.standard_normal((columns, rows))
    for child, known in enumerate(parents):
        size = random.uniform(0.5, 2, len(known)) * random.choice([-1, 1], len(known))
        values[child] += size @ values[sorted(known)]
        values[child] /= values[child].std()
    schema = Schema(Variable(f"x{i}", Kind.CONTINUOUS) for i in range(columns))
    return dagora.Table(schema, tuple(values)), parents


def true_blanket(target: int, parents: list[set[int]]) -> set[str]:
    """The parents, the children, and the other parents of these."""
    children = {child for child, known in enumerate(parents) if target in known}
    blanket = parents[target].union(children, *(parents[child] for child in children))
    return {f"x{i}" for i in blanket - {target}}


def measure(asked: argparse.Namespace, columns: int, targets: int) -> list[str]:
    """A number of targets of one table."""
    table, parents = simulate(columns, asked.degree, asked.rows, asked.seed)
    spent, right, shown, true = [], 0, 0, 0
    for target in np.random.default_rng(asked.seed).choice(columns, targets, replace=False).tolist():
        wall, cpu = time.perf_counter(), time.process_time()
        found = dagora.learn(table, asked.method, target=f"x{target}")
        spent.append((time.perf_counter() - wall, time.process_time() - cpu))
        blanket, truth = set(found.graph.nodes) - {f"x{target}"}, true_blanket(target, parents)
        right, shown, true = right + len(blanket & truth), shown + len(blanket), true + len(truth)
        note(f"{columns} x{target}: {spent[-1][0]:.2f} s, {len(blanket & truth)} of {len(truth)}")
    walls, cpus = np.array(spent).T
    shares = [f"{right / max(1, shown):.3f}", f"{right / max(1, true):.3f}"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    seconds = [digits(float(each)) for each in (np.median(walls), walls.max(), np.median(cpus))]
    return [str(columns), str(targets), *seconds, *shares, f"{peak:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--targets", type=int, default=10)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--degree", type=float, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(asked, SMALL, 2)
    lines = [measure(asked, columns, asked.targets) for columns in asked.columns]
    how = f"{asked.method}, {asked.rows} rows, degree {asked.degree:g}, seed {asked.seed}."
    title = "## One variable of very many"
    deliver("\n\n".join([title, machine("numpy", "numba"), how, markdown_table(HEADER, lines)]), asked.output)


if __name__ == "__main__":
    main()
