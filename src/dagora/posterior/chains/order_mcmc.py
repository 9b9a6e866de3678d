"""Order MCMC: graphs drawn given orders that a chain walks through (Friedman & Koller 2003).

The chain's law over orders is ∝ the total weight of the graphs that agree with the order. A graph is
therefore drawn ∝ its weight times the number of orders it agrees with: graphs with few edges come more
often than the prior says. Mixes fastest of all chains; where that bias matters take partition MCMC.
"""

from __future__ import annotations

from dagora.files import PathLike
from dagora.posterior.chains.build_target import SamplingSpec
from dagora.posterior.chains.mcmc import draw_by_chains
from dagora.posterior.chains.order_walk import WALK, order_plan
from dagora.posterior.draws import Draws
from dagora.posterior.space.space import Space
from dagora.run import Run
from dagora.scores.local_score import LocalScore


def order_mcmc(
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
    """Draw graphs by chains over orders; `thin` steps lie between draws, `warmup` steps before the first."""
    return draw_by_chains(
        WALK,
        score,
        run,
        SamplingSpec(prior, edge_penalty, space, alpha, grow, memory),
        order_plan(len(score.schema)),
        draws=draws,
        chains=chains,
        thin=thin,
        warmup=warmup,
        checkpoint=checkpoint,
        prior_besides=", times the number of orders that the graph agrees with",
    )
