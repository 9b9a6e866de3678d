"""The circuits of private K2 in the order in which they run, planned before any data is seen.

`adaptive_plan` is one step of the search, which candidate wins; the answer is revealed and decides the next
step. `hidden_plan` is the whole search, which reveals only the parent sets. In it the parents chosen so far
are secret, so the moments that the next step needs are selected by the secret marks of the winner: with r
candidates left, one word out of r. The winner's place is then removed, so that no step scores a family twice.
Selecting moments is cheap compared to ln x!, and the plan is hardly longer than an adaptive search. (Scoring
all families up to the limit and selecting scores would take fourteen times as many logarithms.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.parties.vertical.circuit_plan import Planner, SlotNumbers, Stage
from dagora.parties.vertical.score_circuits import (
    chain,
    family_counts,
    family_score,
    insertion,
    log_factorial_circuit,
    removal,
    selection,
    share_sum,
    step,
    union,
)
from dagora.parties.vertical.widths import BitWidths

# Keys: a mask of the child (bit 0) and the chosen parents (bits 1, 2, ...), and places of candidates left.
Moments = dict[tuple[int, tuple[int, ...]], SlotNumbers]


@dataclass(frozen=True, eq=False)
class AdaptivePlan:
    """One step: fill `shares`, `known` and `own`, run the stages, reveal `winner`, keep its score.

    `shares[party][bit, word * families + family]` takes a party's shares of the words of
    `counts_from_moments`, for the candidates whose score no party knows alone; `known[bit, family]` takes the
    scores of the others, and `own` the child's present score.
    """

    shares: tuple[SlotNumbers, SlotNumbers]
    known: SlotNumbers
    own: SlotNumbers
    stages: tuple[Stage, ...]
    winner: SlotNumbers
    scores: SlotNumbers
    n_slots: int


@dataclass(frozen=True, eq=False)
class HiddenPlan:
    """The whole search: fill `shares` and `public`, run the stages, reveal `marks`.

    `shares[party][bit, set]` takes a party's shares of the moments of `sets` (variables in the order's
    sequence), `public` the bits `public_bits`, which both know; `marks[edge]` says whether the graph has
    `edges[edge]`, a pair of parent and child.
    """

    shares: tuple[SlotNumbers, SlotNumbers]
    sets: tuple[tuple[int, ...], ...]
    public: SlotNumbers
    public_bits: NDArray[np.uint8]
    stages: tuple[Stage, ...]
    marks: SlotNumbers
    edges: tuple[tuple[int, int], ...]
    n_slots: int


def adaptive_plan(
    widths: BitWidths, parents: int, candidates: int, known: Sequence[int] = ()
) -> AdaptivePlan:
    """Plan the choice among candidates after `parents` choices; one party alone scores those `known`."""
    planner = Planner()
    secret = [candidate for candidate in range(candidates) if candidate not in known]
    words = 6 << parents
    shares = planner.reserve(2, widths.bits, words * len(secret))
    given = planner.reserve(widths.width, len(known))
    own = planner.reserve(widths.width)
    counts = planner.run(share_sum(widths.bits), shares.reshape(2 * widths.bits, words * len(secret)))
    scores = np.empty((widths.width, candidates), dtype=np.int32)
    scores[:, secret] = plan_scores(planner, widths, counts.reshape(widths.bits, words, len(secret)))
    scores[:, list(known)] = given
    inputs = np.concatenate([scores.T.ravel(), own])[:, None]
    winner = planner.run(step(widths.width, candidates), inputs)[:, 0]
    return AdaptivePlan(
        (shares[0], shares[1]), given, own, tuple(planner.stages), winner, scores, planner.n_slots
    )


def plan_scores(planner: Planner, widths: BitWidths, counts: SlotNumbers) -> SlotNumbers:
    """Scores[bit, family] of families with counts[bit, word, family]."""
    bits, words, families = counts.shape
    logs = planner.run(log_factorial_circuit(widths), counts.reshape(bits, words * families))
    by_word = logs.reshape(widths.width, words, families).swapaxes(0, 1)
    inputs = by_word.reshape(words * widths.width, families)
    return planner.run(family_score(widths.width, (words // 3).bit_length() - 1), inputs)


def hidden_plan(widths: BitWidths, order: Sequence[int]) -> HiddenPlan:
    """Plan the whole search along an order; the limit on parents is that of the widths."""
    planner = Planner()
    limit = min(widths.max_parents, len(order) - 1)
    sets = [places for size in range(1, limit + 2) for places in combinations(range(len(order)), size)]
    shares = planner.reserve(2, widths.bits, len(sets))
    public = planner.reserve(widths.bits + 1)
    public_bits = np.array([widths.rows >> k & 1 for k in range(widths.bits)] + [1], dtype=np.uint8)
    sums = planner.run(share_sum(widths.bits), shares.reshape(2 * widths.bits, -1))
    moments = {places: sums[:, column] for column, places in enumerate(sets)}
    moments[()] = public[:-1]
    searches = [ParentSearch(child, limit, moments, public[-1:]) for child in range(len(order))]
    own = score_stage(planner, widths, [search.moments_without_parents() for search in searches])
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
    asked = searches[1:] if limit > 0 else []
    marks = [search.marks for search in asked]
    edges = [(order[parent], order[search.child]) for search in asked for parent in range(search.child)]
    return HiddenPlan(
        (shares[0], shares[1]),
        tuple(tuple(order[place] for place in places) for places in sets),
        public,
        public_bits,
        tuple(planner.stages),
        np.concatenate(marks) if marks else np.empty(0, dtype=np.int32),
        tuple(edges),
        planner.n_slots,
    )


def score_stage(
    planner: Planner, widths: BitWidths, families: Sequence[Sequence[SlotNumbers]]
) -> SlotNumbers:
    """Scores[bit, family] of families given by their moments, all of one size."""
    inputs = np.stack([np.concatenate(family) for family in families], axis=1)
    members = (len(families[0]) - 1).bit_length()
    counts = planner.run(family_counts(widths.bits, members), inputs)
    words = counts.reshape(-1, widths.bits, len(families)).swapaxes(0, 1)
    return plan_scores(planner, widths, words)


class ParentSearch:
    """The search for the parents of one child among the variables before it in the order."""

    def __init__(
        self, child: int, limit: int, moments: dict[tuple[int, ...], SlotNumbers], alive: SlotNumbers
    ) -> None:
        self.child = child
        self.left = child  # candidates left
        self.limit = limit  # parents still to be chosen
        self.alive = alive
        self.own = alive  # the score so far: set once it is known
        self.chosen = 0
        self.marks: SlotNumbers = np.empty(0, dtype=np.int32)
        self._flags: list[SlotNumbers] = []
        self._winner: SlotNumbers = self.marks
        self._moments: Moments = {}
        for size in range(min(limit, child) + 1):
            for places in combinations(range(child), size):
                self._moments[0, places] = moments[places]
                if size <= limit:
                    self._moments[1, places] = moments[(*places, child)]

    def moments_without_parents(self) -> list[SlotNumbers]:
        """Moments of the child without parents."""
        return [self._moments[0, ()], self._moments[1, ()]]

    def families(self) -> list[list[SlotNumbers]]:
        """Moments of the family with each candidate; members are the parents, the candidate, the child."""
        return [
            [
                self._moments[parents << 1 | child, (place,) if candidate else ()]
                for child in range(2)
                for candidate in range(2)
                for parents in range(1 << self.chosen)
            ]
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
        masks = range(2 << self.chosen)
        kept: Moments = {(mask, ()): self._moments[mask, ()] for mask in masks}
        with_winner, columns = [], []
        for size in range(min(self.limit, self.left - 1) + 1):
            sets = list(combinations(range(self.left - 1), size))
            keys = [(mask, places) for mask in masks for places in sets]
            with_winner += [(mask | 2 << self.chosen, places) for mask, places in keys]
            columns += [
                np.concatenate(
                    [
                        self._winner,
                        *(self._moments[mask, places_before_removal(places, a)] for a in range(self.left)),
                    ]
                )
                for mask, places in keys
            ]
            if size > 0:
                inputs = [
                    np.concatenate(
                        [
                            flags[list(places)],
                            *(self._moments[mask, places_shifted(places, k)] for k in range(size + 1)),
                        ]
                    )
                    for mask, places in keys
                ]
                outputs = planner.run(chain(widths.bits, size), np.stack(inputs, axis=1))
                kept.update(zip(keys, outputs.T, strict=True))
        outputs = planner.run(selection(widths.bits, self.left), np.stack(columns, axis=1))
        kept.update(zip(with_winner, outputs.T, strict=True))
        self._moments = kept
        self.chosen += 1
        self.left -= 1


def places_before_removal(places: tuple[int, ...], winner: int) -> tuple[int, ...]:
    """The places as they were numbered before the winner was removed, and the winner itself.

    >>> places_before_removal((0, 1), 1)
    (0, 1, 2)
    """
    return tuple(sorted([winner, *(place + (place >= winner) for place in places)]))


def places_shifted(places: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The places, the last `count` of them moved up by one."""
    still = len(places) - count
    return (*places[:still], *(place + 1 for place in places[still:]))
