"""Fit the parameters of a graph to a table with missing values, by EM.

Discrete: exact expected counts of every family given the observed values (`bucket_tree`), then the
probabilities of maximum likelihood (with a prior, posterior means) from those counts, until the likelihood
hardly grows. Gaussian: the same with expected moments. The likelihood never falls. Mixed, and discrete if the
graph is too wide: by draws (`stochastic_em`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.budget import Budget, OutOfTimeError
from dagora.base.errors import DataError, announce
from dagora.data.schema import Kind
from dagora.network.fit import check_continuous, check_sizes, regress
from dagora.network.gaussian_moments import implied_moments
from dagora.network.incomplete.bucket_tree import MOST_CELLS, BucketTree
from dagora.network.incomplete.matching import node_codes
from dagora.network.incomplete.stochastic_em import fit_by_stochastic_em
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Network
from dagora.network.origin import origin_of
from dagora.network.table_prior import NO_PRIOR, TablePrior
from dagora.stats.observed.normal_em import PatternedRows, moments_of
from dagora.stats.observed.statistics import IncompleteStatistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dagora.data.incomplete import IncompleteTable
    from dagora.graph.dag import DAG
    from dagora.graph.directions import Directions
    from dagora.stats.statistics import Moments

    Floats = NDArray[np.float64]


def fit_with_missing_values(
    graph: DAG,
    statistics: IncompleteStatistics,
    *,
    prior: TablePrior,
    name: str = "network",
    seed: int = 0,
    directions: Directions | None = None,
    budget: Budget | None = None,
) -> Network:
    """Fit the parameters of a graph to the observed values of a table, by EM.

    If time is up before EM has ended, `OutOfTimeError` is raised.
    """
    clock = budget or Budget()
    table = statistics.table.select(graph.nodes)
    network = fit_observed(graph, table, prior, name, seed, clock)
    if clock.exhausted:
        raise OutOfTimeError
    return replace(network, origin=origin_of(graph, statistics, prior, directions))


def fit_observed(
    graph: DAG, table: IncompleteTable, prior: TablePrior, name: str, seed: int, budget: Budget
) -> Network:
    """Fit by the kind of EM that the columns and the graph allow."""
    if len(table.schema.kinds) > 1:
        return fit_by_stochastic_em(graph, table, prior, name, seed, budget)
    if table.schema.kinds == {Kind.DISCRETE}:
        try:
            return fit_discrete_by_em(graph, table, prior=prior, name=name, budget=budget).network
        except TooWideError as wide:
            announce([f"{wide}: its parameters were fitted by draws of them, and have a random error"])
            return fit_by_stochastic_em(graph, table, prior, name, seed, budget)
    check_continuous(prior)
    values = np.stack(table.columns, axis=1)
    start = IncompleteStatistics(table).moments()
    return fit_gaussian_by_em(graph, values, table.seen.T, start, name, budget).network


# EM ends where a step gains less log-likelihood per row than this: far below a row's sampling error.
TOLERANCE = 1e-6
MOST_STEPS = 500


@dataclass(frozen=True)
class DiscreteFit:
    """A network, its log-likelihood on the observed values, and that after every step of EM."""

    network: DiscreteNetwork
    log_likelihood: float
    steps: tuple[float, ...]


def fit_discrete_by_em(
    graph: DAG,
    table: IncompleteTable,
    *,
    prior: TablePrior = NO_PRIOR,
    name: str = "network",
    start: DiscreteNetwork | None = None,
    tolerance: float = TOLERANCE,
    budget: Budget | None = None,
) -> DiscreteFit:
    """Fit probability tables by EM; families that `start` has too begin with its tables."""
    clock = budget or Budget()
    schema = table.schema
    levels = {node: schema[schema.index(node)].levels for node in graph}
    shapes = {node: tuple(len(levels[one]) for one in (*graph.parents(node), node)) for node in graph}
    check_sizes(shapes)
    priors = {node: prior.cell(shapes[node]) for node in graph}
    tables = first_tables(graph, table, shapes, start)
    network = DiscreteNetwork(graph, levels, tables, name)
    tree = BucketTree(network)
    if not tree.fits:
        raise TooWideError(
            f"the graph is too wide for exact expectations of its missing values ({tree.cells:,} cells, "
            f"at most {MOST_CELLS:,})"
        )
    codes, weights = distinct_rows(node_codes(network, table))
    steps: list[float] = []
    for _ in range(MOST_STEPS):
        counts, log_likelihood = tree.expectations(network, codes, weights)
        steps.append(log_likelihood)
        if len(steps) > 1 and steps[-1] - steps[-2] < tolerance * table.n_rows:
            break
        tables = {node: normalise(counts[node] + priors[node]) for node in graph}
        network = DiscreteNetwork(graph, levels, tables, name)
        if clock.exhausted:
            break
    return DiscreteFit(network, steps[-1], tuple(steps))


class TooWideError(DataError):
    """A graph whose buckets need more cells than allowed."""


def distinct_rows(codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], Floats]:
    """The distinct rows and their counts."""
    rows = np.ascontiguousarray(codes.T)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return np.ascontiguousarray(rows[first].T), counts.astype(np.float64)


def first_tables(
    graph: DAG, table: IncompleteTable, shapes: Mapping[str, tuple[int, ...]], start: DiscreteNetwork | None
) -> dict[str, Floats]:
    """First tables of EM: those of `start`, or those of the rows in which the whole family was observed.

    An equivalent sample size of 1 keeps every first probability above 0.
    """
    found = {}
    for node in graph:
        family = (*graph.parents(node), node)
        if start is not None and node in start.graph and start.graph.parents(node) == graph.parents(node):
            found[node] = start.tables[node]
            continue
        columns = [table.schema.index(one) for one in family]
        seen = table.seen[columns].all(axis=0)
        counts = np.full(shapes[node], 1.0 / prod(shapes[node]))
        np.add.at(counts, tuple(table.columns[i][seen] for i in columns), 1.0)
        found[node] = normalise(counts)
    return found


def normalise(counts: Floats) -> Floats:
    """Counts as distributions along the last axis; uniform where there are none."""
    totals = counts.sum(axis=-1, keepdims=True)
    empty = totals <= 0
    share: Floats = np.where(empty, 1.0 / counts.shape[-1], counts / np.where(empty, 1.0, totals))
    return share


@dataclass(frozen=True)
class GaussianFit:
    """A network, its log-likelihood on the observed values, the expected moments, and the steps of EM."""

    network: GaussianNetwork
    log_likelihood: float
    moments: Moments
    steps: tuple[float, ...]


def fit_gaussian_by_em(
    graph: DAG,
    values: Floats,
    seen: NDArray[np.bool_],
    start: Moments,
    name: str = "network",
    budget: Budget | None = None,
) -> GaussianFit:
    """Fit regressions by EM from first moments; the columns of `values` are the graph's nodes."""
    clock = budget or Budget()
    rows = PatternedRows.of(values, seen)
    network = regressions(graph, start, name)
    moments = start
    steps: list[float] = []
    for _ in range(MOST_STEPS):
        expected = rows.expect(*implied_moments(network.model))
        moments = moments_of(expected)
        steps.append(expected.log_likelihood)
        if len(steps) > 1 and steps[-1] - steps[-2] < TOLERANCE * len(values):
            break
        network = regressions(graph, moments, name)
        if clock.exhausted:
            break
    return GaussianFit(network, steps[-1], moments, tuple(steps))


def regressions(graph: DAG, moments: Moments, name: str) -> GaussianNetwork:
    """Every node's regression on its parents; the moments' columns are the graph's nodes."""
    place = {node: i for i, node in enumerate(graph)}
    intercepts, coefficients, sds = {}, {}, {}
    for node in graph:
        parents = [place[parent] for parent in graph.parents(node)]
        coefficients[node], variance = regress(moments, place[node], parents)
        intercepts[node] = float(moments.mean[place[node]] - moments.mean[parents] @ coefficients[node])
        sds[node] = sqrt(variance)
    return GaussianNetwork(graph, intercepts, coefficients, sds, name)
