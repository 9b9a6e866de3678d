"""Section 5.2, time series: ADMM over sites that have series, beside voting, averaging and one secure sum.

The paper says that its method extends to dynamic networks and shows no numbers. Here 32 independent series of
16 steps are dealt out to K sites, as many to each. Weights within a step (W) and from one step earlier (A)
are judged apart: SHD, TPR and FDR.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.api.learn import learn
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DagoraError, DagoraWarning
from dagora.data.partition import split_series
from dagora.data.series import Timing
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.metrics import compare
from dagora.graph.random_graphs import random_dag
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.network.autoregression import SeriesSimulation, simulate_series
from dagora.papers.admm.contenders import ALL_DATA, cells_of
from dagora.papers.admm.curves import NUMBERS, charts_of, round_limit_notes, size_of, table_of
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import ResultTable
from dagora.parties.horizontal.learners.baselines import mean_weights, tally

Vector = NDArray[np.float64]

VOTE, AVERAGE, POOLED = "vote", "average", "dynotears"
LINES: dict[str, Parameters] = {
    "ADMM": {"method": "admm-dynamic"},
    "voting": {"method": VOTE},
    "averaging": {"method": AVERAGE},
    "secure-sum DYNOTEARS": {"method": POOLED},
    ALL_DATA: {"method": POOLED, "sites": 1},
}
TIMING = Timing("t", "series")
# One series for each of the most sites, and 512 rows in all, those of sections 6.3 and 6.4 of the paper. It
# has no experiment in time: λ and the thresholds are by hand.
SERIES, STEPS = 32, 16
SETTINGS: Parameters = {
    "n": SERIES * STEPS, "series": SERIES, "lambda1": 0.05, "lambda_lagged": 0.05,
    "threshold": 0.3, "threshold_lagged": 0.1,
}  # fmt: skip
OPTIONS = ("lambda1", "lambda_lagged", "threshold", "threshold_lagged")
# Full: 30 runs and d as in section 6, and up to as many sites as there are series; quick: by hand.
QUICK_RUNS, FULL_RUNS = 5, 30
NODES, FULL_NODES = (10, 20), (10, 20, 50)
SITES, FULL_SITES = (2, 8, 32), (2, 4, 8, 16, 32)
PARTS = {"within": "W, within a step", "lagged": "A, from one step earlier"}

NOTES = paragraphs("""
Means ± standard errors over random networks in time: within a step an Erdős–Rényi graph with exactly d edges
and weights ±[0.5, 2], from one step earlier d edges on average, standard Gaussian noise, stable series
(`dagora simulate --sem var`). 32 series of 16 steps are dealt out whole, 32/K to each site: 480 windows of
two steps in all, 15 at each of 32 sites. λ = 0.05 for both kinds of weights, thresholds 0.3 (W) and 0.1 (A),
for all methods.

The paper (section 5.2) says that its ADMM applies to such data, with h on W alone, and has no experiment on
it. “ADMM” is our `admm-dynamic`: the rounds and schedules of `admm`. In it the coordinator is shown the
covariance of the windows of every site. “secure-sum DYNOTEARS” is DYNOTEARS on the second moments of windows,
summed over the sites (here in the clear, the same but for the fixed point), “all data” DYNOTEARS on the
pooled series: the same but for rounding.

“voting” and “averaging” are those of the paper for rows, applied to DYNOTEARS at each site alone: edges that
more than half of the sites have; the mean of weights that no site has cut, cut then. Edges within a step that
close a cycle are dropped, weakest first (“cut”); edges from earlier steps cannot close one.

