"""Statistics of discrete columns from one release of all pair tables: consistent tables, and BIC on them.

In exact counts all tables of a column have the same margin of it, and all tables the same total. With
independent noise of variance v₀ on every cell each table gives another estimate. Totals are averaged, then
margins, each weighted by its precision; then every table is moved to these margins by the least change. The
remaining noise in a cell of an r × s table has variance v₀ (r − 1)(s − 1) / rs, beside that of the margins,
which is small as they are averages over many tables.

With T the counts of a child and its parent, E those expected if the two were independent, and v the variance
of the noise in a cell, an edge gains

    Σ over cells of [T ln(T/E) − T + E] · E / (E + v)  −  ½ (r − 1)(s − 1) ln n

Counting alone, the error of a cell has variance E; with noise it has E + v, so its evidence is worth
E / (E + v) of that. Without noise this is BIC, as the sums of T and E are equal. The gain is the same in both
directions: a network is scored by its skeleton, and a best one is a forest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.base.options import Value
from dagora.base.wording import option
from dagora.data.schema import Schema
from dagora.parties.privacy.terms import PrivacyTerms, require_kind
from dagora.scores.local_score import Family, LocalScore, ScoreCapabilities
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, running_sum

Floats = NDArray[np.float64]
Pair = tuple[int, int]


def pairs_of(columns: int) -> list[Pair]:
    """All pairs of columns, in the order in which their tables are released.

    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(columns), 2))


@dataclass(frozen=True)
class PairTables:
    """Tables that agree: the number of rows, the margins, and the table of each pair i < j.

    `variance(i, j)` is that of the noise in each cell of a table.
    """

    rows: float
    margins: tuple[Floats, ...]
    tables: dict[Pair, Floats]
    noise: float

    def table(self, i: int, j: int) -> Floats:
        """The table of two columns in any order; the first varies along the rows."""
        return self.tables[i, j] if i < j else self.tables[j, i].T

    def variance(self, i: int, j: int) -> float:
        """Variance of what is left of the noise in a cell."""
        r, s = len(self.margins[i]), len(self.margins[j])
        return self.noise * (r - 1) * (s - 1) / (r * s)


def make_consistent(cardinalities: NDArray[np.int64], summed: NDArray[np.int64], noise: float) -> PairTables:
    """Make tables agree; `summed` has the cells of all pairs one after the other, `noise` is their variance.

    >>> agreeing = make_consistent(np.array([2, 2, 2]), np.array([5, 1, 0, 6, 5, 0, 1, 4, 3, 1, 1, 3]), 1.0)
    >>> agreeing.rows, agreeing.margins[0], agreeing.table(0, 1), agreeing.variance(0, 1)
    (10.0, array([5., 5.]), array([[ 4.75,  0.25],
           [-0.25,  5.25]]), 0.25)
    """
    sizes = [int(r) for r in cardinalities]
    pairs = pairs_of(len(sizes))
    cells = [sizes[i] * sizes[j] for i, j in pairs]
    if summed.shape != (sum(cells),):
        raise DataError(f"the pair tables have {sum(cells)} cells, not {summed.size}")
    parts = np.split(summed.astype(np.float64), np.cumsum(cells)[:-1])
    raw = {(i, j): part.reshape(sizes[i], sizes[j]) for (i, j), part in zip(pairs, parts, strict=True)}
    rows = float(np.average([part.sum() for part in parts], weights=1 / np.array(cells)))
    if rows < 2:
        raise DataError(
            "the noise is larger than the number of rows: release from more rows, or with a larger epsilon"
        )
    margins = tuple(average_margin(raw, sizes, column, rows) for column in range(len(sizes)))
    tables = {
        pair: move_to_margins(table, margins[pair[0]], margins[pair[1]], rows) for pair, table in raw.items()
    }
    return PairTables(rows, margins, tables, noise)


def average_margin(raw: dict[Pair, Floats], sizes: list[int], column: int, rows: float) -> Floats:
    """A column's margin: an average over its tables, without negative parts, with the sum `rows`."""
    others = [other for other in range(len(sizes)) if other != column]
    estimates = [
        raw[column, other].sum(axis=1) if column < other else raw[other, column].sum(axis=0)
        for other in others
    ]
    average = np.average(estimates, axis=0, weights=[1 / sizes[other] for other in others])
    positive = np.maximum(average + (rows - average.sum()) / sizes[column], 0.0)
    agreed: Floats = positive * (rows / positive.sum())
    return agreed


def move_to_margins(table: Floats, along: Floats, across: Floats, rows: float) -> Floats:
    """The table nearest to a given one (least squares) that has these margins."""
    r, s = table.shape
    by_row = (along - table.sum(axis=1)) / s
    by_column = (across - table.sum(axis=0)) / r
    nearest: Floats = table + by_row[:, None] + by_column[None, :] - (rows - table.sum()) / (r * s)
    return nearest


