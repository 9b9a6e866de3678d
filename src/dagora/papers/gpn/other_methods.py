"""The methods beside GP networks: graphs of kernel PC and DiBS+, the empty graph, and their measures.

Kernel PC is no Bayesian method: the paper runs it on samples of the rows, half as many drawn with
replacement, and takes the graphs as draws. That is the way `half-rows`; `halves` draws without replacement,
which is the library's default for methods that test. DiBS+ is `sample` with the method dibs-neural, as the
paper has it, and with the method dibs on BGe, which the paper has not.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.api.bootstrap import bootstrap
from dagora.api.sample import sample
from dagora.base.errors import DagoraError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.equivalence import cpdag_matrix
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Parameters
from dagora.posterior.resample.strengths import Strengths
from dagora.posterior.summary.posterior import Posterior

Marks = NDArray[np.bool_]

EMPTY, DIBS, NEURAL = "empty", "dibs", "dibs-neural"
PARTICLES = (DIBS, NEURAL)  # methods that have particles, and no samples of the rows
PUBLISHED_WAY = "half-rows"
PAPER_NAMES = {"kpc-dc": "kPC-DC", "kpc-hsic": "kPC-HSIC", NEURAL: "DiBS+"}
# The authors' one number of DiBS+: they ran these, and chose by E-SHD against the truth (2, everywhere).
PARS = (1.0, 1.25, 1.5, 1.75, 2.0)
CHOSEN_PAR = 2.0
OF_PARTICLES = ("steps", "noise", "weight_sd", "prior", "particle_weights")
# Particles that become no DAG are started anew, so often at most, with another seed.
STARTS, OTHER_SEED = 10, 1000
NEAR = 1.0  # a published E-SHD counts as met within this distance


def published_dibs(par: float, particles: int) -> Parameters:
    """DiBS+ as the authors' code has it: noise of variance 0.1 par, weights of standard deviation par.

    Particles count alike, under the scale-free prior.
    """
    return {
        "method": NEURAL, "particles": particles, "noise": round(0.1 * par, 6), "weight_sd": par,
        "prior": "scale-free", "particle_weights": "equal",
    }  # fmt: skip


def timed_graphs(parameters: Parameters, table: Table, run: Run) -> tuple[Marks, NDArray[np.float64], float]:
    """The graphs of a method, the share of each, and CPU seconds without compilation."""
    if parameters["method"] != EMPTY:
        graphs_of({**parameters, "samples": 2, "particles": 2, "steps": 2}, table, run)  # compiles kernels
    started = time.process_time()
    graphs, shares = graphs_of(parameters, table, run)
    return graphs, shares, time.process_time() - started


def graphs_of(parameters: Parameters, table: Table, run: Run) -> tuple[Marks, NDArray[np.float64]]:
    """Distinct graphs that a method found, `[graphs, nodes, nodes]`, and the share of each."""
    method, seed = str(parameters["method"]), int(parameters["seed"])
    nodes = len(table.names)
    if method == EMPTY:
        return np.zeros((1, nodes, nodes), dtype=np.bool_), np.ones(1)
    options: dict[str, Any] = {"seed": seed, "budget": run.budget}
    found: Posterior | Strengths
    if method in PARTICLES:
        options |= {"draws": int(parameters["particles"])}
        options |= {name: parameters[name] for name in OF_PARTICLES if name in parameters}
        for start in range(STARTS):
            options["seed"] = seed + start * OTHER_SEED
            found = sample(table, method, score="bge" if method == DIBS else None, **options)
            if found.draws.log_scores.size:
                break
    else:
        options |= {name: parameters[name] for name in ("samples", "resample", "alpha", "max_given")}
        found = bootstrap(table, method, **options)
    if found.status != "finished":
        raise DagoraError(f"{method} did not finish: {found.message}")
    listed = found.graphs()
    return np.array([graph.to_numpy() for graph, _ in listed]), np.array([share for _, share in listed])


def evaluate_graphs(graphs: Marks, shares: NDArray[np.float64], truth: DAG) -> dict[str, float]:
    """E-SHD, E-TP, E-FP against the true DAG, and E-SHD of classes; `[i, j]` and `[j, i]` is i — j.

    >>> truth = DAG("abc", [("a", "b"), ("b", "c")])
    >>> backward = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]], dtype=bool)  # b → a, b → c
    >>> numbers = evaluate_graphs(backward[None], np.ones(1), truth)
    >>> numbers["shd"], numbers["tp"], numbers["fp"], numbers["class_shd"]
    (1.0, 1.5, 0.5, 0.0)
    """
    true = truth.to_numpy()
    classes = np.array([class_of(graph) for graph in graphs])
    joined, truly = graphs | graphs.transpose(0, 2, 1), true | true.T
    pairs = np.triu(np.ones_like(true), 1).astype(np.bool_)
    same = (graphs == true) & (graphs == true).transpose(0, 2, 1)
    right = (joined & truly & same & pairs).sum(axis=(1, 2))
    turned = (joined & truly & ~same & pairs).sum(axis=(1, 2))
    extra = (joined & ~truly & pairs).sum(axis=(1, 2))
    true_class = cpdag_matrix(true)
    alike = (classes == true_class) & (classes == true_class).transpose(0, 2, 1)
    return {
        "shd": float(shares @ (len(truth.edges) - right + extra)),
        "tp": float(shares @ (right + turned / 2)),
        "fp": float(shares @ (extra + turned / 2)),
        "class_shd": float(shares @ (~alike & pairs).sum(axis=(1, 2))),
        "edges": float(shares @ (joined & pairs).sum(axis=(1, 2))),
    }


def class_of(graph: Marks) -> Marks:
    """The class of a DAG; a graph with undirected edges stands for itself."""
    return graph if (graph & graph.T).any() else cpdag_matrix(graph)


def like(measured: Sequence[MeasuredCell], wanted: Parameters) -> list[MeasuredCell]:
    """Cells whose parameters have the values that are wanted."""
    return [
        cell for cell in measured if all(cell.parameters.get(name) == value for name, value in wanted.items())
    ]


def versus(ours: float, theirs: float) -> str:
    """Two E-SHDs, and whether they are near each other.

    >>> versus(6.0, 7.05), versus(16.9, 16.87)
    ('6.00 against 7.05, not within ±1', '16.90 against 16.87, within ±1')
    """
    verdict = "within" if abs(ours - theirs) <= NEAR else "not within"
    return f"{ours:.2f} against {theirs:.2f}, {verdict} ±{NEAR:g}"
