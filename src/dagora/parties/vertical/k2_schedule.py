"""The circuits of private K2 in the order in which they run, planned before any data is seen.

`adaptive_plan` is one step of the search, which candidate wins; the answer is revealed and decides the next
step. `hidden_plan` is the whole search, which reveals only the parent sets. In it the parents chosen so far
are secret, so the moments that the next step needs are selected by the secret marks of the winner: with r
candidates left, one word out of r. The winner's place is then removed, so that no step scores a family twice.
Selecting moments is cheap compared to ln x!, and the plan is hardly longer than an adaptive search. (Scoring
all families up to the limit and selecting scores would take fourteen times as many logarithms.)

A parent that is secret may have any number of levels that a candidate has, so it gets the most of them: the
moments of levels that it does not have are 0, and configurations without rows add nothing to a score.
Likewise with a candidate's place, once an earlier winner is taken out: one of two neighbours stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.parties.vertical.circuit_plan import CircuitStage, Planner, SlotNumbers
from dagora.parties.vertical.columns import indicators
from dagora.parties.vertical.counts import score_circuit
from dagora.parties.vertical.score_circuits import (
    chain,
    family_counts,
    insertion,
    log_factorial_circuit,
    removal,
    selection,
    share_sum,
    step,
    union,
)
from dagora.parties.vertical.widths import BitWidths

# Keys: levels of the child and of the chosen parents (0: any), and places of candidates left with a level
# each.
Pattern = tuple[int, ...]
Places = tuple[tuple[int, int], ...]
Moments = dict[tuple[Pattern, Places], SlotNumbers]


@dataclass(frozen=True, eq=False)
class AdaptivePlan:
    """One step: fill `shares`, `known` and `own`, run the stages, reveal `winner`, keep its score.

    `groups` are the candidates whose score no party knows alone, those with as many levels together.
    `shares[party][bit, word]` takes a party's shares of the words of `counts_from_moments`, group by group,
    and in a group all first words, then all second ones; `known[bit, family]` takes the scores of the other
    candidates, and `own` the child's present score.
    """

    groups: tuple[tuple[int, ...], ...]
    shares: tuple[SlotNumbers, SlotNumbers]
    known: SlotNumbers
    own: SlotNumbers
    stages: tuple[CircuitStage, ...]
    winner: SlotNumbers
    scores: SlotNumbers
    n_slots: int


@dataclass(frozen=True, eq=False)
class HiddenPlan:
    """The whole search: fill `shares` and `public`, run the stages, reveal `marks`.

    `shares[party][bit, set]` takes a party's shares of the moments of `sets` of indicators (`columns`; of
    binary columns, these are the variables; `shares[0]` takes the moments themselves in a plan that is not
    shared), `public` the bits `public_bits`, which both know; `marks[edge]`
    says whether the graph has `edges[edge]`, a pair of parent and child.
    """

    shares: tuple[SlotNumbers, ...]
    sets: tuple[tuple[int, ...], ...]
    public: SlotNumbers
    public_bits: NDArray[np.uint8]
    stages: tuple[CircuitStage, ...]
    marks: SlotNumbers
    edges: tuple[tuple[int, int], ...]
    n_slots: int


def adaptive_plan(
    widths: BitWidths,
    parents: int,
    candidates: int,
    known: Sequence[int] = (),
    levels: Sequence[int] | None = None,
) -> AdaptivePlan:
    """Plan the choice among candidates after `parents` choices; one party alone scores those `known`.

    `levels` are those of the parents, of the candidates and of the child; without them all are 2.
    """
    planner = Planner()
    given_levels = [2] * (parents + candidates + 1) if levels is None else list(levels)
    before, own_levels = prod(given_levels[:parents]), given_levels[-1]
    offered = given_levels[parents:-1]
    secret = [candidate for candidate in range(candidates) if candidate not in known]
    groups = [
        tuple(candidate for candidate in secret if offered[candidate] == count)
        for count in sorted({offered[candidate] for candidate in secret})
    ]
    words = [before * offered[group[0]] * (own_levels + 1) for group in groups]
    total = sum(count * len(group) for count, group in zip(words, groups, strict=True))
    shares = planner.reserve(2, widths.bits, total)
    given = planner.reserve(widths.width, len(known))
    own = planner.reserve(widths.width)
    counts = planner.run(share_sum(widths.bits), shares.reshape(2 * widths.bits, total))
    scores = np.empty((widths.width, candidates), dtype=np.int32)
    first = 0
    for count, group in zip(words, groups, strict=True):
        some = counts[:, first : first + count * len(group)].reshape(widths.bits, count, len(group))
        scores[:, list(group)] = plan_scores(planner, widths, some, own_levels)
        first += count * len(group)
    scores[:, list(known)] = given
    inputs = np.concatenate([scores.T.ravel(), own])[:, None]
    winner = planner.run(step(widths.width, candidates), inputs)[:, 0]
    return AdaptivePlan(
        tuple(groups),
        (shares[0], shares[1]),
        given,
        own,
        tuple(planner.stages),
        winner,
        scores,
        planner.n_slots,
    )


def plan_scores(planner: Planner, widths: BitWidths, counts: SlotNumbers, levels: int) -> SlotNumbers:
    """Scores[bit, family] of families with counts[bit, word, family] whose child has so many levels."""
    bits, words, families = counts.shape
    logs = planner.run(log_factorial_circuit(widths), counts.reshape(bits, words * families))
    by_word = logs.reshape(widths.width, words, families).swapaxes(0, 1)
    inputs = by_word.reshape(words * widths.width, families)
    return planner.run(score_circuit(widths, words, levels), inputs)


def hidden_plan(
    widths: BitWidths, order: Sequence[int], levels: Sequence[int] | None = None, *, shared: bool = True
) -> HiddenPlan:
    """Plan the whole search along an order; the limit on parents is that of the widths.

    `levels` are those of the variables, by number; without them all are 2. Moments are `shared` between two
    parties, or computed before the search.
    """
    planner = Planner()
    limit = min(widths.max_parents, len(order) - 1)
    counts = [2] * len(order) if levels is None else [levels[variable] for variable in order]
    number = indicators([2] * len(order) if levels is None else levels)
    sets = [
        tuple(zip(places, chosen, strict=True))
        for size in range(1, limit + 2)
        for places in combinations(range(len(order)), size)
        for chosen in product(*(range(1, counts[place]) for place in places))
    ]
    shares = planner.reserve(2 if shared else 1, widths.bits, len(sets))
    public = planner.reserve(widths.bits + 1 + (max(counts) > 2))
    public_bits = np.zeros(len(public), dtype=np.uint8)
    public_bits[: widths.bits] = [widths.rows >> k & 1 for k in range(widths.bits)]
    public_bits[widths.bits] = 1
    sums = shares[0]
    if shared:
        sums = planner.run(share_sum(widths.bits), shares.reshape(2 * widths.bits, -1))
    moments = {places: sums[:, column] for column, places in enumerate(sets)}
    moments[()] = public[: widths.bits]
    alive, none = public[widths.bits : widths.bits + 1], np.repeat(public[-1:], widths.bits)
    searches = [ParentSearch(child, limit, moments, counts, alive, none) for child in range(len(order))]
    own = score_stage(planner, widths, [search.family_without_parents() for search in searches])
    for search, score in zip(searches, own.T, strict=True):
        search.own = score
    for _ in range(limit):
        searching = [search for search in searches if search.left > 0]
        families = [family for search in searching for family in search.families()]
        scores = score_stage(planner, widths, families)
        first = 0
        for search in searching:
            search.choose(planner, widths, scores[:, first : first + search.left])
            first += search.left
            search.close_up(planner, widths)
    searched = searches[1:] if limit > 0 else []
    marks = [search.marks for search in searched]
    edges = [(order[parent], order[search.child]) for search in searched for parent in range(search.child)]
    return HiddenPlan(
        tuple(shares),
        tuple(tuple(number[order[place]][level - 1] for place, level in places) for places in sets),
        public,
        public_bits,
        tuple(planner.stages),
        np.concatenate(marks) if marks else np.empty(0, dtype=np.int32),
        tuple(edges),
        planner.n_slots,
    )


@dataclass(frozen=True, eq=False)
class FamilyMoments:
    """The moments of a family in the sequence of `family_counts`, and the levels of its members."""

    levels: tuple[int, ...]
    moments: list[SlotNumbers]


def score_stage(planner: Planner, widths: BitWidths, families: Sequence[FamilyMoments]) -> SlotNumbers:
    """Scores[bit, family] of families given by their moments; those with the same levels run together."""
    scores = np.empty((widths.width, len(families)), dtype=np.int32)
    for levels in sorted({family.levels for family in families}):
        some = [k for k, family in enumerate(families) if family.levels == levels]
        inputs = np.stack([np.concatenate(families[k].moments) for k in some], axis=1)
        counts = planner.run(family_counts(widths.bits, levels), inputs)
        words = counts.reshape(-1, widths.bits, len(some)).swapaxes(0, 1)
        scores[:, some] = plan_scores(planner, widths, words, levels[-1])
    return scores


class ParentSearch:
    """The search for the parents of one child among the variables before it in the order."""

    def __init__(
        self,
        child: int,
        limit: int,
        moments: dict[Places, SlotNumbers],
        levels: Sequence[int],
        alive: SlotNumbers,
        none: SlotNumbers,
    ) -> None:
        self.child = child
        self.left = child  # candidates left
        self.limit = limit  # parents still to be chosen
        self.alive = alive
        self.own = alive  # the score so far: set once it is known
        self.chosen = 0
        self.marks: SlotNumbers = np.empty(0, dtype=np.int32)
        self._own_levels = levels[child]
        self._levels = list(levels[:child])  # the most that can stand at each place left
        self._padded = max(self._levels, default=2)  # those of a chosen parent
        self._none = none  # a moment of 0
        self._flags: list[SlotNumbers] = []
        self._winner: SlotNumbers = self.marks
        self._moments: Moments = {}
        for size in range(min(limit, child) + 1):
            for places in self._sets(size):
                self._moments[(0,), places] = moments[places]
                for level in range(1, self._own_levels):
                    self._moments[(level,), places] = moments[(*places, (child, level))]

    def _sets(self, size: int, levels: Sequence[int] | None = None) -> list[Places]:
        """Sets of so many places, with a level other than the first for each."""
        counts = self._levels if levels is None else levels
        return [
            tuple(zip(places, chosen, strict=True))
            for places in combinations(range(len(counts)), size)
            for chosen in product(*(range(1, counts[place]) for place in places))
        ]

    def _patterns(self) -> list[Pattern]:
        """Levels of the child and of the chosen parents, those of the first parent alternating fastest."""
        counts = [self._own_levels, *[self._padded] * self.chosen]
        return [(own, *parents[::-1]) for own, *parents in product(*(range(count) for count in counts))]

    def family_without_parents(self) -> FamilyMoments:
        """Moments of the child without parents."""
        counts = range(self._own_levels)
        return FamilyMoments((self._own_levels,), [self._moments[(level,), ()] for level in counts])

    def families(self) -> list[FamilyMoments]:
        """Moments of the family with each candidate; members are the parents, the candidate, the child."""
        before = self._padded**self.chosen
        patterns = self._patterns()
        return [
            FamilyMoments(
                (*[self._padded] * self.chosen, self._levels[place], self._own_levels),
                [
                    self._moments[pattern, ((place, level),) if level else ()]
                    for own in range(self._own_levels)
                    for level in range(self._levels[place])
                    for pattern in patterns[own * before : (own + 1) * before]
                ],
            )
            for place in range(self.left)
        ]

    def choose(self, planner: Planner, widths: BitWidths, scores: SlotNumbers) -> None:
        """Plan one step: the winner's marks among the candidates that are left, and among all candidates."""
        inputs = np.concatenate([scores.T.ravel(), self.own, self.alive])[:, None]
        outputs = planner.run(step(widths.width, self.left, secret=True), inputs)[:, 0]
        self._winner = outputs[: self.left]
        self.alive = outputs[self.left : self.left + 1]
        self.own = outputs[self.left + 1 :]
        marks = self._winner
        for flags in self._flags[::-1]:
            marks = planner.run(insertion(len(marks) + 1), np.concatenate([marks, flags])[:, None])[:, 0]
        if self.chosen == 0:
            self.marks = marks
        else:
            inputs = np.concatenate([self.marks, marks])[:, None]
            self.marks = planner.run(union(self.child), inputs)[:, 0]

    def close_up(self, planner: Planner, widths: BitWidths) -> None:
        """Make the winner a parent: select the moments with and without it, for the places left."""
        self.limit -= 1
        if self.limit == 0 or self.left == 1:
            self.left = 0
            return
        flags = planner.run(removal(self.left), self._winner[:, None])[:, 0]
        self._flags.append(flags)
        patterns = self._patterns()
        levels = [max(pair) for pair in pairwise(self._levels)]
        kept: Moments = {((*pattern, 0), ()): self._moments[pattern, ()] for pattern in patterns}
        with_winner, columns = [], []
        for size in range(min(self.limit, self.left - 1) + 1):
            keys = [(pattern, places) for pattern in patterns for places in self._sets(size, levels)]
            for pattern, places in keys:
                for level in range(1, self._padded):
                    with_winner.append(((*pattern, level), places))
                    words = (
                        self._moment(pattern, places_before_removal(places, winner, level))
                        for winner in range(self.left)
                    )
                    columns.append(np.concatenate([self._winner, *words]))
            if size > 0:
                inputs = []
                for pattern, places in keys:
                    moved = [flags[place] for place, _ in places]
                    words = (self._moment(pattern, shift_places(places, k)) for k in range(size + 1))
                    inputs.append(np.concatenate([np.array(moved, dtype=np.int32), *words]))
                outputs = planner.run(chain(widths.bits, size), np.stack(inputs, axis=1))
                without = (((*pattern, 0), places) for pattern, places in keys)
                kept.update(zip(without, outputs.T, strict=True))
        outputs = planner.run(selection(widths.bits, self.left), np.stack(columns, axis=1))
        kept.update(zip(with_winner, outputs.T, strict=True))
        self._moments = kept
        self._levels = levels
        self.chosen += 1
        self.left -= 1

    def _moment(self, pattern: Pattern, places: Places) -> SlotNumbers:
        """A moment as it is so far: 0 where a place has not as many levels."""
        if any(level >= self._levels[place] for place, level in places):
            return self._none
        return self._moments[pattern, places]


def places_before_removal(places: Places, winner: int, level: int) -> Places:
    """The places as they were numbered before the winner was removed, and the winner itself with a level.

    >>> places_before_removal(((0, 1), (1, 2)), 1, 3)
    ((0, 1), (1, 3), (2, 2))
    """
    others = ((place + (place >= winner), chosen) for place, chosen in places)
    return tuple(sorted([(winner, level), *others]))


def shift_places(places: Places, count: int) -> Places:
    """Move the last `count` places up by one."""
    still = len(places) - count
    return (*places[:still], *((place + 1, level) for place, level in places[still:]))
