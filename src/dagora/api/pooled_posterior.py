"""A posterior over graphs where cells are missing: the mean of those given completions of the table.

P(G | what was seen) is the mean of P(G | completed table) over the missing values given what was seen. So the
sampler runs on each completion, and all draws count alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.draws import Draws
from dagora.posterior.resample.completions import completed, imputing_graph
from dagora.posterior.resample.row_draws import seeds_of
from dagora.posterior.summary.mixing import Diagnostics
from dagora.posterior.summary.posterior import Posterior
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
    worst = max((one.diagnostics for one in found), key=badness)
    warnings = tuple(dict.fromkeys(line for one in found for line in one.warnings))
    return replace(found[0], draws=draws, diagnostics=worst, seed=seed, warnings=warnings)


def badness(found: Diagnostics) -> float:
    """R-hat of the log score; chains that cannot tell are worst."""
    return found.rhat if np.isfinite(found.rhat) else np.inf


def pooled_draws(draws: list[Draws], number: int) -> Draws:
    """The draws of several runs as those of one: chains beside each other, each run with the same weight."""
    fewest = min(one.per_chain for one in draws)
    edges = [one.edges for one in draws if one.edges is not None]
    weights = [one.log_weights[:, :fewest] for one in draws if one.log_weights is not None]
    rank = {name: place for place, name in enumerate(WORST)}
    done = f"{len(draws)} completions" if len(draws) == number else f"{len(draws)} of {number} completions"
    return replace(
        draws[0],
        parents=np.concatenate([one.parents[:, :fewest] for one in draws]),
        log_scores=np.concatenate([one.log_scores[:, :fewest] for one in draws]),
        log_weights=np.concatenate(weights) if len(weights) == len(draws) else None,
        edges=np.mean(edges, axis=0) if len(edges) == len(draws) else None,
        status=min((one.status for one in draws), key=lambda name: rank.get(name, len(WORST))),
        message=f"pooled over {done} of the missing values; given the first: {draws[0].message}",
        warnings=tuple(dict.fromkeys(line for one in draws for line in one.warnings)),
    )
