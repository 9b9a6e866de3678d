"""Count many sets of columns in one of several ways: seconds, memory, and a digest of the counts, as JSON.

python count_sets.py WAY ROWS COLUMNS SETS
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time

import numpy as np

import dagora.stats.table as table_module
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.statistics import CellCounts
from dagora.stats.table import TableStatistics

CHUNK = 1_000_000
FEW = 5000


def random_table(rows: int, columns: int) -> Table:
    """Independent columns of 2 to 12 levels, some of them rare."""
    rng = np.random.default_rng(1)
    levels = rng.integers(2, 13, columns)
    weights = [rng.dirichlet(np.ones(size)) for size in levels]
    codes = np.empty((columns, rows), dtype=np.uint16)
    for start in range(0, rows, CHUNK):
        for column, own in enumerate(weights):
            size = min(CHUNK, rows - start)
            codes[column, start : start + size] = rng.choice(len(own), size=size, p=own)
    variables = [
        Variable(f"x{k}", Kind.DISCRETE, tuple(f"l{level:02}" for level in range(size)))
        for k, size in enumerate(levels)
    ]
    return Table(Schema(variables), tuple(codes))


def random_sets(columns: int, number: int) -> list[list[int]]:
    """Sets of one to four columns."""
    rng = np.random.default_rng(2)
    return [rng.permutation(columns)[: rng.integers(1, 5)].tolist() for _ in range(number)]


def digest(counts: CellCounts) -> str:
    """A text that differs for different counts."""
    return hashlib.sha256(counts.values.tobytes() + counts.offsets.tobytes()).hexdigest()


def main() -> None:
    way, rows, columns, number = sys.argv[1], *map(int, sys.argv[2:5])
    table_module.BLOCKS_FROM = 1 << 62 if way == "one" else 0
    sets = random_sets(columns, number)
    TableStatistics(random_table(FEW, columns)).counts(sets)
    statistics = TableStatistics(random_table(rows, columns))
    started = time.process_time()
    counts = statistics.counts(sets)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "digest": digest(counts)}))


if __name__ == "__main__":
    main()
