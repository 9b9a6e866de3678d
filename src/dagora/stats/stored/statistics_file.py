"""Read a file of statistics, as `writing_statistics` says what stands in it.

A file from outside is parsed in a process of its own, and all that it says is checked.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import DataError, FormatError
from dagora.base.parsing import parse_json
from dagora.data.binary_files import describe, read_whole
from dagora.data.file_limits import Limits
from dagora.data.file_process import damaged_file, file_process
from dagora.data.readers import check_file, naming
from dagora.data.schema import MAX_LEVELS, Kind, Schema, Variable
from dagora.stats.moments import is_semidefinite
from dagora.stats.scan.kept_counts import OccupiedCells
from dagora.stats.scan.sparse import sum_by_key
from dagora.stats.stored.count_tables import CountTables, Set
from dagora.stats.stored.exact_sums import ExactSums, features_of, rounded_moments
from dagora.stats.stored.merging import MOST_ROWS
from dagora.stats.stored.stored_statistics import StoredSource, StoredStatistics
from dagora.stats.stored.writing_statistics import ENDING, FORMAT, NOTE

if TYPE_CHECKING:
    import pyarrow as pa

# Sums have at most so many digits in base 16, and units of at most so many powers of two.
INTEGER = re.compile(r"-?[0-9a-f]{1,2000}")
MOST_UNITS = 8192


def is_statistics_file(data: object) -> bool:
    """Return True for the name of a file of statistics."""
    return isinstance(data, str | Path) and str(data).lower().endswith(ENDING)


def read_statistics(file: Path) -> StoredStatistics:
    """Read a file of statistics."""
    with naming(file):
        check_file(file)
        with file_process() as process:
            said = process.ask("note", file, memory=Limits.of(file).words_memory, key=NOTE)
        if not said["note"]:
            raise DataError("it is no file of statistics: `dagora statistics DATA -o FILE.stats` writes one")
        try:
            note = parse_json(said["note"])
        except FormatError:
            raise damaged_file("its description is no JSON") from None
        about = describe(file, "parquet")
        limits = Limits.of(file)
        limits.check_cells(about.cells)
        table = read_whole(file, "parquet", about, range(len(about.schema.names)))
        try:
            return FileContent(note, table).statistics()
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
            raise damaged_file(f"its description does not fit ({' '.join(str(problem).split())})") from None


class FileContent:
    """The description and the rows of a file, which may both be wrong."""

    def __init__(self, note: dict[str, Any], table: pa.Table) -> None:
        if not isinstance(note, dict) or type(note.get("format")) is not int:
            raise damaged_file("its description says no format")
        if note["format"] != FORMAT:
            raise DataError(
                f"it has format {note['format']}, and this version of dagora reads {FORMAT}: write it again "
                "with this version, or install a later one"
            )
        self._note, self._table = note, table

    def statistics(self) -> StoredStatistics:
        """The statistics, if everything fits together."""
        note = self._note
        schema = Schema(map(read_variable, checked_list(note["columns"])))
        rows = whole(note["rows"], 1, MOST_ROWS - 1)
        limit = None if note["max_parents"] is None else whole(note["max_parents"], 0, len(schema))
        sources = tuple(
            StoredSource(text(name), whole(some, -MOST_ROWS, MOST_ROWS))
            for name, some in checked_list(note["sources"])
        )
        tables = self._counts(schema, rows)
        sums = self._sums(schema, rows)
        counts = CountTables(schema.cardinalities, tables)
        check_levels(schema, counts, sums)
        return StoredStatistics(schema, rows, counts, sums, limit, sources)

    def _counts(self, schema: Schema, rows: int) -> dict[Set, OccupiedCells]:
        """The cells of each set; each table must have all rows, and columns the same counts in all."""
        sets: list[Set] = []
        for listed in checked_list(self._note["sets"]):
            columns = tuple(whole(place, 0, len(schema) - 1) for place in checked_list(listed))
            discrete = all(schema[place].kind is Kind.DISCRETE for place in columns)
            if not columns or not discrete or sorted(set(columns)) != list(columns):
                raise damaged_file(f"{listed!r:.60} is no set of discrete columns")
            sets.append(columns)
        if len(set(sets)) != len(sets):
            raise damaged_file("a set is there twice")
        own = self._table.filter(self._table["set"].is_valid())
        number = numbers_of(own, "set")
        counts = numbers_of(own, "count")
        if (np.diff(number) < 0).any() or not np.array_equal(np.unique(number), np.arange(len(sets))):
            raise damaged_file("its sets are not one after the other")
        if (counts < 1).any() or (counts > rows).any():
            raise damaged_file("a count is not between 1 and the number of rows")
        bounds = np.searchsorted(number, np.arange(len(sets) + 1))
        most = max(map(len, sets), default=0)
        levels = [column_or_zero(own, f"level_{k + 1}") for k in range(most)]
        found: dict[Set, OccupiedCells] = {}
        seen: dict[Set, dict[tuple[int, ...], int]] = {}
        for k, columns in enumerate(sets):
            part = slice(int(bounds[k]), int(bounds[k + 1]))
            cells = np.stack([levels[place][part] for place in range(len(columns))], axis=1)
            if (cells < 0).any() or (cells >= schema.cardinalities[list(columns)]).any():
                raise damaged_file("a cell has a level that its column does not have")
            if len(np.unique(cells, axis=0)) != len(cells):
                raise damaged_file("a cell is there twice")
            if int(counts[part].sum()) != rows:
                raise damaged_file(f"a table does not have the {rows} rows that it states")
            for size in (1, 2) if len(sets) > 1 else (1,):
                for places in combinations(range(len(columns)), size):
                    kept, sums = sum_by_key(cells[:, places], counts[part])
                    margin = dict(zip(map(tuple, kept.tolist()), sums.tolist(), strict=True))
                    some = tuple(columns[place] for place in places)
                    if seen.setdefault(some, margin) != margin:
                        names = " and ".join(f"'{schema[column].name}'" for column in some)
                        raise damaged_file(f"{names}: the counts in one table are not those in another")
            found[columns] = OccupiedCells(cells.astype(np.uint16), counts[part])
        missing = [each.name for k, each in enumerate(schema) if each.cardinality and (k,) not in seen]
        if missing:
            raise damaged_file(f"'{missing[0]}' is in none of its tables")
        return found

    def _sums(self, schema: Schema, rows: int) -> ExactSums:
        """The sums of features, each once."""
        numbers = any(variable.kind is Kind.CONTINUOUS for variable in schema)
        both = len(schema.kinds) > 1
        features = features_of(schema, squares=both) if numbers else ()
        if [list(each) for each in features] != self._note["features"]:
            raise damaged_file("its features are not those of its columns")
        size = len(features)
        units = tuple(whole(unit, -MOST_UNITS, MOST_UNITS) for unit in checked_list(self._note["units"]))
        own = self._table.filter(self._table["first"].is_valid())
        if len(units) != size or len(own) != size + size * (size + 1) // 2:
            raise damaged_file("it does not have one sum for each feature and each pair of them")
        one, other = numbers_of(own, "first"), numbers_of(own, "second", missing=-1)
        first, second = np.full(size, None, dtype=object), np.full((size, size), None, dtype=object)
        for i, j, digits in zip(one.tolist(), other.tolist(), own["sum"].to_pylist(), strict=True):
            if not 0 <= i < size or not -1 <= j < size or (0 <= j < i):
                raise damaged_file("a sum is of a feature that is not there")
            if not isinstance(digits, str) or not INTEGER.fullmatch(digits):
                raise damaged_file("a sum is no whole number in base 16")
            if j < 0:
                first[i] = int(digits, 16)
            else:
                second[i, j] = second[j, i] = int(digits, 16)
        if any(each is None for each in first) or any(each is None for each in second.ravel()):
            raise damaged_file("a sum is there twice, and another one is missing")
        found = ExactSums(rows if size else 0, features, units, first, second)
        check_possible(found)
        return found


def check_possible(sums: ExactSums) -> None:
    """Refuse sums that no rows have: no correlation is beyond 1, and an indicator is its own square."""
    centred = sums.centred()
    spreads = np.diagonal(centred)
    if any(spread < 0 for spread in spreads):
        raise damaged_file("a spread is negative")
    if len(spreads):
        beyond = centred * centred > np.multiply.outer(spreads, spreads)
        if beyond.any():
            raise damaged_file("a correlation is beyond 1")
        for k, (name, power) in enumerate(sums.features):
            # An indicator is its own square; its unit is 1 or less, and so is that of the product.
            if isinstance(power, str) and sums.second[k, k] * 2 ** sums.units[k] != sums.first[k]:
                raise damaged_file(f"a level of '{name}' is not counted once in a row")

    spread = rounded_moments(sums.n, sums.units, sums.first, centred).scatter
    if np.isfinite(spread).all() and not is_semidefinite(spread):
        raise damaged_file("its sums of products are not those of any rows")


def check_levels(schema: Schema, counts: CountTables, sums: ExactSums) -> None:
    """Refuse sums of levels, and of products of two, that are not their counts in the tables."""
    found = [
        (place, (schema.index(name), schema[schema.index(name)].levels.index(level)))
        for place, (name, level) in enumerate(sums.features)
        if isinstance(level, str)
    ]
    units = sums.units
    for place, (column, code) in found:
        own = counted(counts, (column,)) or {}
        if sums.first[place] * Fraction(2) ** units[place] != own.get((code,), 0):
            raise damaged_file(f"'{schema[column].name}' has other counts in its tables than in its sums")
    pairs = {
        pair: counted(counts, pair) for pair in combinations(sorted({column for _, (column, _) in found}), 2)
    }
    for (i, (one, code)), (j, (other, second)) in combinations(found, 2):
        # No row has two levels of one column; of columns that no table has together nothing is known.
        joint = {} if one == other else pairs[one, other]
        total = sums.second[i, j] * Fraction(2) ** (units[i] + units[j])
        if joint is not None and total != joint.get((code, second), 0):
            names = " and ".join(dict.fromkeys(f"'{schema[column].name}'" for column in (one, other)))
            raise damaged_file(f"{names}: the tables have other counts than the sums of products")


def counted(counts: CountTables, columns: tuple[int, ...]) -> dict[tuple[int, ...], int] | None:
    """The counts of the cells of some columns; None where no table has them all."""
    table = counts.find(columns)
    if table is None:
        return None
    return dict(zip(map(tuple, table.cells.tolist()), table.counts.tolist(), strict=True))


def read_variable(said: dict[str, Any]) -> Variable:
    """A column of a file."""
    name, kind = text(said["name"]), Kind(said["kind"])
    levels = tuple(map(text, checked_list(said["levels"])))
    ordered = said["ordered"]
    if not isinstance(ordered, bool) or len(set(levels)) != len(levels) or len(levels) > MAX_LEVELS:
        raise damaged_file(f"column '{name}' is described in an odd way")
    if bool(levels) is not (kind is Kind.DISCRETE):
        raise damaged_file(f"column '{name}' is {kind} and has {len(levels)} levels")
    return Variable(name, kind, levels, ordered=ordered)


def checked_list(value: object) -> list[Any]:
    """A list, or a refusal."""
    if not isinstance(value, list):
        raise damaged_file(f"{value!r:.60} stands where a list should")
    return value


def text(value: object) -> str:
    """A text, or a refusal."""
    if not isinstance(value, str):
        raise damaged_file(f"{value!r:.60} stands where a text should")
    return value


def whole(value: object, low: int, high: int) -> int:
    """A whole number of a range, or a refusal."""
    if type(value) is not int or not low <= value <= high:
        raise damaged_file(f"{value!r:.60} stands where a whole number from {low} to {high} should")
    return value


def numbers_of(table: pa.Table, name: str, missing: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A column of whole numbers, in which none may be missing unless something stands for it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table[name]
    if not pa.types.is_integer(column.type):
        raise damaged_file(f"its column '{name}' has no whole numbers")
    if missing is None and column.null_count:
        raise damaged_file(f"its column '{name}' has gaps")
    if missing is not None:
        column = pc.fill_null(column, missing)
    found: np.ndarray[Any, np.dtype[np.int64]] = pc.cast(column, pa.int64()).to_numpy()
    return found


def column_or_zero(table: pa.Table, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Codes of levels; 0 where a smaller set has none."""
    return numbers_of(table, name, missing=0)
