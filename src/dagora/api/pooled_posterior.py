"""A posterior over graphs where cells are missing: the mean of those given completions of the table.

P(G | what was seen) is the mean of P(G | completed table) over the missing values given what was seen. So the
sampler runs on each completion, and all draws count alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.draws import Draws
from dagora.posterior.resample.completions import completed, imputing_graph
from dagora.posterior.resample.row_draws import seeds_of
from dagora.posterior.summary.mixing import diagnose
from dagora.posterior.summary.posterior import Posterior
from dagora.posterior.summary.prior_effect import PriorEffect
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics

MOST = 1000
WORST = ("failed", "time-limit", "not-mixed", "memory-limit", "finished")


def check_completions(number: object) -> int:
    """The number of completions, from 2 on."""
    if isinstance(number, bool) or not isinstance(number, int) or not 2 <= number <= MOST:
        raise OptionError(option="impute", value=number, must=f"be a whole number from 2 to {MOST}")
    return number


def pooled_posterior(
    statistics: Statistics | None,
    number: int,
    seed: int,
    clock: Budget,
    sample_one: Callable[[Table, int, Budget], Posterior],
) -> Posterior:
    """Sample given each completion of a table, with a seed and a share of the time, and pool the draws."""
    if not isinstance(statistics, IncompleteStatistics):
        raise DataError(f"no cell is missing, so there is nothing to draw: leave {option('impute')} out")
    graph = imputing_graph(statistics, Run(seed=seed, budget=clock))
    found: list[Posterior] = []
    for k in range(number):
        random, own = seeds_of(seed, k)
        table = completed(statistics, graph, random, own).rows()
        share = clock if clock.limit is None else clock.part(1 / (number - k))
        found.append(sample_one(table, own, share))
        if clock.exhausted:
            break
    draws = pooled_draws([one.draws for one in found], number)
    warnings = tuple(dict.fromkeys(line for one in found for line in one.warnings))
    effects = [one.prior_effect for one in found if one.prior_effect is not None]
    return replace(
        found[0],
        draws=draws,
        diagnostics=diagnose(draws),
        seed=seed,
        warnings=warnings,
        prior_effect=pooled_effect(effects) if effects else None,
    )


def pooled_effect(effects: list[PriorEffect]) -> PriorEffect:
    """The effect of a prior: the mean of those given each completion."""
    _, with_prior, without, worth = zip(*effects, strict=True)
    known = [one for one in worth if one is not None]
    total = float(sum(known)) if known else None
    return PriorEffect(effects[0].names, np.mean(with_prior, axis=0), np.mean(without, axis=0), total)


def pooled_draws(draws: list[Draws], number: int) -> Draws:
    """The draws of several runs as those of one: chains beside each other, each run with the same weight."""
    fewest = min(one.per_chain for one in draws)
    edges = [one.edges for one in draws if one.edges is not None]
    weights = [log_shares(one.log_weights[:, :fewest]) for one in draws if one.log_weights is not None]
    rank = {name: place for place, name in enumerate(WORST)}
    done = f"{len(draws)} completions" if len(draws) == number else f"{len(draws)} of {number} completions"
    return replace(
        draws[0],
        parents=np.concatenate([one.parents[:, :fewest] for one in draws]),
        log_scores=np.concatenate([one.log_scores[:, :fewest] for one in draws]),
        log_weights=np.concatenate(weights) if len(weights) == len(draws) else None,
        completions=len(draws),
        edges=np.mean(edges, axis=0) if len(edges) == len(draws) else None,
        status=min((one.status for one in draws), key=lambda name: rank.get(name, len(WORST))),
        message=f"pooled over {done} of the missing values; given the first: {draws[0].message}",
        warnings=tuple(dict.fromkeys(line for one in draws for line in one.warnings)),
    )


def log_shares(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of weights that sum to 1."""
    shifted = log_weights - log_weights.max(initial=-np.inf)
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))
