"""The posterior of a network's parameters after the rows that it was fitted to, and draws from it.

The graph is taken as it is.

* Tables have Dirichlet posteriors, with at least one row spread over the levels of each combination of
  parents, so that a combination seen once is not certain.
* Regressions on k parents after n rows have a variance that is scaled inverse χ² with n - k - 1 degrees of
  freedom, and normal coefficients given it (Gelman et al. 2013, section 14.2).
* Logistic regressions are normal around the fitted coefficients; the inverse of the curvature there is their
  covariance.

The rows are no longer there, so means and covariances of continuous parents are those that the network
implies: in closed form for a Gaussian network, else from forward draws of a fixed seed. A configuration of
discrete parents with too few rows for a regression of its own has the one over all rows, and is drawn as if
its rows were just enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import draw_node, stacked_numbers
from dagora.network.gaussian_moments import implied_moments
from dagora.network.model import NetworkModel
from dagora.network.origin import Origin
from dagora.network.regressions import ROWS_PER_COEFFICIENT, SPARE_ROWS, Lines, Softmax
from dagora.network.softmax_fit import RIDGE, curvature

Array = NDArray[np.float64]

PILOT_ROWS = 5000
"""Forward draws for the covariances of parents: a relative error of 2 %."""

FEWEST_PILOT = 100
"""Draws with a configuration below which those of all configurations stand in: a relative error of 14 %."""

MOST_PILOT_WORK = 100_000_000
"""Configurations times draws, or times cubed numbers of coefficients, of one node: about a second."""


class ParameterPosterior(Protocol):
    """The posterior of the parameters of one node."""

    def draw(self, rng: np.random.Generator) -> Any:  # noqa: ANN401 - a table, lines or a softmax
        """Draw parameters."""


@dataclass(frozen=True, eq=False)
class TablePosterior:
    """Dirichlet distributions, one for each configuration of the parents; the levels are the last axis."""

    counts: Array

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw a table."""
        drawn = rng.standard_gamma(self.counts)
        drawn += np.finfo(np.float64).tiny  # all of them may underflow to 0
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class LinesPosterior:
    """Regressions on parents of these means; `roots` times their transposes are the inverse covariances."""

    lines: Lines
    rows: Array  # behind the coefficients
    rows_of_sds: Array  # behind the standard deviations; more where all configurations share one
    means: Array
    roots: Array

    def draw(self, rng: np.random.Generator) -> Lines:
        """Draw a regression for each configuration."""
        k = self.means.shape[-1]
        shape = self.lines.sds.shape
        free = np.maximum(1.0, self.rows_of_sds - k - 1)
        sds = self.lines.sds * np.sqrt(self.rows_of_sds / rng.chisquare(free))
        error = sds / np.sqrt(self.rows)
        change = error[..., None] * np.einsum(
            "...ij,...j->...i", self.roots, rng.standard_normal((*shape, k))
        )
        moved = error * rng.standard_normal(shape) - (change * self.means).sum(axis=-1)
        return Lines(self.lines.intercepts + moved, self.lines.slopes + change, sds)


@dataclass(frozen=True, eq=False)
class SoftmaxPosterior:
    """Normal coefficients of all levels but the first, of parents that were centred and scaled.

    `roots` times their transposes are the covariances of one intercept and k slopes for each of these levels.
    """

    choice: Softmax
    centres: Array
    scales: Array
    roots: Array

    def draw(self, rng: np.random.Generator) -> Softmax:
        """Draw a logistic regression for each configuration."""
        *shape, levels, k = self.choice.slopes.shape
        noise = rng.standard_normal(self.roots.shape[:-1])
        change = np.einsum("...ij,...j->...i", self.roots, noise).reshape(*shape, levels - 1, k + 1)
        change = np.concatenate([np.zeros((*shape, 1, k + 1)), change], axis=-2)
        slopes = change[..., 1:] / self.scales[..., None, :]
        moved = change[..., 0] - (slopes * self.centres[..., None, :]).sum(axis=-1)
        return Softmax(self.choice.intercepts + moved, self.choice.slopes + slopes)


def parameter_posteriors(
    model: NetworkModel, origin: Origin, nodes: Collection[str]
) -> dict[str, ParameterPosterior] | None:
    """The posteriors of the parameters of some nodes; None where they are too many, or too large."""
    found: dict[str, ParameterPosterior] = {}
    wide = [node for node in nodes if node not in model.tables and model.continuous_parents(node)]
    if any(pilot_work(model, node) > MOST_PILOT_WORK for node in wide):
        return None
    if model.kind == "gaussian":
        with np.errstate(over="ignore", invalid="ignore"):
            mean, covariance = implied_moments(model)
        if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            return None
    else:
        pilot = draw_pilot(model, wide)
    for node in nodes:
        if node in model.tables:
            found[node] = table_posterior(model, origin, node)
        elif node in model.choices:
            found[node] = softmax_posterior(model, origin, node, pilot)
        elif model.kind == "gaussian":
            parents = [model.graph.index(parent) for parent in model.parents[node]]
            found[node] = lines_posterior(
                model, origin, node, mean[parents], covariance[np.ix_(parents, parents)]
            )
        else:
            found[node] = lines_posterior(model, origin, node, *parent_moments(model, node, pilot))
    return found


