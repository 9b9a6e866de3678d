"""Predictive checks: statistics of the data beside those of tables simulated from the fitted network.

Of a column: mean, standard deviation and quantiles, or the share of each level. Of two columns without an
edge: their correlation or association. A statistic that hardly any simulated table reaches says what the
network gets wrong: a shape, or a dependence. Parameters are as fitted to all rows, not drawn; so statistics
that the fit itself reproduces, such as means, agree by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.interventions import Interventions
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.fit import fit
from dagora.network.networks import Network
from dagora.posterior.criticism.strength import association
from dagora.stats.interventional import InterventionalStatistics

Floats = NDArray[np.float64]
Label = tuple[tuple[str, ...], str]  # the columns and the name of a statistic
# Values that are simulated at most, and tables at least.
MOST_VALUES, FEWEST_TABLES = 20_000_000, 40
MOST_PAIRS = 200  # without an edge; of more, so many are drawn
LEAST_ROWS = 20  # in which nothing was set
MOST_LEVELS = 8  # of a column, the most frequent
LOW, HIGH = 0.025, 0.975
MEDIAN = 0.5
PROBABILITIES = np.array([0.05, 0.25, MEDIAN, 0.75, 0.95])
CURVE = np.linspace(0.01, 0.99, 50)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic of the data, with the middle 95 % of simulated tables.

    `z` is its distance from their mean in their standard deviations, `p_value` two-sided; `outside` says that
    it is not among the middle 95 %.
    """

    columns: tuple[str, ...]
    name: str
    observed: float
    low: float
    high: float
    z: float
    p_value: float
    outside: bool

    def to_text(self) -> str:
        """In words."""
        observed, low, high = (
            f"{value:.3g}".replace("-", "−") for value in (self.observed, self.low, self.high)
        )
        return f"{self.name} of {' and '.join(self.columns)} is {observed}, simulated {low} to {high}"


@dataclass(frozen=True, slots=True)
class Curve:
    """Quantiles of a continuous column beside the middle 95 % of those of simulated tables, for a picture."""

    column: str
    probabilities: tuple[float, ...]
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Predictive:
    """Statistics of columns and of pairs without an edge, and curves of the continuous columns."""

    columns: tuple[Statistic, ...]
    pairs: tuple[Statistic, ...]
    curves: tuple[Curve, ...]
    tables: int

    def worst(self, most: int = 5) -> list[Statistic]:
        """The statistics outside of what was simulated, the farthest first."""
        outside = [one for one in (*self.columns, *self.pairs) if one.outside]
        return sorted(outside, key=lambda one: -abs(one.z))[:most]

    def to_lines(self) -> list[str]:
        """In words."""
        every = (*self.columns, *self.pairs)
        outside = sum(one.outside for one in every)
        first = (
            f"simulated tables: {outside} of {len(every)} statistics lie outside the middle 95 % of "
            f"{self.tables} tables simulated from the fitted network"
        )
        return [first, *(f"  {one.to_text()}" for one in self.worst())]


