"""Columns that the path of a file says: all rows below a folder `year=2024` have that year.

Files that differ in such a part of their path are one table with a column more, as Hive and many others write
it.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from dagora.base.errors import DataError
from dagora.data.columns.cells import is_text

if TYPE_CHECKING:
    import pyarrow as pa

# The folder of rows for which nothing is known.
NOTHING = "__HIVE_DEFAULT_PARTITION__"
WHOLE = re.compile("[+-]?[0-9]{1,10}")
# Numbers of at most 15 digits, which 64 bits hold without loss.
NUMBER = re.compile(r"[+-]?(?=([.]?[0-9]){1,15}[.]?\Z)[0-9]*[.]?[0-9]*")

# By column, what a path says; None where it says that nothing is known.
PathValues = dict[str, Any]


def partition_root(place: str | Path) -> Path | None:
    """The folder below which parts of paths are columns: a folder itself, of a pattern what has no wildcard.

    >>> str(partition_root("sales/*/part-*.parquet"))
    'sales'
    """
    path = Path(place)
    if path.is_dir():
        return path
    if path.exists():
        return None
    parts = path.parts
    fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    return Path(*parts[:fixed])


def path_columns(files: Sequence[Path], root: Path | None) -> tuple[list[PathValues], dict[str, pa.DataType]]:
    """The values in each file's path below a folder, and the types of those columns: numbers or text.

    >>> files = [Path("sales/year=2024/city=Bonn/a.csv"), Path("sales/year=2025/city=Ulm%20Ost/a.csv")]
    >>> path_columns(files, Path("sales"))[0]
    [{'year': 2024, 'city': 'Bonn'}, {'year': 2025, 'city': 'Ulm Ost'}]
    """
    import pyarrow as pa

    if root is None:
        return [{} for _ in files], {}
    values_in_path = [path_values(file.relative_to(root)) for file in files]
    kinds: dict[str, pa.DataType] = {}
    for name in dict.fromkeys(name for each in values_in_path for name in each):
        values = [each[name] for each in values_in_path if each.get(name) is not None]
        read: Callable[[str], Any] = str
        kinds[name] = pa.string()
        if values and all(WHOLE.fullmatch(value) and -(2**31) <= int(value) < 2**31 for value in values):
            read, kinds[name] = int, pa.int32()
        elif values and all(map(NUMBER.fullmatch, values)):
            read, kinds[name] = float, pa.float64()
        for each in values_in_path:
            if each.get(name) is not None:
                each[name] = read(each[name])
    return values_in_path, kinds


def path_values(path: Path) -> PathValues:
    """The values in the folders of a path, as text; names and values may be written with `%20` and the like.

    >>> path_values(Path("my%20city=Ulm%20Ost/year=2024/part.csv"))
    {'my city': 'Ulm Ost', 'year': '2024'}
    >>> path_values(Path("city=%ff/part.csv"))
    Traceback (most recent call last):
    dagora.DataError: city=%ff/part.csv: the folder 'city=%ff' does not spell text: rename it
    """
    values_in_path: PathValues = {}
    for part in path.parts[:-1]:
        name, mark, value = part.partition("=")
        if mark:
            try:
                part.encode()  # names of folders need not be text
                values_in_path[unquote(name, errors="strict")] = (
                    None if value == NOTHING else unquote(value, errors="strict")
                )
            except UnicodeError:
                shown, folder = (ascii(str(each))[1:-1] for each in (path, part))
                raise DataError(f"{shown}: the folder '{folder}' does not spell text: rename it") from None
    return values_in_path


def with_path_values(
    batch: pa.RecordBatch, columns: Sequence[str], known: PathValues, kinds: Mapping[str, pa.DataType]
) -> pa.RecordBatch:
    """The rows of a file in the order of some columns; those of `kinds` are what its path says."""
    import pyarrow as pa

    arrays = [
        repeat_value(known.get(name), kinds[name], batch.num_rows) if name in kinds else batch.column(name)
        for name in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def repeat_value(value: Any, kind: pa.DataType, rows: int) -> pa.Array:  # noqa: ANN401 - of any type
    """A column that is the same in all rows; text as words and a place among them for each row."""
    import pyarrow as pa

    if is_text(kind):
        places = pa.nulls(rows, pa.int32()) if value is None else pa.array(np.zeros(rows, dtype=np.int32))
        return pa.DictionaryArray.from_arrays(places, pa.array([] if value is None else [value], kind))
    return pa.nulls(rows, kind) if value is None else pa.repeat(pa.scalar(value, kind), rows)