def draw_parameters(
    model: NetworkModel, posteriors: Mapping[str, ParameterPosterior], rng: np.random.Generator
) -> NetworkModel:
    """Draw the parameters of the nodes that have posteriors; the others keep theirs."""
    drawn = {node: posterior.draw(rng) for node, posterior in posteriors.items()}
    tables, choices, lines = (
        {node: drawn.get(node, own) for node, own in part.items()}
        for part in (model.tables, model.choices, model.lines)
    )
    return NetworkModel(model.graph, model.levels, tables, choices, lines)


def table_posterior(model: NetworkModel, origin: Origin, node: str) -> TablePosterior:
    """The posterior of a table: its prior and the counts of the rows."""
    table = model.distributions[node]
    levels = table.shape[-1]
    added = origin.prior.cell(table.shape)
    counts = table * (origin.rows[node][..., None] + added * levels) - added
    return TablePosterior(np.maximum(counts, 0.0) + max(added, 1.0 / levels))


def lines_posterior(
    model: NetworkModel, origin: Origin, node: str, means: Array, covariances: Array
) -> LinesPosterior:
    """The posterior of regressions on continuous parents of these means and covariances."""
    lines, k = model.lines[node], means.shape[-1]
    rows = np.asarray(origin.rows[node], dtype=np.float64)
    enough = rows >= k + SPARE_ROWS if rows.ndim else rows >= 0  # without configurations all rows are its own
    values, vectors = np.linalg.eigh(covariances)
    floor = 1e-12 * values.max(axis=-1, keepdims=True, initial=0.0)
    roots = vectors / np.sqrt(np.maximum(values, np.where(floor > 0, floor, 1.0)))[..., None, :]
    return LinesPosterior(
        lines,
        np.maximum(1.0, np.where(enough, rows, k + SPARE_ROWS)),
        np.maximum(1.0, np.where(enough, rows, rows.sum())),
        means,
        roots,
    )


def softmax_posterior(
    model: NetworkModel, origin: Origin, node: str, pilot: Mapping[str, NDArray[Any]]
) -> SoftmaxPosterior:
    """The normal approximation of logistic regressions on parents as in these forward draws."""
    choice = model.choices[node]
    *shape, levels, k = choice.slopes.shape
    size = (levels - 1) * (k + 1)
    enough = ROWS_PER_COEFFICIENT * size
    centres, scales = np.zeros((*shape, k)), np.zeros((*shape, k))
    roots = np.zeros((*shape, size, size))
    for own, values in parent_values(model, node, pilot):
        centres[own], scales[own] = values.mean(axis=0), values.std(axis=0)
        scales[own] = np.where(scales[own] > 0, scales[own], 1.0)
        design = np.concatenate([np.ones((len(values), 1)), (values - centres[own]) / scales[own]], axis=1)
        one = Softmax(choice.intercepts[own], choice.slopes[own])
        rows = float(origin.rows[node][own])
        rows = rows if rows >= enough or not shape else enough
        ridge = RIDGE * np.eye(size)
        information = curvature(one.probabilities(values)[:, 1:], design) - ridge
        spread, vectors = np.linalg.eigh(information * (rows / len(values)) + ridge)
        roots[own] = vectors / np.sqrt(np.maximum(spread, RIDGE))
    return SoftmaxPosterior(choice, centres, scales, roots)


def parent_moments(model: NetworkModel, node: str, pilot: Mapping[str, NDArray[Any]]) -> tuple[Array, Array]:
    """Means and covariances of the continuous parents, for each configuration of the discrete ones."""
    *shape, k = model.lines[node].slopes.shape
    means, covariances = np.zeros((*shape, k)), np.zeros((*shape, k, k))
    if k:
        for own, values in parent_values(model, node, pilot):
            means[own] = values.mean(axis=0)
            covariances[own] = np.cov(values, rowvar=False, bias=True).reshape(k, k)
    return means, covariances


def parent_values(
    model: NetworkModel, node: str, pilot: Mapping[str, NDArray[Any]]
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each configuration of the discrete parents, draws of the continuous ones: its own if enough."""
    values = stacked_numbers(model, node, pilot)
    discrete = model.discrete_parents(node)
    if not discrete:
        yield (), values
        return
    shape = tuple(len(model.levels[parent]) for parent in discrete)
    flat = np.ravel_multi_index(tuple(pilot[parent].astype(np.int64) for parent in discrete), shape)
    for position in range(prod(shape)):
        own = values[flat == position]
        yield (
            tuple(int(one) for one in np.unravel_index(position, shape)),
            own if len(own) >= FEWEST_PILOT else values,
        )


def draw_pilot(model: NetworkModel, nodes: Collection[str]) -> dict[str, NDArray[Any]]:
    """Forward draws of the parents of some nodes, with a fixed seed."""
    above, waiting = set[str](), [parent for node in nodes for parent in model.parents[node]]
    while waiting:
        node = waiting.pop()
        if node not in above:
            above.add(node)
            waiting.extend(model.parents[node])
    rng = np.random.default_rng(61)
    columns: dict[str, NDArray[Any]] = {}
    for node in model.order:
        if node in above:
            columns[node] = draw_node(model, node, columns, PILOT_ROWS, rng)
    return columns


def pilot_work(model: NetworkModel, node: str) -> int:
    """The work on the posterior of a node, in elementary steps."""
    cells = prod(len(model.levels[parent]) for parent in model.discrete_parents(node))
    coefficients = len(model.continuous_parents(node)) + 1
    if node in model.levels:
        coefficients *= len(model.levels[node]) - 1
    return cells * (PILOT_ROWS + coefficients**3)
