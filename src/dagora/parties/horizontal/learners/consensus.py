"""Rounds of consensus: the coordinator is shown every site's answer, updates W, and measures the agreement.

From D_k = B_k − W and β_k of every site the coordinator computes V = W + Σ_k (β_k + ρD_k)/(Kρ), the mean of
B_k + β_k/ρ at which equation (5) is centred. Residuals are those of Boyd et al. (2011), section 3.3, relative
to the sizes of W and β: primal Σ_k ‖B_k − W‖², dual Kρ² ‖W − W_before‖². They are meaningful only if W solves
(5), so a third residual says how far W is from a solution of (5).

There are two schedules. The published one (Ng & Zhang 2022) has α by (6), ρ₁ × 1.75 and ρ₂ × 1.25 after every
round, each at most 10¹⁶, until both are that large or 200 rounds are over; nothing else ends it, and the
growing ρ₂ soon keeps W from moving. The balanced one doubles or halves ρ₂ where one residual is ten times the
other, raises ρ₁ only while there are cycles, faster where h does not fall, and ends when h and all residuals
are small.

`ask_problem` comes before the first round: it asks the sites for their columns, and turns the knowledge into
allowed and required edges. `final_loss` and the descriptions come after the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.events import Event
from dagora.base.options import find
from dagora.base.wording import setting
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.acyclic_prox import ProxPenalties, ProxSolution
from dagora.parties.horizontal.learners.checked_fields import collect_reals
from dagora.parties.horizontal.learners.columns import CENTRES, PooledColumns, ask_columns
from dagora.parties.horizontal.session.federation import Federation, TaskQuestion
from dagora.parties.transport.messages import Value

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]

# The published schedule: factors of ρ₁ and ρ₂ per round, their limit, and the largest number of rounds.
GAMMA1, GAMMA2, RHO_MAX, PUBLISHED_ROUNDS = 1.75, 1.25, 1e16, 200
# Ours: where the ratio of the residuals exceeds BALANCE, ρ₂ changes by the factor CHANGE (Boyd et al. 2011,
# section 3.4.1, with their constants).
BALANCE, CHANGE = 10.0, 2.0
# Factors of ρ₁ per round: FAST where h fell to no less than the share STALLED of its last value, else SLOW.
SLOW, FAST, STALLED = 1.25, 1.75, 0.9
FIRST_RHO1 = 3e-4  # small beside a variance of 1: the first rounds hardly feel cycles
# h and the residuals at which the search for a graph ends.
H_TOLERANCE, PATH_TOLERANCE = 1e-6, 1e-2
# Keeps a division by the size of the multipliers defined where they are all zero.
TINY = 1e-300
# A step that both published learners add to the paper's algorithm.
CUT_LAST = "edges that close a cycle after the threshold are dropped"


class ConsensusServer(Protocol):
    """The coordinator's side of a model: the solution of (5), and h of its weights."""

    def update(
        self, start: Vector, target: Vector, q: float, penalties: ProxPenalties, free: Support
    ) -> ProxSolution:
        """Weights that minimise penalties + (q/2) ‖W − target‖², zero where an edge is not free."""

    def cycles(self, weights: Vector) -> float:
        """Compute h of the strengths."""


