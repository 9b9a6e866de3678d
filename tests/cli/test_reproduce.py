"""`dagora reproduce`: the list, a run from beginning to end, and going on after a time limit or Ctrl-C."""

import csv
import json
import math
import shlex
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from dagora.cli.ctrl_c import INTERRUPTED
from dagora.learners.run import Run
from dagora.papers.cell import Numbers, Parameters
from dagora.papers.experiment import Size
from dagora.papers.registry import ITEMS, Item
from tests.papers.toy import computed, square, toy, wait_on_two


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """What should be done in a moment shows no progress, even where it takes longer than that."""
    monkeypatch.setattr("dagora.cli.live_line.FIRST_SECONDS", math.inf)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the toy experiment the item `toy/squares`; the file says which cells were computed."""
    item = Item("toy/squares", "squares", "tests.papers.toy:toy", "nobody", "a few", "a few more")
    monkeypatch.setattr("dagora.papers.registry.ITEMS", (*ITEMS, item))
    path = tmp_path / "log"
    use(monkeypatch, path)
    return path


def use(monkeypatch: pytest.MonkeyPatch, log: Path, measure: Callable = square) -> None:
    monkeypatch.setattr(
        Item, "load", lambda self: lambda size: toy(log, (1, 2, 3) if size.full else (1, 2), measure)
    )


def test_alone_it_lists_the_items(run: Callable) -> None:
    for arguments in ([], ["--list"], ["notears", "--list"]):
        ran = run("reproduce", *arguments)
        assert (ran.code, ran.err) == (0, "")
        for item in ITEMS:
            listed = item.name.startswith("notears") or "notears" not in arguments
            assert (item.name in ran.out and item.summary in ran.out) == listed


def test_the_list_as_json(run: Callable) -> None:
    entries = json.loads(run("reproduce", "--json").out)
    assert [entry["name"] for entry in entries] == [item.name for item in ITEMS]
    assert all(entry["summary"] and entry["reference"] for entry in entries)
    assert all("maker" not in entry for entry in entries)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_item_is_there(item: Item) -> None:
    assert callable(item.load())
    assert item.name.count("/") == 1


def test_a_run_prints_the_table_and_names_its_files(run: Callable, log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    ran = run("reproduce", "toy/squares", "-o", folder)
    assert ran.code == 0
    assert "| 2 | 4.50 ± 0.50 |" in ran.out
    assert "finished: 4 cells are measured (" in ran.out
    names = ["toy-squares.csv", "toy-squares.md", "toy-squares.cells.jsonl"]
    assert ran.err.splitlines() == [f"written: {folder / name}" for name in names]
    assert sorted(file.name for file in folder.iterdir()) == sorted(names)
    page = (folder / "toy-squares.md").read_text()
    assert page.startswith("## toy (quick size: a few)\n\n`dagora reproduce toy/squares`\n\n| x | x²")
    assert page.endswith("\n\n- squares\n")
    rows = list(csv.reader((folder / "toy-squares.csv").read_text().splitlines()))
    assert rows == [["x", "x²", "x² standard error"], ["1", "1.5", "0.5"], ["2", "4.5", "0.5"]]


def test_full_goes_on_from_quick(run: Callable, log: Path, tmp_path: Path) -> None:
    run("reproduce", "toy/squares", "-o", tmp_path / "out")
    ran = run("reproduce", "toy/squares", "--full", "-o", tmp_path / "out")
    assert "6 cells are measured, 4 of them before" in ran.out
    assert computed(log) == [(x, seed) for x in (1, 2, 3) for seed in (0, 1)]
    assert "`dagora reproduce toy/squares --full`" in (tmp_path / "out/toy-squares.md").read_text()


def test_drawing_measures_nothing(run: Callable, log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    ran = run("reproduce", "toy/squares", "--draw", "-o", folder)
    assert ran.code == 2
    assert f"no cell of toy/squares is in {folder}: leave out --draw to measure them" in ran.err
    run("reproduce", "toy/squares", "-o", folder)
    page = (folder / "toy-squares.md").read_text()
    (folder / "toy-squares.md").unlink()
    before = computed(log)
    assert "finished: 4 cells are measured" in run("reproduce", "toy/squares", "--draw", "-o", folder).out
    assert (folder / "toy-squares.md").read_text() == page
    ran = run("reproduce", "toy/squares", "--full", "--draw", "-o", folder)
    assert "finished: 4 of 6 cells are measured and drawn" in ran.out
    assert computed(log) == before


def test_json(run: Callable, log: Path, tmp_path: Path) -> None:
    ran = run("reproduce", "toy/squares", "-o", tmp_path / "out", "--json", "--quiet")
    assert ran.err == ""
    content = json.loads(ran.out)
    assert (content["item"], content["status"], content["cells"], content["total_cells"]) == (
        "toy/squares", "finished", 4, 4,
    )  # fmt: skip
    assert content["tables"][0]["rows"][0] == [1, {"mean": 1.5, "standard_error": 0.5, "runs": 2}]
    assert all(Path(name).is_file() for name in content["files"])


def test_a_time_limit_keeps_what_is_done(
    run: Callable, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0)  # the budget's: it stands still until the cells of 2 are reached

    def pass_time_on_two(parameters: Parameters, run: Run) -> Numbers:
        clock.now += parameters["x"] == 2
        return wait_on_two(parameters, run)

    use(monkeypatch, log, pass_time_on_two)
    with monkeypatch.context() as patch:
        patch.setattr("dagora.base.budget.time", SimpleNamespace(monotonic=lambda: clock.now))
        ran = run("reproduce", "toy/squares", "--time-limit", 0.5, "-o", tmp_path / "out")
    assert ran.code == 0
    assert "time-limit: the time limit of 0.5 s was reached; 2 of 4 cells are measured and kept: " in ran.out
    assert "run the same command again" in ran.out
    page = tmp_path / "out" / "toy-squares.md"
    assert "**Incomplete: 2 of 4 cells are measured.**" in page.read_text()
    use(monkeypatch, log)
    whole = run("reproduce", "toy/squares", "-o", tmp_path / "out")
    assert "4 cells are measured, 2 of them before" in whole.out
    assert "Incomplete" not in page.read_text()
    assert computed(log) == [(1, 0), (1, 1), (2, 0), (2, 0), (2, 1)]


def test_nothing_measured_writes_no_table(
    run: Callable, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Item, "load", lambda self: lambda size: toy(log, (2,), wait_on_two))
    ran = run("reproduce", "toy/squares", "--time-limit", 0.3, "-o", tmp_path / "out")
    assert ran.code == 0
    assert "0 of 2 cells are measured" in ran.out
    assert list((tmp_path / "out").iterdir()) == []


def test_a_full_disk_is_one_line(
    run: Callable, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("reproduce", "toy/squares", "-o", tmp_path / "out")
    before = (tmp_path / "out/toy-squares.md").read_text()

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    for size in ([], ["--full"]):  # the page cannot be written; a cell cannot
        ran = run("reproduce", "toy/squares", *size, "-o", tmp_path / "out")
        assert ran.code == 2
        assert "no space left" in ran.err
        assert len(ran.err.splitlines()) == 1
    assert (tmp_path / "out/toy-squares.md").read_text() == before


def test_ctrl_c_as_a_process(start: Callable, tmp_path: Path) -> None:
    arguments = ("reproduce", "notears/fig3", "--full", "-o", tmp_path, "--quiet")
    cells = tmp_path / "notears-fig3.cells.jsonl"
    for number in (2, 4, 6):
        process = start(*arguments)
        deadline = time.monotonic() + 60
        while not (cells.exists() and cells.read_text().count("\n") >= number):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        if process.returncode != INTERRUPTED:  # a kernel was just being compiled: the cells are kept
            break
    assert process.returncode == 0, err
    assert "time-limit: it was interrupted; " in out
    assert "run the same command again to go on" in out
    assert "Traceback" not in err
    kept = [json.loads(line) for line in cells.read_text().splitlines()]
    assert len(kept) >= 2


@pytest.mark.parametrize("given", [[], ["--full"], ["--seed", "3"], ["--full", "--seed", "3"]])
def test_the_command_on_a_page_writes_that_page(
    run: Callable, log: Path, tmp_path: Path, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[Size] = []
    monkeypatch.setattr(Item, "load", lambda self: lambda size: sizes.append(size) or toy(log, (1, 2)))
    run("reproduce", "toy/squares", *given, "-o", tmp_path / "one")
    page = (tmp_path / "one/toy-squares.md").read_text()
    run(*shlex.split(page.split("`")[1])[1:], "-o", tmp_path / "two")
    assert page == (tmp_path / "two/toy-squares.md").read_text()
    assert sizes == [Size("--full" in given, 3 if "--seed" in given else 0)] * 2


def test_only_some_cells(run: Callable, log: Path, tmp_path: Path) -> None:
    """The page has these and those that were there; the others can follow."""
    assert run("reproduce", "toy/squares", "--full", "--only", "x=3", "-o", tmp_path).code == 0
    assert [x for x, _ in computed(log)] == [3, 3]
    ran = run("reproduce", "toy/squares", "--full", "--only", "x=1", "-o", tmp_path)
    assert [x for x, _ in computed(log)] == [3, 3, 1, 1]
    assert "finished: 4 of 6 cells are measured and drawn" in ran.out
    run("reproduce", "toy/squares", "--full", "-o", tmp_path)
    assert [x for x, _ in computed(log)] == [3, 3, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("condition", "line"),
    [
        ("x=4", "there is no x named '4': known are 1, 2"),
        ("y=1", "there is no parameter named 'y': known are x, seed, log"),
    ],
)
def test_only_cells_that_there_are(
    run: Callable, log: Path, tmp_path: Path, condition: str, line: str
) -> None:
    ran = run("reproduce", "toy/squares", "--only", condition, "-o", tmp_path)
    assert (ran.code, ran.err.splitlines()) == (2, [f"dagora: error: {line}"])
