"""BIC of families whose columns are discrete, continuous, or both: any column may be a parent of any other.

With discrete columns A and continuous columns X, a set scores
  g(A, X) = BIC(A) + Gaussian BIC(X) + m · gain(A, X) − c (ln m)/2 · parameters(A, X)
and a family g(child ∪ parents) − g(parents). `dependence` explains the last two. The first two are those of
the scores `bic` and `bic-gaussian`, to which this one is equal where all columns are of one kind: `gain` is
used only where a table has both. As g is a function of the set, equivalent graphs have the same score.

It needs counts of the discrete columns and one matrix of second moments of the widened table. The degenerate
Gaussian score of Andrews, Ramsey & Cooper (2019) uses such a matrix, without counts and squares.

A family with as many features (z, z², indicators) as rows fits perfectly, which means nothing: it scores −∞.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch, ignore_progress
from dagora.data.schema import Kind, Schema
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.discrete import distinct
from dagora.scores.information import penalised_likelihood
from dagora.scores.lattice import unique_families, unique_sets
from dagora.scores.linear_dependence import dependence_warnings
from dagora.scores.local_score import Family, LocalScore, ScoreCapabilities
from dagora.scores.mixed.dependence import DEPENDENT, WidenedMoments, dependence
from dagora.scores.penalty import noise_warnings
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.capabilities import require_indicator_moments
from dagora.stats.statistics import ColumnSets, Moments, Statistics, flatten

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
# The variance that is added to every feature, whose own is 1.
NOISE = 1e-10


class PartScore(LocalScore, Protocol):
    """A score of families of one kind: of all rows, or of the observed values where some are missing."""

    def block(self, children: Columns, parents: Columns, watch: Watch = ignore_progress) -> Floats:
        """Scores of many families of one size."""


class LineScore(PartScore, Protocol):
    """A score of families of continuous columns, some of which may be linearly dependent."""

    dependent: list[str]


class MixedBIC:
    """Bayesian information criterion of any columns; `penalty` is a factor on the price of a parameter."""

    def __init__(self, statistics: Statistics, *, penalty: float = 1.0) -> None:
        self.schema, self.n_rows = statistics.schema, statistics.n_rows
        self._penalty = penalty
        self._price = penalty * np.log(max(1, self.n_rows)) / 2
        self._continuous = np.array([variable.kind is Kind.CONTINUOUS for variable in self.schema])
        # The position of each continuous column among its kind.
        self._rank = np.cumsum(self._continuous) - 1
        self._counted = self._counting(statistics)
        self._lines = self._regressing(statistics) if self._continuous.any() else None
        both = self._continuous.any() and not self._continuous.all()
        self._widened = widen(statistics, self._continuous) if both else None

    def _counting(self, statistics: Statistics) -> PartScore:
        """The score of families of discrete columns alone."""
        return penalised_likelihood(statistics, self._price, self._penalty)

    def _regressing(self, statistics: Statistics) -> LineScore:
        """The score of families of continuous columns alone."""
        return GaussianBIC(continuous_part(statistics), penalty=self._penalty)

    def _depending(self, sets: ColumnSets) -> Gains:
        """The gains of sets by the dependence of columns of both kinds, over all rows."""
        assert self._widened is not None, "a table of one kind has no such gain"
        found = dependence(self._widened, *flatten(sets))
        rows = np.full(len(found.gains), self.n_rows)
        return Gains(self.n_rows * found.gains, found.parameters, found.features, rows)

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Blocks of families, which count rows where columns are discrete; messages and warnings."""
        return ScoreCapabilities(
            block=self.block,
            counts_rows=self._counted.capabilities.counts_rows and not self._continuous.all(),
            messages=self._messages,
            warnings=self._warnings,
        )

    def _messages(self) -> list[str]:
        """The numbers of columns of each kind that are scored together."""
        continuous = int(self._continuous.sum())
        if self._widened is None:
            return []
        counted = len(self.schema) - continuous
        return [f"{counted} discrete and {continuous} continuous columns were scored together"]

    def _warnings(self) -> list[str]:
        """Linearly dependent columns, and edges that chance alone may bring."""
        if self._widened is None or self._lines is None:
            return (self._lines or self._counted).capabilities.warnings()
        dependent = dependence_warnings(self._lines.dependent)
        return [*dependent, *noise_warnings(self.schema, self.n_rows, self._penalty)]

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families of any sizes."""
        values = np.empty(len(families))
        if not len(families):
            return values
        kind = self._continuous
        own = [[parent for parent in parents if kind[parent] == kind[child]] for child, parents in families]
        numbers = [k for k, (child, _) in enumerate(families) if kind[child]]
        levels = [k for k, (child, _) in enumerate(families) if not kind[child]]
        if levels:
            values[levels] = self._counted.families([(families[k][0], own[k]) for k in levels])
        if numbers and self._lines is not None:
            rank = self._rank.tolist()
            values[numbers] = self._lines.families(
                [(rank[families[k][0]], [rank[parent] for parent in own[k]]) for k in numbers]
            )
        if self._widened is not None:
            sets = [tuple(sorted((child, *parents))) for child, parents in families]
            sets += [tuple(sorted(parents)) for _, parents in families]
            different, place = distinct(sets)
            found = self._depending(different)
            values = self._adding(values, found, found, place[: len(families)], place[len(families) :])
        return values

    def block(self, children: Columns, parents: Columns, watch: Watch = ignore_progress) -> Floats:
        """Scores of many families of one size, whose parents are ascending rows."""
        values = np.empty(len(children))
        numbers = self._continuous[children]
        own = self._continuous[parents] == numbers[:, None]
        sizes = own.sum(axis=1)
        for size in np.unique(sizes[~numbers]):
            rows = np.flatnonzero(~numbers & (sizes == size))
            chosen = parents[rows][own[rows]].reshape(len(rows), size)
            values[rows] = self._counted.block(children[rows], chosen, watch)
        if numbers.any() and self._lines is not None:
            for size in np.unique(sizes[numbers]):
                rows = np.flatnonzero(numbers & (sizes == size))
                chosen = self._rank[parents[rows][own[rows]]].reshape(len(rows), size)
                values[rows] = self._lines.block(self._rank[children[rows]], chosen, watch)
        if self._widened is not None:
            d = len(self.schema)
            joint, place = unique_families(children, parents, d)
            given, given_place = unique_sets(parents, d)
            found, before = (self._depending(sets) for sets in (joint, given))
            values = self._adding(values, found, before, place, given_place)
        return values

    def _adding(
        self, values: Floats, joint: Gains, given: Gains, place: Columns, given_place: Columns
    ) -> Floats:
        """Add what the joint sets gain over the parents' sets, at its price."""
        gain = joint.gains[place] - given.gains[given_place]
        parameters = joint.parameters[place] - given.parameters[given_place]
        total: Floats = values + gain - self._price * parameters
        total[(joint.features + 1 >= joint.rows)[place]] = -np.inf
        return total


