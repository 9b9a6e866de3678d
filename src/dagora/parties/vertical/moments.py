"""Moments of all sets of indicators that K2 may ask for, as additive shares of two owners.

The moment of a set is the number of rows with ones in all of its indicators (`columns`), which are of
different variables. For a set within one party's columns this party counts, and its share is the moment;
otherwise the moment is ⟨a, b⟩ of two product columns, one of each party, and comes as shares modulo 2^bits
from one run of `dot_products`. K2 asks for families of up to u parents and their subsets, and any variable
may be the last of a set in the order, so these are all sets of up to u + 1 variables; each product column is
encrypted once, however many sets it is part of.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Observer, ignore
from dagora.parties.crypto.encryption.ring_samples import RandomBytes
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.agreement import AgreedTerms, Role
from dagora.parties.vertical.columns import indicator_sets, indicators
from dagora.parties.vertical.dot_products import dot_products
from dagora.parties.vertical.widths import BitWidths

Words = NDArray[np.uint64]
Set = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MomentShares:
    """One party's shares; a set is a sorted tuple of indicators, and `levels` are those of all variables."""

    rows: int
    host: bool
    shares: dict[Set, int]
    levels: tuple[int, ...]

    def of(self, sets: Sequence[Set]) -> Words:
        """Shares of the moments of some sets."""
        return np.array([self.shares[tuple(sorted(members))] for members in sets], dtype=np.uint64)

    def of_families(self, families: Sequence[Sequence[int]], *, alone: bool = False) -> Words:
        """Shares[word, family] for families with the same numbers of levels, in that sequence.

        Words are in the sequence of `score_circuits.family_counts`. `alone` if this party owns all columns:
        the number of rows (the first word) is in the host's share, or in the share of the party alone.
        """
        none = self.rows if self.host or alone else 0
        number = indicators(self.levels)
        counts = [self.levels[member] for member in families[0]] if families else []
        patterns = [pattern[::-1] for pattern in product(*(range(count) for count in counts[::-1]))]
        return np.array(
            [
                [
                    self.shares[tuple(sorted(set_of(number, family, pattern)))] if any(pattern) else none
                    for family in families
                ]
                for pattern in patterns
            ],
            dtype=np.uint64,
        ).reshape(len(patterns), len(families))


def set_of(number: Sequence[range], family: Sequence[int], pattern: Sequence[int]) -> Set:
    """The indicators of those members of a family whose level in a pattern is not 0."""
    return tuple(
        number[member][level - 1] for member, level in zip(family, pattern, strict=True) if level > 0
    )


def subsets(variables: Sequence[int], largest: int) -> list[Set]:
    """All sets of 1 to `largest` variables, of which each is its own indicator.

    >>> subsets([3, 5], 4)
    [(3,), (5,), (3, 5)]
    """
    return indicator_sets([[variable] for variable in variables], largest)


def cross_pairs(host: Sequence[Set], guest: Sequence[Set], largest: int) -> NDArray[np.int32]:
    """Pairs (host's set, guest's set), by position, that together have at most `largest` members."""
    pairs = [
        (i, j)
        for i, ours in enumerate(host)
        for j, theirs in enumerate(guest)
        if len(ours) + len(theirs) <= largest
    ]
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def product_columns(columns: NDArray[np.uint8], sets: Sequence[Set], first: int) -> NDArray[np.uint8]:
    """Products of the columns of each set; with a set, `sets` also contains it without its last indicator."""
    products = np.empty((len(sets), columns.shape[1]), dtype=np.uint8)
    place = {members: k for k, members in enumerate(sets)}
    for members, k in place.items():
        last = columns[members[-1] - first]
        if len(members) == 1:
            products[k] = last
        else:
            np.bitwise_and(products[place[members[:-1]]], last, out=products[k])
    return products


def share_moments(
    transport: Transport,
    role: Role,
    terms: AgreedTerms,
    columns: NDArray[np.uint8],
    widths: BitWidths,
    *,
    on_event: Observer = ignore,
    random: RandomBytes = secrets.token_bytes,
) -> MomentShares:
    """Compute this party's shares; `columns` are its indicators over the common rows, in their sequence."""
    largest = terms.limit + 1
    count = len(terms.host)
    groups = indicators(terms.levels)
    # A set with a variable of the other party has at most this many of one's own.
    host, guest = (indicator_sets(some, largest - 1) for some in (groups[:count], groups[count:]))
    mine, theirs = (groups[:count], groups[count:]) if role == "host" else (groups[count:], groups[:count])
    own = host if role == "host" else guest
    first = mine[0].start
    products = product_columns(columns, own, first)
    pairs = cross_pairs(host, guest, largest)
    crossed = dot_products(
        transport,
        "left" if role == "host" else "right",
        products,
        pairs,
        crypto="paillier" if terms.crypto == "paillier" else "rlwe",
        modulus=1 << widths.bits,
        on_event=on_event,
        random=random,
    )
    shares = {(*host[i], *guest[j]): int(v) for (i, j), v in zip(pairs.tolist(), crossed, strict=True)}
    for members, one in zip(own, products, strict=True):
        shares[members] = int(np.count_nonzero(one))
    place = {members: k for k, members in enumerate(own)}
    for some in combinations(mine, largest):
        for members in product(*some):
            both = products[place[members[:-1]]] & columns[members[-1] - first]
            shares[members] = int(np.count_nonzero(both))
    # The other party counts its own sets: our share of them is 0.
    for members in indicator_sets(theirs, largest):
        shares[members] = 0
    return MomentShares(columns.shape[1], role == "host", shares, terms.levels)
