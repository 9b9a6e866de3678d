"""Graphs to average over: from a posterior, or learned from samples of the rows.

A graph that was learned from a sample stands for its class, whose other members fit as well: members are
drawn at random, with the nodes in a random order where edges are directed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.graph.bits import pack, unpack
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.equivalence import consistent_extension
from dagora.graph.interventions import directed_by_knowledge, interventional_cpdag
from dagora.graph.knowledge import Knowledge
from dagora.kernels.decorators import kernel
from dagora.posterior.resample.strengths import Strengths
from dagora.posterior.summary.features import DistinctGraphs, distinct_graphs, paths
from dagora.posterior.summary.posterior import Posterior

Array = NDArray[np.float64]

MEMBERS = 10
"""Members of the class of each graph learned from a sample."""
MEMBERS_OF_ONE = 200
"""Members of a class that is looked at alone."""


@dataclass(frozen=True)
class DrawnGraphs:
    """Graphs with weights, [chain, draw], the class of the best, where they come from, what that assumes."""

    distinct: DistinctGraphs
    weights: Array
    source: str
    assumes: str
    best: CPDAG
    best_probability: float
    notes: tuple[str, ...] = ()

    @cached_property
    def matrices(self) -> NDArray[np.bool_]:
        """The matrices of the distinct graphs, [graph, parent, child]."""
        return np.concatenate([graphs for _, graphs in self.distinct.matrices()])

    @cached_property
    def reach(self) -> NDArray[np.bool_]:
        """[graph, a, b]: whether a directed path leads from a to b."""
        return np.concatenate([paths(graphs) for _, graphs in self.distinct.matrices()])

    @cached_property
    def has_weight(self) -> NDArray[np.bool_]:
        """For each distinct graph, whether its draws count."""
        return np.bincount(self.distinct.index.ravel(), self.weights.ravel(), len(self.distinct)) > 0

    def optimal_sets(self, x: str, y: str, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The set of least variance to adjust for in these graphs, in which x is a cause of y: [place, node].

        It has the parents of the nodes on directed paths from x to y (Henckel, Perković & Maathuis 2022).
        """
        names = self.distinct.names
        return parents_on_paths(self.matrices, self.reach, names.index(x), names.index(y), places)

    def causes(self, x: Collection[str], y: str) -> NDArray[np.bool_]:
        """For each distinct graph, whether a directed path leads from one of x to y."""
        index = {name: place for place, name in enumerate(self.distinct.names)}
        return np.asarray(self.reach[:, [index[name] for name in x], index[y]].any(axis=1))


def drawn_from(posterior: Posterior, known: Knowledge, regimes: Collection[Collection[str]]) -> DrawnGraphs:
    """The draws of a posterior."""
    if not posterior.draws.log_scores.size:
        raise OptionError(f"there are no graphs to average over: {posterior.message}")
    best = posterior.best_graph
    number = posterior.draws.log_scores.size
    exactly = "exact draws" if posterior.draws.independent else "draws"
    return DrawnGraphs(
        distinct_graphs(posterior.nodes, posterior.draws.parents),
        posterior.weights,
        f"{number} graphs, {exactly} from their posterior ({posterior.method}, {posterior.score_name})",
        f"before the data, {posterior.prior}; weak effects are drawn towards zero",
        interventional_cpdag(best, regimes, known),
        float(posterior.feature("cpdag", best)),
        posterior.warnings,
    )


def drawn_from_samples(
    strengths: Strengths, known: Knowledge, regimes: Collection[Collection[str]], seed: int
) -> DrawnGraphs:
    """Members of the classes learned from samples of the rows."""
    rng = np.random.default_rng(seed)
    size = len(strengths.nodes)
    found = []
    for rows in strengths.marks:
        matrix = unpack(rows, size).T
        if strengths.directed:
            class_ = interventional_cpdag(DAG.from_numpy(matrix, strengths.nodes), regimes, known)
        else:
            class_ = CPDAG.from_numpy(matrix, strengths.nodes)
            class_ = CPDAG.from_numpy(directed_by_knowledge(class_, known).to_numpy(), strengths.nodes)
        found.append([random_member(class_, rng) for _ in range(MEMBERS)])
    if not found:
        raise OptionError(f"there are no graphs to average over: {strengths.message}")
    members = np.array(found).swapaxes(0, 1)  # [member, sample, child, parent]
    packed = pack(members.reshape(-1, size)).reshape(*members.shape[:3], -1)
    best, share = strengths.classes(most=1)[0]
    best = CPDAG.from_numpy(directed_by_knowledge(best, known).to_numpy(), strengths.nodes)
    number = members.shape[0] * members.shape[1]
    return DrawnGraphs(
        distinct_graphs(strengths.nodes, packed),
        np.full(members.shape[:2], 1 / number),
        f"{number} graphs, {MEMBERS} of the class learned from each of {len(found)} samples of the rows",
        "the learner errs by chance alone: what it gets wrong in every sample stays wrong",
        best,
        share,
        strengths.warnings,
    )


def drawn_from_class(class_: CPDAG, seed: int) -> DrawnGraphs:
    """Members of a class that has open directions."""
    rng = np.random.default_rng(seed)
    found = np.array([[random_member(class_, rng)] for _ in range(MEMBERS_OF_ONE)])
    packed = pack(found.reshape(-1, len(class_))).reshape(*found.shape[:3], -1)
    return DrawnGraphs(
        distinct_graphs(class_.nodes, packed),
        np.full(found.shape[:2], 1 / MEMBERS_OF_ONE),
        f"{MEMBERS_OF_ONE} graphs drawn from the class",
        "the true graph is one of the class, and each is as likely as it was drawn",
        class_,
        1.0,
    )


def random_member(class_: CPDAG, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A DAG of the class, [child, parent]."""
    order = rng.permutation(len(class_))
    found = consistent_extension(class_.to_numpy()[np.ix_(order, order)])
    if found is None:
        raise OptionError(
            "no graph has all lines and arrows of a learned class, as tests disagree: choose another method"
        )
    member = np.zeros_like(found)
    member[np.ix_(order, order)] = found
    return np.asarray(member.T)


@kernel
def parents_on_paths(
    graphs: NDArray[np.bool_], reach: NDArray[np.bool_], x: int, y: int, places: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """The parents of nodes on directed paths from x to y that are neither x nor after such nodes."""
    size = graphs.shape[1]
    found = np.zeros((len(places), size), dtype=np.bool_)
    after = np.empty(size, dtype=np.bool_)
    for row, g in enumerate(places):
        after[:] = False
        for node in range(size):
            if node == y or (reach[g, x, node] and reach[g, node, y]):
                after[node] = True
                for other in range(size):
                    found[row, other] |= graphs[g, other, node]
                    after[other] |= reach[g, node, other]
        found[row, x] = False
        for node in range(size):
            if after[node]:
                found[row, node] = False
    return found
