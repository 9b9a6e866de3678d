"""NOTEARS-ADMM: the weights of a linear model without cycles, from rows that stay at many sites.

    minimise  Σ_k ½ tr((I − B_k)ᵀ S_k (I − B_k)) + λ ‖W‖₁   subject to   h(W) = tr exp(W∘W) − d = 0,  B_k = W

by the alternating direction method of multipliers (Ng & Zhang 2022, equations (4)–(10)). S_k = x_kᵀx_k / n
holds the centred rows of site k, where n counts the rows of all sites, so that a site's weight is its number
of rows and the loss is that of the pooled data. As published, every site shows the coordinator its B_k in
each round, from which the coordinator has β_k by (7); here the site sends β_k as well (`admm_site`). With
them it shows S_k, the covariance of its rows; the coordinator updates W (`consensus`). n and the means and
variances of all rows come from one sum. Where the sites' covariances may not be shown, `notears` learns from
that sum alone.

By default the computation uses columns divided by their standard deviations σ, and accordingly W divided by
σ_j/σ_i. The program stays that of the original columns: its loss is Σ_j σ_j² (…), its penalty on the entry
[i, j] is λ σ_j/σ_i, and h does not change, since the factors cancel along every cycle. ρ then stands for
ρσ_i² on row i of W, so that convergence does not depend on the units of the columns. Results are in the
original units.

After the last round, weights below the threshold are removed, and then the weakest edges that still close a
cycle. By default rounds continue on that graph: each variable loses its weakest parent below the threshold
until there is none, and then the sites agree on the weights, which minimise the pooled loss with its penalty
on that graph.

With `published` it is algorithm 1 of the paper: rows centred at each site and not scaled, (5) solved by
L-BFGS over all of W (`solve_by_lbfgs`), ρ₁ = ρ₂ = 0.001 growing by 1.75 and 1.25 per round to at most 10¹⁶,
until both are there or for 200 rounds, and the threshold applied once at the end. What is not in the paper:
edges that then still close a cycle are dropped, weakest first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.learners.optimise.acyclic_support import acyclic_support, dropped_edges_warning
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.acyclic_prox import (
    ProxPenalties,
    ProxSolution,
    acyclic_prox,
    cycles,
    solve_by_lbfgs,
    with_own_edges,
)
from dagora.parties.horizontal.learners.columns import PooledColumns
from dagora.parties.horizontal.learners.consensus import (
    FIRST_RHO1,
    PATH_TOLERANCE,
    PUBLISHED_ROUNDS,
    Consensus,
    ConsensusServer,
    agree_on_weights,
    ask_problem,
    centre_of,
    consensus_stats,
    describe_ending,
    describe_published_run,
    final_loss,
    follow_balanced_schedule,
    follow_published_schedule,
    tolerance_of,
)
from dagora.parties.horizontal.session.federation import Federation

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]

PUBLISHED_RHO = 0.001  # Ng & Zhang 2022
OUR_TOLERANCE = 1e-3  # larger: sites still disagree; smaller: more rounds
# Weights below this at the end of the schedule count as zero: only h's tolerance keeps them from it.
FAINT = 1e-3


class ServerInUnits(ConsensusServer, Protocol):
    """A server whose weights are of columns divided by units."""

    @property
    def own(self) -> Vector:
        """Factors that convert weights to the original units."""


@dataclass(frozen=True)
class LinearServer:
    """The coordinator's update for one weight per edge; the columns are divided by `unit`."""

    unit: Vector
    required: Vector
    published: bool = False

    @property
    def own(self) -> Vector:
        """Factors that convert weights to the original units: unit_j / unit_i for i → j."""
        return np.outer(1.0 / self.unit, self.unit)

    def update(
        self, start: Vector, target: Vector, q: float, penalties: ProxPenalties, free: Support
    ) -> ProxSolution:
        """Solve (5) with losses and penalties in the original units of the columns."""
        penalties = replace(penalties, lambda1=penalties.lambda1 * self.own, present=self.required)
        solve = solve_by_lbfgs if self.published else acyclic_prox
        weights, left = solve(start[None], target[None], q * np.square(self.unit), penalties, free)
        return ProxSolution(weights[0], left)

    def cycles(self, weights: Vector) -> float:
        """Compute h of the weights."""
        return cycles(weights[None], self.required)


