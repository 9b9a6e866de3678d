"""One sampler on one score under one prior, timed as if it ran alone, and judged against a known graph.

Numbers that a cell keeps: E-SHD, E-TP and E-FP (a reversed edge is half true and half false, as the published
code counts: E-SHD = edges of the truth − E-TP + E-FP), the E-SHD of equivalence classes, the number of edges
and their ROC; the larger R-hat of the log score and of any edge, the bulk ESS of the log score, that of the
weights where there are any; seconds of the clock and of the processor; families scored.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dagora.base.errors import DagoraError
from dagora.graph.bits import unpack
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.papers.cell import Numbers, Parameters
from dagora.papers.gpn.cached_score import CachedScore, Cost
from dagora.papers.gpn.roc import rates
from dagora.posterior.chains.order_mcmc import order_mcmc
from dagora.posterior.chains.partition_mcmc import partition_mcmc
from dagora.posterior.chains.walks import WALKS
from dagora.posterior.draws import Draws
from dagora.posterior.space.find_space import find_space
from dagora.posterior.space.growth import find_space_iteratively
from dagora.posterior.space.priors import GraphPrior, prior_named
from dagora.posterior.space.space import Space
from dagora.posterior.summary.mixing import diagnose
from dagora.posterior.summary.posterior import Posterior
from dagora.posterior.summary.reweighting import reweight

SAMPLERS = {"partition": partition_mcmc, "order": order_mcmc}
WORST = 99.0  # JSON has no infinity


@dataclass(frozen=True)
class TimedDraws:
    """Draws, the time that they would have taken without the cache, and the number of families scored."""

    draws: Draws
    cost: Cost
    families: int


def sample_timed(
    score: CachedScore, sampler: str, prior: str, edge_penalty: float, settings: Parameters, run: Run
) -> TimedDraws:
    """Run chains as a cell's settings say: `chains draws space alpha seed`, perhaps `max_parents jobs`.

    Partition chains walk `spacing` times as far as usual, before the first draw and between two.
    """
    limit = int(settings.get("max_parents", 0))
    usual = WALKS[sampler].usual_plan(len(score.schema))
    spacing = int(settings.get("spacing", 1)) if sampler == "partition" else 1
    knowledge = Knowledge(max_parents=limit) if limit else Knowledge()
    own = Run(knowledge, int(settings["seed"]), run.budget, int(settings.get("jobs", 1)), run.on_event)
    score.begin()
    started = Cost.now()
    draws = SAMPLERS[sampler](
        score,
        own,
        draws=int(settings["draws"]),
        chains=int(settings["chains"]),
        prior=prior,
        edge_penalty=edge_penalty,
        space=space_of(score, prior_named(prior, edge_penalty=edge_penalty), settings, own),
        warmup=usual.warmup * spacing,
        thin=usual.thin * spacing,
    )
    if draws.status != "finished":
        raise DagoraError(f"the chains did not finish: {draws.message}")
    return TimedDraws(draws, Cost.now() - started + score.recalled, score.n_asked)


def space_of(score: CachedScore, prior: GraphPrior, settings: Parameters, run: Run) -> Space:
    """Every parent set (`full`), or a method's space, enlarged while that improves the best graph."""
    if settings["space"] == "full":
        return Space.full(len(score.schema))
    start = find_space(score, run, str(settings["space"]), alpha=float(settings["alpha"]))
    return find_space_iteratively(score, prior, run, start)


def reweight_timed(
    found: TimedDraws,
    laplace: CachedScore,
    target: CachedScore,
    run: Run,
    *,
    remove: GraphPrior | None = None,
) -> TimedDraws:
    """Weigh the draws of one score by another (algorithm 1, eq. 14), perhaps without their prior."""
    target.begin()
    started = Cost.now()
    draws = reweight(found.draws, laplace, target, run)
    if draws.status != "finished":
        raise DagoraError(f"the draws could not be weighted: {draws.warnings[-1]}")
    if remove is not None:
        draws = without_prior(draws, remove)
    cost = Cost.now() - started + target.recalled
    return TimedDraws(draws, found.cost + cost, found.families + target.n_asked)


def without_prior(draws: Draws, prior: GraphPrior) -> Draws:
    """Weigh draws made under a prior so that they represent a uniform one."""
    nodes = len(draws.names)
    rows = draws.parents.reshape(-1, draws.parents.shape[-1])
    sizes = unpack(rows, nodes).sum(axis=1).reshape(draws.parents.shape[:-1])
    log_prior = prior.log_factor(sizes, nodes).sum(axis=-1)
    before = 0.0 if draws.log_weights is None else draws.log_weights
    return replace(draws, log_scores=draws.log_scores - log_prior, log_weights=before - log_prior, edges=None)


def evaluate_draws(found: TimedDraws, truth: DAG) -> dict[str, Any]:
    """The numbers of a run, compared with the truth."""
    mixing = diagnose(found.draws)
    posterior = Posterior(found.draws, mixing, "")
    turned = posterior.expected("reversed", truth).mean
    return {
        "shd": posterior.expected("shd", truth).mean,
        "tp": posterior.expected("correct", truth).mean + turned / 2,
        "fp": posterior.expected("extra", truth).mean + turned / 2,
        "class_shd": posterior.expected("shd", truth, on="cpdag").mean,
        "edges": float(posterior.edge_probability.sum()),
        "roc": rates(posterior.edge_probability, truth.to_numpy()),
        "rhat": json_number(max(mixing.rhat, mixing.edge_rhat)),
        "ess": json_number(mixing.bulk_ess),
        "weight_ess": mixing.weight_ess,
        "seconds": found.cost.wall,
        "cpu_seconds": found.cost.cpu,
        "families": found.families,
    }


def json_number(value: float) -> float | None:
    """A diagnostic as JSON can hold it: None for NaN, `WORST` for infinity.

    >>> json_number(float("inf")), json_number(float("nan")), json_number(1.01)
    (99.0, None, 1.01)
    """
    return None if math.isnan(value) else WORST if math.isinf(value) else value


def unless_cut_short(measure: Callable[[Parameters, Run], Numbers]) -> Callable[[Parameters, Run], Numbers]:
    """Let a cell whose time is up end without an error; its numbers are discarded anyway."""

    @functools.wraps(measure)
    def measure_or_nothing(parameters: Parameters, run: Run) -> Numbers:
        try:
            return measure(parameters, run)
        except DagoraError:
            if run.budget.exhausted:
                return {}
            raise

    return measure_or_nothing
