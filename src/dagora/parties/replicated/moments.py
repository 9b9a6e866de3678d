"""Moments of all sets of variables that K2 may ask for, in replicated shares, from columns of many owners.

The moment of a set is the number of rows with ones in all of its variables. Owners share their columns of 0
and 1, and the products of their own columns, as integers modulo 2^16 or 2^32; the products over columns of
several owners are multiplied, one round for each size. With h = ⌈s/2⌉ for the largest size s, products of up
to h columns are made, and a larger set is the dot product of two of them, which costs one element whatever
the number of rows: the parties sum local products and mask the sum. With three parents, 12 variables and
three owners that is 48 products of columns and 495 dot products for sets of 4, 220 for sets of 3.

An owner shares v as x_0 + x_1 + x_2 with x_0 and x_1 from seeds: it sends the seed of x_0 to parties 0 and 2,
that of x_1 to parties 0 and 1, and x_2 to parties 1 and 2. Rows come in blocks, so that memory is bounded.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event, Observer, ignore
from dagora.kernels.decorators import kernel
from dagora.parties.crypto.channel import Channel
from dagora.parties.replicated.replicated_party import (
    PARTIES,
    SEED_BYTES,
    RandomBytes,
    ReplicatedParty,
    Stream,
)
from dagora.parties.replicated.terms import GroupTerms
from dagora.parties.transport.messages import Array
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.moments import Set, product_columns, subsets
from dagora.parties.vertical.widths import BitWidths

Integers = NDArray[np.unsignedinteger]

BLOCK_ROWS = 1 << 16  # rows shared at once: a column of them takes 128 or 256 kB
TAG = "columns"


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """The sets that become columns, and the pairs of them that make larger sets."""

    terms: GroupTerms
    rows: int
    dtype: np.dtype[np.unsignedinteger]

    @property
    def largest(self) -> int:
        """Variables of the largest sets."""
        return self.terms.limit + 1

    @property
    def half(self) -> int:
        """Variables of the largest products that are made as columns."""
        return (self.largest + 1) // 2

    def columns(self) -> list[Set]:
        """Sets whose products are columns, by size."""
        return subsets(range(len(self.terms.names)), self.half)

    def own_sets(self, owner: str) -> list[Set]:
        """Sets whose products one owner makes alone."""
        return subsets(self.terms.variables_of(owner), self.half)

    def dots(self) -> list[Set]:
        """Sets that are dot products of two columns."""
        variables = range(len(self.terms.names))
        return [
            members
            for size in range(self.half + 1, self.largest + 1)
            for members in combinations(variables, size)
        ]

    def blocks(self) -> list[slice]:
        """Rows that are shared at once."""
        return [slice(first, min(first + BLOCK_ROWS, self.rows)) for first in range(0, self.rows, BLOCK_ROWS)]


def plan_columns(terms: GroupTerms, rows: int, widths: BitWidths) -> ColumnPlan:
    """Plan for so many rows: integers as wide as the counts."""
    return ColumnPlan(terms, rows, np.dtype(np.uint16 if widths.bits <= 16 else np.uint32))


class ColumnSender:
    """An owner that shares its columns among the three; if it is one of them, it keeps its own parts."""

    def __init__(
        self,
        transport: Transport,
        plan: ColumnPlan,
        bits: NDArray[np.uint8],
        *,
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        self._plan = plan
        self._name = transport.name
        self._first = plan.terms.variables_of(transport.name).start
        self._bits = bits
        self._sets = plan.own_sets(transport.name)
        self._channels = [Channel(transport, name, TAG) for name in plan.terms.computing]
        seeds = random(SEED_BYTES), random(SEED_BYTES)
        self._streams = [Stream(seed) for seed in seeds]
        for position, channel in enumerate(self._channels):
            if channel.peer != self._name:
                channel.send("seeds", seeds=b"".join(seeds[k] for k in parts_from_seeds(position)))

    def share(self, rows: slice) -> tuple[Integers, Integers, Integers]:
        """Share a block of rows; returns its three parts."""
        products = product_columns(self._bits[:, rows], self._sets, self._first)
        x0, x1 = (stream.integers(products.shape, self._plan.dtype) for stream in self._streams)
        x2 = products.astype(self._plan.dtype) - x0 - x1
        for position, channel in enumerate(self._channels):
            if position > 0 and channel.peer != self._name:
                channel.send("block", values=x2)
        return x0, x1, x2


class ColumnReceiver:
    """A computing party's side: its two parts of an owner's columns."""

    def __init__(self, transport: Transport, plan: ColumnPlan, owner: str, position: int) -> None:
        self._plan = plan
        self._position = position
        self._sets = plan.own_sets(owner)
        self._channel = Channel(transport, owner, TAG)
        content = self._channel.receive("seeds", {"seeds": bytes})["seeds"]
        wanted = parts_from_seeds(position)
        if len(content) != SEED_BYTES * len(wanted):
            self._channel.refuse("seeds", f"{len(content)} bytes came, not {SEED_BYTES * len(wanted)}")
        self._streams = {
            part: Stream(content[SEED_BYTES * k : SEED_BYTES * (k + 1)]) for k, part in enumerate(wanted)
        }

    def take(self, rows: slice) -> tuple[Integers, Integers]:
        """Both parts of a block of rows."""
        shape = (len(self._sets), rows.stop - rows.start)
        dtype = self._plan.dtype
        parts = {part: stream.integers(shape, dtype) for part, stream in self._streams.items()}
        if self._position > 0:
            parts[2] = self._channel.receive("block", {"values": Array(dtype.str, shape)})["values"]
        return parts[self._position], parts[(self._position + 1) % PARTIES]


def parts_from_seeds(position: int) -> list[int]:
    """The parts of an owner's columns that a party makes from seeds: of parts 0 and 1, those it holds.

    >>> [parts_from_seeds(position) for position in range(3)]
    [[0, 1], [1], [0]]
    """
    return sorted({position, (position + 1) % PARTIES} - {2})


def send_columns(
    transport: Transport,
    plan: ColumnPlan,
    bits: NDArray[np.uint8],
    *,
    random: RandomBytes = secrets.token_bytes,
) -> None:
    """Share one's columns as an owner that does not compute."""
    sender = ColumnSender(transport, plan, bits, random=random)
    for rows in plan.blocks():
        sender.share(rows)


