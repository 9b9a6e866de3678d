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
from dagora.network.inference.answer import Answer, Explanation
from dagora.network.inference.asking import ask
from dagora.network.inference.problem import relevant_nodes
from dagora.network.inference.question import Question, check_known, check_targets, check_variable
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
    if seconds <= 0 or origin is None or isinstance(answer, Explanation):
        return None
    until = time.thread_time() + seconds
    nodes = nodes_behind(model, answer.question)
    posteriors = parameter_posteriors(model, origin, nodes) if set(nodes) <= set(origin.rows) else None
    if posteriors is None:
        return None
    rng = np.random.default_rng(settings.seed)
    numbers, centre = answer.numbers(), np.zeros(())
    drawn: list[Array] = []
    try:
        if answer.estimated is not None:
            settings = replace(settings, samples=min(settings.samples, SAMPLES))
            centre = reliable(ask(model, answer.question, settings)).numbers() - numbers
        while len(drawn) < DRAWS and time.thread_time() < until:
            network = draw_parameters(model, posteriors, rng)
            drawn.append(reliable(ask(network, answer.question, settings)).numbers() - centre)
    except QueryError:
        return None
    if len(drawn) < FEWEST:
        return None
    # These quantiles leave as much of the posterior outside, on average, however few the draws are.
    tails = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
    low, high = np.quantile(drawn, tails, axis=0, method="weibull")
    interval = np.minimum(low, numbers), np.maximum(high, numbers)
    return RowUncertainty(np.asarray(np.std(drawn, axis=0, ddof=1)), interval)


def reliable(answer: Answer) -> Answer:
    """An answer whose error is known; any other is refused."""
    if answer.estimated is not None and not answer.estimated.reliable:
        raise QueryError("too few samples to rely on")
    return answer


def nodes_behind(model: NetworkModel, question: Question) -> list[str]:
    """The nodes whose parameters bear on a question."""
    known = check_known(model, question.given, question.do)
    named = [*check_targets(model, question, known), *(check_variable(model, n) for n in question.known_of)]
    found = [node for node in relevant_nodes(model, named, known) if node not in known.do]
    return (
        found
        if question.against is None
        else [*dict.fromkeys([*found, *nodes_behind(model, question.against[1])])]
    )
