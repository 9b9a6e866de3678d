"""The interface between learning and parties: questions go out, and only the sum of the answers comes back.

A coordinator asks all sites the same question, a named task with arguments. `count` and `total` return only
the sum of the sites' answers; `gather` returns every site's answer and is for tasks whose answers are meant
to be shown (the schema, a local graph to vote with). A task is a function `task(site, question)` in the
module of the method that asks for it. How sums are kept secret is up to the federation.

`OpenFederation` asks sites in this process and adds their answers in the clear. The tests compare every
secure federation with it, and the experiments of papers use it because it is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Schema
from dagora.data.table import Table
from dagora.errors import DataError
from dagora.parties.transport.messages import Value
from dagora.stats.moments import merge_moments, table_moments
from dagora.stats.statistics import Moments

Question = Mapping[str, Value]
Answer = dict[str, Value]


class Federation(Protocol):
    """Sites that answer questions; only sums of answers are seen, unless they are meant to be shown."""

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites' names, sorted."""

    @property
    def schema(self) -> Schema:
        """The columns that all sites agree on."""

    def moments(self) -> Moments:
        """Moments of the continuous columns of all rows, from one sum."""

    def count(self, task: str, question: Question) -> NDArray[np.int64]:
        """Exact sum of the sites' integer answers, which have one shape."""

    def total(self, task: str, question: Question, *, largest: float) -> NDArray[np.float64]:
        """Sum of the sites' answers; no sum may exceed `largest` in absolute value.

        Sums are exact in fixed point, whose unit grows with `largest`.
        """

    def gather(self, task: str, question: Question) -> dict[str, Answer]:
        """Every site's own answer, by name: not secret."""


@dataclass
class Site:
    """One party's rows, and the state it keeps between questions."""

    name: str
    table: Table
    seed: int = 0
    memory: dict[str, Any] = field(default_factory=dict)


Task = Callable[[Site, Question], Any]


@dataclass(frozen=True)
class OpenFederation:
    """Sites in this process whose answers are added in the clear."""

    sites: Sequence[Site]
    tasks: Mapping[str, Task]

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites' names, sorted."""
        return tuple(sorted(site.name for site in self.sites))

    @property
    def schema(self) -> Schema:
        """The one schema that the tables of all sites have."""
        first, *others = self.sites
        for site in others:
            if site.table.schema != first.table.schema:
                raise DataError(f"the columns of '{site.name}' are not those of '{first.name}'")
        return first.table.schema

    def counts(self, sets: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
        """Joint counts of all cells of all sets, one set after the other; the first column varies slowest."""
        cards = self.schema.cardinalities
        return np.concatenate(
            [
                sum(
                    np.bincount(
                        np.ravel_multi_index([site.table.codes(i) for i in chosen], cards[list(chosen)]),
                        minlength=int(cards[list(chosen)].prod()),
                    )
                    for site in self.sites
                )
                for chosen in sets
            ]
        )

    def moments(self) -> Moments:
        """Moments of the continuous columns of all rows."""
        return reduce(merge_moments, (table_moments(site.table) for site in self.sites))

    def count(self, task: str, question: Question) -> NDArray[np.int64]:
        """Exact sum of the sites' integer answers."""
        answers = [self.tasks[task](site, question) for site in self.sites]
        return np.asarray(np.sum(answers, axis=0, dtype=np.int64))

    def total(self, task: str, question: Question, *, largest: float) -> NDArray[np.float64]:  # noqa: ARG002
        """Sum of the sites' answers."""
        answers = [self.tasks[task](site, question) for site in self.sites]
        return np.asarray(np.sum(answers, axis=0, dtype=np.float64))

    def gather(self, task: str, question: Question) -> dict[str, Answer]:
        """Every site's own answer, by name."""
        return {site.name: self.tasks[task](site, question) for site in self.sites}
