"""Marginal likelihood of conditional linear Gaussian families: discrete columns come before continuous ones.

A discrete child has discrete parents only, and scores BDeu. A continuous child has a regression on its
continuous parents P, in one of two ways of prior weight ½ each,

* own: each configuration of the discrete parents has an intercept, slopes and a variance of its own, and the
  score is the sum of BGe over the configurations (Lauritzen 1992; Bøttcher 2001);
* common: each configuration has an intercept of its own; slopes and variance are the same for all.

With n_j, x̄_j and S_j of configuration j, R_j = t I + S_j + (n_j α_μ / (n_j + α_μ)) x̄_j x̄_jᵀ, f = α_μ + 1 and
t = α_μ (f − 1)/(α_μ + 1), all in standard deviations about the mean of each column, either is a sum of
  −n/2 ln π + ½ Σ ln(α_μ/(n_j + α_μ)) + ln Γ((n + f + p + 1)/2) − ln Γ((f + p + 1)/2) + ½ (f + 2p + 1) ln t
  + ½ (n + f + p) ln|R_PP| − ½ (n + f + p + 1) ln|R_{P∪x}|
over single configurations, R = R_j, or over all of them at once, R = t I + Σ (R_j − t I). Without discrete
parents both are BGe. A continuous parent of a discrete child is impossible: such a family scores −∞.

Equivalent graphs have different scores, since the weights belong to single families.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError, OptionError
from dagora.base.events import Watch, ignore_progress
from dagora.data.schema import Kind
from dagora.graph.knowledge import Knowledge
from dagora.kernels.decorators import inlined, kernel
from dagora.scores.bdeu import bdeu_of
from dagora.scores.gaussian import BLOCK
from dagora.scores.local_score import Family, ScoreCapabilities
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.designed import rows_with_weights
from dagora.stats.grouped import GroupedRows
from dagora.stats.statistics import Statistics, flatten

Floats = NDArray[np.float64]


class BayesMixed:
    """Marginal likelihood of tables, and of regressions per configuration."""

    def __init__(self, statistics: Statistics, *, ess: float = 1.0, alpha_mu: float = 1.0) -> None:
        if not (math.isfinite(alpha_mu) and alpha_mu > 0):
            raise OptionError(f"alpha_mu must be a positive number, not {alpha_mu}")
        self.schema, self.n_rows = statistics.schema, statistics.n_rows
        self._alpha = alpha_mu
        self._continuous = [variable.kind is Kind.CONTINUOUS for variable in self.schema]
        self._counted = bdeu_of(statistics, ess)
        self._grouped = GroupedRows(*rows_with_weights(statistics))
        self._mean, self._spread = np.zeros(len(self.schema)), np.ones(len(self.schema))
        if any(self._continuous):
            self._mean[self._continuous], self._spread[self._continuous] = usual(statistics)

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Blocks of families that count rows, a check of knowledge, and a message."""
        return ScoreCapabilities(
            block=self.block, counts_rows=True, check_knowledge=self._check_knowledge, messages=self._messages
        )

    def _messages(self) -> list[str]:
        """The edges that are impossible under this score."""
        if all(self._continuous) or not any(self._continuous):
            return []
        return ["no continuous column was allowed to be a parent of a discrete one"]

    def _check_knowledge(self, knowledge: Knowledge) -> None:
        """Refuse a required edge from a continuous to a discrete column."""
        for parent, child in sorted(knowledge.required):
            kinds = [self.schema[self.schema.index(name)].kind for name in (parent, child)]
            if kinds == [Kind.CONTINUOUS, Kind.DISCRETE]:
                raise KnowledgeError(
                    f"the edge {parent} → {child} is required, but under the score bayes-mixed discrete "
                    "columns come before continuous ones: use bic-mixed"
                )

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families; those of one set of discrete parents share their moments."""
        values = np.full(len(families), -np.inf)
        kind = self._continuous
        tables: list[int] = []
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for k, (child, parents) in enumerate(families):
            if kind[child]:
                groups[tuple(sorted(parent for parent in parents if not kind[parent]))].append(k)
            elif not any(kind[parent] for parent in parents):
                tables.append(k)
        if tables:
            values[tables] = self._counted.families([families[k] for k in tables])
        for discrete, members in groups.items():
            given = [(families[k][0], [p for p in sorted(families[k][1]) if kind[p]]) for k in members]
            values[members] = self._regressions(discrete, given)
        return values

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> Floats:
        """Scores of many families of one size."""
        values = np.empty(len(children))
        step = max(1, BLOCK // max(1, self.n_rows // 1000))
        for start in range(0, len(children), step):
            some = slice(start, start + step)
            values[some] = self.families(
                list(zip(children[some].tolist(), parents[some].tolist(), strict=True))
            )
            watch(min(start + step, len(children)), len(children))
        return values

    def _regressions(self, discrete: Sequence[int], families: Sequence[Family]) -> Floats:
        """Scores of continuous children, with these discrete parents and any continuous ones."""
        used = sorted({column for child, parents in families for column in (child, *parents)})
        place = {column: k for k, column in enumerate(used)}
        found = self._grouped.moments(discrete, used)
        spread = self._spread[used]
        means = (found.means - self._mean[used]) / spread
        columns, offsets = flatten(
            [[*(place[parent] for parent in parents), place[child]] for child, parents in families]
        )
        weights = found.counts * self._alpha / (found.counts + self._alpha)
        sums = found.scatters / spread / spread[:, None]
        sums += weights[:, None, None] * means[:, :, None] * means[:, None, :]
        size = int(np.diff(offsets).max())
        scored = np.zeros((2, len(families)))
        sum_regressions(
            np.concatenate([sums, sums.sum(axis=0, keepdims=True)]),
            found.counts, columns, offsets, self._alpha, np.zeros((size, size)), scored,
        )  # fmt: skip
        children = [child for child, _ in families]
        own, common = scored - self.n_rows * np.log(self._spread[children])
        values: Floats = own if not discrete else np.logaddexp(own, common) - np.log(2)
        return values


def usual(statistics: Statistics) -> tuple[Floats, Floats]:
    """Means and standard deviations of the continuous columns; refuses those of no use to a regression."""
    moments = statistics.moments()
    names = [variable.name for variable in statistics.schema if variable.kind is Kind.CONTINUOUS]
    squares = np.diag(moments.scatter)
    refuse_unusable(names, moments.mean, squares / max(1, moments.n), "the score bayes-mixed")
    return moments.mean, np.sqrt(squares / max(1, moments.n - 1))


@kernel
def sum_regressions(
    sums: Floats,
    counts: NDArray[np.int64],
    columns: NDArray[np.int64],
    offsets: NDArray[np.int64],
    alpha: float,
    factor: Floats,
    scored: Floats,
) -> None:
    """Own and common regressions of each family, whose columns are its parents, then the child.

    `sums` are those of each configuration, then those of all together.
    """
    rows = 0
    fixed = 0.0
    for group in range(len(counts)):
        rows += counts[group]
        fixed += math.log(alpha / (counts[group] + alpha)) / 2
    for k in range(len(offsets) - 1):
        family = columns[offsets[k] : offsets[k + 1]]
        for group in range(len(counts)):
            scored[0, k] += math.log(alpha / (counts[group] + alpha)) / 2
            scored[0, k] += log_evidence(sums[group], family, counts[group], alpha, factor)
        scored[1, k] = fixed + log_evidence(sums[len(counts)], family, rows, alpha, factor)


@inlined
def log_evidence(sums: Floats, family: NDArray[np.int64], rows: int, alpha: float, factor: Floats) -> float:
    """The part of the score that depends on the sums of squares; the last of the family is the child."""
    freedom = alpha + 1
    scale = alpha * (freedom - 1) / (alpha + 1)
    p = len(family) - 1
    parents, residual = 0.0, 0.0
    for a in range(p + 1):
        for b in range(a + 1):
            entry = sums[family[a], family[b]]
            if a == b:
                entry += scale
            for c in range(b):
                entry -= factor[a, c] * factor[b, c]
            factor[a, b] = math.sqrt(max(entry, 1e-300)) if a == b else entry / factor[b, b]
        if a < p:
            parents += 2 * math.log(factor[a, a])
        else:
            residual = 2 * math.log(factor[a, a])
    return (
        -rows / 2 * math.log(math.pi)
        + math.lgamma((rows + freedom + p + 1) / 2)
        - math.lgamma((freedom + p + 1) / 2)
        + (freedom + 2 * p + 1) / 2 * math.log(scale)
        + (rows + freedom + p) / 2 * parents
        - (rows + freedom + p + 1) / 2 * (parents + residual)
    )
