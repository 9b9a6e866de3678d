"""Add statistics that were kept, and take some away: to the last bit what all the rows together give.

Columns must be the same and of the same types; levels that some lack are added in the order that rows would
have them in. Nothing is rounded, so the order of the parts does not matter. Of counts that are kept for
different sets, those that follow from all parts are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.ordinal import agreed_levels
from dagora.data.schema import Kind, Schema, Variable
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.scan.sparse import sum_by_key
from dagora.stats.stored.count_tables import CountTables, Set
from dagora.stats.stored.exact_sums import features_of
from dagora.stats.stored.stored_statistics import StoredSource, StoredStatistics

# More rows than floats can count are refused.
MOST_ROWS = 1 << 53


def merge_statistics(
    parts: Sequence[StoredStatistics], minus: Sequence[StoredStatistics] = ()
) -> StoredStatistics:
    """The statistics of the rows of all parts together, without those of `minus`.

    >>> import dagora
    >>> both = dagora.statistics({"a": ["x", "y"] * 9, "b": ["x", "y"] * 9})
    >>> other = dagora.statistics({"a": ["x", "z"] * 9, "b": ["x", "y"] * 9})
    >>> all_rows = merge_statistics([both, other])
    >>> all_rows.schema[0].levels, all_rows.contingency([0]).counts.tolist()
    (('x', 'y', 'z'), [18, 9, 9])
    >>> merge_statistics([all_rows], minus=[other]).schema[0].levels
    ('x', 'y')
    """
    if not parts:
        raise DataError("there are no statistics: at least one is needed")
    everything = [*parts, *minus]
    if len(everything) == 1:
        return parts[0]
    schema = common_schema(everything)
    aligned = [with_schema(part, schema) for part in everything]
    signs = [1] * len(parts) + [-1] * len(minus)
    rows = sum(sign * part.n_rows for sign, part in zip(signs, aligned, strict=True))
    if not 1 <= rows < MOST_ROWS:
        raise DataError(f"{rows:,} rows are left: take away statistics of rows that are among the others")
    sums = reduce(lambda total, k: total.combine(aligned[k].sums, signs[k]), range(1, len(aligned)),
                  aligned[0].sums)  # fmt: skip
    tables = {}
    for columns in common_sets(aligned):
        tables[columns] = add_tables(schema, columns, aligned, signs)
    limits = [part.max_parents for part in aligned if part.max_parents is not None]
    sources = tuple(
        StoredSource(source.name, sign * source.rows)
        for sign, part in zip(signs, aligned, strict=True)
        for source in part.sources
    )
    counts = CountTables(schema.cardinalities, tables)
    found = StoredStatistics(schema, rows, counts, sums, min(limits, default=None), sources)
    if not minus:
        return found
    check_spreads(found)
    return without_empty_levels(found)


def common_schema(parts: Sequence[StoredStatistics]) -> Schema:
    """The columns of the first part, with the levels of all."""
    first = parts[0]
    variables = []
    for part in parts[1:]:
        names, others = set(first.schema.names), set(part.schema.names)
        for name in sorted(names ^ others):
            have, lack = (first, part) if name in names else (part, first)
            raise DataError(
                f"{col(name)} is in {title(have, parts)} and not in {title(lack, parts)}: make statistics of "
                f"the same columns ({option('drop', name)})"
            )
        for variable in first.schema:
            own = part.schema[part.schema.index(variable.name)]
            if own.kind is not variable.kind:
                raise DataError(
                    f"{col(variable.name)} is {variable.kind} in {title(first, parts)} and {own.kind} in "
                    f"{title(part, parts)}: make one of them again "
                    f"({option(str(variable.kind), variable.name)})"
                )
    for variable in first.schema:
        name = variable.name
        own_levels = {f"in {title(part, parts)}": part.schema[part.schema.index(name)] for part in parts}
        variables.append(Variable(name, variable.kind, *agreed_levels(name, own_levels)))
    return Schema(variables)


def title(part: StoredStatistics, parts: Sequence[StoredStatistics]) -> str:
    """The name of a part in a message: its source, or its number."""
    named = part.sources[0].name if len(part.sources) == 1 else ""
    same = sum(len(other.sources) == 1 and other.sources[0].name == named for other in parts)
    return f"'{named}'" if named and same == 1 else f"part {list(parts).index(part) + 1}"


def with_schema(part: StoredStatistics, schema: Schema) -> StoredStatistics:
    """The same statistics with columns in another order, and with more levels or fewer."""
    if part.schema == schema:
        return part
    places = [schema.index(variable.name) for variable in part.schema]
    codes = {}
    for old, new in enumerate(places):
        rank = {level: code for code, level in enumerate(schema[new].levels)}
        codes[old] = np.array([rank.get(level, 0) for level in part.schema[old].levels], dtype=np.uint16)
    tables: dict[Set, OccupiedCells] = {}
    for columns, table in part.tables.tables.items():
        order = sorted(range(len(columns)), key=lambda k: places[columns[k]])
        cells = np.stack([codes[columns[k]][table.cells[:, k]] for k in order], axis=1)
        kept = np.lexsort(cells.T[::-1])
        target = tuple(places[columns[k]] for k in order)
        tables[target] = OccupiedCells(cells[kept], table.counts[kept])
    features = features_of(schema, squares=any(power != 1 for _, power in part.sums.features))
    sums = part.sums.over(features if part.sums.features else ())
    counts = CountTables(schema.cardinalities, tables)
    return StoredStatistics(schema, part.n_rows, counts, sums, part.max_parents, part.sources)


def common_sets(parts: Sequence[StoredStatistics]) -> list[Set]:
    """The sets whose counts follow from every part; of those that others contain, only the others."""
    found: dict[Set, None] = {}
    for part in parts:
        for columns in part.tables.tables:
            if all(other.tables.source_of(columns) is not None for other in parts):
                found[columns] = None
    largest = sorted(found, key=len, reverse=True)
    if largest and len(largest[0]) > 1:
        whole = set(largest[0])
        if all(set(columns) <= whole for columns in largest):
            return [largest[0]]
    return list(found)


def add_tables(
    schema: Schema, columns: Set, parts: Sequence[StoredStatistics], signs: Sequence[int]
) -> OccupiedCells:
    """The counts of a set over all parts; a cell of which more is taken away than there is is refused."""
    own = [part.tables.find(columns) for part in parts]
    cells = np.concatenate([table.cells for table in own if table is not None]).astype(np.int64)
    counts = np.concatenate(
        [sign * table.counts for sign, table in zip(signs, own, strict=True) if table is not None]
    )
    if not columns:
        return OccupiedCells(np.zeros((1, 0), dtype=np.uint16), counts.sum(keepdims=True))
    kept, sums = sum_by_key(cells, counts)
    if (sums < 0).any():
        worst = int(np.flatnonzero(sums < 0)[0])
        cell = ", ".join(
            f"{schema[column].name}={schema[column].levels[code]}"
            for column, code in zip(columns, kept[worst].tolist(), strict=True)
        )
        raise DataError(
            f"{-int(sums[worst])} more rows with {cell} are taken away than there are: take away statistics "
            "of rows that are among the others"
        )
    seen = sums > 0
    return OccupiedCells(kept[seen].astype(np.uint16), sums[seen])


def check_spreads(found: StoredStatistics) -> None:
    """Refuse sums of which more was taken away than was there: a spread cannot be negative."""
    for k, (name, power) in enumerate(found.sums.features):
        centred = found.n_rows * int(found.sums.second[k, k]) - int(found.sums.first[k]) ** 2
        if centred < 0 or int(found.sums.second[k, k]) < 0:
            what = f"{col(name)}" if power in (1, 2) else f"level '{power}' of {col(name)}"
            raise DataError(
                f"{what} would have a negative spread: take away statistics of rows that are among the others"
            )


def without_empty_levels(found: StoredStatistics) -> StoredStatistics:
    """The same without levels of which no row is left: what is left has the levels that its rows have."""
    variables = []
    for place, variable in enumerate(found.schema):
        table = found.tables.find((place,)) if variable.kind is Kind.DISCRETE else None
        levels = variable.levels
        if table is not None and not variable.ordered:
            levels = tuple(levels[code] for code in table.cells[:, 0].tolist())
        variables.append(Variable(variable.name, variable.kind, levels, ordered=variable.ordered))
    return with_schema(found, Schema(variables))