@dataclass(eq=False)
class Consensus:
    """The coordinator's state; `begin` is sent to the sites with the first question.

    A norm of W below 10⁻⁶ times `weight_unit` counts as zero.
    """

    federation: Federation
    run: Run
    task: str
    begin: TaskQuestion
    weight_unit: float
    weights: Vector
    rho: float
    max_rounds: int
    # ρ₂ also grows by this factor per round: with a loss that is not convex, a constant ρ₂ need not converge.
    growth: float = 1.0
    # Further fields of every question, besides weights and ρ.
    always: dict[str, Value] = field(default_factory=dict)
    rounds: int = 0
    primal: float = np.inf
    dual: float = np.inf
    unsolved: float = np.inf

    @property
    def is_over(self) -> bool:
        """Return True if no further round may be asked for."""
        return self.rounds >= self.max_rounds or self.run.budget.exhausted

    def has_converged(self, tolerance: float) -> bool:
        """Return True if all residuals are at most the tolerance."""
        return max(self.primal, self.dual, self.unsolved) <= tolerance

    def round(self, update: Callable[[Vector, float], ProxSolution]) -> None:
        """Ask for the sites' answers at the present W and ρ, and set W = update(V, Kρ)."""
        before, rho = self.weights, self.rho
        question: dict[str, Value] = {**self.always, "weights": before, "rho": rho}
        if self.rounds == 0:
            question |= self.begin
        answers = self.federation.gather(self.task, question)
        away = np.stack(list(collect_reals(answers, "away", before.shape).values()))
        beta = np.stack(list(collect_reals(answers, "multipliers", before.shape).values()))
        parties = len(answers)
        pull = (beta + rho * away).sum(axis=0) / parties
        after, left = update(before + pull / rho, parties * rho)
        moved = before - after
        size = self._size(after)
        force = max(square(beta) / parties, square(pull))
        self.primal = float(np.sqrt(square(away + moved) / parties) / size)
        self.dual = float(rho * np.sqrt(square(moved)) / max(np.sqrt(force), TINY))
        self.unsolved = left / size
        self.weights = after
        self.rounds += 1

    def _size(self, weights: Vector) -> float:
        """The norm of weights, but at least a size that counts as zero."""
        return max(float(np.linalg.norm(weights)), 1e-6 * self.weight_unit)

    def balance(self) -> None:
        """Change ρ₂ where one residual is much larger than the other."""
        if self.primal > BALANCE * self.dual:
            self.rho *= CHANGE
        elif self.dual > BALANCE * self.primal:
            self.rho /= CHANGE
        self.rho *= self.growth

    def tell(self, phase: str, h: float) -> None:
        """Report the round."""
        message = f"h = {h:.1e}, residuals {self.primal:.1e} and {self.dual:.1e}"
        self.run.on_event(Event(phase, self.rounds, total=self.max_rounds, message=message))


def square(vector: Vector) -> float:
    """The sum of squares."""
    return float(np.vdot(vector, vector))


def follow_published_schedule(
    consensus: Consensus, server: ConsensusServer, given: ProxPenalties, free: Support
) -> None:
    """The published schedule, from ρ₁ = `given.rho1` and the consensus' ρ₂."""
    alpha, rho1 = 0.0, given.rho1
    while not consensus.is_over and (rho1 < RHO_MAX or consensus.rho < RHO_MAX):
        penalties = ProxPenalties(given.lambda1, given.lambda2, alpha, rho1)
        move(consensus, server, penalties, free)
        h = server.cycles(consensus.weights)
        consensus.tell("published schedule", h)
        alpha += rho1 * h
        rho1 = min(GAMMA1 * rho1, RHO_MAX)
        consensus.rho = min(GAMMA2 * consensus.rho, RHO_MAX)


def follow_balanced_schedule(
    consensus: Consensus, server: ConsensusServer, given: ProxPenalties, free: Support, tolerance: float
) -> None:
    """Our schedule, from ρ₁ = `given.rho1`, until cycles are weak and the sites roughly agree."""
    alpha, rho1, h = 0.0, given.rho1, np.inf
    while not consensus.is_over:
        move(consensus, server, ProxPenalties(given.lambda1, given.lambda2, alpha, rho1), free)
        before, h = h, server.cycles(consensus.weights)
        consensus.tell("consensus without cycles", h)
        if h <= H_TOLERANCE and consensus.has_converged(tolerance):
            return
        alpha += rho1 * h
        if h > H_TOLERANCE:
            rho1 *= FAST if h > STALLED * before else SLOW
        consensus.balance()


def agree_on_weights(
    consensus: Consensus, server: ConsensusServer, given: ProxPenalties, support: Support, tolerance: float
) -> None:
    """Rounds on an acyclic support, until the sites agree on its weights."""
    while not consensus.is_over:
        move(consensus, server, ProxPenalties(given.lambda1, given.lambda2), support)
        consensus.tell("weights of the graph", 0.0)
        if consensus.has_converged(tolerance):
            return
        consensus.balance()


def move(consensus: Consensus, server: ConsensusServer, penalties: ProxPenalties, free: Support) -> None:
    """One round, from the present weights."""
    start = consensus.weights
    consensus.round(lambda target, q: server.update(start, target, q, penalties, free))


@dataclass(frozen=True, eq=False)
class ConsensusProblem:
    """The columns that the sites share, and which edges are free and which required."""

    columns: PooledColumns
    free: Support
    required: Support

    @property
    def has_knowledge(self) -> bool:
        """Return True if some edge is forbidden or required."""
        return bool(self.required.any() or not (self.free | np.eye(len(self.free), dtype=np.bool_)).all())


