"""NOTEARS on a thousand columns and more: seconds by stage, SHD and memory, on the processor and on a GPU.

    python benchmarks/notears_wide.py --sizes 500 1000 --jobs 1 16 --devices cpu gpu

Needs nothing beyond dagora (and JAX for `gpu`). One line of JSON per run. `stages` are wall seconds; what is
done for both orders at once counts with the slower one. `digest` is that of the weights: runs that differ in
the number of jobs alone must have the same one. BLAS has threads of its own (OMP_NUM_THREADS), which the
number of jobs does not change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import sys
import threading
import time
import warnings
from collections import defaultdict

import numpy as np

import dagora
from dagora.learners.optimise import notears
from dagora.learners.optimise.path import order_descent, path_solver, smooth_path, wide_moves
from dagora.learners.optimise.path.path_on_gpu import PathOnGpu
from dagora.learners.optimise.path.path_on_processor import PathOnProcessor

WARM_NODES, WARM_ROWS = 210, 420
STAGES = {
    "moments": [(notears, "make_loss")],
    "path": [(path_solver, "path_on_device")],
    "path: elastic nets": [(PathOnProcessor, "solve"), (PathOnGpu, "solve")],
    "path: inverses": [(PathOnProcessor, "barrier"), (PathOnGpu, "barrier")],
    "path: objective": [(PathOnProcessor, "objective"), (PathOnGpu, "objective")],
    "path: cycles": [(smooth_path, "is_cyclic")],
    "first order": [(path_solver, "acyclic_support")],
    "orders solved": [(path_solver, "solve_given_order")],
    "orders improved": [(path_solver, "improve_order")],
    "orders: moves": [(order_descent, "descend_fully")],
    "orders: moves made": [(wide_moves.WideMoves, "_move")],
    "threshold": [(path_solver, "threshold_program")],
    "sortability": [(notears, "report_sortability")],
    "baseline": [(notears, "sorting_baseline")],
}


class Clock:
    """Wall seconds by stage and thread."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, int], float] = defaultdict(float)
        for stage, places in STAGES.items():
            for owner, name in places:
                self.watch(stage, owner, name)

    def watch(self, stage: str, owner: object, name: str) -> None:
        """Put a watch around a function of a module or class."""
        original = getattr(owner, name)

        def watched(*arguments: object, **named: object) -> object:
            start = time.perf_counter()
            try:
                found = original(*arguments, **named)
                # What a GPU still computes belongs here.
                return found.block_until_ready() if hasattr(found, "block_until_ready") else found
            finally:
                self.spent[stage, threading.get_ident()] += time.perf_counter() - start

        setattr(owner, name, watched)

    def read(self) -> dict[str, float]:
        """Seconds by stage since the last reading; of several threads the slowest."""
        found: dict[str, float] = {}
        for (stage, _), seconds in self.spent.items():
            found[stage] = max(found.get(stage, 0.0), round(seconds, 2))
        self.spent.clear()
        return found


def draw(size: int, rows: int, degree: int, seed: int) -> tuple[dagora.DAG, dagora.Table]:
    graph = dagora.random_dag("er", size, degree, seed)
    return graph, dagora.simulate(graph, "gaussian", rows, seed).table


def peak_bytes() -> int:
    """The most memory this process ever held, that of earlier runs included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(
    clock: Clock,
    graph: dagora.DAG,
    table: dagora.Table,
    seed: int,
    jobs: int,
    device: str,
    limit: float | None,
) -> dict[str, object]:
    """Learn once and judge."""
    clock.read()
    wall, cpu = time.perf_counter(), time.process_time()
    result = dagora.learn(table, "notears", jobs=jobs, device=device, time_limit=limit)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    truth, found = graph.to_numpy(), result.weights != 0
    different = truth != found
    distance = int(np.triu(different | different.T).sum())
    return {
        "columns": len(truth), "rows": table.n_rows, "seed": seed, "device": device, "jobs": jobs,
        "seconds": round(wall, 2), "cpu_seconds": round(cpu, 2), "shd": distance, "edges": int(truth.sum()),
        "shd_percent": round(100 * distance / int(truth.sum()), 3), "objective": -result.score,
        "peak_gb": round(peak_bytes() / 1e9, 2),
        "digest": hashlib.sha256(np.ascontiguousarray(result.weights).tobytes()).hexdigest()[:12],
        "stages": clock.read(), "status": result.status, "message": result.message,
        "warnings": [str(each) for each in result.warnings if "GPU" in str(each)],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--devices", nargs="+", default=["cpu"], choices=["auto", "cpu", "gpu"])
    parser.add_argument("--degree", type=int, default=2, help="expected edges per column")
    parser.add_argument("--rows-per-column", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="end each run after so many seconds")
    given = parser.parse_args()
    warnings.simplefilter("ignore", dagora.DagoraWarning)
    clock = Clock()
    _, warm = draw(WARM_NODES, WARM_ROWS, given.degree, 1)
    for device in given.devices:  # loads or compiles kernels
        dagora.learn(warm, "notears", jobs=1, device=device)
    for size in given.sizes:
        for seed in given.seeds:
            graph, table = draw(size, given.rows_per_column * size, given.degree, seed)
            for device in given.devices:
                for jobs in given.jobs:
                    found = measure(clock, graph, table, seed, jobs, device, given.limit)
                    print(json.dumps(found), flush=True)


main()
