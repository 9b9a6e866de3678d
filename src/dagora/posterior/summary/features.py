"""Posterior means of features of a graph, such as "a is an ancestor of b".

With weights w of the draws, the estimate of a feature f is Σ w f(G) / Σ w (Giudice, Kuipers & Moffa 2023, eq.
14). Its Monte Carlo standard error is that of the mean of w (f − estimate) / mean(w), which takes the
autocorrelation of chains into account. A feature is a function of a `DAG`, or one of these about two nodes:
`edge` a → b; `adjacent` an edge in either direction; `path` a directed path from a to b (`ancestor` is the
same); `blanket` a is in the Markov blanket of b. Each distinct graph is evaluated once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.options import find
from dagora.graph.bits import Rows, unpack
from dagora.graph.dag import DAG
from dagora.posterior.summary.diagnostics import mean_error

Matrices = NDArray[np.bool_]
Floats = NDArray[np.float64]

BLOCK = 1 << 24  # cells of adjacency matrices unpacked at a time


@dataclass(frozen=True, slots=True)
class Estimate:
    """A posterior mean and its Monte Carlo standard error: 0 if exact, NaN if it cannot be estimated.

    >>> half = Estimate(0.5, 0.012)
    >>> str(half), float(half)
    ('0.5 ± 0.012', 0.5)
    """

    mean: float
    error: float

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.error:.2g}"


@dataclass(frozen=True, eq=False)
class DistinctGraphs:
    """The different graphs among draws; draw `index[c, t]` is the graph `parents[index[c, t]]`."""

    names: tuple[str, ...]
    parents: Rows
    index: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.parents)

    def matrices(self) -> Iterator[tuple[slice, Matrices]]:
        """Yield slices of the graphs with their adjacency matrices; [k, i, j] is i → j in the k-th graph."""
        nodes = len(self.names)
        step = max(1, BLOCK // nodes**2)
        for start in range(0, len(self), step):
            some = self.parents[start : start + step]
            flat = unpack(some.reshape(-1, some.shape[-1]), nodes)
            yield slice(start, start + len(some)), flat.reshape(-1, nodes, nodes).transpose(0, 2, 1)

    def graph(self, position: int) -> DAG:
        """One of the graphs."""
        return DAG.from_numpy(unpack(self.parents[position], len(self.names)).T, self.names)

    def values(self, measure: Callable[[Matrices], NDArray[np.generic]]) -> Floats:
        """A measure of stacks of adjacency matrices, one number for each graph."""
        found = np.empty(len(self))
        for where, matrices in self.matrices():
            found[where] = measure(matrices)
        return found


def distinct_graphs(names: Sequence[str], parents: Rows) -> DistinctGraphs:
    """Find the different graphs among draws `[chains, draws, nodes, words]`, in the order of appearance."""
    chains, draws, nodes, words = parents.shape
    flat = np.ascontiguousarray(parents).reshape(chains * draws, nodes * words)
    keys = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    index = rank[inverse.ravel()].reshape(chains, draws)
    return DistinctGraphs(tuple(names), flat[first[order]].reshape(-1, nodes, words), index)


def estimate(values: Floats, weights: Floats, groups: int = 1) -> Estimate:
    """Weighted mean of `[chains, draws]` values with its standard error; the weights sum to 1."""
    mean = float((values * weights).sum())
    centred = (values - mean) * weights * weights.size
    return Estimate(mean, float(mean_error(centred, groups)))


def edges(graphs: Matrices) -> Matrices:
    """True for [a, b] if a → b."""
    return graphs


def adjacent(graphs: Matrices) -> Matrices:
    """True for [a, b] if a → b or b → a."""
    both: Matrices = graphs | graphs.transpose(0, 2, 1)
    return both


def paths(graphs: Matrices) -> Matrices:
    """True for [a, b] if a → … → b.

    >>> paths(np.array([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]], dtype=bool))[0].astype(int)
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    reach = graphs.copy()
    for through in range(reach.shape[1]):
        reach |= reach[:, :, through, None] & reach[:, None, through, :]
    return reach


def blankets(graphs: Matrices) -> Matrices:
    """True for [a, b] if a is a parent, a child or another parent of a child of b.

    >>> blankets(np.array([[[0, 0, 1], [0, 0, 1], [0, 0, 0]]], dtype=bool))[0].astype(int)
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    numbers = graphs.astype(np.float32)
    mates = numbers @ numbers.transpose(0, 2, 1) > 0.5
    found: Matrices = mates | adjacent(graphs)
    diagonal = np.arange(graphs.shape[1])
    found[:, diagonal, diagonal] = False
    return found


PAIRS: dict[str, Callable[[Matrices], Matrices]] = {
    "edge": edges,
    "adjacent": adjacent,
    "path": paths,
    "ancestor": paths,
    "blanket": blankets,
}


# The one feature that is about a graph and not about two nodes.
OF_A_GRAPH = "cpdag"


def check_feature(name: str) -> None:
    """Refuse an unknown feature, and list the known ones."""
    find("feature", name, dict.fromkeys((*PAIRS, OF_A_GRAPH)))


def pair_feature(name: str) -> Callable[[Matrices], Matrices]:
    """Find a feature of pairs of nodes; an unknown name is refused with a list of the known ones."""
    return find("feature of two variables", name, PAIRS)
