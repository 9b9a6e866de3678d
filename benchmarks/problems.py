"""The problems that searches are measured on: parent sets with a known optimum, samples of known networks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import dagora
from runs import data_file, network_file, one_thread, run_worker

# Proven optima, as published with the parent sets: to four decimals.
OPTIMA = {"alarm_1000": -11537.6593, "water_500c": -6785.3185}
OPTIMUM_DECIMALS = 4


def scored_sets(name: str) -> Path:
    """The parent sets of a problem whose optimum is known."""
    return data_file("scores", f"{name}.jkl")


def scored_rows(name: str) -> Path:
    """The rows that those parent sets were scored on."""
    return data_file("scores", f"{name}.csv.gz")


def is_optimum(name: str, score: float | None) -> bool:
    """Whether a score is the known optimum, as far as its decimals go."""
    return score is not None and abs(score - OPTIMA[name]) < 10.0**-OPTIMUM_DECIMALS


def sample_file(folder: Path, name: str, rows: int, seed: int) -> Path:
    """Write a sample of a network, without the columns that came out constant."""
    table = dagora.sample_network(dagora.read_network(network_file(name)), rows, seed)
    varying = [v.name for v, codes in zip(table.schema, table.columns, strict=True) if np.ptp(codes)]
    file = folder / f"{name}_{rows}_{seed}.csv"
    dagora.write_table(table.select(varying), file)
    return file


def bic(file: Path, edges: list[list[str]]) -> float:
    """BIC of a graph on the rows of a file, whose levels are those that occur."""
    table = dagora.read_table(file)
    return dagora.score(table, dagora.DAG(table.names, edges), score="bic")


def run_learner(
    data: Path,
    method: str,
    *,
    seeds: list[int],
    limit: float | None,
    warm_rows: int | None = None,
    warm: bool = True,
    threads: int = 1,
    cpu_clock: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Learn in a fresh process, once per seed, with the time limit given to the learner itself.

    Before that comes an untimed run, on the first `warm_rows` rows where that is set, unless `warm` is off.
    Without any seed that is all, which fills the cache of compiled kernels. With `cpu_clock`, the limit and
    the learner's own clock count seconds of CPU.
    """
    job = {
        "data": str(data),
        "method": method,
        "seeds": seeds,
        "warm": warm,
        "warm_rows": warm_rows,
        "cpu_clock": cpu_clock,
        "options": {"time_limit": limit, "jobs": threads, **options},
    }
    variables = one_thread() if threads == 1 else {}
    outcome = run_worker("learn_dagora.py", json.dumps(job), **variables)
    assert outcome is not None
    return outcome
