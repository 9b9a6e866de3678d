"""The parameters B_p of a private network: of families that span both owners, from shares of their counts.

After the graph is known (Yang & Wright 2006 compute the parameters after the structure), the counts of every
family are sums of moments with signs, so each party has a share of each count. With `shares` both keep them
in a file, to compute with later. With `open` a circuit adds them up and opens θ = (N_jk + 1) / (N_j + r) to
three digits, for families in which every configuration of the parents has 10 rows or more; of the others both
learn that one has fewer. Families within one party's columns are fitted by that party alone and stay with it.

    parameters/masks    >   a uniform number for each count, by which the two shares are changed ("shares")
    parameters/levels   <>  names of the levels of one's own columns that are in an opened family ("open")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling.yao import Party
from dagora.parties.transport.messages import Array
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.agreement import AgreedTerms
from dagora.parties.vertical.circuit_plan import Planner, count_ands
from dagora.parties.vertical.counts import counts_from_moments, from_bits, to_bits
from dagora.parties.vertical.moments import MomentShares
from dagora.parties.vertical.parameter_circuits import DIGITS, opening
from dagora.parties.vertical.score_circuits import share_sum
from dagora.parties.vertical.secret_search import SecretMemory
from dagora.parties.vertical.widths import BitWidths

Words = NDArray[np.uint64]
Family = tuple[int, ...]  # the parents by number, then the child
LONGEST_LEVEL = 500  # characters of a level's name, as of a column's


@dataclass(frozen=True)
class FoundParameters:
    """The parameters that a party has: tables in thousandths that were opened, its own, and its shares.

    `opened` has each family that spans both owners, None where it was withheld. A table has an axis for each
    parent, and the child's levels last.
    """

    opened: dict[Family, NDArray[np.int64] | None] = field(default_factory=dict)
    own: dict[Family, NDArray[np.float64]] = field(default_factory=dict)
    shares: dict[Family, Words] = field(default_factory=dict)
    levels: dict[int, tuple[str, ...]] = field(default_factory=dict)
    ands: int = 0


def families_of(parents: Sequence[Sequence[int]]) -> list[Family]:
    """The family of each variable.

    >>> families_of([[], [0], [1, 0]])
    [(0,), (0, 1), (0, 1, 2)]
    """
    return [(*sorted(some), child) for child, some in enumerate(parents)]


def owners_of(terms: AgreedTerms, family: Family) -> set[str]:
    """The owners of the columns of a family: host, guest or both."""
    return {"host" if member < len(terms.host) else "guest" for member in family}


def find_parameters(
    transport: Transport,
    party: Party,
    terms: AgreedTerms,
    widths: BitWidths,
    moments: MomentShares,
    parents: Sequence[Sequence[int]],
    level_names: Sequence[tuple[str, ...]],
    random: Callable[[int], bytes],
) -> FoundParameters:
    """Compute the parameters that the terms ask for; `level_names` are those of this party's columns."""
    if terms.parameters == "none":
        return FoundParameters()
    role = "host" if moments.host else "guest"
    first = 0 if moments.host else len(terms.host)
    channel = Channel.to_peer(transport, None, "parameters")
    families = families_of(parents)
    spanning = [family for family in families if len(owners_of(terms, family)) == 2]
    mine = [family for family in families if owners_of(terms, family) == {role}]
    if terms.parameters == "shares":
        return FoundParameters(shares=fresh_shares(channel, terms, widths, moments, spanning, random))
    own = {family: own_table(terms, widths, moments, family) for family in mine}
    levels = {first + column: names for column, names in enumerate(level_names)}
    opened, ands = open_families(party, terms, widths, moments, spanning)
    shown = [family for family, table in opened.items() if table is not None]
    levels |= exchange_levels(channel, terms, shown, levels)
    return FoundParameters(opened, own, levels=levels, ands=ands)


def levels_of(terms: AgreedTerms, family: Family) -> tuple[int, ...]:
    """The numbers of levels of a family's members."""
    return tuple(terms.levels[member] for member in family)


def count_shares(
    terms: AgreedTerms, widths: BitWidths, moments: MomentShares, family: Family, *, alone: bool = False
) -> Words:
    """This party's shares of the counts of a family, or the counts where it owns all columns."""
    levels = levels_of(terms, family)
    words = moments.of_families([family], alone=alone)
    return counts_from_moments(words, widths.bits, levels)[: prod(levels), 0]


def by_axes(words: NDArray[Any], levels: Sequence[int]) -> NDArray[Any]:
    """Words in the sequence of `family_counts` as a table with an axis for each member.

    >>> by_axes(np.arange(6), (2, 3)).tolist()
    [[0, 2, 4], [1, 3, 5]]
    """
    return np.ascontiguousarray(words.reshape(tuple(levels)[::-1]).T)


