"""The uncertainty of an answer that comes from the rows: how it varies over the posterior of the parameters.

Parameters are drawn (`parameter_posterior`), and each draw is asked the same question in the same way. Where
the answer is estimated from samples, all draws use the same random numbers, and what counts is the difference
from the answer of the fitted parameters with these numbers. So most of the error of the simulation cancels.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.inference.answer import Answer, Density, Distribution, ask
from dagora.network.inference.problem import relevant_nodes
from dagora.network.inference.question import check_known
from dagora.network.inference.settings import QuerySettings
from dagora.network.model import NetworkModel
from dagora.network.parameter_posterior import draw_parameters, parameter_posteriors

Array = NDArray[np.float64]

DRAWS = 100
"""Draws of the parameters: the standard deviation that they give has a relative error of 7 %."""

FEWEST = 40
"""Draws below which none is given: the ends of an interval of 95 % lie among as many."""

SAMPLES = 2000
"""Samples for each draw, where answers are estimated: 8 ms on ten columns."""

SECONDS = 1.0
"""Processor time for the draws of one answer."""

COVERAGE = 0.95


@dataclass(frozen=True, eq=False)
class RowUncertainty:
    """Posterior standard deviations of the numbers of an answer, and intervals of 95 %."""

    errors: Array
    interval: tuple[Array, Array]


def uncertainty_from_rows(
    model: NetworkModel, answer: Answer, settings: QuerySettings, seconds: float = SECONDS
) -> RowUncertainty | None:
    """The uncertainty of the probabilities or means of an answer, given the graph.

    None where it is not known: no rows behind the network, no time to repeat the answer, or too few samples.
    """
    origin = model.origin
    if seconds <= 0 or origin is None or not isinstance(answer, Distribution | Density):
        return None
    until = time.thread_time() + seconds
    known = check_known(model, answer.question.given, answer.question.do)
    nodes = [node for node in relevant_nodes(model, answer.variables, known) if node not in known.do]
    posteriors = parameter_posteriors(model, origin, nodes) if set(nodes) <= set(origin.rows) else None
    if posteriors is None:
        return None
    rng = np.random.default_rng(settings.seed)
    numbers, centre = numbers_of(answer), np.zeros(())
    drawn: list[Array] = []
    try:
        if answer.estimated is not None:
            settings = replace(settings, samples=min(settings.samples, SAMPLES))
            centre = numbers_of(reliable(ask(model, answer.question, settings))) - numbers
        while len(drawn) < DRAWS and time.thread_time() < until:
            network = draw_parameters(model, posteriors, rng)
            drawn.append(numbers_of(reliable(ask(network, answer.question, settings))) - centre)
    except QueryError:
        return None
    if len(drawn) < FEWEST:
        return None
    # These quantiles leave as much of the posterior outside, on average, however few the draws are.
    tails = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
    low, high = np.quantile(drawn, tails, axis=0, method="weibull")
    if isinstance(answer, Distribution):
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    interval = np.minimum(low, numbers), np.maximum(high, numbers)
    return RowUncertainty(np.asarray(np.std(drawn, axis=0, ddof=1)), interval)


def reliable(answer: Answer) -> Answer:
    """An answer whose error is known; any other is refused."""
    if answer.estimated is not None and not answer.estimated.reliable:
        raise QueryError("too few samples to rely on")
    return answer


def numbers_of(answer: Answer) -> Array:
    """The table of a distribution, or the means of a density."""
    if isinstance(answer, Distribution):
        return answer.table
    if isinstance(answer, Density):
        return answer.weights @ answer.means
    raise QueryError("only distributions and densities have numbers")
