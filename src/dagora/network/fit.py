"""Fit the parameters of a graph: probability tables, linear-Gaussian regressions, or both.

Discrete: P(x = k | parents = j) = (N_jk + a) / (N_j + a·r), with N the joint counts, r the levels of x and a
the pseudo-count of a cell: 0 is maximum likelihood, `ess` / (r·q) with q parent configurations is the
posterior mean under the BDeu prior (Heckerman, Geiger and Chickering 1995). Without pseudo-counts, a
configuration that was never seen gets the uniform distribution.

Continuous: the least-squares regression of x on its parents from the scatter matrix S, coefficients
S_PP⁺ S_Px, and the maximum-likelihood sd √(RSS / n). Where parents are collinear and many coefficients fit
equally well, the pseudo-inverse S_PP⁺ takes those of least norm in standardised parents (directions whose
relative variance is below 1e-10 are left out). A constant parent gets 0.

Both kinds in one graph: a continuous node has such a regression for each configuration of its discrete
parents. A configuration of fewer than k + `SPARE_ROWS` rows, for k continuous parents, gets the regression
over all rows. A discrete node with continuous parents has a multinomial logistic regression
(`softmax_fit`) for each configuration of its discrete parents; one of fewer than `ROWS_PER_COEFFICIENT` rows
per coefficient gets the one over all rows. Both need the rows themselves; the rest is fitted from sums.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import col
from dagora.data.columns.reading_options import split_reading
from dagora.data.schema import Kind
from dagora.graph.cpdag import require_dag
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network
from dagora.network.origin import origin_of
from dagora.network.regressions import ROWS_PER_COEFFICIENT, SPARE_ROWS, Lines, Softmax
from dagora.network.softmax_fit import fit_softmax
from dagora.network.table_prior import ONE_ROW, PseudoCount, TablePrior
from dagora.stats.accepting import as_statistics
from dagora.stats.designed import rows_with_weights
from dagora.stats.grouped import GroupedRows
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dagora.data.schema import Schema
    from dagora.data.table import Table
    from dagora.graph.dag import DAG
    from dagora.graph.directions import Directions
    from dagora.stats.statistics import Statistics

MAX_ENTRIES = 50_000_000
"""Probabilities that the tables of one network may hold together (400 MB)."""

MAX_AXES = 32
"""Most axes of an array in numpy 1; parents of two or more levels reach the size limit earlier."""

RELATIVE_RANK = 1e-10
"""Eigenvalues of the parents' correlations below this share of the largest count as zero."""

CONSTANT = 1e-13
"""A column whose sd is below this share of its mean is constant: rounding alone can leave as much."""

MOST_COEFFICIENTS = 2000
"""Coefficients of one logistic regression; a step of its fit solves that many equations."""


