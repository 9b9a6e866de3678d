"""One row of the page "How large?": write a Parquet file piece by piece, or learn from one, as JSON.

python how_large_run.py write FILE ROWS COLUMNS LEVELS
python how_large_run.py scan|plain|memory FILE METHOD JOBS
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np

PIECE = 1_000_000
MOST_PARENTS = 2


def write(file: str, rows: int, columns: int, most_levels: int) -> None:
    """Draw rows from a random network of text columns, a million at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(3)
    levels = rng.integers(2, most_levels + 1, columns)
    parents = [
        sorted(rng.permutation(k)[: rng.integers(0, MOST_PARENTS + 1)].tolist()) for k in range(columns)
    ]
    chances = [
        np.cumsum(rng.dirichlet(np.ones(levels[k]), int(np.prod(levels[own], initial=1))), axis=1)
        for k, own in enumerate(parents)
    ]
    words = [pa.array([f"l{level:02}" for level in range(size)]) for size in levels]
    schema = pa.schema([(f"x{k:02}", pa.string()) for k in range(columns)])
    with pq.ParquetWriter(file, schema) as writer:
        for start in range(0, rows, PIECE):
            size = min(PIECE, rows - start)
            codes: list[np.ndarray] = []
            for k, own in enumerate(parents):
                cell = np.zeros(size, dtype=np.int64)
                for parent in own:
                    cell = cell * levels[parent] + codes[parent]
                drawn = rng.random(size)
                codes.append(
                    sum((drawn > chances[k][cell, level]) for level in range(levels[k] - 1)) + 0 * cell
                )
            cells = [words[k].take(pa.array(codes[k])) for k in range(columns)]
            writer.write_table(pa.table(cells, schema=schema))
    print("{}")


def learn(how: str, file: str, method: str, jobs: int) -> None:
    """Search from the file: by passes over it, also without a sample (plain), or from a table in memory."""
    import dagora
    import dagora.data.scan.screening_sample as sampling

    if how == "plain":
        sampling.MOST_ROWS = 0
    begun, used = time.perf_counter(), time.process_time()
    rows = dagora.open_rows(file, jobs=jobs) if how != "memory" else dagora.read_table(file)
    result = dagora.learn(rows, method=method, jobs=jobs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    outcome = {
        "wall": time.perf_counter() - begun,
        "cpu": time.process_time() - used,
        "peak": peak,
        "passes": result.stats.get("passes", 0),
        "score": result.score,
        "edges": [list(edge) for edge in result.graph.edges],
    }
    print(json.dumps(outcome))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        learn(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
