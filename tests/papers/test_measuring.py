"""Cells: each measured once, kept at once, in any number of processes, and never again after an interruption."""

import gzip
import json
import os
from pathlib import Path

import pytest

from dagora.base.budget import Budget
from dagora.base.errors import DataError, FormatError, OptionError
from dagora.base.events import Event
from dagora.base.wording import COMMAND
from dagora.learners.run import Run
from dagora.papers.cell_file import CellFile
from dagora.papers.experiment import Experiment
from dagora.papers.measuring import attempt, kept_cells, measure_cells
from tests.papers.toy import computed, refuse_three, square, summary, toy, wait_on_two

ALL = [(x, seed) for x in (1, 2, 3) for seed in (0, 1)]


def values(harvest) -> list[int]:
    return [cell.numbers["square"] for cell in harvest.measured]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def file(tmp_path: Path) -> CellFile:
    return CellFile(tmp_path / "cells.jsonl")


def test_each_cell_once_and_none_again(file: CellFile, log: Path) -> None:
    first = measure_cells(toy(log), file, Run())
    assert (values(first), first.total, first.kept, first.complete) == ([1, 2, 4, 5, 9, 10], 6, 0, True)
    assert computed(log) == ALL
    again = measure_cells(toy(log), file, Run())
    assert (again.measured, again.kept) == (first.measured, 6)
    assert computed(log) == ALL


def test_packed_cells_are_read_and_left_alone(file: CellFile, log: Path) -> None:
    measure_cells(toy(log, xs=(1, 2)), file, Run())
    packed = file.path.with_name("cells.jsonl.gz")
    packed.write_bytes(gzip.compress(file.path.read_bytes()))
    file.path.unlink()
    assert kept_cells(toy(log), file).total == 6
    assert values(kept_cells(toy(log), file)) == [1, 2, 4, 5]
    before = packed.read_bytes()
    assert measure_cells(toy(log), file, Run()).complete
    assert len(file.path.read_text().splitlines()) == 2, "only what was new"
    assert packed.read_bytes() == before


def test_a_larger_size_measures_only_what_is_new(file: CellFile, log: Path) -> None:
    measure_cells(toy(log, xs=(2,)), file, Run())
    harvest = measure_cells(toy(log), file, Run())
    assert values(harvest) == [1, 2, 4, 5, 9, 10]  # in the order of the cells, not of the file
    assert sorted(computed(log)) == ALL
    assert harvest.kept == 2


def test_a_changed_setting_or_revision_has_cells_of_its_own(
    file: CellFile, log: Path, tmp_path: Path
) -> None:
    measure_cells(toy(log), file, Run())
    other = tmp_path / "other"
    assert measure_cells(toy(other), file, Run()).kept == 0
    assert computed(other) == ALL
    assert measure_cells(toy(log, revision=2), file, Run()).kept == 0
    assert computed(log) == ALL + ALL
    stranger = Experiment("toy/others", toy(log).cells, square, summary)
    assert measure_cells(stranger, file, Run()).kept == 0


def test_stopped_between_cells_it_goes_on_there(file: CellFile, log: Path) -> None:
    budget = Budget()

    def stop(event: Event) -> None:
        if event.step == 2:
            budget.stop("it was interrupted")

    part = measure_cells(toy(log), file, Run(budget=budget, on_event=stop))
    assert (values(part), part.complete) == ([1, 2], False)
    assert computed(log) == ALL[:2]
    whole = measure_cells(toy(log), file, Run())
    assert (values(whole), whole.kept, whole.complete) == ([1, 2, 4, 5, 9, 10], 2, True)
    assert computed(log) == ALL


def test_a_cell_cut_short_is_thrown_away(file: CellFile, log: Path) -> None:
    part = measure_cells(toy(log, measure=wait_on_two), file, Run(budget=Budget(1.0)))
    assert values(part) == [1, 2]
    assert computed(log) == ALL[:3]  # the third was begun
    assert len(file.read()) == 2


def test_processes_give_the_same(file: CellFile, log: Path) -> None:
    threads = os.environ.get("OMP_NUM_THREADS")
    events: list[Event] = []
    harvest = measure_cells(toy(log), file, Run(jobs=2, on_event=events.append))
    assert values(harvest) == [1, 2, 4, 5, 9, 10]
    assert sorted(computed(log)) == ALL
    pids = {int(line.split()[2]) for line in log.read_text().splitlines()}
    assert os.getpid() not in pids
    assert (events[-1].total, max(event.step for event in events)) == (6, 6)
    assert os.environ.get("OMP_NUM_THREADS") == threads
    measure_cells(toy(log), file, Run(jobs=2))
    assert len(computed(log)) == 6


def test_processes_stop_when_told(file: CellFile, log: Path) -> None:
    budget = Budget()

    def stop(event: Event) -> None:
        if event.step == 2:
            budget.stop("it was interrupted")

    experiment = toy(log, xs=(1, 2), measure=wait_on_two)  # the last two cells would go on forever
    part = measure_cells(experiment, file, Run(budget=budget, jobs=2, on_event=stop))
    assert values(part) == [1, 2]
    assert len(file.read()) == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_names_its_cell_and_keeps_the_rest(file: CellFile, log: Path, jobs: int) -> None:
    with pytest.raises(DataError, match=r"^toy/squares, x=3 seed=. log=.*: three is not liked$"):
        measure_cells(toy(log, measure=refuse_three), file, Run(jobs=jobs))
    assert len(file.read()) == 4


def test_progress_counts_cells(file: CellFile, log: Path) -> None:
    events: list[Event] = []
    measure_cells(toy(log), file, Run(on_event=events.append))
    assert [(event.step, event.total) for event in events] == [(i, 6) for i in range(1, 7)]
    assert events[0].message.startswith("x=1 seed=0")


def test_a_line_cut_off_by_a_crash_is_measured_again(file: CellFile, log: Path) -> None:
    whole = measure_cells(toy(log), file, Run())
    content = file.path.read_bytes()
    file.path.write_bytes(content[:-9])
    assert measure_cells(toy(log), file, Run()).measured == whole.measured
    assert computed(log) == [*ALL, ALL[-1]]
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    assert [line["numbers"]["square"] for line in lines] == [1, 2, 4, 5, 9, 10]


def test_a_damaged_line_is_refused(file: CellFile, log: Path) -> None:
    measure_cells(toy(log), file, Run())
    lines = file.path.read_text().splitlines()
    for damage in ("not json", "[1, 2]", '{"item": "toy/squares"}', "3"):
        file.path.write_text("\n".join([lines[0], damage, *lines[2:], ""]))
        with pytest.raises(FormatError, match=r"cells\.jsonl: line 2 is no measured cell"):
            measure_cells(toy(log), file, Run())
    assert computed(log) == ALL


def test_two_cells_of_one_name_are_a_mistake(log: Path) -> None:
    with pytest.raises(ValueError, match="same parameters"):
        toy(log, xs=(1, 1))


def test_the_error_of_a_cell_keeps_its_parts() -> None:
    def refuse(cell: object, run: Run) -> dict[str, float]:
        raise OptionError(option="max_parents", value=-1, must="be 0 or more")

    with pytest.raises(OptionError) as caught:
        attempt(Experiment("toy", ({"x": 1},), refuse, summary), {"x": 1}, Run())
    assert caught.value.option == "max_parents"
    assert caught.value.render(COMMAND).startswith("toy, ")
    assert "--max-parents must be 0 or more" in caught.value.render(COMMAND)
