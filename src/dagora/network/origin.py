"""The rows behind the parameters of a fitted network, and the directions of its graph that they leave open.

Files keep it beside the parameters, so that an answer can say what it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import FormatError
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.directions import Directions
from dagora.network.table_prior import NO_PRIOR, TablePrior, is_finite
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.missing_tests import SkipPattern, skip_patterns
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

MOST_CONFIGURATIONS = 1 << 20
"""Configurations of parents for which rows are kept; a file of more would be larger than its tables."""


@dataclass(frozen=True, eq=False)
class Origin:
    """The rows that a network was fitted to."""

    n_rows: int
    rows: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """Of each node, the rows for every configuration of its discrete parents, where they were counted.

    Rows in which the node or a parent is missing, or the node was set from outside, do not count.
    """
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of continuous nodes, the smallest and largest value."""
    prior: TablePrior = NO_PRIOR
    directions: Directions | None = None
    """The directions that the data leave open; None where the graph was given with its directions."""
    skipped: tuple[SkipPattern, ...] = ()
    """Columns that are seen only where another one has a certain value."""
    step: str = ""
    """Of rows in time, the length of a step in words: "1", "7 days", "1 month"; "" where it is not known."""

    def describe(self) -> str:
        """The rows and the prior in words.

        >>> Origin(812, prior=TablePrior("one-row")).describe()
        '812 rows; one row is added to each combination of parents, spread evenly over the levels'
        """
        added = "" if self.prior.is_zero else f"; {self.prior.describe()}"
        return f"{self.n_rows:,} rows{added}"

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        content: dict[str, Any] = {"n_rows": self.n_rows, "pseudocount": self.prior.pseudocount}
        if self.prior.ess is not None:
            content["ess"] = self.prior.ess
        content["rows"] = {node: rows.tolist() for node, rows in self.rows.items()}
        content["ranges"] = {node: list(ends) for node, ends in self.ranges.items()}
        if self.directions is not None:
            content["directions"] = self.directions.to_dict()
        if self.skipped:
            content["skipped"] = [list(pattern) for pattern in self.skipped]
        if self.step:
            content["step"] = self.step
        return content

    @classmethod
    def from_dict(cls, content: object, graph: DAG, levels: Mapping[str, tuple[str, ...]]) -> Origin:
        """Undo `to_dict`; what does not fit the graph and its levels is refused.

        >>> Origin.from_dict({"n_rows": 3, "rows": {"a": 3}}, DAG("a"), {"a": ("n", "y")}).rows["a"]
        array(3)
        >>> Origin.from_dict({"n_rows": 3, "rows": {"a": [3]}}, DAG("a"), {"a": ("n", "y")})
        Traceback (most recent call last):
        dagora.FormatError: the rows behind 'a' must be nested as its discrete parents are
        """
        if not isinstance(content, dict) or not isinstance(content.get("n_rows"), int):
            raise FormatError('"origin" must be an object with "n_rows"')
        rows, ranges = {}, {}
        for node, listed in _entries(content, "rows", graph):
            shape = tuple(len(levels[one]) for one in graph.parents(node) if one in levels)
            rows[node] = _whole_numbers(listed, node)
            if rows[node].shape != shape:
                raise FormatError(f"the rows behind '{node}' must be nested as its discrete parents are")
        for node, ends in _entries(content, "ranges", graph):
            kinds = [type(end) for end in ends] if isinstance(ends, list) else []
            if kinds not in ([float] * 2, [int] * 2) or not all(map(is_finite, ends)):
                raise FormatError(f"the range of '{node}' must be its smallest and largest value")
            ranges[node] = (float(ends[0]), float(ends[1]))
        prior = TablePrior(content.get("pseudocount", 0.0), content.get("ess"))
        directions = content.get("directions")
        known = None if directions is None else Directions.from_dict(directions, graph)
        step = content.get("step", "")
        if not isinstance(step, str):
            raise FormatError('"step" of "origin" must be words, such as "1 month"')
        return cls(content["n_rows"], rows, ranges, prior, known, _skip_patterns(content, graph), step)


