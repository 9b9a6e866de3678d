"""Chains on many columns: do they converge, in how many CPU seconds, and do independent runs agree?

Tables are drawn from random networks: linear with normal noise (bge), or levels with tables of probabilities
from Dirichlet(1/2) (bdeu). Two runs with other seeds find a search space each, and start every chain from a
random order. Their edge probabilities are compared with each other and with the network: of all pairs of
columns, the probability that they are adjacent.
"""

from __future__ import annotations

import itertools
import resource
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import dagora
from large_table import random_network

Matrix = NDArray[np.float64]

SCORES = {"gaussian": "bge", "discrete": "bdeu"}
HEADER = (
    "columns", "data", "degree", "rows", "seed", "chain", "CPU s", "R-hat", "edges", "ESS", "verdict",
    "apart: max", "mean", "correlation", "true", "false", "of", "space",
)  # fmt: skip
CALIBRATION_HEADER = ("probability", "pairs", "mean", "adjacent")
BOUNDS = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)


@dataclass(frozen=True)
class Convergence:
    """Two runs on one table: the posteriors, the CPU seconds of each, and the network's adjacencies."""

    data: str
    degree: float
    rows: int
    seed: int
    runs: tuple[dagora.Posterior, ...]
    seconds: tuple[float, ...]
    truth: NDArray[np.bool_]

    def line(self) -> list[str]:
        """One line of the report: the worse run, and how far the two are apart."""
        one, other = (probabilities(run) for run in self.runs)
        beside = ~np.eye(len(one), dtype=np.bool_)
        apart = np.abs(one - other)[beside]
        pairs, adjacent = self.pairs()
        first = self.runs[0]
        found = [run.diagnostics for run in self.runs]
        return [
            f"{len(one)}",
            self.data,
            f"{2 * self.degree:g}",
            f"{self.rows}",
            f"{self.seed}",
            first.method,
            ", ".join(f"{each:.0f}" for each in self.seconds),
            f"{max(each.rhat for each in found):.3f}",
            f"{max(each.edge_rhat for each in found):.3f}",
            f"{min(each.edge_ess for each in found):.0f}",
            ", ".join(sorted({each.verdict for each in found})),
            f"{apart.max():.3f}",
            f"{apart.mean():.5f}",
            f"{np.corrcoef(one[beside], other[beside])[0, 1]:.4f}",
            f"{pairs[adjacent].sum():.1f}",
            f"{pairs[~adjacent].sum():.1f}",
            f"{int(adjacent.sum())}",
            f"{int(first.stats['families']):,}",
        ]

    def pairs(self) -> tuple[Matrix, NDArray[np.bool_]]:
        """Probability of each pair to be adjacent (first run), and whether it is in the network."""
        upper = np.triu_indices(len(self.truth), 1)
        found = probabilities(self.runs[0])
        return (found + found.T)[upper], (self.truth | self.truth.T)[upper]


def probabilities(run: dagora.Posterior) -> Matrix:
    """Edge probabilities, [i, j] is i → j; nothing on the diagonal."""
    return np.nan_to_num(np.asarray(run.edge_probability, dtype=np.float64))


def simulated(data: str, nodes: int, degree: float, rows: int, seed: int) -> tuple[dagora.Table, dagora.DAG]:
    """A table and the graph it was drawn from; `degree` is the number of edges per node."""
    if data == "discrete":
        network = random_network(nodes, seed, degree)
        return dagora.sample_network(network, rows, seed), network.graph
    graph = dagora.random_dag("er", nodes, degree, seed=seed)
    return dagora.simulate(graph, data, rows, seed=seed).table, graph


def measure_convergence(
    data: str, method: str, nodes: int, degree: float, rows: int, seed: int, draws: int
) -> Convergence:
    """Two runs of a sampler on one table, each on one thread."""
    table, graph = simulated(data, nodes, degree, rows, seed)
    runs, seconds = [], []
    for own in (1, 2):
        begun = cpu_seconds()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runs.append(dagora.sample(table, method, score=SCORES[data], draws=draws, seed=own))
        seconds.append(cpu_seconds() - begun)
    aligned = [runs[0].nodes.index(name) for name in graph.nodes]
    truth = np.zeros((nodes, nodes), dtype=np.bool_)
    truth[np.ix_(aligned, aligned)] = graph.to_numpy()
    return Convergence(data, degree, rows, seed, tuple(runs), tuple(seconds), truth)


def cpu_seconds() -> float:
    """CPU seconds of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def compile_chains(methods: list[str]) -> None:
    """Run the samplers on small tables, so that no run contains compilation."""
    for data in SCORES:
        for method in methods:
            measure_convergence(data, method, 14, 1.0, 100, 1, 10)


def calibration(found: list[Convergence]) -> Iterator[list[str]]:
    """Pairs of columns by the probability that they are adjacent: how many of them are."""
    both = [one.pairs() for one in found]
    values = np.concatenate([pairs for pairs, _ in both])
    adjacent = np.concatenate([truth for _, truth in both])
    for low, high in itertools.pairwise(BOUNDS):
        chosen = (values >= low) & ((values < high) | (high == BOUNDS[-1]))
        if chosen.any():
            yield [
                f"{low:g} to {high:g}",
                f"{int(chosen.sum()):,}",
                f"{values[chosen].mean():.3f}",
                f"{adjacent[chosen].mean():.3f}",
            ]
