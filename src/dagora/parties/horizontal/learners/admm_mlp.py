"""NOTEARS-MLP-ADMM: a DAG of nonlinear relations, from rows that stay at many sites.

    minimise  Σ_k 1/(2n) Σ_j ‖x_kj − f_j(x_k; θ_k)‖² + λ₁ ‖first layer of W‖₁ + (λ₂/2) ‖weights of W‖²
    subject to  h(A) = tr exp(A∘A) − d = 0,   θ_k = W

over networks with one hidden layer per variable, where A_ij is the norm of network j's first-layer weights of
x_i (Ng & Zhang 2022, section 5.2; Zheng et al. 2020). The consensus is on all parameters, biases included; n
counts the rows of all sites. Sites fit (`admm_mlp_site`) and show their networks in each round; the
coordinator updates W (`consensus`), with the exact L1 norm, and λ₂ on both layers but not on biases.
Afterwards edges with A_ij below the threshold are removed, and then the weakest edges that still close a
cycle. By default rounds continue with that graph fixed until the sites agree on its networks; edges that then
fall below the threshold are removed too. Columns are centred on the mean of all sites unless `centre` says
otherwise.

With `published` it is algorithm 1 of the paper: λ₁ = 0.001 and no λ₂, rows not centred, every site's fit (4)
and the coordinator's problem (5) by L-BFGS to its end, with no bounds, so that a network may first use its
own variable and only h takes it away (`solve_by_lbfgs`); ρ₁ = ρ₂ = 0.1 growing by 1.75 and 1.25 per round to
at most 10¹⁶, until both are there or for 200 rounds, and the threshold applied once at the end. The paper
writes the L1 norm of all parameters; here it is that of the first layer, as in Zheng et al. (2020).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.wording import setting
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
from dagora.parties.horizontal.learners.admm_mlp_site import NetworkShape
from dagora.parties.horizontal.learners.columns import PooledColumns
from dagora.parties.horizontal.learners.consensus import (
    PUBLISHED_ROUNDS,
    Consensus,
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

# Appendix B of the paper.
PUBLISHED_RHO, PUBLISHED_LAMBDA1 = 0.1, 0.001
OUR_LAMBDA, OUR_TOLERANCE = 0.01, 0.01
FIRST_LAYER = "only the first layer is under the L1 norm"
FIRST_RHO1 = 0.1
# Factor by which ρ₂ grows per round, besides balancing: the loss is not convex.
GROWTH = 1.05
# Relative residuals at which the search for a graph may end; local fits are inexact, so this is not small.
PATH_TOLERANCE = 5e-2


@dataclass(frozen=True)
class NetworkServer:
    """The coordinator's update for networks: several weights per edge, and parameters of no edge."""

    shape: NetworkShape
    required: Vector
    published: bool = False

    def update(
        self, start: Vector, target: Vector, q: float, penalties: ProxPenalties, free: Support
    ) -> ProxSolution:
        """Solve (5): biases go to the target, outward weights shrink, and the first layer pays for cycles."""
        first = self.shape.first_layer
        weights = target.copy()
        weights[self.shape.outward] *= q / (q + penalties.lambda2)
        penalties = replace(penalties, present=self.required)
        solve = solve_by_lbfgs if self.published else acyclic_prox
        inward, left = solve(first(start), first(target), q, penalties, free)
        weights[: self.shape.inward] = inward.ravel()
        return ProxSolution(weights, left)

    def cycles(self, weights: Vector) -> float:
        """Compute h of the strengths."""
        return cycles(self.shape.first_layer(weights), self.required)