class Gains(NamedTuple):
    """Of each set: what it gains over all rows, its parameters and features, the rows that have seen it."""

    gains: Floats
    parameters: Floats
    features: NDArray[np.int64]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class ContinuousPart:
    """The continuous columns of some statistics, as the Gaussian score asks for them."""

    schema: Schema
    found: Moments

    def moments(self) -> Moments:
        """Their moments."""
        return self.found


def continuous_part(statistics: Statistics) -> Statistics:
    """The continuous columns among others."""
    schema = Schema(variable for variable in statistics.schema if variable.kind is Kind.CONTINUOUS)
    moments = statistics.moments()
    variances = np.diag(moments.scatter) / max(1, moments.n)
    refuse_unusable(schema.names, moments.mean, variances, "the score bic-mixed")
    return cast("Statistics", ContinuousPart(schema, moments))


def widen(statistics: Statistics, continuous: NDArray[np.bool_]) -> WidenedMoments:
    """Correlations of the features of all columns, made uncorrelated within each column.

    With a little noise in every feature, none is determined by those of other columns. Determinants are then
    the same in any order of the columns, and nothing is gained where only rounding is left to be explained.
    """
    found = require_indicator_moments(statistics)
    scatter, starts = found.moments.scatter, found.starts
    turn = np.zeros_like(scatter)
    for first, last in pairwise(starts.tolist()):
        own = slice(first, last)
        turn[own, own] = whitening(scatter[own, own])
    correlation = turn @ scatter @ turn.T
    diagonal = np.diag_indices(len(correlation))
    correlation[diagonal] = (1 + NOISE) * (turn.diagonal() > 0)
    return WidenedMoments(correlation, starts, continuous)


def whitening(scatter: Floats) -> Floats:
    """Rows that turn features into uncorrelated ones of variance 1, one after the other.

    A feature that depends on those before it becomes 0. Whatever centres, scales and first level the features
    had, what they become differs by a rotation at most.

    >>> whitening(np.array([[4.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 5.0]]))
    array([[ 0.5 ,  0.  ,  0.  ],
           [ 0.  ,  0.  ,  0.  ],
           [-0.25,  0.  ,  0.5 ]])
    """
    turn = np.zeros_like(scatter)
    for a in range(len(scatter)):
        row = -(turn[:a] @ scatter[a]) @ turn[:a]
        row[a] += 1.0
        left = row @ scatter @ row
        if left > DEPENDENT * scatter[a, a]:
            turn[a] = row / np.sqrt(left)
    return turn
