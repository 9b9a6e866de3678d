"""Split a learning problem into components that can be solved one after the other.

Draw an edge p → x wherever p occurs in a candidate parent set of x. Edges of a network between two strongly
connected components of that graph all point in the same direction. So the components are solved in
topological order: within a component only the order of its own members matters, and parents from earlier
components are free (Fan, Malone & Yuan 2014). A `LocalProblem` is what remains of a component: for each
member the sets restricted to other members, best first, without those that a subset makes useless.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import first_subset, flip_bit, is_subset
from dagora.graph.bits import Rows, pack, unpack
from dagora.kernels.decorators import borrowing, kernel, patient
from dagora.kernels.rows import copy_row
from dagora.learners.candidates.candidates import Candidates, FlatCandidates
from dagora.learners.search.best_parents import choose_parents
from dagora.scores.local_score import TIE

# In `LocalProblem.rows`, stands for a set that is not among the candidates.
NO_ROW = -1

# Sums of scores are rounded by less than this, relative to the largest of the scores.
ROUNDING = 1e-12

Order = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LocalProblem:
    """The learning problem of some variables, numbered by their position in `members`.

    Sets of member x are rows `offsets[x]` to `offsets[x + 1]` of `masks` and `scores`, best first; `rows`
    says which flat row of the candidates each comes from. The last set of every member is the empty one, so
    that every order permits a network and kernels need not check. Where the empty set is not among the
    candidates, its row is `NO_ROW`, and its score is so low that any network without it is better.
    """

    members: tuple[int, ...]
    masks: Rows
    scores: NDArray[np.float64]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, candidates: Candidates, members: tuple[int, ...]) -> LocalProblem:
        """The problem of some columns; all other columns are free parents.

        >>> listed = [[((), -5.0), ((2,), -1.0), ((1, 2), -2.0)], [((), -3.0), ((0,), -2.0)], [((), -1.0)]]
        >>> problem = LocalProblem.of(Candidates.of("abc", listed), (0, 1))
        >>> problem.masks.ravel(), problem.rows
        (array([0, 1, 0], dtype=uint64), array([0, 3, 4]))
        """
        return cls.whole(candidates).restrict(members)

    @classmethod
    def whole(cls, candidates: Candidates) -> LocalProblem:
        """The problem of all columns."""
        flat = candidates.flat
        members = tuple(range(len(candidates)))
        rows = np.arange(len(flat.scores))
        return cls(members, flat.masks, flat.scores, flat.offsets, rows).with_empty_sets()

    def restrict(self, positions: tuple[int, ...]) -> LocalProblem:
        """The problem of some members; all other members are free parents."""
        if len(positions) == 1:
            return self._alone(positions[0])
        masks, scores, rows, ends = [], [], [], [0]
        for x in positions:
            own = slice(self.offsets[x], self.offsets[x + 1])
            inside = unpack(self.masks[own], len(self.members))[:, positions]
            # Sort again: of two sets with the same score, the larger one may now have become the smaller.
            turn = np.lexsort((inside.sum(axis=1), -self.scores[own]))
            within = pack(inside[turn])
            kept = find_undominated(within, len(positions))
            masks.append(within[kept])
            scores.append(self.scores[own][turn[kept]])
            rows.append(self.rows[own][turn[kept]])
            ends.append(ends[-1] + len(rows[-1]))
        members = tuple(self.members[x] for x in positions)
        offsets = np.array(ends, dtype=np.int64)
        made = LocalProblem(
            members, np.concatenate(masks), np.concatenate(scores), offsets, np.concatenate(rows)
        )
        return made.with_empty_sets()

    def _alone(self, position: int) -> LocalProblem:
        """The problem of one member: its best set, which takes nothing but free parents."""
        best = self.offsets[position : position + 1]
        nothing = np.zeros((1, 1), dtype=np.uint64)
        return LocalProblem(
            (self.members[position],), nothing, self.scores[best], np.array([0, 1]), self.rows[best]
        )

    def with_empty_sets(self) -> LocalProblem:
        """The same problem, with an empty set of a prohibitively low score for each member that has none."""
        best, worst = self.scores[self.offsets[:-1]], self.scores[self.offsets[1:] - 1]
        lacking = np.flatnonzero(self.masks[self.offsets[1:] - 1].any(axis=1))
        if not len(lacking):
            return self
        # The most that all members together can lose, and a margin well above the tolerance for ties.
        loss = float((best - worst).sum()) + 1.0 + 1e-3 * float(np.abs(worst).sum())
        after = self.offsets[lacking + 1]
        counts = np.diff(self.offsets)
        counts[lacking] += 1
        return LocalProblem(
            self.members,
            np.insert(self.masks, after, np.uint64(0), axis=0),
            np.insert(self.scores, after, worst[lacking] - loss),
            np.concatenate([[0], np.cumsum(counts)]),
            np.insert(self.rows, after, NO_ROW),
        )

    @cached_property
    def flat(self) -> FlatCandidates:
        """The sets as kernels take them."""
        return FlatCandidates(self.masks, self.scores, self.offsets)

    @cached_property
    def bound(self) -> float:
        """Sum of the members' best scores: no network scores higher."""
        return float(self.scores[self.offsets[:-1]].sum())

    def tie(self, score: float | None = None) -> float:
        """The difference that counts as a tie between networks, by the score of one (by default the bound).

        It is never below what sums of the scores are rounded by, which may span many orders of magnitude: so
        a search that takes only what gains more ends.

        >>> wild = Candidates.of("ab", [[((1,), -1e-7), ((), -1e9)], [((0,), -1e-7), ((), -1e9)]])
        >>> LocalProblem.whole(wild).tie(), LocalProblem.whole(wild).tie(-1e9)
        (0.001, 1.0)
        """
        return max(TIE * abs(self.bound if score is None else score), self._rounding)

    @cached_property
    def _rounding(self) -> float:
        finite = self.scores[np.isfinite(self.scores)]
        return ROUNDING * float(np.abs(finite).max(initial=0.0))

    def choose(self, order: Order) -> NDArray[np.int64]:
        """The best set of each member that an order permits, as a row of this problem."""
        choice = np.empty(len(self), dtype=np.int64)
        choose_parents(self.flat, order, choice)
        return choice

    def score(self, order: Order) -> float:
        """Score of the best network that an order permits."""
        return float(self.scores[self.choose(order)].sum())

    def __len__(self) -> int:
        return len(self.members)


