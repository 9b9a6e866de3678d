"""The uncertainty of an answer that comes from the rows: how it varies over the posterior of the parameters.

The graph is taken as it is. Tables have Dirichlet posteriors, with at least one row spread over the levels of
each combination of parents, so that a combination seen once is not certain. Regressions have normal
coefficients and scaled inverse-χ² variances, with the covariance of the parents that the network implies.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.gaussian_moments import implied_moments
from dagora.network.inference.answer import Answer, Density, Distribution, ask
from dagora.network.inference.settings import QuerySettings
from dagora.network.model import NetworkModel
from dagora.network.origin import Origin
from dagora.network.regressions import Lines

Array = NDArray[np.float64]

DRAWS = 100
"""Draws of the parameters: the standard deviation that they give has a relative error of 7 %."""

FEWEST = 20
"""Draws below which none is given: a relative error of 16 %."""

SECONDS = 1.0
"""Time for the draws of one answer."""


def spread_from_rows(
    model: NetworkModel, answer: Answer, settings: QuerySettings, seconds: float = SECONDS
) -> Array | None:
    """The posterior standard deviation of an exact answer: of its probabilities, or of its means.

    None where it is not known: no rows behind the network, both kinds of columns, or no time to repeat it.
    """
    origin = model.origin
    if (
        seconds <= 0
        or origin is None
        or model.kind not in {"discrete", "gaussian"}
        or answer.estimated is not None
    ):
        return None
    if not isinstance(answer, Distribution | Density) or not set(model.graph) <= set(origin.rows):
        return None
    rng = np.random.default_rng(settings.seed)
    drawn: list[Array] = []
    until = time.perf_counter() + seconds
    while len(drawn) < DRAWS:
        found = ask(draw_parameters(model, origin, rng), answer.question, settings)
        drawn.append(numbers_of(found))
        if time.perf_counter() > until and len(drawn) < FEWEST:
            return None
        if time.perf_counter() > until:
            break
    return np.asarray(np.std(drawn, axis=0, ddof=1))


def numbers_of(answer: Answer) -> Array:
    """The table of a distribution, or the means of a density."""
    if isinstance(answer, Distribution):
        return answer.table
    if isinstance(answer, Density):
        return answer.weights @ answer.means
    raise QueryError("only distributions and densities have numbers")


def draw_parameters(model: NetworkModel, origin: Origin, rng: np.random.Generator) -> NetworkModel:
    """Draw the parameters of a discrete or a Gaussian network from their posterior."""
    if model.kind == "discrete":
        tables = {node: draw_table(model, origin, node, rng) for node in model.tables}
        return NetworkModel(model.graph, model.levels, tables)
    mean, covariance = implied_moments(model)
    place = {node: i for i, node in enumerate(model.graph)}
    lines = {}
    for node in model.graph:
        parents = [place[parent] for parent in model.parents[node]]
        n = max(1, int(origin.rows[node]))
        lines[node] = draw_line(
            model.lines[node], n, mean[parents], covariance[np.ix_(parents, parents)], rng
        )
    return NetworkModel(model.graph, lines=lines)


def draw_table(model: NetworkModel, origin: Origin, node: str, rng: np.random.Generator) -> Array:
    """Draw the table of a node from its Dirichlet posterior."""
    table = model.distributions[node]
    levels = table.shape[-1]
    added = origin.prior.cell(table.shape)
    counts = table * (origin.rows[node][..., None] + added * levels) - added
    drawn = rng.standard_gamma(np.maximum(counts, 0.0) + max(added, 1.0 / levels))
    drawn += np.finfo(np.float64).tiny  # all of them may underflow to 0
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def draw_line(line: Lines, n: int, mean: Array, covariance: Array, rng: np.random.Generator) -> Lines:
    """Draw a regression on parents of this mean and covariance, from the posterior after n rows."""
    k = len(covariance)
    free = max(1, n - k - 1)
    sd = float(line.sds) * np.sqrt(n / rng.chisquare(free))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors / np.sqrt(np.maximum(values, 1e-12 * values.max(initial=1.0)))
    change = sd / np.sqrt(n) * (root @ rng.standard_normal(k))
    intercept = line.intercepts - change @ mean + sd / np.sqrt(n) * rng.standard_normal()
    return Lines(np.asarray(intercept), line.slopes + change, np.array(sd))
