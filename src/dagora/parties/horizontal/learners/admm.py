"""NOTEARS-ADMM: the weights of a linear model without cycles, from rows that stay at many sites.

    minimise  Σ_k ½ tr((I − B_k)ᵀ S_k (I − B_k)) + λ ‖W‖₁   subject to   h(W) = tr exp(W∘W) − d = 0,  B_k = W

by the alternating direction method of multipliers (Ng & Zhang 2022, equations (4)–(10)). S_k = x_kᵀx_k / n
holds the centred rows of site k, and n counts the rows of all sites, so that sites count by their rows and
the loss is that of pooled data. Sites keep B_k and β_k; the coordinator sees one sum per round (`admm_site`)
and moves W (`consensus`). It also sees, as sums over all sites: n, the largest binary orders of the columns,
the means (with centre=global), the variances, and the loss of the final weights.

By default the columns are divided by their standard deviations σ, and W by σ_j/σ_i, for all but the program:
its loss is that of the columns as they are, Σ_j σ_j² (…), its penalty is λ σ_j/σ_i on the entry [i, j], and h
is the same in all units, since a cycle has every σ above and below. ρ then stands for ρσ_i² on row i of W,
and no column is ahead of the others because of its unit. Results are in the columns' own units.

After the last round weights below the threshold go, and what still closes a cycle goes, weakest first. By
default rounds go on from there on the graph that is left, each variable losing its weakest parent below the
threshold until there is none, and then until sites agree on the weights: those minimise the pooled loss with
its penalty on that graph. With `faithful` the schedule is the published one: rows centred at each site and
not scaled, ρ₁ = ρ₂ = 0.001 growing by 1.75 and 1.25 per round to 10¹⁶ or 200 rounds, and one cut at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.optimise.acyclic_support import acyclic_support, describe_dropped, refuse_parent_limit
from dagora.options import find
from dagora.parties.horizontal.learners.acyclic_prox import Penalties, Solution, acyclic_prox, cycles
from dagora.parties.horizontal.learners.admm_rounds import (
    FIRST_RHO1,
    PATH_TOLERANCE,
    PUBLISHED_ROUNDS,
    Consensus,
    follow_balanced,
    follow_published,
    settle,
)
from dagora.parties.horizontal.session.federation import Federation
from dagora.parties.horizontal.statistics.columns import CENTRES, Columns, ask_columns
from dagora.result import Outcome
from dagora.run import Run

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]

PUBLISHED_RHO = 0.001
# Weights that the path leaves below this are zero but for its tolerance on h.
FAINT = 1e-3


@dataclass(frozen=True)
class LinearServer:
    """One weight per edge, between columns that are divided by units; required edges count as there."""

    unit: Vector
    required: Vector

    @property
    def own(self) -> Vector:
        """What makes of a weight the one between the columns as they are: unit_j / unit_i for i → j."""
        return np.outer(1.0 / self.unit, self.unit)

    def update(
        self, start: Vector, target: Vector, q: float, penalties: Penalties, free: Support
    ) -> Solution:
        """Solve (5), losses and sizes of weights being those of the columns as they are."""
        penalties = replace(penalties, lambda1=penalties.lambda1 * self.own, present=self.required)
        weights, left = acyclic_prox(start[None], target[None], q * np.square(self.unit), penalties, free)
        return Solution(weights[0], left)

    def cycles(self, weights: Vector) -> float:
        """Compute h of the weights."""
        return cycles(weights[None], self.required)


def admm(
    federation: Federation,
    run: Run,
    *,
    lambda1: float = 0.01,
    threshold: float = 0.3,
    faithful: bool = False,
    centre: str | None = None,
    max_rounds: int | None = None,
    tolerance: float = 1e-3,
) -> Outcome:
    """Learn a weighted graph; [i, j] of its weights belongs to the edge i → j.

    `centre` is `global` (the default), `local` (the default if faithful) or `none`. At most `max_rounds`
    rounds are asked for (200 if faithful, else 1000); without `faithful` they end when the relative residuals
    of the consensus are at most `tolerance`.
    """
    refuse_parent_limit(run.knowledge, "admm")
    chosen = centre or ("local" if faithful else "global")
    find("centre", chosen, dict.fromkeys(CENTRES))
    columns = ask_columns(federation, "the method admm", chosen)
    free = ~run.knowledge.forbidden_matrix(columns.names)
    required = run.knowledge.required_matrix(columns.names)
    unit = np.ones_like(columns.deviations) if faithful else columns.deviations
    consensus = begin(federation, run, columns, unit, faithful=faithful, max_rounds=max_rounds)
    server = LinearServer(unit, required.astype(np.float64))
    # Cycles are cheap at first even for the variable with the smallest loss.
    given = Penalties(lambda1, rho1=PUBLISHED_RHO if faithful else FIRST_RHO1 * float(unit.min()) ** 2)
    if faithful:
        follow_published(consensus, server, given, free)
    else:
        follow_balanced(consensus, server, given, free, max(tolerance, PATH_TOLERANCE))
    path_rounds, path_weights = consensus.rounds, consensus.weights * server.own
    if faithful or consensus.over:
        support, dropped = acyclic_support(path_weights, threshold, required)
    else:
        support, dropped = acyclic_support(consensus.weights, FAINT, required)
    dropped = [edge for edge in dropped if abs(path_weights[edge]) >= threshold]
    h = server.cycles(consensus.weights)
    if not faithful and not consensus.over:
        support = threshold_consensus(consensus, server, given, support, required, threshold)
        settle(consensus, server, given, support, tolerance)
    consensus.weights = np.where(support, consensus.weights, 0.0)
    weights = consensus.weights * server.own
    loss = final_loss(consensus, "admm-loss", consensus.weights, loss_bound(columns, weights))
    status, message = ending(consensus, faithful=faithful, tolerance=tolerance)
    return Outcome(
        graph=DAG.from_numpy(support, columns.names),
        status=status,
        message=message,
        score=None if loss is None else -(loss + lambda1 * float(np.abs(weights).sum())),
        stats={
            "rounds": float(consensus.rounds),
            "path_rounds": float(path_rounds),
            "h": h,
            "primal_residual": finite(consensus.primal),
            "dual_residual": finite(consensus.dual),
            "rho": consensus.rho,
            "parties": float(len(federation.parties)),
            "rows": float(columns.n),
            "dropped_edges": float(len(dropped)),
        },
        weights=weights,
        warnings=describe_dropped(columns.names, path_weights, dropped),
    )


def begin(
    federation: Federation,
    run: Run,
    columns: Columns,
    unit: Vector,
    *,
    faithful: bool,
    max_rounds: int | None,
) -> Consensus:
    """Weights of zero, scales that make the sums free of units, and the first ρ₂."""
    deviations = columns.deviations / unit
    d = len(deviations)
    sites = len(federation.parties)
    return Consensus(
        federation,
        run,
        task="admm-step",
        begin={**columns.question(), "unit": unit},
        gradient_scale=np.outer(deviations, deviations),
        gradient_unit=float(deviations.max() ** 2),
        weight_unit=float(deviations.max() / deviations.min()),
        weights=np.zeros((d, d)),
        # The mean eigenvalue of S_k.
        rho=PUBLISHED_RHO if faithful else float(np.square(deviations).mean()) / sites,
        max_rounds=max_rounds or (PUBLISHED_ROUNDS if faithful else 1000),
    )


def threshold_consensus(
    consensus: Consensus,
    server: LinearServer,
    given: Penalties,
    support: Support,
    required: Support,
    threshold: float,
) -> Support:
    """Agree roughly on the weights; each variable loses its weakest parent below the threshold; and again."""
    while not consensus.over:
        settle(consensus, server, given, support, PATH_TOLERANCE)
        strength = np.where(support & ~required, np.abs(consensus.weights * server.own), np.inf)
        weakest = strength.argmin(axis=0)
        children = np.flatnonzero(strength.min(axis=0) < threshold)
        if len(children) == 0:
            return support
        support = support.copy()
        support[weakest[children], children] = False
        consensus.weights = np.where(support, consensus.weights, 0.0)
    # Out of time or rounds: cut once.
    return support & (required | (np.abs(consensus.weights * server.own) >= threshold))


def final_loss(consensus: Consensus, task: str, weights: Vector, largest: float) -> float | None:
    """The pooled loss of the final weights; unknown where no round was held."""
    if consensus.rounds == 0:
        return None
    return float(consensus.federation.total(task, {"weights": weights}, largest=largest)[0])


def loss_bound(columns: Columns, weights: Vector) -> float:
    """Twice the loss cannot exceed the sum of the variances of x_j − Σ_i w_ij x_i, had all one sign."""
    reach = columns.deviations + columns.deviations @ np.abs(weights)
    return float(np.square(reach).sum())


def ending(consensus: Consensus, *, faithful: bool, tolerance: float) -> tuple[str, str]:
    """Status, and how it ended in words."""
    rounds = f"{consensus.rounds} rounds"
    residuals = f"residuals {consensus.primal:.1e} and {consensus.dual:.1e}"
    if tolerance < consensus.unsolved < np.inf:
        residuals += f", the coordinator's own weights {consensus.unsolved:.1e} away from a solution"
    if consensus.run.budget.exhausted:
        return "time-limit", f"stopped after {rounds}: {consensus.run.budget.reason}; {residuals}"
    if faithful:
        return "finished", f"the published schedule ended after {rounds}, {residuals}"
    if consensus.settled(tolerance):
        return "finished", f"the sites agree after {rounds}, {residuals}"
    return "step-limit", f"{rounds} did not bring the sites to agree: {residuals}, tolerance {tolerance:g}"


def finite(number: float) -> float:
    """A residual, or −1 where no round was held."""
    return number if np.isfinite(number) else -1.0