def admm_mlp(
    federation: Federation,
    run: Run,
    *,
    lambda1: float | None = None,
    lambda2: float | None = None,
    threshold: float = 0.3,
    hidden: int = 10,
    published: bool = False,
    centre: str | None = None,
    max_rounds: int | None = None,
    tolerance: float | None = None,
) -> Outcome:
    """Learn a DAG of nonlinear relations; [i, j] of its weights is the strength of the edge i → j.

    λ₁ and λ₂ are 0.01 by default; with `published` 0.001 and 0. `centre` is `global` (the default), `local`
    or `none`; with `published` it is `none`. There are at most `max_rounds` rounds (by default 200); without
    `published` they end when the relative residuals are at most `tolerance` (by default 0.01).
    """
    tolerance = tolerance_of(tolerance, OUR_TOLERANCE, published=published)
    lambda1, lambda2 = penalties_of(lambda1, lambda2, published=published)
    centre = centre_of(centre, "none") if published else centre or "global"
    problem = ask_problem(federation, run, "admm-mlp", centre, published=published)
    columns, required = problem.columns, problem.required
    free = with_own_edges(problem.free) if published else problem.free
    names = columns.names
    shape = NetworkShape(hidden, len(names))
    server = NetworkServer(shape, required.astype(np.float64), published=published)
    start = initial_vector(shape, free, run.seed)
    rounds = max_rounds or PUBLISHED_ROUNDS
    consensus = begin(federation, run, columns, start, shape, free, published=published, max_rounds=rounds)
    given = ProxPenalties(lambda1, lambda2, rho1=PUBLISHED_RHO if published else FIRST_RHO1)
    rough = max(tolerance, PATH_TOLERANCE)
    if published:
        follow_published_schedule(consensus, server, given, free)
    else:
        follow_balanced_schedule(consensus, server, given, free, rough)
    strengths = strengths_of(shape, consensus.weights)
    h, path_rounds = server.cycles(consensus.weights), consensus.rounds
    others = np.where(problem.free, strengths, 0.0)  # a variable is no parent of itself
    support, dropped = acyclic_support(others, threshold, required)
    # The random weights at the start are no evidence of an edge: without a round there is none.
    if consensus.rounds == 0:
        support, dropped = required, []
    while not published and not consensus.is_over:
        consensus.always = {**consensus.always, "free": support}
        consensus.weights = keep_inputs(shape, consensus.weights, support)
        agree_on_weights(consensus, server, replace(given, rho1=0.0), support, tolerance)
        weak = support & ~required & (strengths_of(shape, consensus.weights) < threshold)
        if not weak.any():
            break
        support = support & ~weak
    weights = keep_inputs(shape, consensus.weights, support)
    loss = final_loss(consensus, "admm-mlp-loss", weights)
    first, outward = shape.first_layer(weights), weights[shape.outward]
    ridge = 0.5 * float(np.square(first).sum() + np.square(outward).sum())
    stats = consensus_stats(consensus, columns, path_rounds=path_rounds, h=h, dropped=len(dropped))
    if published:
        status, message = describe_published_run(consensus, problem, FIRST_LAYER)
    else:
        status, message = describe_ending(consensus, tolerance)
    return Outcome(
        graph=DAG.from_numpy(support, names),
        status=status,
        message=message,
        score=None if loss is None else -(loss + lambda1 * float(np.abs(first).sum()) + lambda2 * ridge),
        stats={**stats, "hidden": float(hidden)},
        weights=strengths_of(shape, weights),
        warnings=dropped_edges_warning(names, strengths, dropped),
    )


def penalties_of(lambda1: float | None, lambda2: float | None, *, published: bool) -> tuple[float, float]:
    """λ₁ and λ₂, each as given or by default; the paper has no λ₂.

    >>> penalties_of(None, None, published=True), penalties_of(None, 0.5, published=False)
    ((0.001, 0.0), (0.01, 0.5))
    """
    if published and lambda2:
        raise OptionError(f"{setting('published', True)} has no lambda2, as in the paper: leave lambda2 out")
    defaults = (PUBLISHED_LAMBDA1, 0.0) if published else (OUR_LAMBDA, OUR_LAMBDA)
    return defaults[0] if lambda1 is None else lambda1, defaults[1] if lambda2 is None else lambda2


def begin(
    federation: Federation,
    run: Run,
    columns: PooledColumns,
    start: Vector,
    shape: NetworkShape,
    free: Support,
    *,
    published: bool,
    max_rounds: int,
) -> Consensus:
    """Start all sites at the same networks, with the first ρ₂."""
    return Consensus(
        federation,
        run,
        task="admm-mlp-step",
        begin={**columns.question(), "hidden": shape.hidden, "published": int(published)},
        weight_unit=1.0,
        weights=start,
        rho=PUBLISHED_RHO if published else PUBLISHED_RHO / len(federation.parties),
        max_rounds=max_rounds,
        growth=GROWTH,
        always={"free": free},
    )


def initial_vector(shape: NetworkShape, free: Support, seed: int) -> Vector:
    """The same initial networks as those of the central method."""
    from dagora.learners.optimise.mlp.notears_mlp import initial_weights

    return shape.vector(initial_weights(free, shape.hidden, seed))


def strengths_of(shape: NetworkShape, weights: Vector) -> Vector:
    """A, with the strength of the edge i → j at [i, j]."""
    norms: Vector = np.sqrt(np.square(shape.first_layer(weights)).sum(axis=0))
    return norms


def keep_inputs(shape: NetworkShape, weights: Vector, support: Support) -> Vector:
    """The same networks with the first-layer weights of all inputs outside the support set to zero."""
    kept = weights.copy()
    kept[: shape.inward] = np.where(support, shape.first_layer(weights), 0.0).ravel()
    return kept