def fit(
    graph: DAG,
    data: object,
    *,
    pseudocount: PseudoCount = 0.0,
    ess: float | None = None,
    name: str = "network",
    directions: Directions | None = None,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> Network:
    """Fit the parameters of a graph whose nodes are columns of any data.

    `pseudocount` is added to every cell of a table; `ess` spreads an equivalent sample size over each table's
    cells instead. `directions` are those that the data leave open, for the network to remember. Columns that
    are not nodes of the graph are ignored. Options of `read_table`, such as `missing`, say how a file or
    frame is to be understood.

    >>> from dagora.graph.dag import DAG
    >>> days = {"rain": ["no", "no", "no", "yes", "yes"], "wet": ["no", "no", "yes", "yes", "yes"]}
    >>> network = fit(DAG(["rain", "wet"], [("rain", "wet")]), days)
    >>> network.tables["rain"], network.tables["wet"][1]
    (array([0.6, 0.4]), array([0., 1.]))
    """
    require_dag(graph)
    options, unknown = split_reading(reading, graph.nodes, only=graph.nodes)
    if unknown:
        raise OptionError(f"fit has no option '{next(iter(unknown))}'")
    statistics = as_statistics(data, reading=options)
    kinds = {statistics.schema[statistics.schema.index(node)].kind for node in graph}
    prior = TablePrior(pseudocount, ess)
    network: Network
    if len(kinds) > 1:
        network = fit_mixed(graph, statistics, prior, name)
    elif kinds == {Kind.CONTINUOUS}:
        check_continuous(prior)
        network = fit_gaussian(graph, statistics, name)
    else:
        network = fit_discrete(graph, statistics, prior, name)
    return replace(network, origin=origin_of(graph, statistics, prior, directions))


def check_continuous(prior: TablePrior) -> None:
    """Refuse a prior of tables where all columns are continuous; the one for files does no harm."""
    if not prior.is_zero and prior.pseudocount != ONE_ROW:
        raise OptionError("pseudocount and ess are for discrete columns; these are continuous")


def fit_discrete(graph: DAG, statistics: Statistics, prior: TablePrior, name: str) -> DiscreteNetwork:
    """Fit every node's conditional probability table."""
    schema = statistics.schema
    tables = fit_tables(graph, list(graph), statistics, prior)
    levels = {node: schema[schema.index(node)].levels for node in graph}
    return DiscreteNetwork(graph, levels, tables, name)


def fit_tables(
    graph: DAG, nodes: list[str], statistics: Statistics, prior: TablePrior
) -> dict[str, NDArray[np.float64]]:
    """Fit the tables of some nodes, whose parents are discrete."""
    schema = statistics.schema
    families = {node: [schema.index(member) for member in (*graph.parents(node), node)] for node in nodes}
    shapes = {
        node: tuple(schema[column].cardinality for column in columns) for node, columns in families.items()
    }
    check_sizes(shapes)
    tables = {}
    for node, columns in families.items():
        shape = shapes[node]
        contingency = rows_for(statistics, columns[-1]).contingency(columns)
        tables[node] = conditional_table(shape, contingency.cells, contingency.counts, prior.cell(shape))
    return tables


def rows_for(statistics: Statistics, column: int) -> Statistics:
    """The rows in which a column was not set from outside: only these show its dependence on parents."""
    return statistics.without_set(column) if isinstance(statistics, InterventionalStatistics) else statistics


def check_sizes(shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse, before anything is counted, tables that cannot be held in memory."""
    for node, shape in shapes.items():
        if shape[-1] == 0:
            raise DataError(f"{col(node)} has no levels: it needs at least one row")
        if len(shape) > MAX_AXES and prod(shape) <= MAX_ENTRIES:
            raise DataError(
                f"'{node}' has {len(shape) - 1} parents (at most {MAX_AXES - 1}): leave out constant ones"
            )
    sizes = {node: prod(shape) for node, shape in shapes.items()}
    if sum(sizes.values()) > MAX_ENTRIES:
        node = max(sizes, key=lambda key: sizes[key])
        raise DataError(
            f"the table of '{node}' with {len(shapes[node]) - 1} parents needs {format_size(sizes[node])} "
            f"entries, all tables together {format_size(sum(sizes.values()))} (at most {MAX_ENTRIES:,}): "
            "learn with fewer parents or merge levels"
        )


def format_size(size: int) -> str:
    """Write a number of entries in full, or as a power of ten where it is huge."""
    return f"{size:,}" if size < 10**12 else f"about 1e{len(str(size)) - 1}"


def conditional_table(
    shape: tuple[int, ...], cells: NDArray[np.int64], counts: NDArray[np.int64], prior: float
) -> NDArray[np.float64]:
    """Turn joint counts, the child last, into its distribution given each configuration of the parents."""
    table = np.full(shape, prior, dtype=np.float64)
    if len(counts):
        table.reshape(-1)[np.ravel_multi_index(tuple(cells.T), shape)] += counts
    totals = table.sum(axis=-1, keepdims=True)
    unseen = totals[..., 0] == 0
    table[unseen] = 1.0
    totals[unseen] = shape[-1]
    table /= totals
    return table


def fit_gaussian(graph: DAG, statistics: Statistics, name: str) -> GaussianNetwork:
    """Fit every node's linear regression on its parents."""
    if statistics.n_rows < 1:
        raise DataError("the data have no rows: parameters cannot be fitted")
    continuous = [variable.name for variable in statistics.schema if variable.kind is Kind.CONTINUOUS]
    position = {column: i for i, column in enumerate(continuous)}
    intercepts, coefficients, sds = {}, {}, {}
    for node in graph:
        parents = [position[parent] for parent in graph.parents(node)]
        moments = rows_for(statistics, statistics.schema.index(node)).moments()
        coefficients[node], variance = regress(moments, position[node], parents)
        intercepts[node] = float(moments.mean[position[node]] - moments.mean[parents] @ coefficients[node])
        sds[node] = sqrt(variance)
    return GaussianNetwork(graph, intercepts, coefficients, sds, name)


def fit_mixed(
    graph: DAG,
    statistics: Statistics,
    prior: TablePrior,
    name: str,
    *,
    copies: int = 1,
    steady: float = 0.0,
    budget: Budget | None = None,
) -> MixedNetwork:
    """Fit tables, regressions and softmaxes, each for the kinds of a node and its parents that need it.

    The data may hold several `copies` of each row, with different draws of missing values. So many rows as
    `steady` says, with the variance of the line over all rows, are added to each configuration's variance.
    If time is up within a softmax, `OutOfTimeError` is raised.
    """
    schema = statistics.schema
    levels = {node: schema[schema.index(node)].levels for node in graph}
    levels = {node: own for node, own in levels.items() if schema[schema.index(node)].kind is Kind.DISCRETE}
    counted = [n for n in graph if n in levels and all(parent in levels for parent in graph.parents(n))]
    if statistics.n_rows < 1:
        raise DataError("the data have no rows: parameters cannot be fitted")
    lines, choices = {}, {}
    grouped: dict[int, GroupedRows] = {}
    for node in graph:
        table, weights = rows_with_weights(rows_for(statistics, schema.index(node)))
        discrete = [parent for parent in graph.parents(node) if parent in levels]
        numbers = [parent for parent in graph.parents(node) if parent not in levels]
        if node not in levels:
            check_sizes({node: (*(len(levels[parent]) for parent in discrete), len(numbers) + 2)})
            rows = grouped.setdefault(id(table), GroupedRows(table, weights))
            of_kinds = places(schema, discrete, numbers)
            lines[node] = fit_lines(rows, schema, schema.index(node), *of_kinds, copies=copies, steady=steady)
        elif numbers:
            check_softmax(node, [len(levels[parent]) for parent in discrete], len(levels[node]), len(numbers))
            of_kinds = places(schema, discrete, numbers)
            choices[node] = fit_choice(
                table, schema.index(node), *of_kinds, copies=copies, budget=budget, weights=weights
            )
    tables = fit_tables(graph, counted, statistics, prior)
    return MixedNetwork(graph, levels, tables, choices, lines, name)


def places(schema: Schema, *groups: list[str]) -> list[list[int]]:
    """The positions of columns, group by group."""
    return [[schema.index(name) for name in group] for group in groups]


def check_softmax(node: str, configurations: list[int], levels: int, numbers: int) -> None:
    """Refuse a logistic regression that is too large to be fitted."""
    size = (levels - 1) * (numbers + 1)
    if size > MOST_COEFFICIENTS:
        raise DataError(
            f"'{node}' has {levels} levels and {numbers} continuous parents: {size:,} coefficients, at most "
            f"{MOST_COEFFICIENTS:,} can be fitted; merge its levels, or learn with fewer parents"
        )
    check_sizes({node: (*configurations, levels * (numbers + 1))})


def fit_lines(
    grouped: GroupedRows,
    schema: Schema,
    node: int,
    discrete: list[int],
    numbers: list[int],
    *,
    copies: int,
    steady: float,
) -> Lines:
    """Fit a regression for each configuration; one of too few rows gets that over all rows."""
    shape = tuple(schema[column].cardinality for column in discrete)
    k = len(numbers)

    def line(moments: Moments) -> tuple[float, NDArray[np.float64], float]:
        slopes, variance = regress(moments, k, list(range(k)))
        return float(moments.mean[k] - moments.mean[:k] @ slopes), slopes, sqrt(variance)

    whole = grouped.moments([], [*numbers, node])
    intercept, slopes, sd = line(Moments(whole.counts[0].item(), whole.means[0], whole.scatters[0]))
    lines = Lines(np.full(shape, intercept), np.broadcast_to(slopes, (*shape, k)).copy(), np.full(shape, sd))
    found = grouped.moments(discrete, [*numbers, node])
    for cell, n, mean, scatter in zip(found.cells, found.counts, found.means, found.scatters, strict=True):
        if n >= copies * (k + SPARE_ROWS):
            own = tuple(cell.tolist())
            lines.intercepts[own], lines.slopes[own], alone = line(Moments(n.item(), mean, scatter))
            lines.sds[own] = sqrt((n * alone**2 + steady * sd**2) / (n + steady))
    return lines


def fit_choice(
    table: Table,
    node: int,
    discrete: list[int],
    numbers: list[int],
    *,
    copies: int,
    budget: Budget | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Softmax:
    """Fit a logistic regression for each configuration; one of too few rows gets that over all rows."""
    levels = table.schema[node].cardinality
    shape = tuple(table.schema[column].cardinality for column in discrete)
    codes, values = table.codes(node), np.stack([table.values(column) for column in numbers], axis=1)
    intercepts, slopes = fit_softmax(codes, values, levels, budget, weights)
    choice = Softmax(
        np.broadcast_to(intercepts, (*shape, levels)).copy(),
        np.broadcast_to(slopes, (*shape, *slopes.shape)).copy(),
    )
    if not discrete:
        return choice
    enough = copies * ROWS_PER_COEFFICIENT * (levels - 1) * (len(numbers) + 1)
    cells = np.ravel_multi_index(tuple(table.codes(column) for column in discrete), shape)
    for cell in np.unique(cells):
        own, rows = np.unravel_index(cell, shape), cells == cell
        those = None if weights is None else weights[rows]
        if (rows.sum() if those is None else those.sum()) >= enough:
            choice.intercepts[own], choice.slopes[own] = fit_softmax(
                codes[rows], values[rows], levels, budget, those
            )
    return choice


def regress(moments: Moments, child: int, parents: list[int]) -> tuple[NDArray[np.float64], float]:
    """Least-squares coefficients of a column on others, and the residual variance RSS / n.

    The scatter is first brought to unit diagonal: a rank found on raw columns would depend on their units.
    """
    columns = [*parents, child]
    scatter = moments.scatter[np.ix_(columns, columns)]
    scale = np.sqrt(np.diag(scatter))
    # Rounding of the mean leaves a constant column with a tiny scatter: make it zero.
    constant = scale <= sqrt(moments.n) * CONSTANT * np.abs(moments.mean[columns])
    scatter[constant] = scatter[:, constant] = 0.0
    scale[constant] = 1.0
    correlation = scatter / scale / scale[:, None]
    slopes = np.linalg.pinv(correlation[:-1, :-1], rcond=RELATIVE_RANK, hermitian=True) @ correlation[:-1, -1]
    contrast = np.append(-slopes, 1.0)
    share = max(0.0, float(contrast @ correlation @ contrast))
    return slopes * scale[-1] / scale[:-1], share * float(scale[-1]) ** 2 / moments.n
