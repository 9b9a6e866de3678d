"""Thousands of continuous columns: how long the searches take, and how much of the true skeleton they find.

    .venv/bin/python benchmarks/many_columns.py [--columns 1000 2000] [--degree 4] [--rows 1000] [--jobs 2]
        [--methods hill-climb boss] [--seeds 1] [--weights 0.5 2] [--scaled] [--output FILE.md]

Columns are linear in their parents, with normal noise, on a random graph of a mean degree; `--scaled` divides
each by its standard deviation as it is made, so that no variance tells the order. The penalty is `auto`.
Seconds are those of `learn` on a table in memory, after a run on a small table has compiled the kernels;
memory is the most that the process ever held.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from pathlib import Path

import numpy as np

import dagora
from dagora.graph.random_graphs import random_dag
from report import deliver, digits, machine, markdown_table
from runs import note

HEADER = (
    "columns",
    "degree",
    "rows",
    "method",
    "seed",
    "s",
    "CPU s",
    "precision",
    "recall",
    "edges",
    "peak GB",
)
SMALL = 120  # columns of the table that compiles the kernels


def simulate(
    columns: int, degree: float, rows: int, seed: int, weights: tuple[float, float], scaled: bool
) -> tuple[dagora.Table, dagora.DAG]:
    """A table and the graph that it was drawn from."""
    dag = random_dag("er", columns, degree / 2, seed=seed)
    random = np.random.default_rng(seed)
    values = np.empty((columns, rows))
    for node in dag.order_indices:
        parents = dag.parent_indices(node)
        size = random.uniform(*weights, len(parents)) * random.choice([-1, 1], len(parents))
        column = random.standard_normal(rows) + size @ values[list(parents)]
        values[node] = column / column.std() if scaled else column
    return dagora.Table.from_numpy(values.T, names=dag.nodes, continuous=["all"]), dag


def measure(method: str, table: dagora.Table, truth: dagora.DAG, jobs: int) -> list[str]:
    """One run: seconds, and the shares of right and of found edges."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = dagora.learn(table, method, score="bic-gaussian", penalty="auto", jobs=jobs)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    pairs = {frozenset(edge) for edge in (*found.graph.edges, *found.graph.undirected)}
    true = {frozenset(edge) for edge in truth.edges}
    right = len(pairs & true)
    shares = [f"{right / max(1, len(pairs)):.3f}", f"{right / max(1, len(true)):.3f}"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return [digits(wall), digits(cpu), *shares, str(len(pairs)), f"{peak:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--degree", type=float, default=4)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--methods", nargs="+", default=["hill-climb", "boss"])
    parser.add_argument("--weights", type=float, nargs=2, default=(0.5, 2.0))
    parser.add_argument("--scaled", action="store_true")
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    drawn = (asked.degree, asked.rows)
    lines = []
    for columns in (SMALL, *asked.columns):
        for seed in asked.seeds:
            table, truth = simulate(columns, *drawn, seed, tuple(asked.weights), asked.scaled)
            for method in asked.methods:
                line = [str(columns), f"{asked.degree:g}", str(asked.rows), method, str(seed)]
                line += measure(method, table, truth, asked.jobs)
                note(" ".join(line))
                if columns != SMALL:
                    lines.append(line)
    how = f"{asked.jobs} jobs, weights of {asked.weights[0]:g} to {asked.weights[1]:g}"
    how += ", columns scaled as they are made." if asked.scaled else "."
    deliver(
        "\n\n".join(["## Many columns", machine("numpy", "numba"), how, markdown_table(HEADER, lines)]),
        asked.output,
    )


if __name__ == "__main__":
    main()
