"""Partition MCMC: graphs drawn given ordered partitions that a chain walks through (Kuipers & Moffa 2017).

Every graph belongs to one partition, so that graphs are drawn exactly ∝ score × prior, without order MCMC's
preference for graphs that agree with many orders.
"""

from __future__ import annotations

from dagora.files import PathLike
from dagora.posterior.chains.build_target import SamplingSpec
from dagora.posterior.chains.mcmc import draw_by_chains
from dagora.posterior.chains.partition_walk import WALK, partition_plan
from dagora.posterior.draws import Draws
from dagora.posterior.space.space import Space
from dagora.run import Run
from dagora.scores.local_score import LocalScore


def partition_mcmc(
    score: LocalScore,
    run: Run,
    *,
    draws: int = 1000,
    chains: int = 4,
    prior: str = "uniform",
    edge_penalty: float = 0.0,
    space: str | Space = "auto",
    alpha: float = 0.05,
    grow: str = "auto",
    thin: int | None = None,
    warmup: int | None = None,
    checkpoint: PathLike | None = None,
    memory: float = 4.0,
) -> Draws:
    """Draw graphs by chains over partitions; `thin` steps lie between draws, `warmup` before the first."""
    return draw_by_chains(
        WALK,
        score,
        run,
        SamplingSpec(prior, edge_penalty, space, alpha, grow, memory),
        partition_plan(len(score.schema)),
        draws=draws,
        chains=chains,
        thin=thin,
        warmup=warmup,
        checkpoint=checkpoint,
    )
