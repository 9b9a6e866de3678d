"""The interface between scores and searches: a decomposable score, evaluated for many families at once.

The score of a graph is the sum of the scores of its families (a child and its parents). Higher is better. A
score is deterministic: the same family always gets the same number. All searches and samplers on scores run
on any object that follows this protocol. A plain score has `capabilities = ScoreCapabilities()`;
docs/architecture.md shows which scores have more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.errors import GraphError
from dagora.base.events import Watch, ignore_progress
from dagora.data.interventions import Interventions
from dagora.data.schema import Schema
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.stats.statistics import Moments

Floats = NDArray[np.float64]
# A child's position and its parents' positions.
Family = tuple[int, Sequence[int]]

# Scores that differ by less than this, relative to their size, count as equal; then the earlier column wins.
TIE = 1e-9


# Families that are scored together without a time limit, and the most with one.
MOST_FAMILIES, LIMITED_FAMILIES, EXPENSIVE_FAMILIES = 1 << 15, 4096, 16
# Rows that are counted in about a twentieth of a second.
ROWS_AT_ONCE = 30_000_000


class PivotForm(NamedTuple):
    """The numbers of a score of the form described in `scores/pivot_form`.

    All but `group` and `child` have a first axis for the groups.
    """

    group: NDArray[np.int64]
    matrix: Floats
    child: Floats
    size: Floats
    determinant: Floats
    residual: Floats


class ScoreBlock(Protocol):
    """A function that scores many families of one size."""

    def __call__(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> Floats:
        """Scores of `children[k]` with the parents in row k (ascending) of `parents`."""


class ScoreStorage(NamedTuple):
    """The functions that store the results of a score and load them again."""

    fingerprint: Callable[[], str]  # equal for scores that give the same numbers
    export: Callable[[], Mapping[str, NDArray[np.generic]]]  # all results so far, as arrays
    load: Callable[[Mapping[str, NDArray[np.generic]]], int]  # returns the number of families


def nothing(*_: object) -> None:
    """Do nothing and return None."""


@dataclass(frozen=True)
class ScoreCapabilities:
    """Everything that a score can do beyond `families`; the defaults are those of a plain score."""

    block: ScoreBlock | None = None  # much faster than `families` on many families of one size
    moments: Moments | None = None  # of the continuous columns, for tests of correlations
    pivot_form: Callable[[], PivotForm | None] = nothing  # lets a search score families in one kernel
    counts_rows: bool = False  # the time of a family grows with the number of rows
    needs_pass: Callable[[Sequence[Family]], bool] | None = None  # see `scans_rows`
    is_expensive: bool = False  # one family takes milliseconds or more
    is_slow: bool = False  # many families take minutes
    interventions: Interventions | None = None  # graphs are equivalent only if they are under these
    storage: ScoreStorage | None = None  # results are worth keeping from one run to the next
    check_knowledge: Callable[[Knowledge], None] = nothing  # raises if an impossible edge is required
    standard_errors: Callable[[], Mapping[Family, float]] = dict  # of those families so far that have one
    messages: Callable[[], list[str]] = list  # what the name of the score does not say
    warnings: Callable[[], list[str]] = list  # reasons why its results on these data may mislead

    @property
    def scans_rows(self) -> bool:
        """True if rows are not in memory: `needs_pass` says if some families take a pass over them.

        Then few large questions are best.
        """
        return self.needs_pass is not None


class LocalScore(Protocol):
    """A score that is a sum over families."""

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""

    @property
    def capabilities(self) -> ScoreCapabilities:
        """The record of what the score can do beyond the minimum."""

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families; consecutive ones that differ only in their last parent are cheapest."""


def families_at_once(score: LocalScore, budget: Budget) -> int:
    """The number of families scored between two looks at the clock: 1/20 s of work under a time limit.

    A pass over rows that are scanned is not interrupted, so there one should serve as many as possible. A
    family's score does not depend on the families that are scored with it.
    """
    if math.isinf(budget.left):
        return MOST_FAMILIES
    capabilities = score.capabilities
    if capabilities.scans_rows:
        return MOST_FAMILIES
    if capabilities.is_expensive:
        return EXPENSIVE_FAMILIES
    rows = score.n_rows if capabilities.counts_rows else 1
    return max(1, min(LIMITED_FAMILIES, ROWS_AT_ONCE // rows))


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