def predict(
    graph: DAG, table: Table, marks: Interventions | None = None, *, tables: int = 100, seed: int = 0
) -> Predictive:
    """Compare the columns of a table with those of tables simulated from the fitted graph.

    Where variables were set in some rows (`marks`), they do not count for what these depend on, and the rows
    in which nothing was set are compared.

    >>> x = np.random.default_rng(0).exponential(size=(500, 1))
    >>> found = predict(DAG("a"), Table.from_numpy(x, names=["a"]))
    >>> [one.name for one in found.worst()]
    ['5 % quantile', 'median', '75 % quantile']
    """
    network: Network = fit(graph, table if marks is None else InterventionalStatistics(table, marks))
    if marks is not None:
        free = np.array([not targets for targets in marks.regimes], dtype=np.bool_)[marks.of_row]
        table = table.take(free)
        if table.n_rows < LEAST_ROWS:
            raise DataError(f"in {table.n_rows} rows nothing was set, and {LEAST_ROWS} or more are needed")
    tables = max(FEWEST_TABLES, min(tables, MOST_VALUES // max(1, table.n_rows * len(graph))))
    measures = Measures(table, pairs_apart(graph, seed))
    drawn = [
        measures.take(network.sample(table.n_rows, seed * tables + number).select(graph.nodes))
        for number in range(tables)
    ]
    simulated = [np.array(part) for part in zip(*drawn, strict=True)]
    observed = measures.take(table)
    columns, pairs = (
        tuple(
            judge(*label, float(value), each)
            for label, value, each in zip(
                measures.labels[part], observed[part], simulated[part].T, strict=True
            )
        )
        for part in (0, 1)
    )
    low, high = np.quantile(simulated[2], [LOW, HIGH], axis=0)
    curves = [
        Curve(table.names[column], *(tuple(one.tolist()) for one in (CURVE, observed[2][k], low[k], high[k])))
        for k, column in enumerate(measures.continuous)
    ]
    return Predictive(columns, pairs, tuple(curves), tables)


class Measures:
    """The statistics of a table: of its columns, of pairs of them, and quantiles of the continuous ones."""

    def __init__(self, table: Table, pairs: list[tuple[int, int]]) -> None:
        schema = table.schema
        is_continuous = [variable.kind is Kind.CONTINUOUS for variable in schema]
        self.continuous = np.flatnonzero(is_continuous).tolist()
        self.discrete = np.flatnonzero(~np.array(is_continuous)).tolist()
        self.levels = [most_frequent(table, column) for column in self.discrete]
        self.linear = [(a, b) for a, b in pairs if is_continuous[a] and is_continuous[b]]
        self.other = [
            (b, a) if is_continuous[b] else (a, b)
            for a, b in pairs
            if not (is_continuous[a] and is_continuous[b])
        ]
        quantiles = ["median" if p == MEDIAN else f"{100 * p:.0f} % quantile" for p in PROBABILITIES]
        of_columns: list[Label] = [
            ((table.names[column],), name)
            for column in self.continuous
            for name in ("mean", "sd", *quantiles)
        ]
        of_columns += [
            ((table.names[column],), f"share of {schema[column].levels[level]}")
            for column, levels in zip(self.discrete, self.levels, strict=True)
            for level in levels
        ]
        named = [("correlation", self.linear), ("association", self.other)]
        of_pairs: list[Label] = [
            ((table.names[a], table.names[b]), name) for name, some in named for a, b in some
        ]
        self.labels: tuple[list[Label], list[Label]] = (of_columns, of_pairs)

    def take(self, table: Table) -> tuple[Floats, Floats, Floats]:
        """All statistics of a table."""
        values = np.array([table.columns[column] for column in self.continuous])
        values = values.reshape(len(self.continuous), table.n_rows)
        ordered = np.sort(values, axis=1)
        mean, sd = values.mean(axis=1), values.std(axis=1)
        scaled = (values - mean[:, None]) / np.where(sd > 0, sd, 1.0)[:, None]
        correlations = scaled @ scaled.T / table.n_rows
        place = {column: k for k, column in enumerate(self.continuous)}
        shares = [
            np.bincount(table.codes(column), minlength=int(levels.max()) + 1)[levels] / table.n_rows
            for column, levels in zip(self.discrete, self.levels, strict=True)
        ]
        of_columns = [np.column_stack([mean, sd, quantiles_of(ordered, PROBABILITIES)]).ravel(), *shares]
        linear = [correlations[place[a], place[b]] for a, b in self.linear]
        other = [bond(table.columns[a], table.columns[b], is_number=a in place) for a, b in self.other]
        return np.concatenate(of_columns), np.array([*linear, *other]), quantiles_of(ordered, CURVE)


def quantiles_of(ordered: Floats, probabilities: Floats) -> Floats:
    """Quantiles of ordered rows, by linear interpolation."""
    position = probabilities * (ordered.shape[1] - 1)
    below = position.astype(np.int64)
    above = np.minimum(below + 1, ordered.shape[1] - 1)
    return np.asarray(ordered[:, below] + (position - below) * (ordered[:, above] - ordered[:, below]))


def most_frequent(table: Table, column: int) -> NDArray[np.int64]:
    """The levels of a discrete column that occur most often."""
    counts = np.bincount(table.codes(column), minlength=table.schema[column].cardinality)
    return np.argsort(-counts, kind="stable")[:MOST_LEVELS]


def bond(x: NDArray[Any], y: NDArray[Any], *, is_number: bool) -> float:
    """The association of a column with a discrete one, from 0 to 1."""
    if is_number:
        return correlation_ratio(x, y)
    return association(x.astype(np.int64), y.astype(np.int64), np.zeros(len(x), dtype=np.int64))


def pairs_apart(graph: DAG, seed: int) -> list[tuple[int, int]]:
    """Pairs of nodes without an edge, at most `MOST_PAIRS`."""
    matrix = graph.to_numpy()
    apart = [pair for pair in combinations(range(len(graph)), 2) if not (matrix | matrix.T)[pair]]
    if len(apart) <= MOST_PAIRS:
        return apart
    chosen = np.random.default_rng(seed).choice(len(apart), MOST_PAIRS, replace=False)
    return [apart[k] for k in np.sort(chosen)]


def correlation_ratio(values: Floats, codes: NDArray[Any]) -> float:
    """The share of standard deviation of a continuous column that lies between levels of a discrete one."""
    counts = np.bincount(codes)
    means = np.bincount(codes, values) / np.maximum(counts, 1)
    total = float(((values - values.mean()) ** 2).sum())
    between = float((counts * (means - values.mean()) ** 2).sum())
    return float(np.sqrt(between / total)) if total > 0 else 0.0


def judge(columns: tuple[str, ...], name: str, observed: float, simulated: Floats) -> Statistic:
    """Place an observed statistic among simulated ones."""
    low, high = np.quantile(simulated, [LOW, HIGH])
    spread = simulated.std()
    room = 1e-9 * max(abs(observed), float(np.abs(simulated).max()))
    below = int((simulated <= observed + room).sum())
    above = int((simulated >= observed - room).sum())
    p_value = min(1.0, 2 * (1 + min(below, above)) / (1 + len(simulated)))
    z = (observed - simulated.mean()) / spread if spread > 0 else 0.0
    outside = not low - room <= observed <= high + room
    return Statistic(columns, name, observed, float(low), float(high), float(z), p_value, bool(outside))