def ask_problem(
    federation: Federation, run: Run, method: str, centre: str, *, published: bool = False
) -> ConsensusProblem:
    """Ask the sites for their columns, centred in the given way."""
    find("centre", centre, dict.fromkeys(CENTRES))
    other = f"without {setting('published', True)}" if published else f"with {setting('centre', 'global')}"
    columns = ask_columns(federation, f"the method {method}", centre, other)
    free = ~run.knowledge.forbidden_matrix(columns.names)
    return ConsensusProblem(columns, free, run.knowledge.required_matrix(columns.names))


def centre_of(centre: str | None, paper: str) -> str:
    """The authors' centre; another one is refused."""
    if centre not in {None, paper}:
        raise OptionError(
            f"{setting('published', True)} has the authors' {setting('centre', paper)}: leave centre out"
        )
    return paper


def tolerance_of(tolerance: float | None, ours: float, *, published: bool) -> float:
    """The tolerance as given or by default; no residual ends the published rounds, so there it is refused.

    >>> tolerance_of(None, 0.001, published=True), tolerance_of(0.1, 0.001, published=False)
    (0.001, 0.1)
    """
    if published and tolerance is not None:
        raise OptionError(
            f"{setting('published', True)} has no tolerance, penalties end its rounds: leave tolerance out"
        )
    return ours if tolerance is None else tolerance


def final_loss(consensus: Consensus, task: str, weights: Vector) -> float | None:
    """The pooled loss of the final weights; None if there was no round."""
    if consensus.rounds == 0:
        return None
    answers = consensus.federation.gather(task, {"weights": weights})
    return float(np.sum(list(collect_reals(answers, "loss", (1,)).values())))


def describe_published_run(consensus: Consensus, problem: ConsensusProblem, *more: str) -> tuple[str, str]:
    """Status, and a message on the end of the published rounds and on deviations from the paper."""
    unlike = [CUT_LAST, *more, *["edges are forbidden or required"] * problem.has_knowledge]
    status, rounds = "finished", f"{consensus.rounds} rounds"
    if consensus.rho < RHO_MAX and consensus.run.budget.exhausted:
        status, rounds = "time-limit", f"stopped after {rounds}: {consensus.run.budget.reason}"
    elif consensus.rho < RHO_MAX:
        status = "step-limit"
        unlike.append(f"{setting('max_rounds', consensus.max_rounds)} ends it before the penalties do")
    residuals = f"residuals {consensus.primal:.1e} and {consensus.dual:.1e}"
    words = f"algorithm 1 of Ng & Zhang (2022) as published, {rounds}, {residuals}"
    return status, f"{words}; not as in the paper: {', and '.join(unlike)}"


def describe_ending(consensus: Consensus, tolerance: float) -> tuple[str, str]:
    """Status, and a message on the end of the balanced rounds."""
    rounds = f"{consensus.rounds} rounds"
    residuals = f"residuals {consensus.primal:.1e} and {consensus.dual:.1e}"
    if tolerance < consensus.unsolved < np.inf:
        residuals += f", the coordinator's own weights {consensus.unsolved:.1e} away from a solution"
    if consensus.run.budget.exhausted:
        return "time-limit", f"stopped after {rounds}: {consensus.run.budget.reason}; {residuals}"
    if consensus.has_converged(tolerance):
        return "finished", f"the sites agree after {rounds}, {residuals}"
    return "step-limit", f"{rounds} did not bring the sites to agree: {residuals}, tolerance {tolerance:g}"


def consensus_stats(
    consensus: Consensus, columns: PooledColumns, *, path_rounds: int, h: float, dropped: int
) -> dict[str, float]:
    """Numbers of a run; `path_rounds` and `h` are those at the end of the schedule."""
    return {
        "rounds": float(consensus.rounds),
        "path_rounds": float(path_rounds),
        "h": h,
        "primal_residual": finite_residual(consensus.primal),
        "dual_residual": finite_residual(consensus.dual),
        "rho": consensus.rho,
        "parties": float(len(consensus.federation.parties)),
        "rows": float(columns.n),
        "dropped_edges": float(dropped),
    }


def finite_residual(residual: float) -> float:
    """The residual, or −1 if there was no round."""
    return residual if np.isfinite(residual) else -1.0
