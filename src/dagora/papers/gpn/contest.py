"""Run all samplers, estimators and priors on one table: the runs that figure 1 and table 1 compare.

Methods: `GP` is a chain on the marginal likelihoods themselves (quasi-Monte-Carlo); `GP, weighted` is a chain
on the Laplace approximation whose draws are weighted by them afterwards; `Laplace` is that chain without
weights; `GP, bridge` is the paper's algorithm 1, with weights from bridge sampling; `BGe` is the
linear-Gaussian score. Priors: `uniform` over DAGs; `sparse`, ln n nats per edge; `published`, what the
paper's authors used: for a Gaussian process the constants in their code and their price per edge, for BGe a
uniform prior with their prior sample size of the mean. In the simulations the prices and the sample size were
chosen by E-SHD against the truth; nothing else here was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.papers.cell import Parameters
from dagora.papers.gpn.cached_score import CachedScore
from dagora.papers.gpn.sampled import SAMPLERS, TimedDraws, reweight_timed, sample_timed
from dagora.papers.gpn.simulation import simulate_cell
from dagora.posterior.space.priors import GraphPrior, prior_named
from dagora.scores.bge import BGe
from dagora.scores.gp.score import GaussianProcessScore
from dagora.stats.table import TableStatistics

UNIFORM, SPARSE, PUBLISHED = "uniform", "sparse", "published"
PRIORS = (UNIFORM, SPARSE, PUBLISHED)
GP, WEIGHTED, LAPLACE, BGE = "GP", "GP, weighted", "Laplace", "BGe"
BRIDGE = "GP, bridge"
METHODS = (GP, WEIGHTED, LAPLACE, BRIDGE, BGE)
DEFAULT_BGE = 1.0  # the library's prior sample size of the mean

Judge = Callable[[TimedDraws], Mapping[str, Any]]


@dataclass(frozen=True)
class Tuning:
    """The authors' choices for their runs.

    `factor` is the factor per edge of a method (as the paper names it) and a sampler, 1 is none; `alpha_mu`
    is the prior sample size of the mean of their BGe.
    """

    factor: Callable[[str, str], float]
    alpha_mu: float


# Nothing chosen by the truth: a factor of one is none, and the library's own prior.
UNTUNED = Tuning(lambda _method, _sampler: 1.0, DEFAULT_BGE)

PRIOR_NOTE = """
Priors. “uniform”: every DAG alike. “sparse”: each edge costs ln n nats, n the number of variables; it was
fixed in advance and looks at no truth. “published”: for GP and Laplace the constants in the published code,
by which a first parent costs 3.93 nats and each further one 0.69, and the published factor per edge; for
BGe a uniform prior and the published α_μ. They are here to compare like with like and for nothing else. As in
the published code, the weights of “GP, weighted” and “GP, bridge” then take constants and factor out again:
those two lines aim at the uniform prior, from draws made under another; “GP” and “Laplace” keep them.
Everywhere else BGe has the library's default α_μ = 1, and no setting was chosen by looking at the truth.
Order MCMC draws a graph in proportion to its number of linear extensions too; partition MCMC has no such
bias.
"""


def compete(
    table: Table, name: str, settings: Parameters, run: Run, judge: Judge, tuning: Tuning
) -> list[dict[str, Any]]:
    """All runs of a score (`gp`, `gp2`, `bridge` or `bge`) on a table, as a cell keeps them."""
    contest = CONTESTS.get(name, gp_runs)
    warm_up(name)
    return [
        {"method": method, "sampler": sampler, "prior": prior, **judge(found)}
        for method, sampler, prior, found in contest(table, name, settings, run, tuning)
    ]


Runs = Iterator[tuple[str, str, str, TimedDraws]]


def gp_runs(table: Table, name: str, settings: Parameters, run: Run, tuning: Tuning) -> Runs:
    """Chains on both estimates of the Gaussian-process score, and the weighted ones."""
    jobs = int(settings.get("jobs", 1))
    laplace, exact = (gp_score(table, name, estimator, jobs=jobs) for estimator in ("laplace", "qmc"))
    for sampler in SAMPLERS:
        for prior in PRIORS:
            own = settings_under(prior, settings)
            costs = {
                method: math.log(tuning.factor(method, sampler)) if prior == PUBLISHED else 0.0
                for method in (LAPLACE, GP)
            }
            chains = {
                cost: sample_timed(laplace, sampler, prior_name(prior), cost, own, run)
                for cost in sorted(set(costs.values()))
            }
            yield LAPLACE, sampler, prior, chains[costs[LAPLACE]]
            remove = published_prior(costs[GP]) if prior == PUBLISHED else None
            yield (
                WEIGHTED,
                sampler,
                prior,
                reweight_timed(chains[costs[GP]], laplace, exact, run, remove=remove),
            )
            yield (GP, sampler, prior, sample_timed(exact, sampler, prior_name(prior), costs[GP], own, run))


def settings_under(prior: str, settings: Parameters) -> Parameters:
    """The settings of chains: under the published prior, where they mix slowly, perhaps with longer walks."""
    if prior != PUBLISHED or "published_spacing" not in settings:
        return settings
    return {**settings, "spacing": settings["published_spacing"]}


def bge_runs(table: Table, name: str, settings: Parameters, run: Run, tuning: Tuning) -> Runs:  # noqa: ARG001
    """Chains on BGe; its published setting is a prior sample size, with a uniform prior over graphs."""
    for prior in PRIORS:
        score = bge_score(table, tuning.alpha_mu if prior == PUBLISHED else DEFAULT_BGE)
        for sampler in SAMPLERS:
            graph_prior = UNIFORM if prior == PUBLISHED else prior
            own = settings_under(prior, settings)
            yield BGE, sampler, prior, sample_timed(score, sampler, graph_prior, 0.0, own, run)


def bridge_runs(table: Table, name: str, settings: Parameters, run: Run, tuning: Tuning) -> Runs:  # noqa: ARG001
    """Algorithm 1: draws under the Laplace score, weighted by bridge sampling.

    Settings that name a prior have both samplers under it; else it is the published one with partition MCMC.
    """
    prior = str(settings.get("prior", PUBLISHED))
    jobs = int(settings.get("jobs", 1))
    laplace, target = (gp_score(table, "gp", estimator, jobs=jobs) for estimator in ("laplace", "bridge"))
    for sampler in SAMPLERS if "prior" in settings else ("partition",):
        cost = math.log(tuning.factor(GP, sampler)) if prior == PUBLISHED else 0.0
        chain = sample_timed(laplace, sampler, prior_name(prior), cost, settings, run)
        remove = published_prior(cost) if prior == PUBLISHED else None
        yield BRIDGE, sampler, prior, reweight_timed(chain, laplace, target, run, remove=remove)


CONTESTS = {"bge": bge_runs, "bridge": bridge_runs}


@cache
def warm_up(name: str) -> None:
    """Compile once per process, so that no measured time contains compilation."""
    _, table = simulate_cell(
        {"nodes": 3, "rows": 20, "probability": 1.0, "lambda": 1.0, "simulator": "text", "seed": 0}
    )
    settings: Parameters = {"space": "dual-pc", "alpha": 0.05, "chains": 1, "draws": 4, "seed": 0}
    contest = CONTESTS.get(name, gp_runs)
    for _ in contest(table, name, settings, Run(), UNTUNED):
        pass


def gp_score(table: Table, name: str, estimator: str, *, points: int = 256, jobs: int = 1) -> CachedScore:
    """Make a Gaussian-process score: `gp` is additive, `gp2` has first-order interactions."""
    kernel = "additive" if name == "gp" else "interactions"
    statistics = TableStatistics(table, jobs)
    score = GaussianProcessScore(statistics, kernel=kernel, estimator=estimator, points=points)
    return CachedScore(score, statistics.moments())


def bge_score(table: Table, alpha_mu: float = DEFAULT_BGE) -> CachedScore:
    """Make a linear-Gaussian score; its scale matrix is t·I on the standardised columns."""
    statistics = TableStatistics(table)
    return CachedScore(BGe(statistics, alpha_mu=alpha_mu, prior_scale="unit"), statistics.moments())


def paper_name(method: str) -> str:
    """Name of the line that aims at the same posterior in the paper, if there is one.

    Its GP are weighted draws, whose weights take the published prior out again; our chain “GP” keeps it.
    """
    return {WEIGHTED: GP, BRIDGE: GP, GP: ""}.get(method, method)


def prior_name(prior: str) -> str:
    """Name of a prior in the library."""
    return "gpn" if prior == PUBLISHED else prior


def published_prior(edge_penalty: float) -> GraphPrior:
    """The published code's addition to the scores of its chains; its weights take it out again."""
    return prior_named(prior_name(PUBLISHED), edge_penalty=edge_penalty)
