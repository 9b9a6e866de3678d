"""K2 by garbled circuits on shares of moments: the whole search at once, or one choice after the other.

`hidden_search` runs the fixed schedule of `hidden_plan`: the order in which parents are chosen stays secret,
and only each variable's set of parents is revealed to both. `adaptive_search` is the search of `search.k2`
with a `choose` that two parties compute together: the winner of each choice is revealed, and so is where the
search ends. Families within one party's columns are scored by that party alone and enter as its input. The
host garbles, the guest evaluates; both call the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event, Observer, ignore
from dagora.learners.search.k2 import run_k2
from dagora.parties.crypto.garbling.yao import Party
from dagora.parties.vertical.agreement import AgreedTerms
from dagora.parties.vertical.circuit_plan import CircuitStage, SlotNumbers, count_ands
from dagora.parties.vertical.counts import counts_from_moments, known_scores, to_bits
from dagora.parties.vertical.k2_schedule import adaptive_plan, hidden_plan
from dagora.parties.vertical.moments import MomentShares
from dagora.parties.vertical.widths import BitWidths

Bits = NDArray[np.uint8]
Words = NDArray[np.uint64]

PHASE = "search"


@dataclass
class SecretMemory:
    """A party's labels for the slots of a plan; `side` is 0 for the host and 1 for the guest."""

    party: Party
    side: int
    n_slots: int
    memory: Words = field(init=False)

    def __post_init__(self) -> None:
        self.memory = np.zeros((self.n_slots, 2), dtype=np.uint64)

    def enter(self, slots: SlotNumbers, owner: int, bits: Bits | None) -> None:
        """Enter bits[wire, instance] of one side; they are None at the other side."""
        if not slots.size:
            return
        if owner != self.side:
            self.memory[slots] = self.party.peer_inputs(*slots.shape)
            return
        assert bits is not None
        assert bits.shape == slots.shape
        self.memory[slots] = self.party.own_inputs(np.ascontiguousarray(bits))

    def run(self, stage: CircuitStage) -> None:
        """Run one circuit for its batch."""
        self.memory[stage.outputs] = self.party.run(stage.circuit, self.memory[stage.inputs])

    def reveal(self, slots: SlotNumbers) -> list[int]:
        """Open bits to both."""
        bits = self.party.reveal(self.memory[slots][:, None], "both")
        assert bits is not None
        return [int(bit) for bit in bits[:, 0]]


@dataclass
class FoundParents:
    """Parents of each variable, and the AND gates that were garbled to find them."""

    parents: list[list[int]]
    ands: int = 0
    choices: int = 0


def hidden_search(
    party: Party, terms: AgreedTerms, widths: BitWidths, moments: MomentShares, on_event: Observer = ignore
) -> FoundParents:
    """Parents of each variable, sorted by the order, since the sequence of choices stays secret."""
    side = 0 if moments.host else 1
    plan = hidden_plan(widths, terms.order, terms.levels)
    secrets = SecretMemory(party, side, plan.n_slots)
    for owner in (0, 1):
        share = to_bits(moments.of(plan.sets), widths.bits) if owner == side else None
        secrets.enter(plan.shares[owner], owner, share)
    secrets.memory[plan.public] = party.constants(plan.public_bits, 1)[:, 0]
    done, total = 0, count_ands(plan.stages)
    for stage in plan.stages:
        secrets.run(stage)
        done += stage.n_and
        on_event(Event(PHASE, done, total=total))
    parents: list[list[int]] = [[] for _ in terms.names]
    for (parent, child), mark in zip(plan.edges, secrets.reveal(plan.marks), strict=True):
        if mark:
            parents[child].append(parent)
    return FoundParents(parents, total)


def adaptive_search(
    party: Party, terms: AgreedTerms, widths: BitWidths, moments: MomentShares, on_event: Observer = ignore
) -> FoundParents:
    """Parents of each variable, in the sequence in which they were chosen."""
    chooser = TwoPartyChooser(party, terms, widths, moments, on_event)
    parents = run_k2(terms.order, terms.limit, chooser.choose)
    return FoundParents(parents, chooser.ands, chooser.choices)


class TwoPartyChooser:
    """The chooser of K2 in which neither party sees a score."""

    def __init__(
        self, party: Party, terms: AgreedTerms, widths: BitWidths, moments: MomentShares, on_event: Observer
    ) -> None:
        self._party = party
        self._side = 0 if moments.host else 1
        self._owner = [int(variable >= len(terms.host)) for variable in range(len(terms.names))]
        self._levels = terms.levels
        self._widths = widths
        self._moments = moments
        self._on_event = on_event
        self._own: dict[int, Words] = {}  # labels of a child's score so far
        self._total = sum(min(terms.limit, place) for place in range(len(terms.order)))
        self.ands = 0
        self.choices = 0

    def choose(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> int | None:
        """Return the candidate that wins, if any; both parties learn it."""
        widths, owner = self._widths, self._owner[child]
        inside = all(self._owner[parent] == owner for parent in parents)
        alone = [k for k, other in enumerate(candidates) if inside and self._owner[other] == owner]
        families = [(*parents, other, child) for other in candidates]
        levels = [self._levels[variable] for variable in (*parents, *candidates, child)]
        plan = adaptive_plan(widths, len(parents), len(candidates), alone, levels)
        secrets = SecretMemory(self._party, self._side, plan.n_slots)
        joint = [self._count_bits([families[k] for k in group]) for group in plan.groups]
        shares = np.concatenate(joint, axis=1) if joint else None
        for side in (0, 1):
            secrets.enter(plan.shares[side], side, shares if side == self._side else None)
        mine = self._side == owner
        known = self._scores([families[k] for k in alone]) if mine else None
        secrets.enter(plan.known, owner, known)
        if child in self._own:
            secrets.memory[plan.own] = self._own[child]
        else:
            secrets.enter(plan.own[:, None], owner, self._scores([(child,)]) if mine else None)
        for stage in plan.stages:
            secrets.run(stage)
            self.ands += stage.n_and
        marks = secrets.reveal(plan.winner)
        self.choices += 1
        self._on_event(Event(PHASE, self.choices, total=self._total))
        if not any(marks):
            return None
        winner = marks.index(1)
        self._own[child] = secrets.memory[plan.scores[:, winner]]
        return candidates[winner]

    def _family_levels(self, family: Sequence[int]) -> list[int]:
        return [self._levels[member] for member in family]

    def _count_bits(self, families: Sequence[Sequence[int]]) -> Bits:
        """Bits of this party's shares of the counts of families of both parties with the same levels."""
        shares = self._moments.of_families(families)
        levels = self._family_levels(families[0])
        counts = counts_from_moments(shares, self._widths.bits, levels, plus=self._moments.host)
        return to_bits(counts.ravel(), self._widths.bits)

    def _scores(self, families: Sequence[Sequence[int]]) -> Bits:
        """Bits of the scores of families within this party's columns."""
        scores = np.zeros(len(families), dtype=np.uint64)
        for levels in {tuple(self._family_levels(family)) for family in families}:
            some = [k for k, family in enumerate(families) if tuple(self._family_levels(family)) == levels]
            moments = self._moments.of_families([families[k] for k in some], alone=True)
            counts = counts_from_moments(moments, self._widths.bits, levels)
            scores[some] = known_scores(self._widths, counts, levels[-1])
        return to_bits(scores, self._widths.width)
