"""Scores of families, asked for in batches and remembered.

A search that comes back to a family, or to a child with the same parents so far, pays nothing. What has
been learned about adding each column to a child's parents is kept as one row of numbers per child and
parent set, since a search usually asks for all columns at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.events import Budget, OutOfTimeError
from dagora.scores.local_score import Family, LocalScore

# Numbers that are remembered: 128 MiB; families that are scored between two looks at the clock.
MEMORY = 16_000_000
BATCH = 4096

Key = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Additions:
    """A question: what each `wanted` column adds to `child` with `parents`, which are ascending."""

    child: int
    parents: tuple[int, ...]
    wanted: NDArray[np.bool_]


class FamilyMemory:
    """A score that remembers its answers; `evaluations` counts what was computed."""

    def __init__(self, score: LocalScore, budget: Budget) -> None:
        self._score = score
        self._budget = budget
        self._values: dict[Key, float] = {}
        self._rows: dict[Key, NDArray[np.float64]] = {}
        self.evaluations = 0

    def values(self, families: Sequence[Key]) -> NDArray[np.float64]:
        """Scores of families whose parents are ascending."""
        # Neighbours in this order share their leading parents, which scores like.
        unknown = sorted({family for family in families if family not in self._values})
        for batch in batches(unknown):
            self._values.update(zip(batch, self._compute(batch).tolist(), strict=True))
        return np.array([self._values[family] for family in families], dtype=np.float64)

    def gains(self, questions: Sequence[Additions]) -> list[NDArray[np.float64]]:
        """For each question the gain of every wanted column, −∞ elsewhere.

        Raises `OutOfTimeError` when the time is up; what was computed until then is kept.
        """
        own = self.values([(question.child, question.parents) for question in questions])
        unknown: list[Key] = []
        for question in questions:
            row = self._row(question)
            missing = np.flatnonzero(question.wanted & np.isnan(row)).tolist()
            unknown += [(question.child, (*question.parents, column)) for column in missing]
        for batch in batches(unknown):
            if self._budget.exhausted:
                raise OutOfTimeError
            for (child, parents), value in zip(batch, self._compute(batch).tolist(), strict=True):
                self._rows[child, parents[:-1]][parents[-1]] = value
        answers = []
        for question, value in zip(questions, own.tolist(), strict=True):
            usable = question.wanted if value > -np.inf else np.zeros_like(question.wanted)
            row = self._row(question)
            answers.append(np.subtract(row, value, out=np.full(len(row), -np.inf), where=usable))
        return answers

    def forget(self) -> None:
        """Drop all answers where they have become too many; not between a question and its answer."""
        if len(self._rows) * len(self._score.schema) + len(self._values) > MEMORY:
            self._rows.clear()
            self._values.clear()

    def _row(self, question: Additions) -> NDArray[np.float64]:
        key = question.child, question.parents
        if key not in self._rows:
            self._rows[key] = np.full(len(question.wanted), np.nan)
        return self._rows[key]

    def _compute(self, families: Sequence[Family]) -> NDArray[np.float64]:
        self.evaluations += len(families)
        return self._score.families(families)


def batches(families: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """Cut many families into calls between which the clock is looked at."""
    for start in range(0, len(families), BATCH):
        yield families[start : start + BATCH]
