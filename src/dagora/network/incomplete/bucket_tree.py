"""Exact inference in a discrete network for many rows with missing values at once.

Variables are eliminated one after the other. The bucket of a variable holds it and its neighbours at that
moment; it sends a message, with the variable summed out, to the bucket of the neighbour that is eliminated
first (Dechter 1999). Backwards, a bucket's cells divided by its message are P(variable | rest of the bucket,
observed values). They give the probabilities of every bucket, hence of every family, and a joint draw of all
missing values. In each row only the cells that agree with the observed values are visited, so rows with few
missing values cost next to nothing. (A `JunctionTree` is faster for one set of evidence, as it works on whole
tables.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.random import random_state
from dagora.network.incomplete.bucket_messages import BucketLayout, Floats, Ints, visit_rows
from dagora.network.networks import DiscreteNetwork

# Cells of all buckets above which inference is by draws: 32 MiB of potentials, visited for each distinct row.
MOST_CELLS = 1 << 22


@dataclass(frozen=True)
class Bucket:
    """The variable that is eliminated, then its neighbours; `children` are buckets that send to it."""

    members: tuple[int, ...]
    parent: int
    children: tuple[int, ...]


class BucketTree:
    """The buckets of a graph, for rows of codes in which a code one above the last level means missing.

    >>> from dagora.graph.dag import DAG
    >>> graph = DAG(["rain", "wet"], [("rain", "wet")])
    >>> levels = {"rain": ("no", "yes"), "wet": ("no", "yes")}
    >>> tables = {"rain": np.array([0.8, 0.2]), "wet": np.array([[0.9, 0.1], [0.3, 0.7]])}
    >>> network = DiscreteNetwork(graph, levels, tables)
    >>> found = BucketTree(network).marginals(network, np.array([[2], [1]], dtype=np.int32))
    >>> found[0].round(4).tolist()  # whether it rained on a day that is wet: 0.14 / 0.22
    [[0.3636, 0.6364]]
    """

    def __init__(self, network: DiscreteNetwork) -> None:
        graph = network.graph
        self.nodes = tuple(graph)
        self.levels = np.array([len(network.levels[node]) for node in self.nodes], dtype=np.int64)
        place = {node: i for i, node in enumerate(self.nodes)}
        self.families = [tuple(place[one] for one in (*graph.parents(node), node)) for node in self.nodes]
        self.buckets, self.bucket_of = eliminate(self.families, self.levels)

    @property
    def cells(self) -> int:
        """The number of cells of all buckets."""
        return sum(prod(int(self.levels[i]) for i in bucket.members) for bucket in self.buckets)

    @property
    def fits(self) -> bool:
        """Return True if exact inference is affordable."""
        return self.cells <= MOST_CELLS

    @cached_property
    def layout(self) -> BucketLayout:
        """The buckets in arrays, for the kernel."""
        return lay_out(self.buckets, self.levels)

    def potentials(self, network: DiscreteNetwork) -> Floats:
        """The product of the tables in each bucket, one bucket after the other."""
        found = []
        for k, bucket in enumerate(self.buckets):
            shape = tuple(int(self.levels[i]) for i in bucket.members)
            product = np.ones(shape)
            for node, family in zip(self.nodes, self.families, strict=True):
                if self.bucket_of[min(family, key=lambda i: self.bucket_of[i])] == k:
                    product *= spread(network.tables[node], family, bucket.members, shape)
            found.append(product.ravel())
        return np.concatenate(found)

    def expectations(
        self, network: DiscreteNetwork, codes: NDArray[np.int32], weights: Floats
    ) -> tuple[dict[str, Floats], float]:
        """Expected counts of every family, axes as in its table, and the observed log-likelihood."""
        totals = np.zeros(self.cells)
        log_likelihoods = np.empty(codes.shape[1])
        self._pass(network, codes, weights, totals=totals, log_likelihoods=log_likelihoods)
        counts = {}
        offsets = self.layout.cell_starts
        for node, family in zip(self.nodes, self.families, strict=True):
            k = min(self.bucket_of[i] for i in family)
            members = self.buckets[k].members
            block = totals[offsets[k] : offsets[k + 1]].reshape([int(self.levels[i]) for i in members])
            counts[node] = gather(block, members, family)
        with np.errstate(invalid="ignore"):
            total = float((weights * log_likelihoods).sum())
        return counts, total

    def log_likelihoods(self, network: DiscreteNetwork, codes: NDArray[np.int32]) -> Floats:
        """The log-likelihood of the observed values of each row."""
        found = np.empty(codes.shape[1])
        self._pass(network, codes, np.ones(len(found)), log_likelihoods=found)
        return found

    def marginals(self, network: DiscreteNetwork, codes: NDArray[np.int32]) -> list[Floats]:
        """For each variable, P(level | observed values) in the rows where it is missing, a row each."""
        width = int(self.levels.max(initial=1))
        found = np.zeros((len(self.nodes), codes.shape[1], width))
        self._pass(network, codes, np.ones(codes.shape[1]), marginals=found)
        return [found[i, codes[i] == self.levels[i], : self.levels[i]] for i in range(len(self.nodes))]

    def draw(
        self, network: DiscreteNetwork, codes: NDArray[np.int32], seed: Sequence[int]
    ) -> NDArray[np.int32]:
        """Fill the missing values of each row by a joint draw given its observed values."""
        drawn = codes.copy()
        self._pass(network, codes, np.ones(codes.shape[1]), drawn=drawn, state=random_state(*seed))
        return drawn

    def _pass(
        self,
        network: DiscreteNetwork,
        codes: NDArray[np.int32],
        weights: Floats,
        *,
        totals: Floats | None = None,
        log_likelihoods: Floats | None = None,
        marginals: Floats | None = None,
        drawn: NDArray[np.int32] | None = None,
        state: NDArray[np.uint64] | None = None,
    ) -> None:
        nothing = np.empty(0)
        visit_rows(
            codes,
            weights,
            self.levels,
            self.potentials(network),
            self.layout,
            nothing if totals is None else totals,
            nothing if log_likelihoods is None else log_likelihoods,
            np.empty((0, 0, 0)) if marginals is None else marginals,
            np.empty((0, 0), dtype=np.int32) if drawn is None else drawn,
            np.zeros(1, dtype=np.uint64) if state is None else state,
        )


def eliminate(families: Sequence[Sequence[int]], levels: Ints) -> tuple[list[Bucket], list[int]]:
    """Return buckets in the order of elimination (cheapest first), and the bucket of each variable."""
    neighbours: list[set[int]] = [set() for _ in levels]
    for family in families:
        for one in family:
            neighbours[one].update(other for other in family if other != one)
    left = set(range(len(levels)))
    members: list[tuple[int, ...]] = []
    bucket_of = [0] * len(levels)
    logs = np.log(levels.astype(np.float64))

    def cost(variable: int) -> tuple[int, float, int]:
        near = list(neighbours[variable])
        fill = sum(1 for a, one in enumerate(near) for other in near[a + 1 :] if other not in neighbours[one])
        return fill, float(logs[variable] + sum(logs[one] for one in near)), variable

    costs = {variable: cost(variable) for variable in left}
    while left:
        chosen = min(left, key=costs.__getitem__)
        near = neighbours[chosen]
        bucket_of[chosen] = len(members)
        members.append((chosen, *sorted(near)))
        touched = set(near)
        for one in near:
            touched |= neighbours[one]
            neighbours[one] |= near - {one}
            neighbours[one].discard(chosen)
        left.discard(chosen)
        for one in touched & left:
            costs[one] = cost(one)
    parents = [min((bucket_of[i] for i in listed[1:]), default=-1) for listed in members]
    children: list[list[int]] = [[] for _ in members]
    for k, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(k)
    buckets = [Bucket(members[k], parents[k], tuple(children[k])) for k in range(len(members))]
    return buckets, bucket_of


def spread(table: Floats, axes: Sequence[int], members: Sequence[int], shape: Sequence[int]) -> Floats:
    """Reshape a table over some of the members so that it multiplies one over all of them."""
    ordered = sorted(range(len(axes)), key=lambda a: members.index(axes[a]))
    size = [shape[k] if member in axes else 1 for k, member in enumerate(members)]
    found: Floats = table.transpose(ordered).reshape(size)
    return found


def gather(block: Floats, members: Sequence[int], axes: Sequence[int]) -> Floats:
    """Sum a table over the members that are not among the axes, and put those in their order."""
    summed = block.sum(axis=tuple(k for k, member in enumerate(members) if member not in axes))
    kept = [member for member in members if member in axes]
    found: Floats = summed.transpose([kept.index(axis) for axis in axes])
    return found


def lay_out(buckets: Sequence[Bucket], levels: Ints) -> BucketLayout:
    """Buckets in flat arrays."""
    own = [strides_of(bucket.members, levels) for bucket in buckets]
    sizes = [prod(int(levels[i]) for i in bucket.members) for bucket in buckets]
    messages = [prod(int(levels[i]) for i in bucket.members[1:]) for bucket in buckets]
    child_strides: list[int] = []
    stride_starts = [0]
    for bucket in buckets:
        for child in bucket.children:
            separator = buckets[child].members[1:]
            stride = dict(zip(separator, strides_of(separator, levels), strict=True))
            child_strides += [stride.get(member, 0) for member in bucket.members]
            stride_starts.append(len(child_strides))
    return BucketLayout(
        np.array([i for bucket in buckets for i in bucket.members], dtype=np.int64),
        starts_of([len(bucket.members) for bucket in buckets]),
        np.array([stride for strides in own for stride in strides], dtype=np.int64),
        starts_of(sizes),
        starts_of(messages),
        np.array([child for bucket in buckets for child in bucket.children], dtype=np.int64),
        starts_of([len(bucket.children) for bucket in buckets]),
        np.array(child_strides, dtype=np.int64),
        np.array(stride_starts, dtype=np.int64),
    )


def strides_of(members: Sequence[int], levels: Ints) -> list[int]:
    """Strides of a table over these members, the first varying slowest.

    >>> strides_of([2, 0], np.array([3, 2, 4]))
    [3, 1]
    """
    found, step = [], 1
    for member in reversed(members):
        found.append(step)
        step *= int(levels[member])
    return found[::-1]


def starts_of(sizes: Sequence[int]) -> Ints:
    """0, then the sums of the first, the first two, … sizes."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