def components(candidates: Candidates) -> list[tuple[int, ...]]:
    """Strongly connected components of the candidate-parent graph, in topological order, each ascending.

    >>> listed = [[((), -5.0), ((1,), -1.0)], [((), -3.0), ((0,), -2.0), ((2,), -1.0)], [((), -1.0)]]
    >>> components(Candidates.of("abc", listed))
    [(2,), (0, 1)]
    """
    label, parents = strong_components(candidates)
    members: dict[int, list[int]] = {}
    above: dict[int, set[int]] = {}
    for x, component in enumerate(label):
        members.setdefault(component, []).append(x)
        above.setdefault(component, set()).update(label[parent] for parent in parents[x])
    # By component: its members and all their ancestors, as bits of one number.
    ancestors: dict[int, int] = {}
    for component in TopologicalSorter({own: up - {own} for own, up in above.items()}).static_order():
        ancestors[component] = sum(1 << x for x in members[component])
        for other in above[component] - {component}:
            ancestors[component] |= ancestors[other]
    # A later component has all ancestors of an earlier one that leads to it, and more.
    ranked = sorted(members, key=lambda own: (ancestors[own].bit_count(), members[own][0]))
    return [tuple(members[component]) for component in ranked]


def strong_components(candidates: Candidates) -> tuple[list[int], list[list[int]]]:
    """The number of each column's strongly connected component, and its candidate parents."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    d = len(candidates)
    parents = [
        np.flatnonzero(unpack(np.bitwise_or.reduce(child.masks, axis=0)[None, :], d)[0])
        for child in candidates
    ]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in parents])])
    tails = np.concatenate(parents)
    arrows = csr_array((np.ones(len(tails), dtype=np.bool_), tails, ends), shape=(d, d))
    _, label = connected_components(arrows, directed=True, connection="strong")
    return label.tolist(), [row.tolist() for row in parents]


def feasible_order(candidates: Candidates) -> tuple[Order, tuple[int, ...]]:
    """An order that permits a network, and the columns that cannot be placed in any order.

    The candidates' hint is used if it permits a network. Columns are left over only if no acyclic graph
    exists.

    >>> order, stuck = feasible_order(Candidates.of("abc", [[((1,), -1.0)], [((0,), -1.0)], [((), -1.0)]]))
    >>> order, stuck
    (array([2]), (0, 1))
    """
    flat = candidates.flat
    d = len(candidates)
    if candidates.hint is not None:
        hint = np.array(candidates.hint, dtype=np.int64)
        if np.isfinite(choose_parents(flat, hint, np.empty(d, dtype=np.int64))):
            return hint, ()
    order = place_all(flat.masks, flat.offsets)
    return order, tuple(sorted(set(range(d)) - set(order.tolist())))


def reason_cyclic(candidates: Candidates) -> str:
    """The reason why the candidates permit no acyclic graph; empty if they permit one.

    >>> reason_cyclic(Candidates.of("abc", [[((1,), -1.0)], [((0,), -1.0)], [((), -1.0)]]))
    "no acyclic graph can be made of the candidate parent sets: 'a', 'b' always need each other"
    """
    stuck = feasible_order(candidates)[1]
    if not stuck:
        return ""
    names = ", ".join(f"'{candidates.names[x]}'" for x in stuck[:5]) + (", …" if len(stuck) > 5 else "")
    return f"no acyclic graph can be made of the candidate parent sets: {names} always need each other"


def find_undominated(masks: Rows, members: int) -> NDArray[np.bool_]:
    """Mark the sets of one child, given best first, that neither contain nor equal an earlier one.

    >>> find_undominated(pack(np.array([[0, 1, 1], [1, 1, 1], [1, 0, 0]], dtype=bool)), 3)
    array([ True, False,  True])
    """
    if members << members <= len(masks) ** 2:
        return undominated_by_table(masks.ravel(), members)
    return undominated_by_pairs(masks)


@kernel
def undominated_by_table(masks: NDArray[np.uint64], members: int) -> NDArray[np.bool_]:
    """The same for few members: a table of all sets says which are a superset of one that is kept."""
    useless = np.zeros(1 << members, dtype=np.bool_)
    waiting = np.empty(1 << members, dtype=np.int64)
    flags = np.zeros(len(masks), dtype=np.bool_)
    for row in range(len(masks)):
        if useless[masks[row]]:
            continue
        flags[row] = True
        useless[masks[row]] = True
        waiting[0] = masks[row]
        count = 1
        while count:
            count -= 1
            each = waiting[count]
            for member in range(members):
                larger = each | (1 << member)
                if not useless[larger]:  # else so are all its supersets
                    useless[larger] = True
                    waiting[count] = larger
                    count += 1
    return flags


def undominated_plainly(masks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """The same as `undominated_by_pairs`, without a kernel."""
    flags = np.zeros(len(masks), dtype=np.bool_)
    for row, mask in enumerate(masks):
        flags[row] = not (masks[:row][flags[:row]] & ~mask == 0).all(axis=1).any()
    return flags


@patient(undominated_plainly, lambda masks: len(masks) * (1.5e-5 + 1e-9 * masks.size), 0.25)
@kernel
def undominated_by_pairs(masks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """The same for many members: each set is compared with all that are kept."""
    kept = np.empty_like(masks)
    count = 0
    flags = np.zeros(len(masks), dtype=np.bool_)
    for row in range(len(masks)):
        useless = False
        for k in range(count):
            if is_subset(kept[k], masks[row]):
                useless = True
                break
        if not useless:
            copy_row(masks[row], kept[count])
            count += 1
            flags[row] = True
    return flags


def place_all(masks: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Place every variable that has a set within those already placed, until none is left that can be placed.

    Returns the variables in that order: all of them if and only if some order permits a network.
    """
    order = np.empty(len(offsets) - 1, dtype=np.int64)
    placed = np.zeros(len(order), dtype=np.bool_)
    return order[: place_in(masks, offsets, order, placed, np.zeros(masks.shape[1], dtype=np.uint64))]


@borrowing
def place_in(
    masks: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    placed: NDArray[np.bool_],
    before: NDArray[np.uint64],
) -> int:
    """Place variables in `order` as `place_all` does, after those in `before`; return their number."""
    count = 0
    again = True
    while again:
        again = False
        for x in range(len(placed)):
            if not placed[x] and first_subset(masks, offsets[x], offsets[x + 1], before) < offsets[x + 1]:
                placed[x] = True
                order[count] = x
                count += 1
                flip_bit(before, x)
                again = True
    return count
