"""The interface between scores and searches: a decomposable score, evaluated for many families at once.

The score of a graph is the sum of the scores of its families (a child and its parents). Higher is better. A
score is deterministic: the same family always gets the same number. All searches and samplers on scores run
on any object that follows this protocol.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.base.events import Budget, Watch, unwatched
from dagora.data.schema import Schema
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.stats.statistics import Moments

# A child's position and its parents' positions.
Family = tuple[int, Sequence[int]]

# Scores that differ by less than this, relative to their size, count as equal; then the earlier column wins.
TIE = 1e-9


# Families that are scored together without a time limit, and the most with one.
MOST_FAMILIES, LIMITED_FAMILIES, EXPENSIVE_FAMILIES = 1 << 15, 4096, 16
# Rows that are counted in about a twentieth of a second.
ROWS_AT_ONCE = 30_000_000


class LocalScore(Protocol):
    """A score that is a sum over families."""

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families; consecutive ones that differ only in their last parent are cheapest."""


@runtime_checkable
class BlockScore(Protocol):
    """A score that is much faster on many families of one size."""

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = unwatched
    ) -> NDArray[np.float64]:
        """Scores of `children[k]` with the parents in row k (ascending) of `parents`."""


@runtime_checkable
class HasMoments(Protocol):
    """A score of continuous columns that can show the moments it is computed from."""

    @property
    def moments(self) -> Moments:
        """First and second moments of the columns."""


@runtime_checkable
class DoubtingScore(Protocol):
    """A score that knows when its results on the data at hand are easily misread."""

    def doubts(self) -> list[str]:
        """Sentences for the user; empty where there is nothing to say."""


@runtime_checkable
class TellingScore(Protocol):
    """A score that is not what its name alone says, such as one with another kernel."""

    def told(self) -> list[str]:
        """Sentences for the message of a result; empty where the name says it all."""


@runtime_checkable
class ChoosyScore(Protocol):
    """A score under which some edges are impossible: a family with such an edge scores −∞."""

    def check_knowledge(self, knowledge: Knowledge) -> None:
        """Refuse knowledge that requires an impossible edge."""


@runtime_checkable
class EstimatedScore(Protocol):
    """A score whose numbers are estimates."""

    def standard_errors(self) -> Mapping[Family, float]:
        """Standard errors of those families scored so far that have one."""


@runtime_checkable
class RememberingScore(Protocol):
    """A score so expensive that its results are worth keeping from one run to the next."""

    def fingerprint(self) -> str:
        """A text that is equal for scores that give the same numbers."""

    def remembered(self) -> Mapping[str, NDArray[np.generic]]:
        """All results computed so far, as arrays that can be stored."""

    def recall(self, arrays: Mapping[str, NDArray[np.generic]]) -> int:
        """Take over the results of a score with the same fingerprint; return the number of families."""


def is_expensive(score: object) -> bool:
    """Whether scoring a family takes milliseconds or more; such a score has a true attribute `expensive`."""
    return bool(getattr(score, "expensive", False))


def is_slow(score: object) -> bool:
    """Whether scoring many families takes minutes; such a score has a true attribute `slow`."""
    return bool(getattr(score, "slow", False))


def scans_rows(score: object) -> bool:
    """Whether every question takes a pass over rows that are not in memory: then few and large ones are best.

    Such a score has a true attribute `scans_rows`.
    """
    return bool(getattr(score, "scans_rows", False))


@runtime_checkable
class ScanningScore(Protocol):
    """A score that may need a pass over rows that are not in memory, and knows when."""

    def needs_a_pass(self, families: Sequence[Family]) -> bool:
        """Whether something must be counted for these families that is not known yet."""


def needs_a_pass(score: object, families: Sequence[Family]) -> bool:
    """Whether scoring some families takes a pass over rows that are not in memory."""
    return isinstance(score, ScanningScore) and score.needs_a_pass(families)


def families_at_once(score: LocalScore, budget: Budget) -> int:
    """How many families are scored between two looks at the clock: a twentieth of a second, if time counts.

    A pass over rows that are scanned is not interrupted, so there one should serve as many as possible. A
    family's score does not depend on the families that are scored with it.
    """
    if math.isinf(budget.left) or scans_rows(score):
        return MOST_FAMILIES
    if is_expensive(score):
        return EXPENSIVE_FAMILIES
    rows = score.n_rows if getattr(score, "counts_rows", False) else 1
    return max(1, min(LIMITED_FAMILIES, ROWS_AT_ONCE // rows))


def check_possible(score: object, knowledge: Knowledge) -> None:
    """Refuse knowledge that requires what is impossible under a score."""
    if isinstance(score, ChoosyScore):
        score.check_knowledge(knowledge)


def align(graph: DAG, names: Sequence[str]) -> DAG:
    """Return the graph with its nodes in the order of the data's columns; both must have the same names.

    >>> align(DAG("ab", [("b", "a")]), ["b", "a"]).nodes
    ('b', 'a')
    >>> align(DAG("abc"), ["b", "a"])
    Traceback (most recent call last):
    dagora.GraphError: the graph and the data have different variables: only the graph has 'c'
    """
    if graph.nodes == tuple(names):
        return graph
    for one, other, owner in ((graph.nodes, set(names), "graph"), (names, set(graph.nodes), "data")):
        extra = next((name for name in one if name not in other), None)
        if extra is not None:
            verb = "has" if owner == "graph" else "have"
            raise GraphError(
                f"the graph and the data have different variables: only the {owner} {verb} '{extra}'"
            )
    return graph.reorder(names)


def graph_score(score: LocalScore, graph: DAG) -> float:
    """Score of a whole graph, whose nodes may be in another order than the score's variables."""
    aligned = align(graph, score.schema.names)
    return float(
        score.families([(child, aligned.parent_indices(child)) for child in range(len(aligned))]).sum()
    )
