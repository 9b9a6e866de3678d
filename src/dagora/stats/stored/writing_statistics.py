"""Write a file of statistics (`.stats`): Parquet, with a description in JSON among the metadata.

Rows with a `set` are cells: the set's number, the codes of its columns' levels (`level_1`, `level_2`, …), and
how many rows were there (`count`). Rows with a `first` are sums: of a feature, or of the product of two where
there is a `second` too, as whole numbers in base 16 (`sum`) whose units the description has.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.errors import DataError, OptionError
from dagora.base.files import json_text
from dagora.stats.stored.count_tables import CountTables
from dagora.stats.stored.exact_sums import ExactSums

if TYPE_CHECKING:
    import pyarrow as pa

ENDING = ".stats"
NOTE = "dagora-statistics"
FORMAT = 1


def write_content(file: Path, note: dict[str, Any], tables: CountTables, sums: ExactSums) -> Path:
    """Write a description, counts and sums to a file; its name must end in `.stats`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if file.suffix.lower() != ENDING:
        raise OptionError(f"{file}: a file of statistics ends in {ENDING}")
    table = pa.concat_tables([cell_rows(tables), sum_rows(sums)], promote_options="default")
    try:
        pq.write_table(table.replace_schema_metadata({NOTE: json_text(note)}), file, compression="zstd")
    except OSError as problem:
        raise DataError(f"{file}: it cannot be written: {problem.strerror or problem}") from None
    return file


def cell_rows(counts: CountTables) -> pa.Table:
    """The cells of all sets, one after the other."""
    import pyarrow as pa

    tables = list(counts.tables.values())
    sizes = [len(table.counts) for table in tables]
    number = np.repeat(np.arange(len(tables), dtype=np.int32), sizes)
    numbers = np.concatenate([np.empty(0, dtype=np.int64), *(table.counts for table in tables)])
    content: dict[str, pa.Array] = {"set": pa.array(number), "count": pa.array(numbers)}
    for k in range(counts.largest):
        codes = [
            table.cells[:, k] if k < table.cells.shape[1] else np.zeros(len(table.counts)) for table in tables
        ]
        has = np.repeat([k < table.cells.shape[1] for table in tables], sizes)
        content[f"level_{k + 1}"] = pa.array(np.concatenate(codes).astype(np.uint16), mask=~has)
    return pa.table(content)


def sum_rows(sums: ExactSums) -> pa.Table:
    """The sums of features, and of products of two of them."""
    import pyarrow as pa

    size = len(sums.features)
    upper = [(i, j) for i in range(size) for j in range(i, size)]
    values = [*sums.first.tolist(), *(sums.second[pair] for pair in upper)]
    return pa.table({
        "first": pa.array([*range(size), *(i for i, _ in upper)], pa.int32()),
        "second": pa.array([*[None] * size, *(j for _, j in upper)], pa.int32()),
        "sum": pa.array([format(int(value), "x") for value in values], pa.string()),
    })  # fmt: skip