def own_table(
    terms: AgreedTerms, widths: BitWidths, moments: MomentShares, family: Family
) -> NDArray[np.float64]:
    """θ of a family within this party's columns, on the common rows."""
    levels = levels_of(terms, family)
    counts = by_axes(count_shares(terms, widths, moments, family, alone=True), levels).astype(np.float64)
    table: NDArray[np.float64] = (counts + 1.0) / (counts.sum(axis=-1, keepdims=True) + levels[-1])
    return table


def fresh_shares(
    channel: Channel,
    terms: AgreedTerms,
    widths: BitWidths,
    moments: MomentShares,
    families: Sequence[Family],
    random: Callable[[int], bytes],
) -> dict[Family, Words]:
    """Shares of the counts of which both together reveal no more than their sums.

    A moment within one party's columns is wholly in that party's share, so the pairs of shares as they are
    would reveal more than the counts. The host adds uniform numbers to its shares, and the guest subtracts
    them.
    """
    sizes = [prod(levels_of(terms, family)) for family in families]
    if moments.host:
        masks = np.frombuffer(random(8 * sum(sizes)), dtype="<u8").astype(np.uint64)
        channel.send("masks", masks=masks)
    else:
        masks = channel.receive("masks", {"masks": Array("<u8", (sum(sizes),))})["masks"].astype(np.uint64)
    signed = masks if moments.host else np.uint64(0) - masks
    last = np.uint64((1 << widths.bits) - 1)
    starts = np.cumsum([0, *sizes])
    return {
        family: (count_shares(terms, widths, moments, family) + signed[start : start + size]) & last
        for family, start, size in zip(families, starts[:-1].tolist(), sizes, strict=True)
    }


def open_families(
    party: Party, terms: AgreedTerms, widths: BitWidths, moments: MomentShares, families: Sequence[Family]
) -> tuple[dict[Family, NDArray[np.int64] | None], int]:
    """Tables in thousandths of the families with rows enough in every configuration, and the AND gates."""
    if not families:
        return {}, 0
    side = 0 if moments.host else 1
    planner = Planner()
    sizes = [prod(levels_of(terms, family)) for family in families]
    entered = planner.reserve(2, widths.bits, sum(sizes))
    counts = planner.run(share_sum(widths.bits), entered.reshape(2 * widths.bits, -1))
    outputs, start = [], 0
    for family, size in zip(families, sizes, strict=True):
        some = counts[:, start : start + size].T.reshape(-1, 1)
        outputs.append(planner.run(opening(widths.bits, levels_of(terms, family)), some)[:, 0])
        start += size
    secrets = SecretMemory(party, side, planner.n_slots)
    shares = np.concatenate([count_shares(terms, widths, moments, family) for family in families])
    for owner in (0, 1):
        secrets.enter(entered[owner], owner, to_bits(shares, widths.bits) if owner == side else None)
    for stage in planner.stages:
        secrets.run(stage)
    bits = np.array(secrets.reveal(np.concatenate(outputs)), dtype=np.uint8)
    tables: dict[Family, NDArray[np.int64] | None] = {}
    start = 0
    for family, size in zip(families, sizes, strict=True):
        words = from_bits(bits[start + 1 : start + 1 + DIGITS * size].reshape(size, DIGITS).T)
        table = by_axes(words.astype(np.int64), levels_of(terms, family))
        tables[family] = table if bits[start] else None
        start += 1 + DIGITS * size
    return tables, count_ands(planner.stages)


def exchange_levels(
    channel: Channel, terms: AgreedTerms, opened: Sequence[Family], own: dict[int, tuple[str, ...]]
) -> dict[int, tuple[str, ...]]:
    """The names of the other party's levels, of columns that are in an opened family."""
    shown = sorted({member for family in opened for member in family})
    channel.send("levels", levels=[list(own[member]) for member in shown if member in own])
    theirs = [member for member in shown if member not in own]
    message = channel.receive("levels", {"levels": list})["levels"]
    if len(message) != len(theirs):
        channel.refuse("levels", f"it names the levels of {len(message)} columns, not {len(theirs)}")
    for member, names in zip(theirs, message, strict=True):
        if not isinstance(names, list) or len(names) != terms.levels[member]:
            channel.refuse(
                "levels", f"a column has not the {terms.levels[member]} levels that were agreed on"
            )
        if not all(map(is_level_name, names)):
            channel.refuse("levels", "the name of a level is not a short printable text")
        if len(set(names)) < len(names):
            channel.refuse("levels", "two levels of a column have the same name")
    return dict(zip(theirs, map(tuple, message), strict=True))


def is_level_name(name: object) -> bool:
    """Return True if a level's name can be sent, and printed where it arrives."""
    return isinstance(name, str) and 0 < len(name) <= LONGEST_LEVEL and name.isprintable()


def check_level_names(column: str, names: Sequence[str]) -> None:
    """Refuse a column of one's own whose levels have names that the other party would refuse."""
    if not all(map(is_level_name, names)):
        raise DataError(
            f"column '{column}' has a level whose name is not a printable text of 1 to {LONGEST_LEVEL} "
            "characters, as opened parameters need: rename it"
        )
