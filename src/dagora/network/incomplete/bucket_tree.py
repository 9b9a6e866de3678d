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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.random import random_state, random_unit
from dagora.network.networks import DiscreteNetwork

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
        return BucketLayout.of(self.buckets, self.levels)

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


class BucketLayout(NamedTuple):
    """Buckets in flat arrays.

    `strides` are those of a bucket's cells, its own variable first; the message of bucket k, over all but
    that variable, lies from `message_starts[k]`. `child_strides` hold, for each child of a bucket and each
    member of it, the stride of the member in the child's message (0 where it is not in there).
    """

    members: Ints
    member_starts: Ints
    strides: Ints
    cell_starts: Ints
    message_starts: Ints
    children: Ints
    child_starts: Ints
    child_strides: Ints
    stride_starts: Ints

    @classmethod
    def of(cls, buckets: Sequence[Bucket], levels: Ints) -> BucketLayout:
        """Lay out buckets."""
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
        return cls(
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


@inlined
def place_of(
    codes: NDArray[np.int32],
    row: int,
    levels: Ints,
    members: Ints,
    first: int,
    last: int,
    digits: Ints,
    strides: Ints,
    start: int,
) -> int:
    """Index of the current setting of a bucket's members but the first, by the strides from `start` on.

    A member that was observed has its code, the others what `digits` say.
    """
    place = 0
    for a in range(first + 1, last):
        code = codes[members[a], row]
        if code == levels[members[a]]:
            code = digits[a - first]
        place += code * strides[start + a - first]
    return place


@inlined
def next_setting(
    codes: NDArray[np.int32], row: int, levels: Ints, members: Ints, first: int, last: int, digits: Ints
) -> bool:
    """Count on in the missing members but the first; False, with all at 0 again, after the last setting."""
    for a in range(last - 1, first, -1):
        if codes[members[a], row] == levels[members[a]]:
            digits[a - first] += 1
            if digits[a - first] < levels[members[a]]:
                return True
            digits[a - first] = 0
    return False


@kernel
def visit_rows(
    codes: NDArray[np.int32],
    weights: Floats,
    levels: Ints,
    potentials: Floats,
    layout: BucketLayout,
    totals: Floats,
    log_likelihoods: Floats,
    marginals: Floats,
    drawn: NDArray[np.int32],
    state: NDArray[np.uint64],
) -> None:
    """Pass messages up in every row, then down for the results that are requested.

    Results are the arrays from `totals` to `drawn`; one of length 0 is not requested.
    """
    members, member_starts, strides, cell_starts, message_starts = layout[:5]
    children, child_starts, child_strides, stride_starts = layout[5:]
    number = len(cell_starts) - 1
    work = np.empty(cell_starts[number])
    messages = np.empty(message_starts[number])
    beliefs = np.empty(message_starts[number])
    digits = np.empty(len(levels), dtype=np.int64)
    downwards = len(totals) > 0 or marginals.shape[0] > 0
    for row in range(codes.shape[1]):
        log_likelihood = 0.0
        for k in range(number):
            first, last = member_starts[k], member_starts[k + 1]
            begin_messages = message_starts[k]
            own = members[first]
            for a in range(first, last):
                digits[a - first] = 0
            largest = 0.0
            more = True
            while more:
                # A setting of the bucket's other members; the own variable runs innermost.
                base = place_of(codes, row, levels, members, first, last, digits, strides, first)
                low, high = codes[own, row], codes[own, row] + 1
                if codes[own, row] == levels[own]:
                    low, high = 0, levels[own]
                mass = 0.0
                for level in range(low, high):
                    cell = base + level * strides[first]
                    value = potentials[cell_starts[k] + cell]
                    for c in range(child_starts[k], child_starts[k + 1]):
                        at = stride_starts[c]
                        place = level * child_strides[at]
                        place += place_of(codes, row, levels, members, first, last, digits, child_strides, at)
                        value *= messages[message_starts[children[c]] + place]
                    work[cell_starts[k] + cell] = value
                    mass += value
                messages[begin_messages + base] = mass
                largest = max(largest, mass)
                more = next_setting(codes, row, levels, members, first, last, digits)
            if largest <= 0.0:
                log_likelihood = -np.inf
                break
            # Keep numbers near 1, however many variables there are.
            log_likelihood += np.log(largest)
            more = True
            while more:
                base = place_of(codes, row, levels, members, first, last, digits, strides, first)
                messages[begin_messages + base] /= largest
                low, high = codes[own, row], codes[own, row] + 1
                if codes[own, row] == levels[own]:
                    low, high = 0, levels[own]
                for level in range(low, high):
                    work[cell_starts[k] + base + level * strides[first]] /= largest
                more = next_setting(codes, row, levels, members, first, last, digits)
        if len(log_likelihoods) > 0:
            log_likelihoods[row] = log_likelihood
        if log_likelihood == -np.inf:
            continue
        if drawn.shape[0] > 0:
            for k in range(number - 1, -1, -1):
                first, last = member_starts[k], member_starts[k + 1]
                own = members[first]
                if codes[own, row] == levels[own]:
                    base = 0
                    for a in range(first + 1, last):
                        base += drawn[members[a], row] * strides[a]
                    threshold = random_unit(state) * messages[message_starts[k] + base]
                    chosen, mass = -1, 0.0
                    for level in range(levels[own]):
                        value = work[cell_starts[k] + base + level * strides[first]]
                        if value > 0.0 and (chosen < 0 or mass < threshold):
                            chosen = level
                        mass += value
                    drawn[own, row] = chosen
        if not downwards:
            continue
        for k in range(number - 1, -1, -1):
            first, last = member_starts[k], member_starts[k + 1]
            own = members[first]
            root = last == first + 1
            for c in range(child_starts[k], child_starts[k + 1]):
                for entry in range(message_starts[children[c]], message_starts[children[c] + 1]):
                    beliefs[entry] = 0.0
            for a in range(first, last):
                digits[a - first] = 0
            more = True
            while more:
                base = place_of(codes, row, levels, members, first, last, digits, strides, first)
                mass = messages[message_starts[k] + base]
                share = 1.0 if root else beliefs[message_starts[k] + base]
                share = share / mass if mass > 0.0 else 0.0
                low, high = codes[own, row], codes[own, row] + 1
                if codes[own, row] == levels[own]:
                    low, high = 0, levels[own]
                for level in range(low, high):
                    cell = cell_starts[k] + base + level * strides[first]
                    belief = work[cell] * share
                    if len(totals) > 0:
                        totals[cell] += weights[row] * belief
                    if marginals.shape[0] > 0 and codes[own, row] == levels[own]:
                        marginals[own, row, level] += belief
                    for c in range(child_starts[k], child_starts[k + 1]):
                        at = stride_starts[c]
                        place = level * child_strides[at]
                        place += place_of(codes, row, levels, members, first, last, digits, child_strides, at)
                        beliefs[message_starts[children[c]] + place] += belief
                more = next_setting(codes, row, levels, members, first, last, digits)
