"""Exact inference in a discrete network for many rows with holes at once.

Variables are eliminated one after the other. The bucket of a variable holds it and all that it is tied to
when its turn comes; it sends a message, with the variable summed out, to the bucket of the first of these to
be eliminated (Dechter 1999). Backwards, the bucket's cells divided by its message are P(variable | the rest
of the bucket, what was seen): they give the probabilities of every bucket, hence of every family, and a draw
of all missing cells together. In each row only the cells that agree with what was seen are visited, so rows
with few holes cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.random import random_state, random_unit
from dagora.network.networks import DiscreteNetwork

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Cells of all buckets together above which inference is not exact any more.
MOST_CELLS = 1 << 22


@dataclass(frozen=True)
class Bucket:
    """The variable that is eliminated, then what it is tied to; `children` are buckets that send to it."""

    members: tuple[int, ...]
    parent: int
    children: tuple[int, ...]


class BucketTree:
    """The buckets of a graph, for rows of codes in which a code one above the last level is a hole.

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
        """Cells of all buckets together."""
        return sum(prod(int(self.levels[i]) for i in bucket.members) for bucket in self.buckets)

    @property
    def fits(self) -> bool:
        """Whether exact inference is affordable."""
        return self.cells <= MOST_CELLS

    @cached_property
    def layout(self) -> Layout:
        """The buckets in arrays, for the kernel."""
        return Layout.of(self.buckets, self.levels)

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
        """Expected counts of every family, axes as in its table, and the log-likelihood of what was seen."""
        totals = np.zeros(self.cells)
        log_likelihoods = np.empty(codes.shape[1])
        self._pass(network, codes, weights, totals=totals, log_likelihoods=log_likelihoods)
        counts = {}
        offsets = self.layout.cell_starts
        for node, family in zip(self.nodes, self.families, strict=True):
            k = min(self.bucket_of[i] for i in family)
            members = self.buckets[k].members
            block = totals[offsets[k] : offsets[k + 1]].reshape([int(self.levels[i]) for i in members])
            counts[node] = gathered(block, members, family)
        with np.errstate(invalid="ignore"):
            total = float((weights * log_likelihoods).sum())
        return counts, total

    def log_likelihoods(self, network: DiscreteNetwork, codes: NDArray[np.int32]) -> Floats:
        """The log-likelihood of what was seen in each row."""
        found = np.empty(codes.shape[1])
        self._pass(network, codes, np.ones(len(found)), log_likelihoods=found)
        return found

    def marginals(self, network: DiscreteNetwork, codes: NDArray[np.int32]) -> list[Floats]:
        """For each variable, P(level | what was seen) in the rows where it is missing, a row each."""
        width = int(self.levels.max(initial=1))
        found = np.zeros((len(self.nodes), codes.shape[1], width))
        self._pass(network, codes, np.ones(codes.shape[1]), marginals=found)
        return [found[i, codes[i] == self.levels[i], : self.levels[i]] for i in range(len(self.nodes))]

    def draw(
        self, network: DiscreteNetwork, codes: NDArray[np.int32], seed: Sequence[int]
    ) -> NDArray[np.int32]:
        """The rows with every hole filled by a draw given what was seen, all holes of a row together."""
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
        layout = self.layout
        nothing = np.empty(0)
        visit_rows(
            codes,
            weights,
            self.levels,
            self.potentials(network),
            layout.members,
            layout.member_starts,
            layout.strides,
            layout.cell_starts,
            layout.message_starts,
            layout.children,
            layout.child_starts,
            layout.child_strides,
            layout.stride_starts,
            nothing if totals is None else totals,
            nothing if log_likelihoods is None else log_likelihoods,
            np.empty((0, 0, 0)) if marginals is None else marginals,
            np.empty((0, 0), dtype=np.int32) if drawn is None else drawn,
            np.zeros(1, dtype=np.uint64) if state is None else state,
        )


def eliminate(families: Sequence[Sequence[int]], levels: Ints) -> tuple[list[Bucket], list[int]]:
    """Buckets in the order of elimination, and the bucket of each variable: the cheapest one goes first."""
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
    """A table over some of the members, shaped so that it multiplies one over all of them."""
    ordered = sorted(range(len(axes)), key=lambda a: members.index(axes[a]))
    size = [shape[k] if member in axes else 1 for k, member in enumerate(members)]
    found: Floats = table.transpose(ordered).reshape(size)
    return found


def gathered(block: Floats, members: Sequence[int], axes: Sequence[int]) -> Floats:
    """Sum a table over the members that are not among the axes, and put those in their order."""
    summed = block.sum(axis=tuple(k for k, member in enumerate(members) if member not in axes))
    kept = [member for member in members if member in axes]
    found: Floats = summed.transpose([kept.index(axis) for axis in axes])
    return found


@dataclass(frozen=True)
class Layout:
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
    def of(cls, buckets: Sequence[Bucket], levels: Ints) -> Layout:
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
    """Where the setting of a bucket's members but the first lies, by the strides from `start` on.

    A member that was seen has its code, the others what `digits` say.
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
    members: Ints,
    member_starts: Ints,
    strides: Ints,
    cell_starts: Ints,
    message_starts: Ints,
    children: Ints,
    child_starts: Ints,
    child_strides: Ints,
    stride_starts: Ints,
    totals: Floats,
    log_likelihoods: Floats,
    marginals: Floats,
    drawn: NDArray[np.int32],
    state: NDArray[np.uint64],
) -> None:
    """Pass messages up in every row, then down for those of the results that are asked for.

    Results are the arrays from `totals` to `drawn`; one of length 0 is not asked for.
    """
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
