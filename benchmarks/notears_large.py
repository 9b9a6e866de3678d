"""The parts of `notears.py` without a peer: hundreds of columns, and hundreds of thousands of rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dag_refit import refit
from linear_models import PENALTY, THRESHOLD, Problem, draw_problem, judge
from report import digits, markdown_table, verdict
from runs import cores, note, one_thread, run_worker

LARGE_SECONDS = {500: 30.0, 1000: 180.0}
LARGE_LIMIT, LARGE_ROWS_PER_COLUMN = 900.0, 2
MANY_ROWS, MANY_COLUMNS = 370_000, 50
# The rest may grow by this factor over ten times the rows: other rows take the search another way.
REST_GROWS = 1.5
LARGE_HEADER = (
    "problem", "jobs", "seconds", "CPU s", "peak GB", "F_DAG", "F_DAG of the truth", "SHD", "edges",
    "status",
)  # fmt: skip
ROWS_HEADER = (
    "rows × columns", "typing the columns s", "pass over the rows s", "the rest s", "`learn` s", "peak GB",
    "edges",
)  # fmt: skip


def large_section(sizes: list[int]) -> tuple[list[str], list[list[str]]]:
    """Wall time and memory on hundreds of columns, all cores."""
    lines, judged = [], []
    jobs = min(2, cores())
    with tempfile.TemporaryDirectory() as temporary:
        for size in sizes:
            rows = LARGE_ROWS_PER_COLUMN * size
            note(f"ER2, d = {size}, n = {rows}")
            problem = draw_problem(Path(temporary), "ER2", size, rows, 1)
            arguments = (problem.file, problem.file.with_suffix(".out"), PENALTY, THRESHOLD, LARGE_LIMIT)
            outcome = run_worker("notears_dagora.py", *arguments, jobs, "guarded", "once")
            promise = f"in {LARGE_SECONDS[size]:.0f} s" if size in LARGE_SECONDS else ""
            name = f"ER2, d = {size}, n = {rows}"
            if outcome is None:
                lines.append([name, str(jobs), "", f"> {LARGE_LIMIT:.0f}", "", "", "", "", "", ""])
                judged.append([name, promise, f"> {LARGE_LIMIT:.0f} CPU s", verdict(False)])
                continue
            lines.append(large_row(name, jobs, problem, outcome))
            note(f"  {outcome['wall']:.1f} s")
            if promise:
                kept = verdict(outcome["wall"] <= LARGE_SECONDS[size])
                judged.append([name, promise, f"{digits(outcome['wall'])} s", kept])
    text = (
        f"Wall seconds of `notears` as it comes on {jobs} jobs, warm kernels, one seed, "
        f"{LARGE_ROWS_PER_COLUMN} rows per column. Memory is the most the process ever held, "
        "rows and imports included."
    )
    return ["## NOTEARS on hundreds of columns", text, markdown_table(LARGE_HEADER, lines)], judged


def large_row(name: str, jobs: int, problem: Problem, outcome: dict[str, Any]) -> list[str]:
    """A line about one large problem."""
    judged = judge(problem, np.load(outcome["after"]))
    return [
        name,
        str(jobs),
        digits(outcome["wall"]),
        digits(outcome["cpu"]),
        f"{outcome['peak'] / 1e9:.2f}",
        f"{judged.f:.3f}",
        f"{refit(problem.moments, problem.truth, PENALTY)[0]:.3f}",
        str(judged.shd),
        f"{judged.edges} of {int(problem.truth.sum())}",
        outcome["status"],
    ]


def rows_section(most: int) -> tuple[list[str], list[list[str]]]:
    """The pass over the rows apart from everything else."""
    lines = []
    rests = []
    with tempfile.TemporaryDirectory() as temporary:
        for rows in (most // 100, most // 10, most):
            note(f"ER2, {rows:,} × {MANY_COLUMNS}")
            problem = draw_problem(Path(temporary), "ER2", MANY_COLUMNS, rows, 1)
            outcome = run_worker("notears_rows.py", problem.file, PENALTY, THRESHOLD, **one_thread())
            problem.file.unlink()
            assert outcome is not None
            rests.append(outcome["rest_cpu"])
            shown = [digits(outcome[key]) for key in ("making", "passing_cpu", "rest_cpu", "whole_cpu")]
            lines.append(
                [f"{rows:,} × {MANY_COLUMNS}", *shown, f"{outcome['peak'] / 1e9:.2f}", str(outcome["edges"])]
            )
    growth = rests[-1] / rests[-2]
    kept = verdict(growth <= REST_GROWS) if most >= MANY_ROWS else "small run"
    promise = f"ten times the rows: the rest at most {REST_GROWS} times as long"
    judged = [[f"{most:,} × {MANY_COLUMNS}", promise, f"{growth:.2f} times", kept]]
    text = (
        f"ER2, d = {MANY_COLUMNS}, one seed, one thread, warm kernels, CPU seconds. The pass makes the "
        "moments; the rest is `learn` on those; `learn` on the table does both. Typing the columns of the "
        "matrix, which also looks for missing values, comes before all."
    )
    return ["## NOTEARS on many rows", text, markdown_table(ROWS_HEADER, lines)], judged
