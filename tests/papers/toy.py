"""A toy experiment whose cells leave a trace of every time they are measured, in whatever process."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from dagora.base.errors import DataError
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment
from dagora.papers.reports import Report
from dagora.papers.tables import ResultTable, group, mean_of


def square(parameters: Parameters, run: Run) -> Numbers:
    """x² + seed; a line in the file `log` says that it was computed, and by whom."""
    with Path(str(parameters["log"])).open("a") as log:
        log.write(f"{parameters['x']} {parameters['seed']} {os.getpid()}\n")
    return {"square": int(parameters["x"]) ** 2 + int(parameters["seed"])}


def refuse_three(parameters: Parameters, run: Run) -> Numbers:
    if parameters["x"] == 3:
        raise DataError("three is not liked")
    return square(parameters, run)


def wait_on_two(parameters: Parameters, run: Run) -> Numbers:
    """Like a learner that obeys its budget: at x = 2 it goes on until it is told to stop."""
    while parameters["x"] == 2 and not run.budget.exhausted:
        time.sleep(0.01)
    return square(parameters, run)


def end_the_process(parameters: Parameters, run: Run) -> Numbers:
    os._exit(9)


def summary(measured: Sequence[MeasuredCell]) -> Report:
    rows = tuple((*key, mean_of(cells, "square")) for key, cells in group(measured, ("x",)).items())
    return Report("toy", (ResultTable("squares", "Squares", ("x", "x²"), rows),), notes=("squares",))


def toy(
    log: Path, xs: Sequence[int] = (1, 2, 3), measure=square, seeds: int = 2, revision: int = 1
) -> Experiment:
    cells = tuple({"x": x, "seed": seed, "log": str(log)} for x in xs for seed in range(seeds))
    return Experiment("toy/squares", cells, measure, summary, revision)


def computed(log: Path) -> list[tuple[int, int]]:
    """The cells that were computed, in order, each as often as it was."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(line.split()[0]), int(line.split()[1])) for line in lines]
