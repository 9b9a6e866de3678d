"""Candidates: for each child, the parent sets that could be part of a best network, with their scores.

A parent set is dropped if one of its subsets scores at least as much: the subset can replace it in any graph
without closing a cycle. `find_candidates` makes `Candidates` from a score; exact solvers, order searches and
samplers start from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError
from dagora.data.schema import Kind, Schema, Variable
from dagora.graph.bit_kernels import first_subset
from dagora.graph.bits import Rows, pack, unpack
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.scores.local_score import Family, ScoreCapabilities


@dataclass(frozen=True, eq=False)
class ParentSets:
    """Parent sets of one child as bit rows, with their scores, best first."""

    child: int
    masks: Rows
    scores: NDArray[np.float64]
    columns: int

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """The sets as ascending positions."""
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in unpack(self.masks, self.columns))

    def __len__(self) -> int:
        return len(self.scores)


class FlatCandidates(NamedTuple):
    """All parent sets in one array, as kernels take them: bit rows with their scores.

    The sets of child x are rows `offsets[x]` to `offsets[x + 1]`, best first.
    """

    masks: Rows
    scores: NDArray[np.float64]
    offsets: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The parent sets of every child, in column order.

    `complete` says whether every set that could matter was looked at; if not, `note` says which were not.
    `hint` is an order (positions) that is known to permit a good network, if there is one. `widen`, if there
    is one, adds sets around given graphs to incomplete candidates; a search may call it repeatedly.
    `permitted` is a graph of these sets that has the paths which knowledge asks for, where it asks for any.

    >>> found = Candidates.of(["a", "b"], [[((), -2.0), ((1,), -1.0)], [((), -3.0)]])
    >>> [(found.names[child.child], child.parents, child.scores.tolist()) for child in found]
    [('a', ((1,), ()), [-1.0, -2.0]), ('b', ((),), [-3.0])]
    >>> found.graph([0, 2]).edges, found.flat.offsets.tolist()
    ((('b', 'a'),), [0, 2, 3])
    """

    names: tuple[str, ...]
    sets: tuple[ParentSets, ...]
    complete: bool = True
    note: str = ""
    hint: tuple[int, ...] | None = None
    widen: Widen | None = None
    permitted: DAG | None = None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        listed: Iterable[Iterable[tuple[Sequence[int], float]]],
        *,
        complete: bool = True,
        note: str = "",
    ) -> Candidates:
        """Make candidates from each child's (parents, score) pairs, in any order.

        >>> Candidates.of(["a", "b"], [[((), -2.0), ((1,), -1.0)], [((), -3.0)]]).sets[0].parents
        ((1,), ())
        """
        d = len(names)
        made = []
        for child, pairs in enumerate(listed):
            ordered = sorted(pairs, key=lambda pair: (len(pair[0]), tuple(pair[0])))
            matrix = np.zeros((len(ordered), d), dtype=np.bool_)
            for row, (parents, _) in enumerate(ordered):
                matrix[row, list(parents)] = True
            scores = np.array([score for _, score in ordered], dtype=np.float64)
            made.append(best_first(child, pack(matrix), scores, d))
        return cls(tuple(names), tuple(made), complete, note)

    @cached_property
    def flat(self) -> FlatCandidates:
        """All sets in one array, for kernels."""
        offsets = np.concatenate([[0], np.cumsum([len(child) for child in self.sets])]).astype(np.int64)
        masks = np.ascontiguousarray(np.concatenate([child.masks for child in self.sets]))
        return FlatCandidates(masks, np.concatenate([child.scores for child in self.sets]), offsets)

    def graph(self, choice: Sequence[int] | NDArray[np.int64]) -> DAG:
        """The graph in which child x has the parents of flat row `choice[x]`."""
        return DAG.from_numpy(unpack(self.flat.masks[np.asarray(choice)], len(self)).T, self.names)

    def obeying(self, knowledge: Knowledge) -> Candidates:
        """Only the sets that knowledge permits; an error names the rule that leaves a child without any."""
        if knowledge.is_empty:
            return self
        d = len(self)
        forbidden = knowledge.forbidden_matrix(self.names)
        required = knowledge.required_matrix(self.names)
        limit = d if knowledge.max_parents is None else knowledge.max_parents
        kept = []
        for child in self.sets:
            members = unpack(child.masks, d)
            rules = (
                ("required parents", (members | ~required[:, child.child]).all(axis=1)),
                ("forbidden parents and tiers", ~(members & forbidden[:, child.child]).any(axis=1)),
                ("max_parents", members.sum(axis=1) <= limit),
            )
            left = np.ones(len(child), dtype=np.bool_)
            for name, obeyed in rules:
                left &= obeyed
                if not left.any():
                    raise KnowledgeError(
                        f"no candidate parent set of '{self.names[child.child]}' obeys the knowledge ({name})"
                    )
            kept.append(ParentSets(child.child, child.masks[left], child.scores[left], d))
        return replace(self, sets=tuple(kept))

    def adding(self, graph: DAG, scores: NDArray[np.float64]) -> Candidates:
        """These candidates with the families of a graph added, and the graph's order as a hint.

        `scores` are those of the graph's families, by child.
        """
        more = []
        for child in self.sets:
            own = graph.parent_rows[child.child]
            if (child.masks == own).all(axis=1).any():
                more.append(child)
                continue
            masks = np.concatenate([child.masks, own[None, :]])
            values = np.append(child.scores, scores[child.child])
            more.append(best_first(child.child, masks, values, len(self)))
        return replace(self, sets=tuple(more), hint=graph.order_indices)

    def score_of(self, graph: DAG) -> float:
        """The score of a graph whose families are all among the candidates.

        >>> found = Candidates.of("ab", [[((), -2.0), ((1,), -1.0)], [((), -3.0)]])
        >>> found.score_of(DAG("ab", [("b", "a")]))
        -4.0
        """
        places = [(child.masks == graph.parent_rows[child.child]).all(axis=1) for child in self.sets]
        return float(sum(child.scores[own][0] for child, own in zip(self.sets, places, strict=True)))

    def __iter__(self) -> Iterator[ParentSets]:
        return iter(self.sets)

    def __len__(self) -> int:
        return len(self.sets)


