"""Is the estimate of the time right? What `estimate_time` says beside what `learn` takes.

    python benchmarks/estimates.py [--tables alarm …] [--methods tabu …] [--most 120] [-o FILE]

Both are measured in CPU seconds, in one process on one thread, since the wall clock also counts the work of
others. An estimate is right within a factor of 3 if the actual time is no further than that from its range.
Learning is ended after `--most` seconds: if that is above the range, the estimate is too low already; else
it is open whether it is right.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import dagora
from dagora.api.estimate_time import estimate_time
from dagora.base.budget import Budget
from dagora.base.phrases import span_in_words
from dagora.data.schema import Kind
from dagora.learners.effort.extrapolation import TimeEstimate
from dagora.stats.table import TableStatistics
from report import deliver, digits, machine, markdown_table
from runs import data_file, network_file, note

METHODS = (
    *("auto", "hill-climb", "tabu", "ges", "boss", "order-search", "dynamic", "astar", "pc"),
    *("notears", "lingam"),
)
FACTOR = 3.0


def sampled(network: str, rows: int) -> Callable[[], dagora.Table]:
    """A sample of a network of the reference data."""
    return lambda: dagora.sample_network(dagora.read_network(network_file(network)), rows, seed=1)


def gaussian(columns: int, rows: int, degree: float) -> Callable[[], dagora.Table]:
    """A linear model on a random graph."""
    graph = dagora.random_dag("er", columns, degree, seed=1)
    return lambda: dagora.simulate(graph, "gaussian", rows, seed=1).table


def read(name: str) -> Callable[[], dagora.Table]:
    """A table of the reference data."""
    return lambda: dagora.read_table(data_file("tables", f"{name}.csv.gz"), missing="drop")


TABLES = {
    "asia": sampled("asia", 1000),
    "child": sampled("child", 1000),
    "alarm": sampled("alarm", 1000),
    "win95pts": sampled("win95pts", 1000),
    "andes": sampled("andes", 1000),
    "adult": read("adult"),
    "gaussian 20": gaussian(20, 1000, 1.5),
    "gaussian 60": gaussian(60, 1000, 2.0),
    "gaussian 200": gaussian(200, 1000, 2.0),
}


def actual(rows: TableStatistics, method: str, most: float) -> tuple[float, bool]:
    """CPU seconds of learning, and whether it ended by itself."""
    budget = Budget()
    timer = threading.Timer(most, budget.stop, ("it takes too long here",))
    timer.daemon = True
    timer.start()
    began = time.process_time()
    dagora.learn(rows, method, budget=budget)
    timer.cancel()
    return time.process_time() - began, not budget.exhausted


def verdict(estimate: TimeEstimate, seconds: float, *, ended: bool) -> str:
    """Whether the range of an estimate holds what learning took, or is near it."""
    if estimate.low is None or estimate.high is None:
        return "none"
    if not ended:
        return "open" if seconds <= estimate.high else "too low already"
    if estimate.low <= seconds <= estimate.high:
        return "in the range"
    if estimate.low / FACTOR <= seconds <= estimate.high * FACTOR:
        return "within 3"
    return "too high" if seconds < estimate.low else "too low"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--most", type=float, default=120.0)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    said = machine("numpy", "numba")
    lines, verdicts, spent = [], [], []
    for name in given.tables:
        table = TABLES[name]()
        rows = TableStatistics(table)
        discrete = any(variable.kind is Kind.DISCRETE for variable in table.schema)
        for method in given.methods:
            if discrete and method in {"notears", "lingam"}:
                continue
            began = time.process_time()
            estimate = estimate_time(rows, method, clock=time.process_time)
            spent.append(time.process_time() - began)
            note(f"{name}, {method}: {estimate}")
            seconds, ended = actual(rows, method, given.most)
            judged = verdict(estimate, seconds, ended=ended)
            note(f"  it takes {'' if ended else 'more than '}{seconds:.3g} s: {judged}")
            verdicts.append(judged)
            widest = estimate.parts[-1].columns if estimate.parts else 0
            lines.append(
                [
                    name,
                    f"{rows.n_rows}",
                    f"{len(table.schema)}",
                    method,
                    estimate.reason
                    if estimate.low is None or estimate.high is None
                    else span_in_words(estimate.low, estimate.high),
                    f"{widest}",
                    f"{'' if ended else '> '}{digits(seconds)}",
                    judged,
                ]
            )
    header = ["table", "rows", "columns", "method", "estimate", "columns tried", "CPU s", ""]
    counts = {one: verdicts.count(one) for one in dict.fromkeys(verdicts)}
    told = len(verdicts) - counts.get("none", 0) - counts.get("open", 0)
    inside = counts.get("in the range", 0)
    near = inside + counts.get("within 3", 0)
    summary = (
        f"{len(verdicts)} cells, {counts.get('none', 0)} without an estimate, {counts.get('open', 0)} open. "
        f"Of the other {told}, {inside} are in the range, {near} within a factor of {FACTOR:g} of it. An "
        f"estimate took {np.median(spent):.1f} CPU s (median; at most {max(spent):.1f}, "
        "with what had to be compiled)."
    )
    deliver(
        f"## Estimates of the time\n\n{said}\n\n{summary}\n\n{markdown_table(header, lines)}\n", given.output
    )


if __name__ == "__main__":
    main()
