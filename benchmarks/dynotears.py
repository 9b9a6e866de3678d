"""DYNOTEARS on simulated series: edges within a step and from earlier steps against the truth, and time.

    python benchmarks/dynotears.py [--seeds 30] [--first-seed 0] [--wide 1] [--output FILE.md]

A problem is an Erdős–Rényi graph within a step and lagged edges as `dagora simulate --sem var` draws them
(`dagora.network.autoregression`), normal noise of variance 1. Seconds are processor time of one thread, after
kernels were compiled. The wide problem has fewer edges, so that series with weights of the usual size can be
stable.

One other implementation is public, causalnex, for Python below 3.11. Where the folder of an environment with
it is named (`--causalnex FOLDER`), it solves the first `--judged` problems with the same penalties and is
judged by the same objective: its weights, and the same after edges that close cycles are cut and the rest is
refitted, since weights with cycles are no solution.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import warnings
from pathlib import Path
from statistics import mean
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import dagora
from dagora.data.series import Timing
from dagora.graph.metrics import Comparison, Metrics, compare
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.source import in_series
from dagora.network.autoregression import SeriesSimulation, simulate_series
from dagora.stats.table import TableStatistics
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note

PENALTY = 0.05

# Run by the other environment: rows in, weights and seconds out.
CAUSALNEX = """
import sys, time, json, numpy as np
try:
    import torch
except ImportError:  # its package imports torch for other methods; this one does without
    from unittest.mock import MagicMock
    for name in ("causalnex.structure.pytorch", "causalnex.structure.pytorch.sklearn"):
        sys.modules[name] = MagicMock()
