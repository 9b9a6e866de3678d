"""Attacks on ADMM: what a coordinator can compute about single sites from what the sites answer.

One round, every answer shown. With W = 0 and β = 0, equation (10) reads B_k = (S_k + ρI)⁻¹ S_k, so that
whoever is shown B_k knows

    S_k = ρ ((I − B_k)⁻¹ − I),      S_k = x_kᵀx_k / n,

and with it the site's centred rows x_k up to a rotation: any factor F of n S_k = FᵀF is such a rotation of
them. `run_first_round` runs that round.

Many rounds, only the sums shown. `run_summed_rounds` runs rounds at one ρ that give the coordinator only
Σ_k (β_k + ρ(B_k − W)), as behind masks; `power_sums` takes every S_k from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Schema
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.acyclic_prox import ProxPenalties
from dagora.parties.horizontal.learners.admm import LinearServer, admm, begin
from dagora.parties.horizontal.learners.columns import ask_columns
from dagora.parties.horizontal.learners.consensus import FIRST_RHO1, move
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import (
    Answer,
    LargestTable,
    OpenFederation,
    Sets,
    Site,
    TaskQuestion,
)
from dagora.parties.horizontal.session.fourth_sums import FourthMoments
from dagora.parties.horizontal.session.row_sums import WeightSums
from dagora.stats.basis import BasisMoments
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.statistics import Moments

Matrix = NDArray[np.float64]

STEP = "admm-step"
RECOVERED = 1e-6  # a row reconstructed with at most this relative error counts as recovered


@dataclass(frozen=True, eq=False)
class FirstRound:
    """The coordinator's view after one round with every answer shown: ρ and the B_k of every site."""

    rho: float
    weights: Mapping[str, Matrix]

    def covariances(self) -> dict[str, Matrix]:
        """Reconstruct every S_k."""
        return {name: covariance_from(weights, self.rho) for name, weights in self.weights.items()}


@dataclass(frozen=True, eq=False)
class Record:
    """The coordinator's view of several rounds at one ρ: the W it sent, and the sums it was given.

    Columns are divided by `unit`.
    """

    rho: float
    unit: Matrix
    weights: tuple[Matrix, ...]
    sums: tuple[Matrix, ...]


def covariance_from(weights: Matrix, rho: float) -> Matrix:
    """S = ρ ((I − B)⁻¹ − I), the inverse of equation (10) in round 1.

    >>> S = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> B = np.linalg.solve(S + 0.5 * np.eye(2), S)
    >>> covariance_from(B, 0.5).round(12)
    array([[2., 1.], [1., 3.]])
    """
    one = np.eye(len(weights))
    found: Matrix = rho * (np.linalg.inv(one - weights) - one)
    return found


def relative_error(found: Matrix, truth: Matrix) -> float:
    """‖found − truth‖ / ‖truth‖; a guess of zero has error 1."""
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def count_recovered_rows(found: Matrix, rows: Matrix, n: int) -> int:
    """The number of a site's centred rows that a rotation of a factor of n S_k reproduces.

    The rotation is the best one (Procrustes), which the coordinator does not know.
    """
    values, vectors = np.linalg.eigh((found + found.T) / 2)
    largest = np.argsort(values)[::-1][: len(rows)]
    factor = np.sqrt(np.maximum(n * values[largest], 0.0))[:, None] * vectors[:, largest].T
    left, _, right = np.linalg.svd(rows @ factor.T, full_matrices=False)
    errors = np.linalg.norm(rows - left @ right @ factor, axis=1)
    return int((errors <= RECOVERED * np.linalg.norm(rows, axis=1)).sum())


def rows_of(table: Table) -> Matrix:
    """A site's rows."""
    return np.column_stack([table.values(i) for i in range(len(table.names))])


def centre_rows(table: Table) -> Matrix:
    """A site's rows about their own mean, one row each."""
    rows = rows_of(table)
    centred_rows: Matrix = rows - rows.mean(axis=0)
    return centred_rows


def run_first_round(tables: Mapping[str, Table]) -> FirstRound:
    """The published exchange, for one round, whatever it takes: the coordinator is sent every B_k."""
    watched = WatchedFederation(open_sites(tables))
    admm(watched, Run(), published=True, max_rounds=1)
    question, answers = watched.steps[0]
    # W = 0 in round 1, so that B_k − W is B_k.
    weights = {name: cast("Matrix", answer["away"]) for name, answer in answers.items()}
    return FirstRound(cast("float", question["rho"]), weights)


def run_summed_rounds(tables: Mapping[str, Table], rounds: int, run: Run) -> Record:
    """Rounds of ADMM at its first ρ, rows centred at each site; the coordinator is given sums alone."""
    watched = WatchedFederation(open_sites(tables), hide=True)
    columns = ask_columns(watched, "the attack", "local")
    unit, d = columns.deviations, len(columns.names)
    consensus = begin(watched, run, columns, unit, published=False, max_rounds=rounds)
    server = LinearServer(unit, np.zeros((d, d)))
    penalties = ProxPenalties(0.01, rho1=FIRST_RHO1 * float(unit.min()) ** 2)
    while not consensus.is_over:
        move(consensus, server, penalties, ~np.eye(d, dtype=np.bool_))
    sites, rho = len(tables), consensus.rho
    weights = tuple(cast("Matrix", question["weights"]) for question, _ in watched.steps)
    means = (next(iter(answers.values())) for _, answers in watched.steps)
    sums = (
        sites * (cast("Matrix", mean["multipliers"]) + rho * cast("Matrix", mean["away"])) for mean in means
    )
    return Record(rho, unit, weights, tuple(sums))


def open_sites(tables: Mapping[str, Table]) -> OpenFederation:
    """The sites in this process."""
    return OpenFederation.over([Site(name, table) for name, table in tables.items()], TASKS)


@dataclass
class WatchedFederation:
    """A federation that writes down every round; with `hide`, no site's own answer comes back.

    Then each site is said to have answered the mean of all answers, from which the coordinator continues as
    it would from their sum.
    """

    inner: OpenFederation
    hide: bool = False
    steps: list[tuple[TaskQuestion, dict[str, Answer]]] = field(default_factory=list)

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites' names."""
        return self.inner.parties

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.inner.schema

    def moments(self) -> Moments:
        """Moments of all rows."""
        return self.inner.moments()

    @property
    def largest_table(self) -> LargestTable:
        """As large as any."""
        return self.inner.largest_table

    def counts(self, sets: Sets) -> NDArray[np.int64]:
        """Counts of all rows."""
        return self.inner.counts(sets)

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of functions over all rows."""
        return self.inner.basis_moments(functions)

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the widened table over all rows."""
        return self.inner.indicator_moments()

    def lagged_moments(self, lags: int) -> Moments:
        """Moments of windows of time."""
        return self.inner.lagged_moments(lags)

    def weight_sums(self) -> WeightSums | None:
        """Sums of weights over all rows."""
        return self.inner.weight_sums()

    def fourth_moments(self, sets: Sequence[tuple[int, ...]]) -> list[FourthMoments]:
        """Moments up to products of four columns over all rows."""
        return self.inner.fourth_moments(sets)

    def gather(self, task: str, question: TaskQuestion) -> dict[str, Answer]:
        """Every site's own answer, or the mean of all in place of each."""
        answers = self.inner.gather(task, question)
        if self.hide:
            mean: Answer = {
                key: np.mean([cast("Matrix", answer[key]) for answer in answers.values()], axis=0)
                for key in next(iter(answers.values()))
            }
            answers = dict.fromkeys(answers, mean)
        if task == STEP:
            self.steps.append((question, answers))
        return answers
