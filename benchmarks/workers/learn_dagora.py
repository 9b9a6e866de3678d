"""Learn as a job says (JSON, see `problems.run_learner`): an untimed run if asked for, then one per seed.

The data are a table or a `.jkl` file, read anew for each run: nothing is remembered but the compiled kernels.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
from clock import hand_over, peak_memory, timed

import dagora
import dagora.base.budget
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl

# The untimed run need not come to an end.
WARMING = 20.0


def read(job: dict[str, object], rows: int | None = None) -> dagora.Table | Candidates:
    """The rows (only the first ones, if so asked) or the parent sets."""
    file = str(job["data"])
    if file.endswith(".jkl"):
        return read_jkl(file)
    table = dagora.read_table(file)
    return table if rows is None else table.take(np.arange(min(rows, table.n_rows)))


def main() -> None:
    job = json.loads(sys.argv[1])
    method, options = job["method"], job["options"]
    if job["cpu_clock"]:
        dagora.base.budget.time = SimpleNamespace(monotonic=time.process_time)
    if job["warm"]:
        brief = {**options, "time_limit": min(WARMING, options["time_limit"])}
        # The same seed takes the same way, through the same kernels.
        dagora.learn(read(job, job["warm_rows"]), method, seed=(*job["seeds"], 0)[0], **brief)
    runs = []
    for seed in job["seeds"]:
        data, reading, _ = timed(lambda: read(job))
        result, wall, cpu = timed(partial(dagora.learn, data, method, seed=seed, **options))
        content = result.to_dict()
        kept = ("score", "status", "message", "edges", "undirected", "stats", "trace", "warnings")
        runs.append({"reading": reading, "wall": wall, "cpu": cpu} | {key: content[key] for key in kept})
    hand_over(runs=runs, peak=peak_memory())


main()