def share_moments(
    transport: Transport,
    party: ReplicatedParty,
    plan: ColumnPlan,
    bits: NDArray[np.uint8],
    *,
    random: RandomBytes = secrets.token_bytes,
    on_event: Observer = ignore,
) -> tuple[dict[Set, int], dict[Set, int]]:
    """Both parts of all moments, modulo the size of the plan's integers, as a computing party."""
    own = ColumnSender(transport, plan, bits, random=random)
    others = [
        (name, ColumnReceiver(transport, plan, name, party.position))
        for name in plan.terms.owners
        if name != transport.name
    ]
    columns, larger = plan.columns(), plan.dots()
    place = {members: k for k, members in enumerate(columns)}
    left = np.array([place[members[: plan.half]] for members in larger], dtype=np.int64)
    right = np.array([place[members[plan.half :]] for members in larger], dtype=np.int64)
    sums = np.zeros((2, len(columns)), dtype=np.uint64)
    dots = np.zeros(len(larger), dtype=np.uint64)
    for number, rows in enumerate(plan.blocks()):
        parts = np.empty((2, len(columns), rows.stop - rows.start), dtype=plan.dtype)
        three = own.share(rows)
        shared = [(transport.name, (three[party.position], three[(party.position + 1) % PARTIES]))]
        shared += [(name, receiver.take(rows)) for name, receiver in others]
        for name, pair in shared:
            parts[:, [place[members] for members in plan.own_sets(name)]] = pair
        multiply_columns(party, plan, parts, place)
        sums += parts.sum(axis=2, dtype=np.uint64)
        add_dots(parts[0], parts[1], left, right, dots)
        on_event(Event("moments", number + 1, total=len(plan.blocks())))
    own_dots, next_dots = share_dots(party, dots, plan.dtype)
    small = sums.astype(plan.dtype)
    first = dict(zip([*columns, *larger], [*small[0].tolist(), *own_dots.tolist()], strict=True))
    second = dict(zip([*columns, *larger], [*small[1].tolist(), *next_dots.tolist()], strict=True))
    return first, second


def multiply_columns(
    party: ReplicatedParty, plan: ColumnPlan, parts: Integers, place: dict[Set, int]
) -> None:
    """Fill in the products over columns of several owners, those of one size in one round."""
    alone = {members for owner in plan.terms.owners for members in plan.own_sets(owner)}
    for size in range(2, plan.half + 1):
        crossing = [members for members in place if len(members) == size and members not in alone]
        if not crossing:
            continue
        left = np.array([place[members[:-1]] for members in crossing])
        right = np.array([place[members[-1:]] for members in crossing])
        x, y = parts
        own = party.zero_integers((len(crossing), parts.shape[2]), plan.dtype)
        own += x[left] * (x[right] + y[right]) + y[left] * x[right]
        where = [place[members] for members in crossing]
        parts[0, where] = own
        parts[1, where] = exchange(party, "products", own)


def share_dots(
    party: ReplicatedParty, dots: NDArray[np.uint64], dtype: np.dtype[np.unsignedinteger]
) -> tuple[Integers, Integers]:
    """Both parts of dot products, from sums of local products, which are masked and passed on."""
    own = dots.astype(dtype) + party.zero_integers(dots.shape, dtype)
    return own, exchange(party, "dots", own)


def exchange(party: ReplicatedParty, step: str, own: Integers) -> Integers:
    """Pass on parts z_i of integers and get z_{i+1}."""
    wire = own.dtype.newbyteorder("<")
    content = np.ascontiguousarray(own.astype(wire)).reshape(-1).view(np.uint8)
    return party.pass_on(step, content).view(wire).astype(own.dtype).reshape(own.shape)


@kernel
def add_dots(
    x: Integers, y: Integers, left: NDArray[np.int64], right: NDArray[np.int64], dots: NDArray[np.uint64]
) -> None:
    """Add the local parts of dot products of pairs of columns, modulo 2^64."""
    for k in range(len(left)):
        p, q = left[k], right[k]
        total = np.uint64(0)
        for row in range(x.shape[1]):
            a, b = np.uint64(x[p, row]), np.uint64(y[p, row])
            c, d = np.uint64(x[q, row]), np.uint64(y[q, row])
            total += a * (c + d) + b * c
        dots[k] += total
