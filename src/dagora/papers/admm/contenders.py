"""The methods compared over sites: ADMM, what sites can do alone, and NOTEARS on sums or pooled rows.

All are given the same rows, dealt out to K sites in their order. Sums are added in the clear
(`OpenFederation`), as masked sums are but for rounding; `compare_with_pooled_rows` shows that once
with masks. λ and the threshold are the same for all methods of a figure.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.api.learn import learn
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DagoraError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.metrics import compare
from dagora.graph.random_graphs import random_dag
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.network.simulate import Simulation, simulate
from dagora.papers.cell import Numbers, Parameters
from dagora.parties.horizontal.learners.baselines import majority
from dagora.parties.horizontal.plan.plan import WEIGHT_MODELS

ALL_DATA, SECURE_SUM, PUBLISHED = "all data", "secure-sum NOTEARS", "ADMM, published"
VOTES, MEANS, BEST = "voting, uncut", "averaging, uncut", "best"
PC_VOTING, FGES_VOTING = "PC-Voting", "FGES-Voting"
MASKED = "masked"  # the cell that shows secure sums with their masks
# NOTEARS by the published algorithm, or NOTEARS-MLP, at every site; votes and means keep their cycles, as the
# paper's do.
ALONE = "alone"
PUBLISHED_VOTES, PUBLISHED_MEANS = "voting, published NOTEARS", "averaging, published NOTEARS"
PUBLISHED_BEST, PUBLISHED_ALL_DATA = "best, published NOTEARS", "all data, published NOTEARS"

# A line that is `uncut` has no cells of its own: it is another judgement of the same graphs.
LINEAR: dict[str, Parameters] = {
    "ADMM": {"method": "admm"},
    PUBLISHED: {"method": "admm", "published": 1},
    "voting": {"method": "vote"},
    VOTES: {"method": "vote", "uncut": 1},
    "averaging": {"method": "average"},
    MEANS: {"method": "average", "uncut": 1},
    BEST: {"method": "best"},
    SECURE_SUM: {"method": "notears"},
    ALL_DATA: {"method": "notears", "sites": 1},
}
# The baselines of section 6, by the published algorithm: one cell has the weights, three lines judge it.
PUBLISHED_LOCALLY: dict[str, Parameters] = {
    PUBLISHED_VOTES: {"method": ALONE, "judged": "vote"},
    PUBLISHED_MEANS: {"method": ALONE, "judged": "average"},
    PUBLISHED_BEST: {"method": ALONE, "judged": "best"},
    PUBLISHED_ALL_DATA: {"method": "notears", "published": 1, "sites": 1},
}
# Votes on the graphs of other learners: the voted graph is judged with its cycles and undirected edges.
VOTED: dict[str, Parameters] = {
    PC_VOTING: {"method": "vote", "model": "pc"},
    FGES_VOTING: {"method": "vote", "model": "ges"},
}
NONLINEAR: dict[str, Parameters] = {
    "ADMM": {"method": "admm-mlp"},
    PUBLISHED: {"method": "admm-mlp", "published": 1, "lambda1": 0.001},  # appendix B
    VOTES: {"method": ALONE, "model": "mlp", "judged": "vote"},
    MEANS: {"method": ALONE, "model": "mlp", "judged": "average"},
    BEST: {"method": ALONE, "model": "mlp", "judged": "best"},
    ALL_DATA: {"method": "notears-mlp", "sites": 1},
}
# Lines that differ in these alone judge the same cells.
JUDGED = ("uncut", "judged")
OPTIONS = ("lambda1", "threshold", "model", "hidden")
# What learners of graphs have no use for.
HALF = 0.5
UNPENALISED = ("pc", "ges")
OF_WEIGHTS = ("lambda1", "threshold")


def simulate_cell(parameters: Parameters) -> Simulation:
    """Draw the graph and the rows of a cell; they depend on `sem d n seed`, not on the number of sites.

    The graph is Erdős–Rényi with d edges, exactly so where `edges` says it (section 6, “Simulations”), else
    expected; weights are ±[0.5, 2], noise is standard Gaussian.
    """
    seed = int(parameters["seed"])
    truth = random_dag("er", int(parameters["d"]), 1, seed, exact=parameters.get("edges") == "exact")
    return simulate(truth, str(parameters["sem"]), int(parameters["n"]), seed)


def cells_of(
    methods: Mapping[str, Parameters], settings: Parameters, sites: Sequence[int], seeds: Iterable[int]
) -> list[Parameters]:
    """Cells of all methods, run by run: what is stopped early has all lines. Pooled rows come once."""
    return [
        {**settings, "sites": k, **options, "seed": seed}
        for seed in seeds
        for options in methods_of(methods)
        for k in ((1,) if options.get("sites") == 1 else sites)
    ]


def methods_of(lines: Mapping[str, Parameters]) -> list[Parameters]:
    """The options of all lines, once for those that judge the same cells."""
    options = [{name: value for name, value in line.items() if name not in JUDGED} for line in lines.values()]
    return [one for k, one in enumerate(options) if one not in options[:k]]


def dealt_out(table: Table, sites: int) -> dict[str, Table]:
    """The rows in equal parts."""
    return {f"site{k:03d}": part for k, part in enumerate(split_rows(table, sites))}


def evaluate_cell(parameters: Parameters, table: Table, truth: DAG, run: Run) -> Numbers:
    """Learn by the method of a cell and compare with the truth."""
    if parameters["method"] == ALONE:
        if "model" not in parameters:
            warm_up("notears", 1, "")
        started = time.process_time()
        return {**judge_alone(parameters, table, truth, run), "cpu_seconds": time.process_time() - started}
    if parameters.get("sem") != "mlp":
        warm_up(str(parameters["method"]), min(int(parameters["sites"]), 3), str(parameters.get("model", "")))
    started = time.process_time()
    result = learn_cell(parameters, table, truth, run)
    seconds = time.process_time() - started
    on_graphs = votes_on_graphs(parameters)
    graph = vote_graph(result) if on_graphs else result.plain_graph
    comparison = compare(graph, truth, None if on_graphs else result.dropped)
    found, raw = comparison.dag, comparison.raw
    uncut = {} if raw is None else {"uncut_shd": raw.shd, "uncut_tpr": raw.tpr, "uncut_fdr": raw.fdr}
    return {
        **uncut,
        "shd": found.shd,
        "tpr": found.tpr,
        "fdr": found.fdr,
        "edges": len(graph.edges) + len(graph.undirected),
        "dropped": None if on_graphs else result.stats.get("dropped_edges"),
        "rounds": result.stats.get("rounds"),
        "silent": result.stats.get("sites_without_graph"),
        "finished": result.status in {"finished", "local-optimum"},
        "cpu_seconds": seconds,
    }


def judge_alone(parameters: Parameters, table: Table, truth: DAG, run: Run) -> Numbers:
    """One learner at every site, once: numbers of the vote, of the mean, and of the site that is best."""
    settings: dict[str, Any] = {"lambda1": parameters["lambda1"], "threshold": parameters["threshold"]}
    learner: dict[str, Any] = {"method": "notears", "published": True}
    if parameters.get("model") == "mlp":
        learner = {"method": "notears-mlp", "seed": int(parameters["seed"])}
    sites = dealt_out(table, int(parameters["sites"])).values()
    found = [learn(part, budget=run.budget, **learner, **settings) for part in sites]
    weights = np.array([one.raw_weights for one in found])
    threshold = float(settings["threshold"])
    present = np.abs(weights) >= threshold
    graphs = [judge(support, truth) for support in present]
    return {
        "vote": judge(present.mean(axis=0) > HALF, truth),
        "average": judge(np.abs(weights.mean(axis=0)) >= threshold, truth),
        "best": min(graphs, key=lambda numbers: numbers["shd"]),
        "finished": all(one.status == "finished" for one in found),
    }


def judge(support: NDArray[np.bool_], truth: DAG) -> dict[str, float]:
    """Compare a graph with the truth, cycles and all."""
    kept, dropped = acyclic_support(support.astype(float), 0.5, np.zeros_like(support))
    names = truth.nodes
    comparison = compare(DAG.from_numpy(kept, names), truth, [(names[i], names[j]) for i, j in dropped])
    numbers = comparison.raw or comparison.dag
    return {"shd": numbers.shd, "tpr": numbers.tpr, "fdr": numbers.fdr}


def vote_graph(result: Result) -> CPDAG:
    """The graph of the marks that more than half of the sites have."""
    if result.raw_weights is None:
        raise DagoraError("no votes were counted")
    return CPDAG.from_numpy(majority(result.raw_weights), result.graph.nodes)


def votes_on_graphs(parameters: Parameters) -> bool:
    """True if sites show graphs, not weights."""
    return str(parameters.get("model", WEIGHT_MODELS[0])) not in WEIGHT_MODELS


def learn_cell(parameters: Parameters, table: Table, truth: DAG, run: Run) -> Result:
    """Run one of the methods."""
    method, sites = str(parameters["method"]), int(parameters["sites"])
    known: tuple[str, ...] = () if method in UNPENALISED else OPTIONS
    if votes_on_graphs(parameters):
        known = tuple(name for name in OPTIONS if name not in OF_WEIGHTS)
    settings: dict[str, Any] = {name: parameters[name] for name in known if name in parameters}
    if method == "best":
        settings["truth"] = truth
    if "published" in parameters:
        settings["published"] = bool(parameters["published"])
    settings |= {"seed": int(parameters["seed"]), "budget": run.budget, "on_event": run.on_event}
    if sites == 1:
        result = learn(table, method, **settings)
    else:
        result = learn_federated(dealt_out(table, sites), method, secure=False, **settings)
    if result.status == "failed":
        raise DagoraError(f"{method} failed: {result.message}")
    return result


@cache
def warm_up(method: str, sites: int, model: str) -> None:
    """Compile once per process, so that no cell's time contains it; networks compile anew for every size."""
    parameters: Parameters = {
        "sem": "gaussian", "d": 3, "n": 24, "seed": 0, "lambda1": 0.1, "threshold": 0.3,
        "method": method, "sites": sites, **({"model": model} if model else {}),
    }  # fmt: skip
    simulation = simulate_cell(parameters)
    learn_cell(parameters, simulation.table, simulation.graph, Run())


def compare_with_pooled_rows(parameters: Parameters, table: Table, run: Run) -> Numbers:
    """Compare NOTEARS on sums that were masked, message by message, with NOTEARS on the pooled rows."""
    settings: dict[str, Any] = {name: parameters[name] for name in ("lambda1", "threshold")}
    pooled = learn(table, "notears", budget=run.budget, **settings)
    sites = dealt_out(table, int(parameters["sites"]))
    masked = learn_federated(sites, "notears", secure=True, budget=run.budget, **settings)
    if pooled.weights is None or masked.weights is None:
        raise DagoraError("no weights were found")
    received = [masked.stats[f"bytes_from_{site}"] for site in sites]
    return {
        "between": compare(masked.plain_graph, pooled.plain_graph).shd,
        "difference": float(np.abs(masked.weights - pooled.weights).max()),
        "rounds": masked.stats["rounds"],
        "kilobytes": max(received) / 1000,
    }
