"""Partition MCMC: graphs drawn given ordered partitions that a chain walks through (Kuipers & Moffa 2017).

Every graph belongs to one partition, so that graphs are drawn exactly ∝ score × prior, without order MCMC's
preference for graphs that agree with many orders.
"""

from __future__ import annotations

import math

from dagora.files import PathLike
from dagora.posterior.chain_state import Plan
from dagora.posterior.chains import Walk
from dagora.posterior.draws import Draws
from dagora.posterior.mcmc import draw_by_chains
from dagora.posterior.partition_kernels import keep_from_partition, partition_steps, start_partition
from dagora.posterior.problem import Question
from dagora.posterior.space import Space
from dagora.run import Run
from dagora.scores.local_score import LocalScore

WALK = Walk("partition", partition_steps, keep_from_partition, start_partition)


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
        Question(prior, edge_penalty, space, alpha, grow, memory),
        partition_plan(len(score.schema)),
        draws=draws,
        chains=chains,
        thin=thin,
        warmup=warmup,
        checkpoint=checkpoint,
    )


def partition_plan(nodes: int) -> Plan:
    """Warm-up and thinning by the number of nodes; partitions take more steps than orders.

    >>> partition_plan(20)
    Plan(warmup=119829, thin=800)
    """
    square = nodes * nodes
    return Plan(warmup=max(2000, round(100 * square * math.log(nodes + 1e-9))), thin=max(40, 2 * square))
