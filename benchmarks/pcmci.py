"""PCMCI+ on simulated series: edges against the truth and against tigramite on the same series, and time.

    OMP_NUM_THREADS=1 python benchmarks/pcmci.py [--seeds 20] [--nodes 5 10] [--peer] [--wide] [-h]

Series are drawn as in section 4 of Runge (2020): every variable depends on its last step, by a weight of up
to the autocorrelation a (and at least a − 0.3); 1.5 links a variable between different ones, of weights
±[0.1, 0.5], 30 % of them within a step, the others from 1 to 5 steps back; normal noise of sds in [0.5, 2].
Draws that are not stationary are drawn again. Both programs look 5 steps back, at a level of 0.01, with
partial correlations. The peer is in `.bench/tigramite` (`python benchmarks/peers.py tigramite`).

Rates: found of all true links (TPR) and of all absent ones (FPR), lagged ones between different variables and
those within a step apart; of the edges within a step that are found and directed, the share that is right
(precision), and of the true ones the share that is found with its direction (recall). Seconds are of one
processor.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from statistics import mean, median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dagora
from dagora.base.errors import DagoraWarning
from dagora.data.series import Panel
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph
from dagora.learners.run import Run
from dagora.learners.time.pcmci_plus import pcmci_plus
from dagora.stats.lagged import SeriesStatistics
from peers import pinned, require
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note, one_thread, run_worker

PEER, LAGS, ALPHA = "tigramite", 5, 0.01
FASTER, WITHIN_ERRORS = 50.0, 3.0
LEVEL, LOW, HIGH = 0.05, 0.04, 0.06
BURN_IN = 300

Rows = NDArray[np.float64]


class Problem(NamedTuple):
    """The size of a problem."""

    nodes: int
    steps: int
    autocorrelation: float


class Rates(NamedTuple):
    """How often links are found, and directed rightly; None where there is nothing to count."""

    lagged_tpr: float | None
    lagged_fpr: float | None
    within_tpr: float | None
    within_fpr: float | None
    precision: float | None
    recall: float | None


def draw(problem: Problem, seed: int, lags: int = LAGS) -> tuple[LaggedGraph, Rows]:
    """A stationary model and a series of it."""
    rng = np.random.default_rng([seed, problem.nodes, int(100 * problem.autocorrelation)])
    n = problem.nodes
    while True:
        weights = np.zeros((lags + 1, n, n))  # [lag, cause, effect]
        own = rng.uniform(max(0.0, problem.autocorrelation - 0.3), problem.autocorrelation, n)
        weights[1, range(n), range(n)] = own
        order = rng.permutation(n)
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        for place in rng.choice(len(pairs), size=max(1, int(1.5 * n)), replace=False):
            i, j = pairs[place]
            weight = rng.choice([-1, 1]) * rng.uniform(0.1, 0.5)
            if rng.random() < 0.3:
                first, last = (i, j) if order[i] < order[j] else (j, i)
                weights[0, first, last] = weight
            else:
                weights[rng.integers(1, lags + 1), i, j] = weight
        solved = np.linalg.inv(np.eye(n) - weights[0].T)
        companion = np.zeros((lags * n, lags * n))
        companion[:n] = np.hstack([solved @ weights[lag].T for lag in range(1, lags + 1)])
        companion[n:, :-n] = np.eye((lags - 1) * n)
        if np.abs(np.linalg.eigvals(companion)).max() < 0.995:
            break
    noise = rng.normal(size=(BURN_IN + problem.steps, n)) * rng.uniform(0.5, 2.0, n)
    rows = np.zeros_like(noise)
    for t in range(lags, len(rows)):
        past = sum(rows[t - lag] @ weights[lag] for lag in range(1, lags + 1))
        rows[t] = solved @ (noise[t] + past)
    names = names_of(n)
    edges = [(names[i], names[j], int(lag)) for lag, i, j in np.argwhere(weights).tolist()]
    return LaggedGraph(names, lags, edges), rows[BURN_IN:]


def names_of(n: int) -> tuple[str, ...]:
    """Names that sort as the columns stand."""
    return tuple(f"x{k:03}" for k in range(n))


def statistics_of(rows: Rows) -> SeriesStatistics:
    """The rows as one series."""
    names = names_of(rows.shape[1])
    table = dagora.Table.from_numpy(
        np.column_stack([np.arange(len(rows)), rows]), ["t", *names], continuous=["all"]
    )
    return SeriesStatistics(Panel.of_table(table, "t"))


def rate(truth: LaggedGraph, within: NDArray[np.int64], lagged: set[tuple[int, int, int]]) -> Rates:
    """Compare links with the truth; `within[i, j]` is 1 for i → j alone, both ways for an open edge."""
    place = {name: k for k, name in enumerate(truth.variables)}
    true = {(place[tail], place[head], lag) for tail, head, lag in truth.edges}
    n = len(place)
    cross = {(i, j, lag) for i in range(n) for j in range(n) if i != j for lag in range(1, LAGS + 1)}
    late = {edge for edge in true if edge in cross}
    now = {(i, j) for i, j, lag in true if not lag}
    joined = {(i, j) for i in range(n) for j in range(n) if i < j}
    found_now = {(i, j) for i, j in joined if within[i, j] or within[j, i]}
    true_now = {(min(pair), max(pair)) for pair in now}
    arrows = {(i, j) for i in range(n) for j in range(n) if within[i, j] and not within[j, i]}
    judged = {(i, j) for i, j in arrows if (min(i, j), max(i, j)) in true_now}
    return Rates(
        share(len(lagged & late), len(late)),
        share(len((lagged & cross) - late), len(cross - late)),
        share(len(found_now & true_now), len(true_now)),
        share(len(found_now - true_now), len(joined - true_now)),
        share(len(judged & now), len(arrows)),
        share(len(judged & now), len(now)),
    )


def share(part: int, whole: int) -> float | None:
    """A share; None of nothing."""
    return part / whole if whole else None


def by_us(rows: Rows, alpha: float = ALPHA) -> tuple[NDArray[np.int64], set[tuple[int, int, int]], float]:
    """Edges within a step, lagged ones, and seconds."""
    statistics = statistics_of(rows)
    started = process_time()
    found = pcmci_plus(statistics, Run(), lags=LAGS, alpha=alpha)
    seconds = process_time() - started
    marks = found.plain_graph.to_numpy()
    n = rows.shape[1]
    lagged = {(int(i % n), int(j), int(i // n)) for i, j in np.argwhere(marks[n:, :n]).tolist()}
    lagged = {(i, j, lag + 1) for i, j, lag in lagged}
    return marks[:n, :n].astype(np.int64), lagged, seconds


def by_peer(series: list[Rows], folder: Path, alpha: float = ALPHA) -> list[dict[str, Any]]:
    """The same of tigramite, for several series in one process."""
    file = folder / "series.npz"
    np.savez(file, **{f"series{k}": rows for k, rows in enumerate(series)})
    done = run_worker("pcmci_tigramite.py", file, LAGS, alpha, peer=PEER, **one_thread())
    assert done is not None
    found = []
    for rows, one in zip(series, done["found"], strict=True):
        n = rows.shape[1]
        within = np.zeros((n, n), dtype=np.int64)
        lagged = set()
        for i, j, lag, mark in one["links"]:
            if lag:
                lagged.add((i, j, lag))
            elif mark == "-->":
                within[i, j] = 1
            elif mark in ("o-o", "x-x"):
                within[i, j] = within[j, i] = 1
        found.append({"within": within, "lagged": lagged, "cpu": one["cpu"]})
    return found


def averages(found: list[Rates]) -> list[tuple[float, float]]:
    """The mean of each rate, with its standard error."""
    pairs = []
    for rates in zip(*found, strict=True):
        known = [one for one in rates if one is not None]
        spread = float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0
        pairs.append((mean(known) if known else float("nan"), spread))
    return pairs


def worst_difference(ours: list[Rates], theirs: list[Rates]) -> float:
    """The largest mean paired difference of a rate, in its standard errors."""
    worst = 0.0
    for mine, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        left = [a - b for a, b in zip(mine, other, strict=True) if a is not None and b is not None]
        if len(left) > 1 and (spread := float(np.std(left, ddof=1) / np.sqrt(len(left)))) > 0:
            worst = max(worst, abs(mean(left)) / spread)
    return worst


def compare_with_peer(
    problems: list[Problem], seeds: int, folder: Path, *, peer: bool
) -> tuple[list[list[str]], list[list[str]]]:
    """A line for each problem and program, and the promises."""
    lines, kept, ratios, worst = [], [], [], 0.0
    by_us(draw(problems[0], 0)[1])  # kernels are compiled
    for problem in problems:
        note(f"N = {problem.nodes}, T = {problem.steps}, a = {problem.autocorrelation}")
        drawn = [draw(problem, seed) for seed in range(seeds)]
        ours, seconds = [], []
        for truth, rows in drawn:
            within, lagged, took = by_us(rows)
            ours.append(rate(truth, within, lagged))
            seconds.append(took)
        lines.append(line(problem, "dagora", ours, seconds))
        if not peer:
            continue
        found = by_peer([rows for _, rows in drawn], folder)
        theirs = [
            rate(truth, one["within"], one["lagged"]) for (truth, _), one in zip(drawn, found, strict=True)
        ]
        lines.append(line(problem, PEER, theirs, [one["cpu"] for one in found]))
        ratios += [one["cpu"] / took for one, took in zip(found, seconds, strict=True)]
        worst = max(worst, worst_difference(ours, theirs))
    if peer:
        kept.append(
            [
                "time",
                f"≥ {FASTER:.0f} × tigramite",
                f"median {median(ratios):.0f} ×, {min(ratios):.0f} to {max(ratios):.0f}",
                verdict(median(ratios) >= FASTER),
            ]
        )
        kept.append(
            [
                "rates",
                f"paired differences ≤ {WITHIN_ERRORS:g} standard errors",
                f"at most {worst:.1f}",
                verdict(worst <= WITHIN_ERRORS),
            ]
        )
    return lines, kept


def line(problem: Problem, program: str, found: list[Rates], seconds: list[float]) -> list[str]:
    """The rates of a program on a problem."""
    rates = averages(found)
    shown = [f"{value:.3f} ± {spread:.3f}" for value, spread in rates]
    return [
        str(problem.nodes), str(problem.steps), f"{problem.autocorrelation:g}", program, *shown,
        digits(median(seconds)),
    ]  # fmt: skip


def calibration(seeds: int) -> list[str]:
    """How often independent series with an autocorrelation of 0.95 are joined within a step."""
    found = pairs = lagged = 0
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7])
        rows = rng.normal(size=(BURN_IN + 500, 5))
        for t in range(1, len(rows)):
            rows[t] += 0.95 * rows[t - 1]
        within, late, _ = by_us(rows[BURN_IN:], LEVEL)
        found += int(np.triu(within | within.T, 1).sum())
        lagged += sum(i != j for i, j, _ in late)
        pairs += 10
    measured = found / pairs
    return [
        f"independent series, a = 0.95, level {LEVEL:g}",
        f"{LOW:.0%}–{HIGH:.0%} of pairs within a step",
        f"{measured:.1%} of {pairs} pairs; {lagged / (pairs * 2 * LAGS):.1%} of lagged ones",
        verdict(LOW <= measured <= HIGH),
    ]


def wide() -> list[str]:
    """Time and memory of a hundred variables over 10⁵ steps."""
    graph: DAG = dagora.random_dag("er", 100, 1.0, 1)
    made = dagora.simulate_series(graph, 100_000, 1, lags=LAGS, lagged_degree=0.3)
    statistics = SeriesStatistics(Panel.of_table(made.table, "t", "series"))
    cpu, wall = process_time(), perf_counter()
    found = pcmci_plus(statistics, Run(), lags=LAGS)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    comparison = dagora.compare(found.graph, made.graph.window)
    measured = (
        f"{wall:.0f} s ({cpu:.0f} s of processors); {found.stats['tests']:.0f} tests; SHD of the class "
        f"{comparison.cpdag.shd} at {len(made.graph.edges)} edges"
    )
    return [f"100 variables, 10⁵ steps, {LAGS} lags", "≤ 60 s on two cores", measured, verdict(wall <= 60)]


def main() -> None:
    parser = argparse.ArgumentParser(description="PCMCI+ against tigramite and simulated truth.")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--nodes", type=int, nargs="*", default=[5, 10])
    parser.add_argument("--steps", type=int, nargs="*", default=[500])
    parser.add_argument("--autocorrelation", type=float, nargs="*", default=[0.3, 0.8, 0.95])
    parser.add_argument("--calibration", type=int, default=200, help="series of the check of the level")
    parser.add_argument("--peer", action="store_true", help="run tigramite on the same series")
    parser.add_argument("--wide", action="store_true", help="100 variables over 10⁵ steps")
    parser.add_argument("--output", type=Path, help="write the report to this file too")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DagoraWarning)  # that rows resemble the row before them
    if arguments.peer:
        require([PEER])
    problems = [
        Problem(n, steps, a)
        for n in arguments.nodes for steps in arguments.steps for a in arguments.autocorrelation
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        lines, kept = compare_with_peer(problems, arguments.seeds, Path(folder), peer=arguments.peer)
    if arguments.calibration:
        note("calibration")
        kept.append(calibration(arguments.calibration))
    if arguments.wide:
        note("wide")
        kept.append(wide())
    header = [
        "N", "T", "a", "program", "lagged TPR", "FPR", "within TPR", "FPR", "precision", "recall", "median s",
    ]  # fmt: skip
    parts = [
        f"{arguments.seeds} series each.",
        markdown_table(header, lines),
        promises(kept),
        pinned([PEER] if arguments.peer else []),
        machine("dagora", "numpy", "scipy", "numba"),
    ]
    deliver("\n\n".join(parts), arguments.output)


if __name__ == "__main__":
    main()