# Adds sets around some graphs to candidates; returns the same object where there is nothing to add.
Widen = Callable[[Candidates, Sequence[DAG], Run], Candidates]


def best_first(child: int, masks: Rows, scores: NDArray[np.float64], columns: int) -> ParentSets:
    """Sort a child's sets by score; among equal scores the given order is kept."""
    order = np.argsort(-scores, kind="stable")
    return ParentSets(child, np.ascontiguousarray(masks[order]), scores[order], columns)


class CandidateScore:
    """The LocalScore that candidates define: a family scores as its best candidate subset.

    So every search on scores can run on a `.jkl` file. A set that is not listed was dropped because a subset
    scores at least as much. Here it gets that subset's score and never more, so no search prefers it.
    """

    capabilities = ScoreCapabilities()

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self.schema = Schema(Variable(name, Kind.DISCRETE) for name in candidates.names)

    @property
    def n_rows(self) -> int:
        """Unknown, so 0."""
        return 0

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Score of each family's best candidate subset; −∞ where no candidate fits."""
        flat = self._candidates.flat
        members = np.zeros((len(families), len(self.schema)), dtype=np.bool_)
        for row, (_, parents) in enumerate(families):
            members[row, list(parents)] = True
        masks = pack(members)
        values = np.full(len(families), -np.inf)
        for k, (child, _) in enumerate(families):
            row = first_subset(flat.masks, flat.offsets[child], flat.offsets[child + 1], masks[k])
            if row < flat.offsets[child + 1]:
                values[k] = flat.scores[row]
        return values
