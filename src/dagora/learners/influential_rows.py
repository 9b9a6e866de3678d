"""Edges that rest on one row alone: without it, the score is better without the edge.

An edge t → h with the other parents P gains f(h t P) − f(t P) − f(h P) + f(P), less its price, where f is
the largest log-likelihood of a set of columns. For discrete columns A and continuous columns X it is, but
for terms that cancel,

  f(A, X) = Σ n ln n over the cells of A − (m/2) ln det S

with S the scatter of the residuals of X (in tables of both kinds, of x and x²) on the indicators of A. Both
parts are known without any one row: a count less 1, and a determinant times 1 − q/(1 − l), where l is the
row's leverage on the indicators and q its squared residual in the metric of S. So all rows are left out at
the cost of one fit.

Both parts grow with the set. So no row costs an edge more than f(h P) − f(P) changes with it: at most
1 + ln m between discrete columns, and −(m/2) ln(1 − q) with q of all columns between continuous ones. An edge
that gains more is not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.base.phrases import some_of
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG, Edge
from dagora.stats.indicators import POWERS

Floats = NDArray[np.float64]

SCORES = frozenset({"bic", "bic-gaussian", "bic-mixed"})
LEAST_LOSS = 3.0
"""Nats that an edge must lose with the row: a weak edge falls with many a row, which says little of them."""

MOST_WORK = 3e8
"""Rows times squared numbers of features, over all sets that are fitted: about a second."""

COUNTING = 30.0  # products in the time that a cell of a row is counted

FITTING = 5e4  # products in the time that a fit of few rows takes, 0.12 to 0.24 ms

SINGULAR = 1e-9  # relative size of a pivot that counts as zero


def influential_rows(
    table: Table, graph: AnyGraph, gains: Mapping[Edge, float], score: str | None
) -> list[str]:
    """A line about the edges that fall if one row is left out; none where looking would take long.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(100, 2))
    >>> rows[16] = 40, 30
    >>> table = Table.from_numpy(rows, names=["a", "b"])
    >>> influential_rows(table, DAG("ab", [("a", "b")]), {("a", "b"): 80.0}, "bic-gaussian")
    ['edge a — b rests on data row 17 alone: without it, the score is better without the edge']
    """
    dag = member_of(graph)
    if not gains or score not in SCORES or dag is None or table.n_rows < 3:
        return []
    if takes_long(table, dag, MOST_WORK):
        return []
    found = sorted(fallen(Fits(table), dag, gains))
    rows = sorted({row for row, _ in found})
    if not found:
        return []
    if len(rows) == 1:
        edges = [f"{tail} — {head}" for _, (tail, head) in found]
        which = f"data row {row_number(table, rows[0])} alone"
        if len(edges) == 1:
            return [f"edge {edges[0]} rests on {which}: without it, the score is better without the edge"]
        return [f"edges {some_of(edges)} rest on {which}: without it, the score is better without each"]
    edges = [f"{tail} — {head} (data row {row_number(table, row)})" for row, (tail, head) in found]
    words = "edges rest on one row each, without which the score is better without the edge"
    return [f"{len(edges)} {words}: {some_of(edges)}"]


def takes_long(table: Table, graph: AnyGraph, most_work: float) -> bool:
    """Return True if looking for such rows takes more than some work."""
    dag = member_of(graph)
    return dag is not None and Fits(table).work(dag) > most_work


def member_of(graph: AnyGraph) -> DAG | None:
    """The graph, or a member of a class of graphs; None where there is none."""
    if isinstance(graph, DAG):
        return graph
    try:
        return graph.extension() if isinstance(graph, CPDAG) else None
    except GraphError:
        return None


def row_number(table: Table, row: int) -> int:
    """The number of a row in the file, from 1, before rows were dropped."""
    kept = None if table.overview is None else table.overview.kept
    return (row if kept is None else int(kept[row])) + 1


def fallen(fits: Fits, dag: DAG, gains: Mapping[Edge, float]) -> Iterator[tuple[int, Edge]]:
    """The edges that do not gain without some row, each with the row that it loses most with."""
    shrink = math.log(max(fits.rows - 1, 1)) / math.log(fits.rows)
    most = fits.largest_loss()
    for edge, gain in gains.items():
        if gain > most:
            continue
        tail, head = edge if dag.has_edge(*edge) else edge[::-1]
        t, h = fits.place(tail), fits.place(head)
        others = frozenset(fits.place(name) for name in dag.parents(head)) - {t}
        parts = [fits.of(others | {t, h}), fits.of(others | {t}), fits.of(others | {h}), fits.of(others)]
        if any(part is None for part in parts):
            continue
        whole, without = zip(*(part for part in parts if part is not None), strict=True)
        price = whole[0] - whole[1] - whole[2] + whole[3] - gain
        left = (
            without[0]
            - without[1]
            - without[2]
            + without[3]
            - shrink * (price - fits.spare_price(t, h, price))
        )
        row = int(left.argmin())
        if left[row] < 0 < gain and gain - left[row] >= LEAST_LOSS:
            yield row, edge


class Fits:
    """The log-likelihood of sets of columns, of all rows and without each of them."""

    def __init__(self, table: Table) -> None:
        self.rows = table.n_rows
        self._table = table
        self._names = {name: i for i, name in enumerate(table.names)}
        self._continuous = [one.kind is Kind.CONTINUOUS for one in table.schema]
        self._powers = POWERS if len(table.schema.kinds) > 1 else 1
        self._made: dict[int, Floats] = {}
        self._known: dict[frozenset[int], tuple[float, Floats] | None] = {}

    def place(self, name: str) -> int:
        """The position of a column."""
        return self._names[name]

    def _features(self, column: int) -> Floats:
        """The features of a column, made when they are needed: they take more memory than the table."""
        if column not in self._made:
            self._made[column] = (
                powers(self._table.values(column), self._powers)
                if self._continuous[column]
                else indicators(self._table.codes(column))
            )
        return self._made[column]

    def work(self, dag: DAG) -> float:
        """About how many products all fits of a graph take, counts included."""
        widths = {
            one.name: self._powers if one.kind is Kind.CONTINUOUS else max(one.cardinality - 1, 1)
            for one in self._table.schema
        }
        total = 0.0
        for node in dag:
            family = (node, *dag.parents(node))
            square = (1 + sum(widths[name] for name in family)) ** 2 if any(self._continuous) else 0
            total += 2 * (len(family) - 1) * (FITTING + self.rows * (square + COUNTING * len(family)))
        return total

    def largest_loss(self) -> float:
        """Nats that an edge of any family can lose with one row, rounded up."""
        if not any(self._continuous):
            return 2.0 + math.log(self.rows)
        if not all(self._continuous):
            return math.inf
        scatter = self._scatter(range(len(self._continuous)), [])
        if scatter is None:
            return math.inf
        loss = -(self.rows - 1) / 2 * math.log(float(scatter[1].min()))
        return (loss + 1.0) * self.rows / (self.rows - 1)

    def spare_price(self, t: int, h: int, price: float) -> Floats:
        """The price of parameters that are gone with a row, as its level beside a continuous column is."""
        found = np.zeros(self.rows)
        if self._continuous[t] != self._continuous[h]:
            column = h if self._continuous[t] else t
            codes = self._table.codes(column)
            once = np.bincount(codes)[codes] == 1
            found[once] = price / max(1, self._features(column).shape[1])
        return found

    def of(self, columns: frozenset[int]) -> tuple[float, Floats] | None:
        """The fit of a set, and those without each row; None where columns are linearly dependent."""
        if columns not in self._known:
            self._known[columns] = self._fit(sorted(columns))
        return self._known[columns]

    def _fit(self, columns: list[int]) -> tuple[float, Floats] | None:
        levels = [i for i in columns if not self._continuous[i]]
        lines = [i for i in columns if self._continuous[i]]
        counts = self._counts(levels)
        largest = float(np.log(counts).sum())  # Σ n ln n over the cells
        fewer = np.maximum(counts - 1, 1)
        without = largest - counts * np.log(counts) + (counts - 1) * np.log(fewer)
        if not lines:
            return largest, without
        scatter = self._scatter(lines, levels)
        if scatter is None:
            return None
        determinant, left = scatter
        shrunk = np.log(left) + determinant
        return largest - self.rows / 2 * determinant, without - (self.rows - 1) / 2 * shrunk

    def _scatter(self, lines: Iterable[int], levels: list[int]) -> tuple[float, Floats] | None:
        """The log-determinant of a scatter within levels, and the share of it left without each row."""
        values = np.column_stack([self._features(i) for i in lines])
        basis = orthonormal(np.column_stack([np.ones(self.rows), *(self._features(i) for i in levels)]))
        if values.shape[1] > self.rows - basis.shape[1]:
            return None
        residuals = values - basis @ (basis.T @ values)
        free = 1.0 - np.einsum("ij,ij->i", basis, basis)
        try:
            factor = np.linalg.cholesky(residuals.T @ residuals)
        except np.linalg.LinAlgError:
            return None
        scales = np.sqrt(np.einsum("ij,ij->j", values, values))
        if (np.diag(factor) < SINGULAR * scales).any():
            return None
        turned = np.linalg.solve(factor, residuals.T)
        q = np.einsum("ij,ij->j", turned, turned)
        left = np.where(free > SINGULAR, 1.0 - q / np.maximum(free, SINGULAR), 1.0)
        return 2 * float(np.log(np.diag(factor)).sum()), np.maximum(left, SINGULAR)

    def _counts(self, levels: list[int]) -> Floats:
        """For each row, the number of rows in its cell."""
        cell = np.zeros(self.rows, dtype=np.int64)
        for i in levels:
            codes = self._table.codes(i)
            _, cell = np.unique(cell * (int(codes.max()) + 1) + codes, return_inverse=True)
        return np.asarray(np.bincount(cell)[cell], dtype=np.float64)


def orthonormal(columns: Floats) -> Floats:
    """An orthonormal basis of what columns span; they may depend on each other.

    >>> orthonormal(np.ones((4, 2))).shape
    (4, 1)
    """
    sizes, directions = np.linalg.eigh(columns.T @ columns)
    kept = sizes > SINGULAR * sizes[-1]
    return np.asarray(columns @ directions[:, kept] / np.sqrt(sizes[kept]))


def powers(values: Floats, highest: int) -> Floats:
    """A standardised column and its powers."""
    spread = values.std()
    z = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return np.column_stack([z**power - (z**power).mean() for power in range(1, highest + 1)])


def indicators(codes: NDArray[np.generic]) -> Floats:
    """An indicator for each level that occurs, but the first."""
    _, seen = np.unique(codes, return_inverse=True)
    return np.asarray(np.eye(int(seen.max()) + 1)[seen][:, 1:])
