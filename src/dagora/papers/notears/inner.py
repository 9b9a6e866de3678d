"""Algorithm 1 on the tables of table 1, with the inner solver of the paper and that of its authors' code."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from dagora.api.learn import learn
from dagora.base.errors import DagoraError
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.contrasts import interval
from dagora.papers.experiment import Experiment, Size
from dagora.papers.notears.contenders import simulate_cell, warm_up
from dagora.papers.notears.table1 import THRESHOLD, table_cells
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable, group, mean, mean_of

SOLVERS = ("proximal", "split")

NOTES = paragraphs("""
Means ± standard errors over the random graphs of `notears/table1` (d = 10, Gaussian noise). `proximal`: the
inner solver of the paper's section 4.2, proximal quasi-Newton with an active set (for λ = 0 L-BFGS), with our
line search and tolerance. `split`: that of the authors' public code, L-BFGS-B on W⁺ − W⁻, which
`published=true` has unless `inner=proximal` is given.

F is before the threshold; the last W need only be nearly acyclic. “Lower F”: on how many tables F of
`proximal` is lower, or higher, by more than 0.1 %. “Same graph”: on how many the weights of at least 0.3
belong to the same edges. “Converged”: h ≤ 10⁻⁸. CPU seconds are for one table, compilation excluded; the
cells kept in the repository are from two machines, so that only the two solvers of a line compare.
""")


def inner(size: Size) -> Experiment:
    """Make the experiment."""
    return Experiment("notears/inner", table_cells(size), measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """Both on one table."""
    table, numbers, edges = simulate_cell(parameters).table, {}, []
    warm_up("notears-published")
    for solver in SOLVERS:
        started = time.process_time()
        found = learn(
            table, "notears", published=True, inner=solver, lambda1=float(parameters["lambda1"]),
            threshold=THRESHOLD, budget=run.budget,
        )  # fmt: skip
        numbers[f"{solver}_seconds"] = time.process_time() - started
        if found.raw_weights is None:
            raise DagoraError("no solution was found")
        numbers[f"{solver}_objective"] = found.stats["objective_before_threshold"]
        numbers[f"{solver}_evaluations"] = found.stats["evaluations"]
        numbers[f"{solver}_converged"] = found.status == "finished"
        edges.append(np.abs(found.raw_weights) >= THRESHOLD)
    return {**numbers, "same": bool((edges[0] == edges[1]).all())}


def report(measured: Sequence[MeasuredCell]) -> Report:
    """A line for each row of table 1, and one for all tables."""
    rows: list[tuple[Entry, ...]] = []
    for key, cells in [*group(measured, ("n", "lambda1", "graph")).items(), (("all", "", ""), measured)]:
        apart = [
            float(cell.numbers["proximal_objective"]) / float(cell.numbers["split_objective"]) - 1
            for cell in cells
        ]
        lower, higher = sum(one < -0.001 for one in apart), sum(one > 0.001 for one in apart)
        row: list[Entry] = [*map(str, key)]
        for name in ("objective", "evaluations", "seconds"):
            row += [mean_of(cells, f"{solver}_{name}") for solver in SOLVERS]
        row += [sum(bool(cell.numbers[f"{solver}_converged"]) for cell in cells) for solver in SOLVERS]
        rows.append(
            (*row, f"{lower}, {higher}", sum(bool(cell.numbers["same"]) for cell in cells), len(cells))
        )
    columns = (
        "n", "λ", "graph", "F, proximal", "F, split", "evaluations, proximal", "evaluations, split",
        "CPU s, proximal", "CPU s, split", "converged, proximal", "converged, split", "lower F, higher F",
        "same graph", "graphs",
    )  # fmt: skip
    digits = (0, 0, 0, 3, 3, 0, 0, 2, 2, 0, 0, 0, 0, 0)
    table = ResultTable("inner", "Algorithm 1 with either inner solver, d = 10", columns, tuple(rows), digits)
    apart_all = mean(
        100 * (float(cell.numbers["proximal_objective"]) / float(cell.numbers["split_objective"]) - 1)
        for cell in measured
    )
    told = f"F of `proximal` is {interval(apart_all, 2)} % above that of `split`, with its 95 % interval."
    return Report("notears/inner: the inner solver of Algorithm 1", (table,), {}, (*NOTES, told))
