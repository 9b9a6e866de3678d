"""The methods that are compared on one table: NOTEARS by two solvers, GES, PC, LiNGAM, sorting by variance.

`notears` is our path solver, `notears-published` is algorithm 1 of the paper and nothing after it. `ges` has
the Gaussian BIC, and `ges-penalised` the same with a factor on its penalty (`GES_PENALTY`). `pc` tests
partial correlations at the library's level. `ica-lingam` is the LiNGAM that the paper cites (Shimizu et al.
2006), `lingam` DirectLiNGAM.

Sort-and-regress (Reisach, Seiler & Weichwald 2021) is the null model of these simulations: with weights above
½ and equal noise, variances grow along the edges, and their order gives the graph's order away.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.api.learn import learn
from dagora.base.errors import DagoraError
from dagora.data.table import Table
from dagora.graph.cpdag import Graph
from dagora.graph.dag import DAG
from dagora.graph.metrics import compare
from dagora.graph.random_graphs import random_dag
from dagora.learners.optimise.sortability import sort_and_regress, varsortability
from dagora.learners.run import Run
from dagora.network.simulate import Simulation, simulate
from dagora.papers.cell import Parameters
from dagora.stats.moments import table_moments

# Edges per node: ER-2 of figure 1 and SF-4 of figure 2.
GRAPHS = {"ER2": ("er", 2), "SF4": ("sf", 4)}
OURS, ALGORITHM_1 = "path solver (ours)", "Algorithm 1 (published)"
# With 20 rows and 100 columns, plain BIC takes chance for edges: about 500 pairs of independent columns gain.
# At four times its penalty about 6 do. It is also about that of an extended BIC, ln n + 2 ln d an edge.
GES_PENALTY = 4.0


@dataclass(frozen=True)
class TimedGraph:
    """A learned graph and the processor time it took."""

    graph: Graph
    cpu_seconds: float


def simulate_cell(parameters: Parameters) -> Simulation:
    """Draw the graph and the table of a cell; they depend on `graph d n noise seed` and on nothing else."""
    kind, degree = GRAPHS[str(parameters["graph"])]
    seed = int(parameters["seed"])
    truth = random_dag(kind, int(parameters["d"]), degree, seed)
    return simulate(truth, str(parameters["noise"]), int(parameters["n"]), seed)


def estimate(parameters: Parameters, table: Table, run: Run) -> TimedGraph:
    """Learn a graph by the method of a cell."""
    method = str(parameters["method"])
    warm_up(method)
    started = time.process_time()
    graph = learn_cell(parameters, table, run)
    return TimedGraph(graph, time.process_time() - started)


def learn_cell(parameters: Parameters, table: Table, run: Run) -> Graph:
    """Run one of the methods."""
    method = str(parameters["method"])
    if method == "sort-and-regress":
        weights = sort_and_regress(covariance(table), float(parameters["lambda1"]))
        return DAG.from_numpy(np.abs(weights) >= float(parameters["threshold"]), table.names)
    options: dict[str, Any]
    if method.startswith("ges"):
        penalty = float(parameters["penalty"]) if method == "ges-penalised" else 1.0
        options = {"method": "ges", "score": "bic-gaussian", "penalty": penalty}
    elif method in {"pc", "lingam", "ica-lingam"}:
        options = {"method": method}
    else:
        options = {name: float(parameters[name]) for name in ("lambda1", "threshold")}
        options |= {"method": "notears", "published": method == "notears-published"}
    seed = int(parameters.get("seed", 0))
    result = learn(table, seed=seed, budget=run.budget, on_event=run.on_event, **options)
    if result.status == "failed":
        raise DagoraError(f"{method} failed: {result.message}")
    return result.plain_graph


def covariance(table: Table) -> NDArray[np.float64]:
    """Return the second moments about the mean, XᵀX/n."""
    moments = table_moments(table)
    return moments.scatter / moments.n


@cache
def warm_up(method: str) -> None:
    """Compile once per process, so that no cell's time has it."""
    parameters: Parameters = {
        "graph": "ER2", "d": 4, "n": 30, "noise": "gaussian", "seed": 0,
        "method": method, "lambda1": 0.1, "threshold": 0.3, "penalty": 1.0,
    }  # fmt: skip
    learn_cell(parameters, simulate_cell(parameters).table, Run())


def evaluate_graph(graph: Graph, truth: DAG, table: Table) -> dict[str, float | None]:
    """Distances to the truth, and the var-sortability of the truth on this table.

    `shd`, `fdr`, `tpr` are against the true DAG, where an undirected edge of a CPDAG counts as correct if the
    truth has it in either direction, as the paper counts. `class_shd` compares equivalence classes.
    """
    comparison = compare(graph, truth)
    given_away = varsortability(truth.to_numpy(), np.diag(covariance(table))) if truth.edges else None
    return {
        "shd": comparison.dag.shd,
        "fdr": comparison.dag.fdr,
        "tpr": comparison.dag.tpr,
        "reversed": comparison.dag.reversed,
        "class_shd": comparison.cpdag.shd,
        "varsortability": given_away,
        "edges": len(graph.edges) + len(graph.undirected),
    }
