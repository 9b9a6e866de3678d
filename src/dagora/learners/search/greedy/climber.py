"""A graph together with the gains of all its single-edge changes.

After a change only the families that changed are scored again, so a step computes one or two columns of the
gain matrices. A child's gains depend on its parents only. They are cached, so that returning to an earlier
family (in tabu search, after restarts) costs nothing. On rows that are scanned, the families that the next
moves are likely to lead to are scored ahead (see `likely_parents`) whenever a pass is due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget, OutOfTimeError
from dagora.base.errors import DataError, KnowledgeError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.search.greedy.moves import (
    ADD,
    DELETE,
    NONE,
    REVERSE,
    best_move,
    edge_hash,
    extend_reach,
    likely_parents,
    reachability,
    topological_sort,
)
from dagora.learners.search.greedy.neighbour_scores import Centre, NeighbourScores
from dagora.learners.search.path_rules import PathRules
from dagora.scores.local_score import TIE, Family, LocalScore, families_at_once

NO_TABU = np.zeros(0, dtype=np.uint64)
# The most numbers in the cache of gains: 64 MB. A full cache is emptied.
CACHED_NUMBERS = 8_000_000
BROKEN = "the start graph breaks the knowledge"


class Climber:
    """The current graph, its score, and the gains of all single changes that knowledge permits.

    What is scored is also left in `kept`, and what another climber has left there is not scored again.
    """

    def __init__(
        self,
        score: LocalScore,
        knowledge: Knowledge,
        start: DAG | None = None,
        budget: Budget | None = None,
        kept: NeighbourScores | None = None,
    ) -> None:
        self._score = score
        self._budget = Budget() if budget is None else budget
        self._names = score.schema.names
        d = len(self._names)
        self._forbidden = knowledge.forbidden_matrix(self._names)
        self._required = knowledge.required_matrix(self._names)
        self._limit = d if knowledge.max_parents is None else knowledge.max_parents
        self._rules = PathRules.of(knowledge, self._names)
        self._remembered: dict[
            tuple[int, frozenset[int]], tuple[float, NDArray[np.float64], NDArray[np.float64]]
        ] = {}
        # Scores of the neighbours of families that were scored ahead, by child and parents in their order.
        self._foreseen: dict[tuple[int, tuple[int, ...]], NDArray[np.float64]] = {}
        self._needs_pass = score.capabilities.needs_pass
        self._kept = kept
        self._tabu, self._uphill = NO_TABU, True
        self.evaluations = 0
        # Filled column by column: of a wide table, only what there was time for takes memory.
        self._additions = np.empty((d, d))
        self._deletions = np.empty((d, d))
        self._local = np.zeros(d)
        self.place(self._first_graph() if start is None else start)

    def _first_graph(self) -> DAG:
        """The required edges, and those of paths that must be there."""
        first = self._required
        if self._rules is not None:
            first = self._rules.complete(first, self._forbidden, self._limit)
        return DAG.from_numpy(first, self._names)

    def place(self, graph: DAG) -> None:
        """Move to another graph, which must obey the knowledge."""
        check_start(graph, self._forbidden, self._required, self._limit)
        self._present = graph.to_numpy()
        if self._rules is not None and not self._rules.obeyed(self._present):
            raise KnowledgeError(
                f"{BROKEN}: a path that 'causes' asks for is not there, or one that may not be is"
            )
        self._parents = [list(graph.parent_indices(child)) for child in range(len(graph))]
        self._reach = reachability(self._present, np.array(graph.order_indices, dtype=np.int64))
        self._flips: list[tuple[int, int]] = []  # edges added or removed since the last mark
        self._hash = np.uint64(0)
        for i, j in np.argwhere(self._present):
            self._hash ^= np.uint64(edge_hash(i, j))
        self._refresh(list(range(len(graph))))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return self._names

    @property
    def graph(self) -> DAG:
        """The current graph."""
        return DAG.from_numpy(self._present, self._names)

    @property
    def score(self) -> float:
        """The current graph's score."""
        return float(self._local.sum())

    @property
    def marked_graph(self) -> DAG:
        """The graph as it was when `mark` was last called, or where the climber was placed since."""
        present = self._present.copy()
        for i, j in self._flips:
            present[i, j] ^= True
        return DAG.from_numpy(present, self._names)

    def mark(self) -> None:
        """Remember the current graph."""
        self._flips.clear()

    @property
    def hash(self) -> np.uint64:
        """A hash of the current graph, for tabu lists."""
        return np.uint64(self._hash)

    def step(self, tabu: NDArray[np.uint64] = NO_TABU, *, uphill: bool = True) -> bool:
        """Make the best legal move; False if there is none, or, with `uphill`, none that gains."""
        tolerance = TIE * abs(self.score)
        self._tabu, self._uphill = tabu, uphill
        gain, kind, i, j = self._best_move(tolerance, tabu)
        if kind == NONE or (uphill and gain <= tolerance):
            return False
        self.apply(kind, i, j)
        return True

    def _best_move(self, tolerance: float, tabu: NDArray[np.uint64]) -> tuple[float, int, int, int]:
        """The best legal move that leaves the paths that must be there, and makes none that may not be."""

        def best() -> tuple[float, int, int, int]:
            return best_move(
                self._additions, self._deletions, self._present, self._reach, tolerance, self._hash, tabu
            )

        if self._rules is None:
            return best()
        blocked: list[tuple[NDArray[np.float64], tuple[int, int], float]] = []
        turns = (-np.inf, NONE, -1, -1)  # the best reversal of an edge that may not be left out
        try:
            while True:
                gain, kind, i, j = best()
                if kind == NONE or turns[0] > gain + tolerance:
                    return turns if turns[1] != NONE else (gain, kind, i, j)
                if self.permits(kind, i, j):
                    return gain, kind, i, j
                gains, place = self._additions if kind == ADD else self._deletions, (i, j)
                if kind == REVERSE:
                    gains, place = self._additions, (j, i)
                elif kind == DELETE:
                    turned = float(self._deletions[i, j] + self._additions[j, i])
                    if turned > turns[0] and self._can_turn(i, j, tabu):
                        turns = (turned, REVERSE, i, j)
                blocked.append((gains, place, float(gains[place])))
                gains[place] = -np.inf
        finally:
            for gains, place, value in reversed(blocked):
                gains[place] = value

    def permits(self, kind: int, i: int, j: int) -> bool:
        """Return True if a move leaves the paths that must be there, and makes none that may not be."""
        if self._rules is None:
            return True
        if kind == ADD:
            return self._rules.obeyed_with(self._present, (i, j))
        return self._rules.obeyed_without(self._present, (i, j), turned=kind == REVERSE)

    def _can_turn(self, i: int, j: int, tabu: NDArray[np.uint64]) -> bool:
        """Return True if the edge i → j may be turned, without a cycle and to a graph that is not tabu."""
        others = self._present[i] & self._reach[:, j]
        after = self._hash ^ np.uint64(edge_hash(i, j)) ^ np.uint64(edge_hash(j, i))
        return not others.any() and after not in tabu and self.permits(REVERSE, i, j)

    def apply(self, kind: int, i: int, j: int) -> None:
        """Add, delete or reverse i → j."""
        self._flips += [(i, j), (j, i)] if kind == REVERSE else [(i, j)]
        self._present[i, j] = kind == ADD
        self._hash ^= np.uint64(edge_hash(i, j))
        if kind == ADD:
            self._parents[j].append(i)
            extend_reach(self._reach, i, j)
        else:
            self._parents[j].remove(i)
        if kind == REVERSE:
            self._present[j, i] = True
            self._hash ^= np.uint64(edge_hash(j, i))
            self._parents[i].append(j)
        if kind != ADD:
            self._reach = reachability(self._present, topological_sort(self._present))
        self._refresh([i, j] if kind == REVERSE else [j])

    def random_walk(self, moves: int, rng: np.random.Generator) -> None:
        """Make some random moves that knowledge and acyclicity permit, whatever their gain."""
        d = len(self._names)
        made = 0
        for _ in range(100 * moves):  # fewer moves are made where hardly any is legal
            if self._budget.exhausted:
                return
            i, j = (int(k) for k in rng.integers(0, d, size=2))
            if self._present[i, j]:
                kind = DELETE if rng.random() < 0.5 else REVERSE
                permitted = self._deletions[i, j] > -np.inf
                if kind == REVERSE:
                    others = self._present[i] & self._reach[:, j]
                    permitted &= self._additions[j, i] > -np.inf and not others.any()
            else:
                kind = ADD
                permitted = (
                    self._additions[i, j] > -np.inf and not self._reach[j, i] and not self._present[j, i]
                )
            if permitted and self.permits(kind, i, j):
                self.apply(kind, i, j)
                made += 1
                if made == moves:
                    return

    def _refresh(self, children: list[int]) -> None:
        """Update the gains of some children, a block of them at a time.

        When the time is up, the scores of the other children's own families are computed, so that the graph
        has a score, and nothing else: their gains are not to be used any more.
        """
        block = max(1, families_at_once(self._score, self._budget) // len(self._names))
        for first in range(0, len(children), block):
            try:
                self._refresh_block(children[first : first + block])
            except OutOfTimeError:
                late = children[first:]
                self._local[late] = self._score.families(
                    [(child, tuple(self._parents[child])) for child in late]
                )
                return

    def _refresh_block(self, children: Sequence[int]) -> None:
        """Update the gains of some children; of families, only those that are not cached are scored."""
        if self._budget.exhausted:
            raise OutOfTimeError
        if len(self._remembered) * 2 * len(self._names) > CACHED_NUMBERS:
            self._remembered.clear()
        fresh = [child for child in children if self._key(child) not in self._remembered]
        wanted = [(child, tuple(self._parents[child])) for child in fresh]
        self._recall(wanted)
        unscored = [family for family in wanted if family not in self._foreseen]
        if self._takes_pass(unscored):
            unscored += self._likely(children)
        self._score_neighbours(unscored)
        for child, parents in wanted:
            self._remember(child, self._foreseen.pop((child, parents)))
        for child in children:
            self._local[child], additions, deletions = self._remembered[self._key(child)]
            self._additions[:, child] = additions
            self._deletions[:, child] = deletions

    def _takes_pass(self, centres: Sequence[Centre]) -> bool:
        """Return True if the neighbours of some families need a pass over rows; it may serve others too."""
        needs_pass = self._needs_pass
        return needs_pass is not None and any(needs_pass(self._neighbours(*centre)) for centre in centres)

    def _recall(self, centres: Sequence[Centre]) -> None:
        """Take over what another search has scored of the neighbours of some families."""
        if self._kept is None:
            return
        for child, parents in centres:
            values = self._kept.recall((child, parents), self._candidates(child, parents), self._names)
            if values is not None:
                self._foreseen[child, parents] = values

    def _score_neighbours(self, centres: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Score the neighbours of some families, all together."""
        neighbours = [self._neighbours(child, parents) for child, parents in centres]
        families = [family for some in neighbours for family in some]
        values = self._scores(families)
        self.evaluations += len(families)
        start = 0
        for centre, some in zip(centres, neighbours, strict=True):
            self._foreseen[centre] = values[start : start + len(some)]
            if self._kept is not None:
                self._kept.keep(centre, self._foreseen[centre], self._names)
            start += len(some)

    def _likely(self, changed: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Families that the next moves are likely to lead to, and that are not scored yet."""
        if len(changed) == len(self._names):
            return []  # no gain is known yet
        if len(self._foreseen) * 2 * len(self._names) > CACHED_NUMBERS:
            self._foreseen.clear()
        moves = likely_parents(
            self._additions,
            self._deletions,
            self._present,
            changed,
            TIE * abs(self.score),
            self._hash,
            self._tabu,
            uphill=self._uphill,
        )
        found = []
        for child, parent, added in moves:
            others = [other for other in self._parents[child] if other != parent]
            parents = (*others, parent) if added else tuple(others)
            known = (child, frozenset(parents)) in self._remembered or (child, parents) in self._foreseen
            if not known:
                found.append((child, parents))
        return found

    def _scores(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of families, as many at once as may be scored between two looks at the clock."""
        at_once = families_at_once(self._score, self._budget)
        parts = [np.zeros(0)]
        for first in range(0, len(families), at_once):
            if first and self._budget.exhausted:
                raise OutOfTimeError
            parts.append(self._score.families(families[first : first + at_once]))
        return np.concatenate(parts)

    def _key(self, child: int) -> tuple[int, frozenset[int]]:
        return child, frozenset(self._parents[child])

    def _candidates(self, child: int, parents: Sequence[int]) -> list[int]:
        """Nodes that knowledge permits as further parents of `child`."""
        if len(parents) >= self._limit:
            return []
        blocked = self._forbidden[:, child].copy()
        blocked[list(parents)] = True
        return np.flatnonzero(~blocked).tolist()

    def _removable(self, child: int, parents: Sequence[int]) -> list[int]:
        return [parent for parent in parents if not self._required[parent, child]]

    def _neighbours(self, child: int, parents: tuple[int, ...]) -> list[Family]:
        """A family as it is, then with each further parent, then without each that may go."""
        families: list[Family] = [(child, parents)]
        families += [(child, (*parents, candidate)) for candidate in self._candidates(child, parents)]
        families += [
            (child, tuple(p for p in parents if p != parent)) for parent in self._removable(child, parents)
        ]
        return families

    def _remember(self, child: int, values: NDArray[np.float64]) -> None:
        """Turn the scores of the neighbours of a child's family into gains."""
        parents = self._parents[child]
        candidates, removable = self._candidates(child, parents), self._removable(child, parents)
        own = float(values[0])
        refuse_impossible(self._score, {child: parents}, {child: own})
        additions = np.full(len(self._names), -np.inf)
        deletions = np.full(len(self._names), -np.inf)
        middle = 1 + len(candidates)
        additions[candidates] = values[1:middle] - own
        deletions[removable] = values[middle:] - own
        self._remembered[self._key(child)] = (own, additions, deletions)


def check_start(
    graph: DAG, forbidden: NDArray[np.bool_], required: NDArray[np.bool_], max_parents: int
) -> None:
    """Refuse a start graph that breaks the knowledge."""
    present, names = graph.to_numpy(), graph.nodes
    for wrong, word in ((present & forbidden, "forbidden"), (required & ~present, "required")):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise KnowledgeError(f"{BROKEN}: {names[i]} → {names[j]} is {word}")
    counts = present.sum(axis=0)
    if counts.max(initial=0) > max_parents:
        child = names[int(counts.argmax())]
        raise KnowledgeError(f"{BROKEN}: {child} has {counts.max()} parents, more than {max_parents}")


def refuse_impossible(
    score: LocalScore, parents: Mapping[int, Sequence[int]], scores: Mapping[int, float]
) -> None:
    """Refuse a start graph, or required edges, of which a family cannot be scored; no move leads there."""
    for child, value in scores.items():
        if value == -np.inf:
            raise DataError(
                f"'{score.schema.names[child]}' with {len(parents[child])} parents cannot be scored "
                f"on {score.n_rows} rows: start with fewer edges, or get more rows"
            )
