"""Scores of families, computed in batches and cached.

A family is scored only once, however often a search returns to it. The scores of adding each column to a
child's parents are stored as one row of numbers per child and parent set, since a search usually asks for all
columns at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget, OutOfTimeError
from dagora.scores.local_score import Family, LocalScore, families_at_once

# The most numbers in the cache: 128 MB. A full cache is emptied.
CACHED_NUMBERS = 16_000_000

Key = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Additions:
    """A question: the gain of adding each `wanted` column to the ascending `parents` of `child`."""

    child: int
    parents: tuple[int, ...]
    wanted: NDArray[np.bool_]


class FamilyMemory:
    """A score with a cache; `evaluations` counts the families that were computed."""

    def __init__(self, score: LocalScore, budget: Budget) -> None:
        self.score = score
        self._budget = budget
        self._values: dict[Key, float] = {}
        self._rows: dict[Key, NDArray[np.float64]] = {}
        self.evaluations = 0

    def values(self, families: Sequence[Key]) -> NDArray[np.float64]:
        """Scores of families whose parents are ascending."""
        # Sorted, consecutive families share their leading parents, which makes them cheaper to score.
        unknown = sorted({family for family in families if family not in self._values})
        for batch in self._batches(unknown):
            self._values.update(zip(batch, self._compute(batch).tolist(), strict=True))
        return np.array([self._values[family] for family in families], dtype=np.float64)

    def gains(self, questions: Sequence[Additions]) -> list[NDArray[np.float64]]:
        """For each question, the gain of every wanted column, and −∞ elsewhere.

        Raises `OutOfTimeError` when the time is up; what was computed until then is kept.
        """
        own = self.values([(question.child, question.parents) for question in questions])
        unknown: list[Key] = []
        for question in questions:
            row = self._row(question)
            missing = np.flatnonzero(question.wanted & np.isnan(row)).tolist()
            unknown += [(question.child, (*question.parents, column)) for column in missing]
        for batch in self._batches(unknown):
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
        """Empty the cache if it is full."""
        if len(self._rows) * len(self.score.schema) + len(self._values) > CACHED_NUMBERS:
            self._rows.clear()
            self._values.clear()

    def _row(self, question: Additions) -> NDArray[np.float64]:
        key = question.child, question.parents
        if key not in self._rows:
            self._rows[key] = np.full(len(question.wanted), np.nan)
        return self._rows[key]

    def _batches(self, families: Sequence[Key]) -> Iterator[Sequence[Key]]:
        """Cut many families into batches, between which the clock is checked."""
        size = families_at_once(self.score, self._budget)
        for start in range(0, len(families), size):
            yield families[start : start + size]

    def _compute(self, families: Sequence[Family]) -> NDArray[np.float64]:
        self.evaluations += len(families)
        return self.score.families(families)
