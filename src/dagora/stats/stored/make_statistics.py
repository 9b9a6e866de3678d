"""Make statistics of a table that are kept without its rows: all counts, or those of chosen sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import option
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.stats.indicators import feature_starts
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.stored.count_tables import CountTables, Set
from dagora.stats.stored.exact_sums import ExactSums, sums_of_rows
from dagora.stats.stored.stored_statistics import StoredSource, StoredStatistics
from dagora.stats.table import TableStatistics

# The most numbers that statistics may hold, and the most sets.
MOST_NUMBERS, MOST_SETS = 200_000_000, 2_000_000
# The most continuous columns, of which every pair has a sum.
MOST_COLUMNS = 4000


def statistics_of_table(
    table: Table,
    max_parents: int | None = None,
    sets: Iterable[Sequence[str]] | None = None,
    name: str = "rows",
) -> StoredStatistics:
    """Counts and exact sums of a table: of all joint cells, of families of few parents, or of chosen sets.

    >>> table = Table.from_numpy([[0, 0, 1], [1, 1, 0]] * 5, names=["a", "b", "c"], discrete=["a", "b", "c"])
    >>> sorted(statistics_of_table(table, max_parents=1).tables.tables)
    [(0, 1), (0, 2), (1, 2)]
    >>> statistics_of_table(table, sets=[["a", "c"]]).tables.largest
    2
    """
    schema = table.schema
    if not table.n_rows:
        raise DataError("there are no rows: statistics of none say nothing")
    discrete = [k for k, variable in enumerate(schema) if variable.kind is Kind.DISCRETE]
    numbers = len(schema) - len(discrete)
    if discrete and numbers:
        feature_starts(schema)  # refuses too many levels
    if numbers > MOST_COLUMNS:
        raise DataError(
            f"there are {numbers:,} continuous columns, of which all pairs have sums, at most "
            f"{MOST_COLUMNS:,} are possible: leave columns out ({option('drop')})"
        )
    limit = max_parents if max_parents is not None and max_parents + 1 < len(discrete) else None
    chosen = chosen_sets(table, discrete, limit, sets)
    counted = count_sets(TableStatistics(table), chosen)
    nothing = ExactSums.nothing(())
    sums = sums_of_rows(schema, table.columns, squares=bool(discrete)) if numbers else nothing
    return StoredStatistics(
        schema,
        table.n_rows,
        CountTables(schema.cardinalities, counted),
        sums,
        limit,
        (StoredSource(name, table.n_rows),),
    )


def chosen_sets(
    table: Table, discrete: list[int], limit: int | None, sets: Iterable[Sequence[str]] | None
) -> list[Set]:
    """The sets to count: all columns together, families of `limit` parents, or those that are named."""
    if not discrete:
        return []
    if limit is None and sets is None:
        return [tuple(discrete)]
    found: list[Set] = []
    if limit is not None:
        number = comb(len(discrete), limit + 1)
        if number > MOST_SETS:
            raise DataError(
                f"there are {number:,} sets of {limit + 1} columns, at most {MOST_SETS:,} are counted: "
                f"choose fewer parents ({option('max_parents', max(0, limit - 1))}) or leave columns out "
                f"({option('drop')})"
            )
        found += combinations(discrete, limit + 1)
    for names in sets or ():
        if isinstance(names, str):
            raise OptionError(f"sets is a list of lists of columns, not of texts such as {names!r}")
        places = sorted({table.schema.index(name) for name in names})
        for place in places:
            if place not in discrete:
                name = table.schema[place].name
                raise DataError(f"'{name}' is continuous, so it cannot be counted: leave it out of the sets")
        found.append(tuple(places))
    seen = {column for columns in found for column in columns}
    found += [(column,) for column in discrete if column not in seen]
    return list(dict.fromkeys(found))


def count_sets(rows: TableStatistics, sets: Sequence[Set]) -> dict[Set, OccupiedCells]:
    """The occupied cells of sets; so many that they would fill the memory are refused."""
    found: dict[Set, OccupiedCells] = {}
    numbers = 0
    for columns in sets:
        counted = rows.contingency(columns)
        numbers += counted.cells.size + counted.counts.size
        if numbers > MOST_NUMBERS:
            raise DataError(
                f"the tables of {len(found):,} of {len(sets):,} sets have {numbers:,} numbers already, at "
                f"most {MOST_NUMBERS:,} are kept: choose fewer parents ({option('max_parents')}), sets of "
                f"fewer columns, or leave columns out ({option('drop')})"
            )
        found[columns] = OccupiedCells(counted.cells.astype(np.uint16), counted.counts)
    return found
