"""Statistics of discrete columns from one release of all pair tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.base.options import Value
from dagora.data.schema import Schema
from dagora.parties.privacy.pair_score import PairScore
from dagora.parties.privacy.pair_tables import agreeing_tables
from dagora.parties.privacy.terms import PrivacyTerms, require_kind
from dagora.scores.local_score import LocalScore
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, Moments, running_sum

# Methods that change one arrow at a time: with one parent each, arrows soon stand in each other's way.
STOP_SHORT = frozenset({"hill-climb", "tabu", "k2"})


class NoisyPairs:
    """What can be learned from pair tables that carry noise: forests, by searches on BIC.

    `counts` and `contingency` answer for at most two columns, with the tables after they were made to agree,
    rounded; the score `bic` uses them before rounding.
    """

    # A family of two parents is in no pair table.
    max_parents = 1

    def __init__(self, terms: PrivacyTerms, schema: Schema, summed: NDArray[np.int64]) -> None:
        require_kind(schema, "pairs")
        self._terms = terms
        self._schema = schema
        self._tables = agreeing_tables(schema.cardinalities, summed, terms.sum_variance)

    @property
    def schema(self) -> Schema:
        """The variables."""
        return self._schema

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
        return PairScore(self._schema, self._tables, **options)  # type: ignore[arg-type]  # those of bic

    def terms(self) -> Mapping[str, Value]:
        """The terms of the release, as JSON."""
        return self._terms.to_dict()

    def account(self) -> list[str]:
        """The promise, what was noised, and what to expect."""
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
