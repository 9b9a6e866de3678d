"""Add parent sets to incomplete candidates, around graphs that a search has reached.

Where not all parent sets can be scored, those that matter are close to the sets in a good graph. For every
child's parents P in a graph, P and every P ∖ {i} are scored, each alone and with one further parent: this
covers every addition, deletion and exchange of a parent. The child's best candidate sets, which acyclicity
may have denied it, are extended in the same way. So an order search on the wider candidates sees everything
that hill climbing over single edges sees, and can combine it. When all of that has been scored, probes look
for parents that pay only together: they add one parent that lowers the score, the one that lowers it least
first, and then the best further parent as long as it gains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget, OutOfTimeError
from dagora.graph.bits import pack, unpack
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates, ParentSets, best_first
from dagora.learners.run import Run
from dagora.learners.search.components import find_undominated
from dagora.scores.discrete import MOST_CONFIGURATIONS, DiscreteScore
from dagora.scores.local_score import TIE, Family, LocalScore

# Best candidate sets of each child that are extended besides its sets in the graphs.
BEST_SETS = 5
# Families that are scored between two looks at the clock.
TOGETHER = 5_000
# With more columns than these, so many are tried as parents of a child.
TRIED_PARENTS = 60
# A penalty counts as smaller by this, relative to it, so that rounding cannot rule out what gains.
MARGIN = 1e-6
# The most scores that are remembered: 64 MB. A full memory is emptied.
KEPT_NUMBERS = 8_000_000

# A child and the parents that others are added to.
Base = tuple[int, frozenset[int]]
# By child: sets that may matter, with their scores.
Found = list[list[tuple[frozenset[int], float]]]
EMPTY = np.zeros(0, dtype=np.int64)


class Widening:
    """Widens candidates by a score; remembers which sets have been extended."""

    def __init__(self, score: LocalScore, knowledge: Knowledge) -> None:
        names = score.schema.names
        self._score = score
        self._allowed = ~knowledge.forbidden_matrix(names)
        self._tried: NDArray[np.bool_] | None = None
        self._required = knowledge.required_matrix(names)
        self._limit = len(names) if knowledge.max_parents is None else knowledge.max_parents
        self._seen: set[Base] = set()
        self._rule = OneMoreParent(score)
        self._kept = 0
        # By base: its further parents, and the scores of the base alone and with each; NaN where not scored.
        self._values: dict[Base, tuple[list[int], NDArray[np.float64]]] = {}
        # By child: the parents that probes start from, and what is still to be tried with them.
        self._probed: dict[int, tuple[frozenset[int], deque[int]]] = {}

    def __call__(self, candidates: Candidates, graphs: Sequence[DAG], run: Run) -> Candidates:
        """The candidates with the sets around some graphs added; the same object if there is nothing new."""
        if self._tried is None:
            try:
                self._tried = likeliest_parents(self._score, self._allowed, run.budget)
            except OutOfTimeError:
                return candidates
        found: Found = [[] for _ in candidates]
        fresh = self._fresh(self._bases(candidates, graphs))
        if fresh:
            self._look(fresh, found, run)
        elif graphs:
            self._probe(graphs[0], found, run)
        sets = tuple(merge(child, more) for child, more in zip(candidates, found, strict=True))
        unchanged = all(new is old for new, old in zip(sets, candidates, strict=True))
        return candidates if unchanged else replace(candidates, sets=sets)

    def _fresh(self, bases: Iterable[Base]) -> list[Base]:
        """The sets that were not extended before, each once."""
        return [base for base in dict.fromkeys(bases) if base not in self._seen]

    def _bases(self, candidates: Candidates, graphs: Sequence[DAG]) -> Iterator[Base]:
        for graph in graphs:
            for child in range(len(graph)):
                parents = frozenset(graph.parent_indices(child))
                yield child, parents
                for parent in sorted(parents):
                    if not self._required[parent, child]:
                        yield child, parents - {parent}
        for sets in candidates:
            for wish in unpack(sets.masks[:BEST_SETS], sets.columns):
                yield sets.child, frozenset(np.flatnonzero(wish).tolist())

    def _probe(self, graph: DAG, found: Found, run: Run) -> None:
        """Give every child the next parent that does not gain, and add further ones as long as they gain."""
        parents = [frozenset(graph.parent_indices(child)) for child in range(len(graph))]
        changed = [base for base in enumerate(parents) if self._probed.get(base[0], (None,))[0] != base[1]]
        self._score_all(changed, OneMoreParent())
        for child, fixed in changed:
            further, values = self._values[child, fixed]
            likeliest = np.argsort(-values[1:], kind="stable")
            self._probed[child] = (fixed, deque(further[k] for k in likeliest))
        starts = [(child, fixed | {turn.popleft()}) for child, (fixed, turn) in self._probed.items() if turn]
        waiting = self._fresh(starts)
        while waiting and not run.budget.exhausted:
            waiting = self._fresh(self._look(waiting, found, run))

    def _look(self, bases: Sequence[Base], found: Found, run: Run) -> list[Base]:
        """Score bases, alone and with each further parent; return each base's best extension that gains."""
        best = []
        together = max(1, TOGETHER // min(len(found), TRIED_PARENTS))
        for start in range(0, len(bases), together):
            if run.budget.exhausted:
                break
            some = bases[start : start + together]
            self._seen.update(some)
            self._score_all(some, self._rule)
            for child, parents in some:
                further, values = self._values[child, parents]
                own, grown = values[0], values[1:]
                if np.isfinite(own):
                    found[child].append((parents, float(own)))
                better = np.flatnonzero(grown > own + TIE * abs(own) if np.isfinite(own) else grown > own)
                found[child].extend((parents | {further[k]}, float(grown[k])) for k in better)
                if len(better):
                    best.append((child, parents | {further[better[grown[better].argmax()]]}))
        return best

    def _parents_of(self, child: int) -> NDArray[np.int64]:
        """The parents that are tried for a child."""
        assert self._tried is not None
        return np.flatnonzero(self._tried[:, child])

    def _score_all(self, bases: Sequence[Base], rule: OneMoreParent) -> None:
        """Score bases, alone and with each further parent that is worth it, as far as they are not known."""
        if self._kept > KEPT_NUMBERS:
            self._values.clear()
            self._kept = 0
        unknown = [base for base in bases if base not in self._values]
        for child, parents in unknown:
            tried = self._parents_of(child) if len(parents) < self._limit else EMPTY
            further = [j for j in tried.tolist() if j not in parents]
            self._values[child, parents] = further, np.full(1 + len(further), np.nan)
            self._kept += 1 + len(further)
        if rule.rules:
            self._score_some([(base, np.zeros(1, dtype=np.int64)) for base in unknown])
        places = []
        for base in bases:
            further, values = self._values[base]
            wanted = np.isnan(values)
            wanted[1:] &= rule.may_gain(*base, values[0], further)
            places.append((base, np.flatnonzero(wanted)))
        self._score_some(places)

    def _score_some(self, places: Sequence[tuple[Base, NDArray[np.int64]]]) -> None:
        """Score bases at some places of their values: at 0 alone, at k with the k-th further parent."""
        families: list[Family] = []
        for (child, parents), some in places:
            further, _ = self._values[child, parents]
            fixed = tuple(sorted(parents))
            families += [(child, (*fixed, further[k - 1]) if k else fixed) for k in some.tolist()]
        if not families:
            return
        scores = self._score.families(families)
        start = 0
        for base, some in places:
            self._values[base][1][some] = scores[start : start + len(some)]
            start += len(some)


def likeliest_parents(score: LocalScore, permitted: NDArray[np.bool_], budget: Budget) -> NDArray[np.bool_]:
    """Mark the parents to try, [parent, child]: all that are permitted, or of many the best."""

    def watch(done: int, total: int) -> None:
        if budget.exhausted and done < total:
            raise OutOfTimeError

    permitted = permitted & ~np.eye(len(permitted), dtype=np.bool_)
    block = score.capabilities.block
    if len(permitted) <= TRIED_PARENTS + 1 or block is None:
        return permitted
    children, parents = np.nonzero(permitted.T)
    values = np.full(permitted.shape, -np.inf)
    values[parents, children] = block(children, parents[:, None], watch)
    worst_taken = -np.sort(-values, axis=0)[TRIED_PARENTS - 1]
    tried: NDArray[np.bool_] = permitted & (values >= worst_taken)
    return tried


def merge(child: ParentSets, found: Sequence[tuple[frozenset[int], float]]) -> ParentSets:
    """A child's sets and those found, without supersets of better ones; the same object if none is new."""
    if not found:
        return child
    # Among sets of one score the smaller comes first, so that the larger one is dropped.
    listed = sorted(dict(found).items(), key=lambda pair: (len(pair[0]), sorted(pair[0])))
    members = np.zeros((len(listed), child.columns), dtype=np.bool_)
    for row, (parents, _) in enumerate(listed):
        members[row, list(parents)] = True
    masks = np.concatenate([child.masks, pack(members)])
    scores = np.concatenate([child.scores, np.array([score for _, score in listed])])
    merged = best_first(child.child, masks, scores, child.columns)
    kept = find_undominated(merged.masks, child.columns)
    if kept.sum() == len(child) and (merged.masks[kept] == child.masks).all():
        return child
    return ParentSets(child.child, merged.masks[kept], merged.scores[kept], child.columns)


class OneMoreParent:
    """Excludes parents that cannot raise a family's score whatever the rows are: they need not be counted.

    Scores that are a log-likelihood minus t(P) = price · (r − 1) · q(P) have the two rules of `pruning`, here
    for one family and one more parent Y: s(P) + t(P ∪ {Y}) ≥ 0 rules Y out, since no log-likelihood is above
    0, and so does m · H(Y) ≤ (|Y| − 1) t(P), since Y adds no more information than it has. For a score
    without a rule, no parent is excluded.
    """

    def __init__(self, score: LocalScore | None = None) -> None:
        ruled = isinstance(score, DiscreteScore) and score.capabilities.counts_rows and score.price > 0
        self._score = score if isinstance(score, DiscreteScore) and ruled else None

    @property
    def rules(self) -> bool:
        """True if there is a rule for the score."""
        return self._score is not None

    def may_gain(
        self, child: int, parents: Collection[int], own: float, further: Sequence[int]
    ) -> NDArray[np.bool_]:
        """Mark the further parents that may raise the score `own` of a family."""
        if self._score is None:
            return np.ones(len(further), dtype=np.bool_)
        levels = self._levels[further]
        configurations = min(float(self._levels[list(parents)].prod()), MOST_CONFIGURATIONS)
        price = (1 - MARGIN) * self._score.price * (self._levels[child] - 1) * configurations
        may: NDArray[np.bool_] = own + price * levels < 0
        may &= self._entropies[further] > price * (levels - 1)
        return may

    @cached_property
    def _levels(self) -> NDArray[np.float64]:
        assert self._score is not None
        return self._score.schema.cardinalities.astype(np.float64)

    @cached_property
    def _entropies(self) -> NDArray[np.float64]:
        """For every column Y m · H(Y): minus its score without parents, with the penalty taken off."""
        assert self._score is not None
        alone = self._score.families([(column, ()) for column in range(len(self._levels))])
        return -(alone + self._score.penalty(self._levels, np.ones(len(alone))))