def _skip_patterns(content: dict[str, Any], graph: DAG) -> tuple[SkipPattern, ...]:
    found = content.get("skipped", [])
    for entry in found if isinstance(found, list) else [found]:
        words = isinstance(entry, list) and len(entry) == 3 and all(isinstance(one, str) for one in entry)
        if not words or entry[0] not in graph or entry[1] not in graph:
            raise FormatError(f'"skipped" must have triples [column, other column, value], not {entry!r}')
    return tuple(SkipPattern(*entry) for entry in found)


def _entries(content: dict[str, Any], key: str, graph: DAG) -> list[tuple[str, Any]]:
    found = content.get(key, {})
    if not isinstance(found, dict) or any(name not in graph for name in found):
        raise FormatError(f'"{key}" of "origin" must be an object with names of the graph')
    return list(found.items())


def _whole_numbers(listed: object, node: str) -> NDArray[np.int64]:
    try:
        numbers = np.array(listed, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise FormatError(f"the rows behind '{node}' must be nested lists of numbers") from None
    if not np.isfinite(numbers).all() or (numbers < 0).any() or (numbers > 2**53).any():
        raise FormatError(f"the rows behind '{node}' must be numbers of at least 0")
    return numbers.astype(np.int64)


def origin_of(
    graph: DAG, statistics: Statistics, prior: TablePrior, directions: Directions | None = None
) -> Origin:
    """Count the rows behind every parameter, where they are in memory.

    >>> rows = Table.from_numpy([[0, 0], [1, 1], [1, 0]], names=["a", "b"], discrete=["a", "b"])
    >>> origin_of(DAG("ab", [("a", "b")]), TableStatistics(rows), TablePrior()).rows["b"]
    array([1, 2])
    """
    rows, ranges = {}, {}
    schema = statistics.schema
    skipped: list[SkipPattern] = []
    if isinstance(statistics, IncompleteStatistics):
        skipped = skip_patterns(statistics.table)
    if isinstance(statistics, TableStatistics | IncompleteStatistics):
        for node in graph:
            place = schema.index(node)
            table: Table | IncompleteTable
            if isinstance(statistics, IncompleteStatistics):
                table = statistics.table
            elif isinstance(statistics, InterventionalStatistics):
                table = statistics.without_set(place).rows()
            else:
                table = statistics.rows()
            family = [schema.index(parent) for parent in graph.parents(node)]
            discrete = [one for one in family if schema[one].kind is Kind.DISCRETE]
            shape = tuple(schema[one].cardinality for one in discrete)
            if np.prod(shape, dtype=np.float64) <= MOST_CONFIGURATIONS:
                rows[node] = count_rows(table, [*family, place], discrete, shape)
            if schema[place].kind is Kind.CONTINUOUS and (seen := values_seen(table, place)).size:
                ranges[node] = (float(seen.min()), float(seen.max()))
    if isinstance(statistics, DesignStatistics):
        table = statistics.designed.table
        for node in graph:
            place = schema.index(node)
            if schema[place].kind is Kind.CONTINUOUS:
                ranges[node] = (float(table.columns[place].min()), float(table.columns[place].max()))
    has_tables = any(schema[schema.index(node)].kind is Kind.DISCRETE for node in graph)
    own = prior if has_tables else NO_PRIOR  # regressions alone have none
    return Origin(statistics.n_rows, rows, ranges, own, directions, tuple(skipped))


def count_rows(
    table: Table | IncompleteTable, family: list[int], discrete: list[int], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Count the rows for each configuration of some columns, in which the whole family was seen."""
    codes = [table.columns[one] for one in discrete]
    seen = np.ones(table.n_rows, dtype=np.bool_)
    if isinstance(table, IncompleteTable):
        seen = np.logical_and.reduce(table.seen[family])
    if not codes:
        return np.array(int(seen.sum()))
    cells = np.ravel_multi_index(tuple(column[seen] for column in codes), shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def values_seen(table: Table | IncompleteTable, place: int) -> NDArray[np.float64]:
    """The values of a continuous column that are not missing."""
    values: NDArray[np.float64] = table.columns[place]
    return values[table.seen[place]] if isinstance(table, IncompleteTable) else values
