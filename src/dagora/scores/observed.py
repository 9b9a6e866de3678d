"""BIC of discrete families on a table with missing values, from the observed ones.

With g(S) the largest log-likelihood of the observed values of columns S (`stats/observed`), a family scores
g(child and parents) − g(parents) − c (ln m)/2 · (r − 1) q, with m all rows. Families use different values,
and yet their scores are comparable: each is a difference of likelihoods of all rows with a value in the set.
Equivalent graphs have the same score, and without missing values it is BIC.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch, ignore_progress
from dagora.scores.discrete import MOST_CONFIGURATIONS, require_discrete
from dagora.scores.lattice import unique_families, unique_sets
from dagora.scores.local_score import Family, ScoreCapabilities
from dagora.scores.penalty import noise_warnings
from dagora.stats.observed.set_likelihoods import MOST_CELLS
from dagora.stats.observed.statistics import IncompleteStatistics

Floats = NDArray[np.float64]
# Sets that are scored between two looks at the clock.
BATCH = 64


def bic(statistics: IncompleteStatistics, *, penalty: float = 1.0) -> ObservedBIC:
    """BIC on the observed values of a discrete table; `penalty` is a factor on the price of a parameter."""
    require_discrete(statistics, "bic")
    return ObservedBIC(statistics, penalty=penalty)


class ObservedBIC:
    """BIC on observed values; sets of too many cells score −∞. `penalty` is a factor on the price."""

    def __init__(self, statistics: IncompleteStatistics, *, penalty: float = 1.0) -> None:
        self._statistics = statistics
        self.schema, self.n_rows = statistics.schema, statistics.n_rows
        self._penalty = penalty
        self._cardinalities = self.schema.cardinalities.astype(np.float64)
        self._price = penalty * np.log(max(1, self.n_rows)) / 2
        self._known: dict[tuple[int, ...], float] = {(): 0.0}
        self._too_large = False

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Slow blocks of families that count rows, messages and warnings."""
        return ScoreCapabilities(
            block=self.block, counts_rows=True, is_slow=True, messages=self._messages, warnings=self._warnings
        )

    def _warnings(self) -> list[str]:
        """A warning if chance alone may bring many edges."""
        return noise_warnings(self.schema, self.n_rows, self._penalty)

    def _messages(self) -> list[str]:
        """The rows that were used, and families that were left out."""
        messages = ["bic on the observed values"]
        if self._too_large:
            messages.append(f"families of more than {MOST_CELLS:,} cells were not considered")
        return messages

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families."""
        joint = [tuple(sorted((child, *parents))) for child, parents in families]
        given = [tuple(sorted(parents)) for _, parents in families]
        self._learn_about([*joint, *given], ignore_progress)
        fit = np.array([self._gain(*pair) for pair in zip(joint, given, strict=True)])
        levels = np.array([self._cardinalities[child] for child, _ in families])
        cells = np.array([self._cells(parents) for parents in given])
        values: Floats = fit - self._price * (levels - 1) * cells
        return values

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> Floats:
        """Scores of many families of one size, whose parents are ascending rows; each set is scored once."""
        d = len(self._cardinalities)
        joint, place = unique_families(children, parents, d)
        given, parent_place = unique_sets(parents, d)
        joint_sets = [tuple(row) for row in joint.tolist()]
        given_sets = [tuple(row) for row in given.tolist()]
        self._learn_about([*joint_sets, *given_sets], watch)
        of_joint = np.array([self._known[one] for one in joint_sets])[place]
        of_given = np.array([self._known[one] for one in given_sets])[parent_place]
        cells = np.array([self._cells(one) for one in given_sets])[parent_place]
        fit = np.where(np.isfinite(of_joint), of_joint, -np.inf) - np.where(
            np.isfinite(of_given), of_given, 0
        )
        values: Floats = fit - self._price * (self._cardinalities[children] - 1) * cells
        return values

    def _gain(self, joint: tuple[int, ...], given: tuple[int, ...]) -> float:
        whole = self._known[joint]
        return whole - self._known[given] if np.isfinite(whole) else -np.inf

    def _cells(self, columns: Sequence[int]) -> float:
        product = 1.0
        for column in columns:
            product = min(product * float(self._cardinalities[column]), MOST_CONFIGURATIONS)
        return product

    def _learn_about(self, sets: Sequence[tuple[int, ...]], watch: Watch) -> None:
        """Compute g of the sets that are new."""
        new = [one for one in dict.fromkeys(sets) if one not in self._known]
        for start in range(0, len(new), BATCH):
            part = new[start : start + BATCH]
            values = self._statistics.likelihoods(part)
            self._too_large |= bool(np.isneginf(values).any())
            self._known.update(zip(part, values.tolist(), strict=True))
            watch(min(start + BATCH, len(new)), len(new))
