"""A score with a cache, so that several samplers and priors on one table score each family only once.

The time that a family took is cached with its score. The time that a sampler would have taken alone is then
the time that it took here, plus the time of the families that it found in the cache.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch, ignore_progress
from dagora.data.schema import Schema
from dagora.scores.local_score import Family, LocalScore, ScoreCapabilities
from dagora.stats.statistics import Moments

Key = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Cost:
    """Wall-clock time and processor time, in seconds."""

    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.wall - other.wall, self.cpu - other.cpu)

    def __truediv__(self, parts: int) -> Cost:
        return Cost(self.wall / parts, self.cpu / parts)

    @classmethod
    def now(cls) -> Cost:
        """The present readings of both clocks."""
        return cls(time.perf_counter(), time.process_time())


class CachedScore:
    """A local score with a cache; `recalled` is the time that the cache has saved since `begin`.

    >>> from dagora.data.table import Table
    >>> from dagora.api.score import make_score
    >>> from dagora.stats.moments import table_moments
    >>> table = Table.from_numpy(np.random.default_rng(0).standard_normal((20, 3)), names="abc")
    >>> score = CachedScore(make_score(table, "bge"), table_moments(table))
    >>> first = score.families([(0, (1, 2))])
    >>> score.begin()
    >>> again = score.families([(0, (2, 1))])
    >>> bool((first == again).all()), score.n_computed, score.recalled.wall > 0
    (True, 1, True)
    """

    def __init__(self, score: LocalScore, moments: Moments) -> None:
        self._score = score
        self._moments = moments
        self._known: dict[Key, float] = {}
        self._costs: dict[Key, Cost] = {}
        self._asked: set[Key] = set()
        self.recalled = Cost()

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""
        return self._score.schema

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return self._score.n_rows

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Blocks of families, and the moments on which a search space is found."""
        return ScoreCapabilities(block=self.block, moments=self._moments)

    @property
    def n_computed(self) -> int:
        """Number of families scored so far."""
        return len(self._known)

    @property
    def n_asked(self) -> int:
        """Number of different families asked for since `begin`."""
        return len(self._asked)

    def begin(self) -> None:
        """Start the counts for another sampler."""
        self._asked = set()
        self.recalled = Cost()

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families."""
        keys = [(child, tuple(sorted(parents))) for child, parents in families]
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        started = Cost.now()
        self._keep(new, self._score.families(new) if new else np.zeros(0), Cost.now() - started)
        return self._recall(keys, set(new))

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> NDArray[np.float64]:
        """Scores of many families of one size."""
        sets = [tuple(row) for row in parents.tolist()]
        keys: list[Key] = list(zip(children.tolist(), sets, strict=True))
        new = [i for i, key in enumerate(keys) if key not in self._known]
        done = len(keys) - len(new)

        def passed_on(some: int, _: int) -> None:
            watch(done + some, len(keys))

        if new:
            fresh = [keys[i] for i in new]
            block = self._score.capabilities.block
            if block is not None:
                started = Cost.now()
                values = block(children[new], parents[new], passed_on)
                self._keep(fresh, values, Cost.now() - started)
            else:
                for position, key in enumerate(fresh, 1):
                    started = Cost.now()
                    self._keep([key], self._score.families([key]), Cost.now() - started)
                    passed_on(position, len(fresh))
        return self._recall(keys, {keys[i] for i in new})

    def _keep(self, keys: Sequence[Key], values: NDArray[np.float64], cost: Cost) -> None:
        for key, value in zip(keys, values.tolist(), strict=True):
            self._known[key] = value
            self._costs[key] = cost / len(keys)

    def _recall(self, keys: Sequence[Key], new: set[Key]) -> NDArray[np.float64]:
        for key in keys:
            if key not in self._asked:
                self._asked.add(key)
                if key not in new:
                    self.recalled += self._costs[key]
        return np.array([self._known[key] for key in keys], dtype=np.float64)