CPU seconds are for one run, all sites together, compilation excluded, on the machine at hand.
""")


def dynamic(size: Size) -> Experiment:
    """Make the experiment, from cheap to expensive."""
    nodes, sites = (FULL_NODES, FULL_SITES) if size.full else (NODES, SITES)
    seeds = size.seeds(QUICK_RUNS, FULL_RUNS)
    cells = [cell for d in nodes for cell in cells_of(LINES, {**SETTINGS, "d": d}, sites, seeds)]
    return Experiment("admm/dynamic", tuple(cells), measure, report)


def simulate_cell(parameters: Parameters) -> SeriesSimulation:
    """Draw the network and the series of a cell, which do not depend on the number of sites."""
    seed, series = int(parameters["seed"]), int(parameters["series"])
    truth = random_dag("er", int(parameters["d"]), 1, seed, exact=True)
    return simulate_series(truth, int(parameters["n"]) // series, seed, series=series)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """One method on one set of series."""
    warm_up(str(parameters["method"]), min(int(parameters["sites"]), 2))
    simulation = simulate_cell(parameters)
    started = time.process_time()
    with quiet():
        graph, more = learn_cell(parameters, simulation.table, run)
    seconds = time.process_time() - started
    found = compare(graph, simulation.graph.window)
    numbers: dict[str, Any] = {**more, "cpu_seconds": seconds}
    for part, metrics in (("within", found.within), ("lagged", found.lagged)):
        if metrics is None:
            raise DagoraError("the graph in time has lost its slices")
        numbers |= {f"{part}_{number}": getattr(metrics, number) for number in NUMBERS}
    return numbers


def learn_cell(parameters: Parameters, table: Table, run: Run) -> tuple[DAG, Numbers]:
    """Run one of the methods."""
    method, sites = str(parameters["method"]), int(parameters["sites"])
    settings: dict[str, Any] = {name: parameters[name] for name in OPTIONS}
    settings |= {"time": TIMING.time, "series": TIMING.series, "budget": run.budget}
    settings |= {"seed": int(parameters["seed"])}
    if sites == 1:
        return ending_of(learn(table, method, **settings))
    parts = split_series(table, TIMING, sites)
    if method in {VOTE, AVERAGE}:
        return merge_sites(method, parts, settings)
    dealt = {f"site{k:03d}": part for k, part in enumerate(parts)}
    return ending_of(learn_federated(dealt, method, secure=False, **settings))


def ending_of(result: Result) -> tuple[DAG, Numbers]:
    """A result's graph, and how its run ended."""
    return graph_of(result), {
        "dropped": result.stats.get("dropped_edges"),
        "rounds": result.stats.get("rounds"),
        "finished": result.status in {"finished", "local-optimum"},
    }


def graph_of(result: Result) -> DAG:
    """The window that was learned."""
    if not isinstance(result.graph, DAG) or result.weights is None:
        raise DagoraError(f"{result.method} failed: {result.message}")
    return result.graph


def merge_sites(method: str, parts: Sequence[Table], settings: dict[str, Any]) -> tuple[DAG, Numbers]:
    """Learn at each site alone and merge by vote or mean; the mean is cut, its terms are not."""
    least = {"threshold": settings["threshold"], "threshold_lagged": settings["threshold_lagged"]}
    own = {**settings, **dict.fromkeys(least, 0.0)} if method == AVERAGE else settings
    results = [learn(part, POOLED, **own) for part in parts]
    nodes = graph_of(results[0]).nodes
    weights = np.stack([result.weights for result in results if result.weights is not None])
    strength, enough = mean_weights(weights), least
    if method == VOTE:
        strength, enough = tally(weights), dict.fromkeys(least, 0.5 + 0.25 / len(parts))
    d = len(nodes) // 2
    support = np.zeros(strength.shape, dtype=np.bool_)
    none = np.zeros((d, d), dtype=np.bool_)
    support[:d, :d], dropped = acyclic_support(strength[:d, :d], enough["threshold"], none)
    support[d:, :d] = np.abs(strength[d:, :d]) >= enough["threshold_lagged"]
    finished = all(result.status != "time-limit" for result in results)
    return DAG.from_numpy(support, nodes), {"dropped": len(dropped), "rounds": None, "finished": finished}


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings about few windows, which are what is studied here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagoraWarning)
        yield


@cache
def warm_up(method: str, sites: int) -> None:
    """Compile once per process, so that no cell's time contains it."""
    parameters: Parameters = {
        **SETTINGS, "n": 64, "series": 4, "d": 3, "seed": 0, "method": method, "sites": sites,
    }  # fmt: skip
    with quiet():
        learn_cell(parameters, simulate_cell(parameters).table, Run())


def report(measured: Sequence[MeasuredCell]) -> Report:
    """W and A apart, over the number of sites, a panel for each number of variables."""
    tables: list[ResultTable] = []
    charts: dict[str, str] = {}
    for part, words in PARTS.items():
        cells = [part_of(cell, part) for cell in measured]
        tables.append(table_of(cells, LINES, "d", name=part, title=f"Distance to the truth: {words}"))
        drawn = charts_of(
            cells, LINES, "d", "sites", title=f"DYNOTEARS over sites, {words}", x_label="sites K"
        )
        charts |= {f"{part}-{name}": chart for name, chart in drawn.items()}
    size = size_of(measured, "no experiment")
    return Report(
        f"admm/dynamic: networks in time, varying number of variables and sites; {size}",
        tuple(tables),
        charts,
        (*NOTES, *round_limit_notes(measured, LINES)),
    )


def part_of(cell: MeasuredCell, part: str) -> MeasuredCell:
    """A cell with the numbers of one part as its SHD, TPR and FDR; W alone can be cut."""
    numbers = {number: cell.numbers[f"{part}_{number}"] for number in NUMBERS}
    dropped = cell.numbers["dropped"] if part == "within" else None
    return MeasuredCell(cell.parameters, {**cell.numbers, **numbers, "dropped": dropped})