def admm(
    federation: Federation,
    run: Run,
    *,
    lambda1: float = 0.01,
    threshold: float = 0.3,
    published: bool = False,
    centre: str | None = None,
    max_rounds: int | None = None,
    tolerance: float | None = None,
) -> Outcome:
    """Learn a weighted graph; [i, j] of its weights belongs to the edge i → j.

    `centre` is `global` (the default), `local` or `none`; with `published` it is `local`. There are at most
    `max_rounds` rounds (by default 200 with `published`, else 1000); without `published` they end when the
    relative residuals of the consensus are at most `tolerance` (by default 0.001).
    """
    tolerance = tolerance_of(tolerance, OUR_TOLERANCE, published=published)
    centre = centre_of(centre, "local") if published else centre or "global"
    problem = ask_problem(federation, run, "admm", centre, published=published)
    columns, free, required = problem.columns, problem.free, problem.required
    unit = np.ones_like(columns.deviations) if published else columns.deviations
    consensus = begin(federation, run, columns, unit, published=published, max_rounds=max_rounds)
    server = LinearServer(unit, required.astype(np.float64), published=published)
    # The first penalty on cycles is small even for the variable with the smallest loss.
    given = ProxPenalties(lambda1, rho1=PUBLISHED_RHO if published else FIRST_RHO1 * float(unit.min()) ** 2)
    rough = max(tolerance, PATH_TOLERANCE)
    if published:
        follow_published_schedule(consensus, server, given, with_own_edges(free))
    else:
        follow_balanced_schedule(consensus, server, given, free, rough)
    path_rounds, path_weights = consensus.rounds, consensus.weights * server.own
    if published or consensus.is_over:
        support, dropped = acyclic_support(off_diagonal(path_weights), threshold, required)
    else:
        support, dropped = acyclic_support(consensus.weights, FAINT, required)
    dropped = [edge for edge in dropped if abs(path_weights[edge]) >= threshold]
    h = server.cycles(consensus.weights)
    if not published and not consensus.is_over:
        support = threshold_consensus(consensus, server, given, support, required, threshold)
        agree_on_weights(consensus, server, given, support, tolerance)
    consensus.weights = np.where(support, consensus.weights, 0.0)
    weights = consensus.weights * server.own
    loss = final_loss(consensus, "admm-loss", consensus.weights)
    if published:
        status, message = describe_published_run(consensus, problem)
    else:
        status, message = describe_ending(consensus, tolerance)
    return Outcome(
        graph=DAG.from_numpy(support, columns.names),
        status=status,
        message=message,
        score=None if loss is None else -(loss + lambda1 * float(np.abs(weights).sum())),
        stats=consensus_stats(consensus, columns, path_rounds=path_rounds, h=h, dropped=len(dropped)),
        weights=weights,
        warnings=dropped_edges_warning(columns.names, path_weights, dropped),
    )


def off_diagonal(weights: Vector) -> Vector:
    """The weights with a diagonal of 0; the published W has a free diagonal."""
    return np.where(np.eye(len(weights), dtype=np.bool_), 0.0, weights)


def begin(
    federation: Federation,
    run: Run,
    columns: PooledColumns,
    unit: Vector,
    *,
    published: bool,
    max_rounds: int | None,
) -> Consensus:
    """Start at W = 0 with the first ρ₂."""
    deviations = columns.deviations / unit
    d = len(deviations)
    sites = len(federation.parties)
    return Consensus(
        federation,
        run,
        task="admm-step",
        begin={**columns.question(), "unit": unit},
        weight_unit=float(deviations.max() / deviations.min()),
        weights=np.zeros((d, d)),
        # The mean eigenvalue of S_k.
        rho=PUBLISHED_RHO if published else float(np.square(deviations).mean()) / sites,
        max_rounds=max_rounds or (PUBLISHED_ROUNDS if published else 1000),
    )


def threshold_consensus(
    consensus: Consensus,
    server: ServerInUnits,
    given: ProxPenalties,
    support: Support,
    required: Support,
    threshold: float | Vector,
) -> Support:
    """Repeat: agree roughly on weights, then remove each variable's weakest parent below the threshold.

    `threshold` is one number, or one for each parent and variable.
    """
    while not consensus.is_over:
        agree_on_weights(consensus, server, given, support, PATH_TOLERANCE)
        above = np.abs(consensus.weights * server.own) - threshold
        above = np.where(support & ~required, above, np.inf)
        weakest = above.argmin(axis=0)
        children = np.flatnonzero(above.min(axis=0) < 0)
        if len(children) == 0:
            return support
        support = support.copy()
        support[weakest[children], children] = False
        consensus.weights = np.where(support, consensus.weights, 0.0)
    # Out of time or rounds: apply the threshold once.
    return support & (required | (np.abs(consensus.weights * server.own) >= threshold))