class PairScore:
    """The score of families with at most one parent; `penalty` is a factor on a parameter's price."""

    capabilities = ScoreCapabilities()

    def __init__(self, schema: Schema, tables: PairTables, penalty: float = 1.0) -> None:
        self.schema = schema
        self._rows = tables.rows
        price = penalty * np.log(tables.rows) / 2
        self._alone = np.array([marginal_fit(m) - price * (len(m) - 1) for m in tables.margins])
        self._gains = np.full((len(schema), len(schema)), -np.inf)
        for (i, j), table in tables.tables.items():
            expected = np.outer(tables.margins[i], tables.margins[j]) / tables.rows
            parameters = (table.shape[0] - 1) * (table.shape[1] - 1)
            gain = association(table, expected, tables.variance(i, j)) - price * parameters
            self._gains[i, j] = self._gains[j, i] = gain

    @property
    def n_rows(self) -> int:
        """The number of rows, as estimated from the release."""
        return round(self._rows)

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families."""
        scores = np.empty(len(families))
        for k, (child, parents) in enumerate(families):
            if len(parents) > 1:
                raise OptionError(
                    "pair tables with noise say nothing about two parents of one variable: "
                    f"set {option('max_parents', 1)}"
                )
            scores[k] = self._alone[child] + sum(self._gains[parent, child] for parent in parents)
        return scores


def marginal_fit(margin: Floats) -> float:
    """Σ m ln(m / n): the log-likelihood of a variable without parents."""
    seen = margin[margin > 0]
    return float((seen * np.log(seen / margin.sum())).sum())


def association(table: Floats, expected: Floats, variance: float) -> float:
    """Σ [T ln(T/E) − T + E] · E / (E + v); a count below 0 counts as 0, and cells with E = 0 as nothing.

    >>> independent = np.outer([5.0, 5.0], [6.0, 4.0]) / 10
    >>> association(independent, independent, 2.0)
    0.0
    """
    possible = expected > 0
    e, t = expected[possible], np.maximum(table[possible], 0.0)
    logarithms = np.log(np.where(t > 0, t, 1.0) / e)
    return float(((t * logarithms - t + e) * e / (e + variance)).sum())


# Methods that change one arrow at a time: with one parent each, arrows soon stand in each other's way.
STOP_SHORT = frozenset({"hill-climb", "tabu", "k2"})


class NoisyPairs:
    """Statistics from pair tables that carry noise: searches on BIC learn forests from them.

    `counts` and `contingency` answer for at most two columns, with the tables after they were made to agree,
    rounded; the score `bic` uses them before rounding.
    """

    # A family of two parents is in no pair table.
    max_parents: int | None = 1

    def __init__(self, terms: PrivacyTerms, schema: Schema, summed: NDArray[np.int64]) -> None:
        require_kind(schema, "pairs")
        self._terms = terms
        self.schema = schema
        self._tables = make_consistent(schema.cardinalities, summed, terms.sum_variance)

    @property
    def n_rows(self) -> int:
        """The number of rows, as estimated from the release."""
        return round(self._tables.rows)

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Counts of sets of at most two columns, rounded; cells of zero or less are left out."""
        found = [self._cells(columns).ravel() for columns in column_sets]
        kept = [cells[cells > 0] for cells in found]
        sizes = np.array([len(cells) for cells in kept], dtype=np.int64)
        return CellCounts(np.concatenate([np.zeros(0, dtype=np.int64), *kept]), running_sum(sizes))

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Counts of at most two columns, with their cells."""
        cells = self._cells(columns)
        kept = np.argwhere(cells > 0).astype(np.int64)
        return Contingency(kept, cells[cells > 0])

    def _cells(self, columns: Sequence[int]) -> NDArray[np.int64]:
        if len(columns) > 2:
            raise DataError("only counts of pairs of columns were released: ask for at most two columns")
        if len(columns) == 2:
            exact = self._tables.table(int(columns[0]), int(columns[1]))
        else:
            exact = self._tables.margins[int(columns[0])] if len(columns) else np.array(self._tables.rows)
        return np.rint(exact).astype(np.int64)

    def moments(self) -> Moments:
        """Discrete columns have no moments."""
        return Moments(self.n_rows, np.zeros(0), np.zeros((0, 0)))

    def rows(self) -> NoReturn:
        """Rows were never released."""
        raise RowsUnavailableError(
            "only pair tables with noise were released, no rows: use a search on the score bic"
        )

    def score(self, name: str, options: Mapping[str, object]) -> LocalScore:
        """The score that knows its noise; any other is refused."""
        if name != "bic":
            raise OptionError(f"the score {name} does not know noise for privacy: use bic")
        return PairScore(self.schema, self._tables, **options)  # type: ignore[arg-type]  # those of bic

    @property
    def capabilities(self) -> StatisticsCapabilities:
        """The terms and consequences of the noise, and the score that knows it."""
        return StatisticsCapabilities(release=self, score=self.score)

    def terms(self) -> Mapping[str, Value]:
        """The terms of the release, as JSON."""
        return self._terms.to_dict()

    def account(self) -> list[str]:
        """Describe the guarantee, the released sums, and the kind of graph to expect."""
        return [
            *self._terms.describe(),
            "expect a forest, with at most one parent each; directions mean nothing",
        ]

    def warnings(self, method: str) -> list[str]:
        """Too few rows for the noise; a method that misses the best forest."""
        found = self._terms.warnings(self._tables.rows)
        if method in STOP_SHORT:
            found.append(f"{method} often stops short of the best forest, which ges finds: use ges")
        return found

    def defaults(self, method: str) -> Mapping[str, Value]:  # noqa: ARG002 (no method needs any)
        """Options of a method that noise changes."""
        return {}