from causalnex.structure.dynotears import from_numpy_dynamic
rows = np.load(sys.argv[1])
lags, penalty = int(sys.argv[2]), float(sys.argv[3])
now = np.ascontiguousarray(rows[lags:])
before = np.hstack([rows[lags - k : len(rows) - k] for k in range(1, lags + 1)])
start = time.process_time()
model = from_numpy_dynamic(now, before, lambda_w=penalty, lambda_a=penalty)
seconds = time.process_time() - start
edges = [[str(a), str(b), float(w)] for a, b, w in model.edges(data="weight")]
json.dump({"seconds": seconds, "edges": edges}, open(sys.argv[4], "w"))
"""


class Problem(NamedTuple):
    """The size of a problem."""

    d: int
    lags: int
    steps: int
    degree: float
    lagged_degree: float
    series: int = 1

    @property
    def name(self) -> str:
        """The problem in words."""
        several = f"{self.series} × " if self.series > 1 else ""
        return f"d = {self.d}, p = {self.lags}, {several}{self.steps} steps"

    def draw(self, seed: int) -> SeriesSimulation:
        """One problem."""
        graph = dagora.random_dag("er", self.d, self.degree, seed)
        return simulate_series(
            graph, self.steps, seed, lags=self.lags, lagged_degree=self.lagged_degree, series=self.series
        )


class WeightSolution(NamedTuple):
    """What was found, beside the truth, and how long it took."""

    comparison: Comparison
    seconds: float
    objective: float


def solve(problem: Problem, drawn: SeriesSimulation) -> WeightSolution:
    """Learn one problem."""
    start = process_time()
    result = dagora.learn(
        drawn.table,
        "dynotears",
        time="t",
        series="series",
        lags=problem.lags,
        lambda1=PENALTY,
        lambda_lagged=PENALTY,
    )
    seconds = process_time() - start
    found = compare(result.graph, drawn.graph.window)
    return WeightSolution(found, seconds, result.stats["objective_before_threshold"])


def windows(problem: Problem, drawn: SeriesSimulation) -> NDArray[np.float64]:
    """Covariance of the windows."""
    rows = in_series(TableStatistics(drawn.table), Timing("t", "series"), 1)
    return rows.lagged(problem.lags).moments().covariance


def objective(moments: NDArray[np.float64], weights: NDArray[np.float64], d: int) -> float:
    """Loss and penalties of weights [i, j] of all columns i on the present ones j."""
    residual = np.eye(len(moments), d) - weights
    return float(0.5 * np.sum(residual * (moments @ residual)) + PENALTY * np.abs(weights).sum())


def refit(
    moments: NDArray[np.float64], support: NDArray[np.bool_], d: int, sweeps: int = 2000
) -> NDArray[np.float64]:
    """The lassos of a support, by plain coordinate descent."""
    weights = np.zeros((len(moments), d))
    for j in range(d):
        column = weights[:, j]
        for _ in range(sweeps):
            before = column.copy()
            for i in np.flatnonzero(support[:, j]):
                slope = moments[i, j] - moments[i] @ column + moments[i, i] * column[i]
                column[i] = np.sign(slope) * max(abs(slope) - PENALTY, 0.0) / moments[i, i]
            if np.abs(column - before).max() < 1e-10:
                break
    return weights


def by_causalnex(folder: Path, problem: Problem, drawn: SeriesSimulation) -> tuple[float, float, float]:
    """Seconds of causalnex, its objective, and that of the DAG cut from its weights, refitted."""
    rows = np.transpose(drawn.table.columns[2:])
    d = problem.d
    with tempfile.TemporaryDirectory() as place:
        np.save(Path(place, "rows.npy"), rows)
        subprocess.run(
            [str(folder / "bin" / "python"), "-c", CAUSALNEX, f"{place}/rows.npy", str(problem.lags),
             str(PENALTY), f"{place}/out.json"],
            check=True,
        )  # fmt: skip
        found = json.loads(Path(place, "out.json").read_text())
    weights = np.zeros(((problem.lags + 1) * d, d))
    for tail, head, weight in found["edges"]:  # nodes are written 3_lag1
        (i, back), (j, _) = (name.split("_lag") for name in (tail, head))
        weights[int(i) + d * int(back), int(j)] = weight
    moments = windows(problem, drawn)
    acyclic, _ = acyclic_support(weights[:d], 0.0, np.zeros((d, d), dtype=np.bool_))
    support = np.vstack([acyclic, weights[d:] != 0])
    return found["seconds"], objective(moments, weights, d), objective(moments, refit(moments, support, d), d)


def edges_of(metrics: Metrics) -> int:
    """How many edges the truth has."""
    return metrics.correct + metrics.missing + metrics.reversed


def row_of(problem: Problem, solved: list[WeightSolution]) -> list[str]:
    """One line of the table of results."""
    return [
        problem.name,
        str(len(solved)),
        f"{mean(edges_of(s.comparison.within) for s in solved):.1f}",
        f"{mean(s.comparison.within.shd for s in solved):.2f}",
        f"{mean(edges_of(s.comparison.lagged) for s in solved):.1f}",
        f"{mean(s.comparison.lagged.shd for s in solved):.2f}",
        f"{mean(s.comparison.lagged.f1 for s in solved):.3f}",
        digits(float(np.median([s.seconds for s in solved]))),
        digits(max(s.seconds for s in solved)),
    ]


def main() -> None:
    """Run all problems and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--wide", type=int, default=1, help="seeds of the wide problem")
    parser.add_argument("--causalnex", type=Path, help="folder of an environment with causalnex")
    parser.add_argument("--judged", type=int, default=1, help="problems that causalnex solves too")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    usual = Problem(20, 1, 500, 2.0, 1.0)
    panel = Problem(20, 1, 100, 2.0, 1.0, series=5)
    wide = Problem(100, 3, 5000, 1.0, 0.5)
    solve(usual, usual.draw(10**6))  # kernels are compiled
    rows, kept = [], {}
    for problem, seeds in ((usual, given.seeds), (panel, given.seeds), (wide, max(1, given.wide))):
        solved = []
        for seed in range(given.first_seed, given.first_seed + seeds):
            solved.append(solve(problem, problem.draw(seed)))
            note(f"{problem.name}: {seed} {solved[-1].comparison.within.shd} {solved[-1].seconds:.2f} s")
        rows.append(row_of(problem, solved))
        kept[problem] = solved
    shd = mean(s.comparison.within.shd for s in kept[usual])
    f1 = mean(s.comparison.lagged.f1 for s in kept[usual])
    slowest = max(s.seconds for s in kept[usual])
    slowest_wide = max(s.seconds for s in kept[wide])
    said = [
        [usual.name, "mean SHD within a step ≤ 1", f"{shd:.2f}", verdict(shd <= 1)],
        [usual.name, "mean F1 of lagged edges ≥ 0.93", f"{f1:.3f}", verdict(f1 >= 0.93)],
        [usual.name, "≤ 2 s", f"at most {slowest:.2f} s", verdict(slowest <= 2)],
        [wide.name, "≤ 60 s", f"at most {slowest_wide:.1f} s", verdict(slowest_wide <= 60)],
    ]
    header = ("problem", "seeds", "edges within", "SHD", "lagged edges", "SHD", "F1", "median s", "most s")
    parts = ["## DYNOTEARS", machine("dagora", "numpy", "numba"), markdown_table(header, rows)]
    if given.causalnex:
        lines = []
        for seed in range(given.first_seed, given.first_seed + given.judged):
            seconds, with_cycles, cut = by_causalnex(given.causalnex, usual, usual.draw(seed))
            ours = kept[usual][seed - given.first_seed]
            lines.append(
                [str(seed), f"{ours.objective:.4f}", f"{cut:.4f}", f"{with_cycles:.4f}", digits(ours.seconds),
                 digits(seconds), f"{seconds / ours.seconds:.0f}"]
            )  # fmt: skip
            said.append(
                [f"{usual.name}, seed {seed}", "objective not above causalnex's DAG by more than 1e-3",
                 f"{ours.objective - cut:+.4f}", verdict(ours.objective <= cut + 1e-3)]
            )  # fmt: skip
            said.append([f"{usual.name}, seed {seed}", "≥ 20 × faster", f"{seconds / ours.seconds:.0f} ×",
                         verdict(seconds >= 20 * ours.seconds)])  # fmt: skip
        names = (
            "seed",
            "objective",
            "causalnex, cut to a DAG",
            "causalnex, as it is",
            "s",
            "causalnex s",
            "ratio",
        )
        parts.append(markdown_table(names, lines))
    deliver("\n\n".join([*parts, promises(said)]), given.output)


if __name__ == "__main__":
    main()
