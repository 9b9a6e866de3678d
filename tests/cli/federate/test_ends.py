"""How `federate simulate` and the coordinator end: with whose words, on Ctrl-C, and what they leave behind."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.data.writers import write_table
from dagora.formats.registry import write_graph
from dagora.graph.dag import DAG
from dagora.parties.horizontal.learners.tasks import TASKS
from tests.cli.federate.consortium import (
    COORDINATOR,
    ENDLESS,
    PATIENCE,
    SITES,
    agree_on,
    client_line,
    coordinator_line,
    only_line,
)
from tests.parties.processes.faults import alive

PARTIES = ("--parties", 3)


def written(rows: np.ndarray, file: Path) -> Path:
    write_table(Table.from_numpy(rows, "abc", continuous=list("abc")), file)
    return file


@pytest.fixture
def normal() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(60, 3))


def refused_alike(run: Callable, *arguments: object) -> str:
    """The one line of a simulation, which must be the same with threads and with processes."""
    threads = run("federate", "simulate", *arguments, "--quiet", "--in-memory")
    processes = run("federate", "simulate", *arguments, "--quiet")
    assert (threads.code, processes.code) == (2, 2)
    assert only_line(processes) == only_line(threads)
    return only_line(processes)


@pytest.mark.slow
def test_bad_columns_are_bad_input_with_processes_too(
    run: Callable, normal: np.ndarray, tmp_path: Path
) -> None:
    normal[:, 1] = 3.25
    file = written(normal, tmp_path / "constant.csv")
    assert "column 'b' is constant" in refused_alike(run, file, *PARTIES, "-m", "notears")


@pytest.mark.slow
def test_what_a_method_cannot_obey_is_bad_input_with_processes_too(run: Callable, numbers: Path) -> None:
    line = refused_alike(run, numbers, *PARTIES, "-m", "notears", "--max-parents", 2)
    assert line.startswith("the method notears cannot obey --max-parents")


@pytest.mark.slow
def test_a_site_that_refuses_its_rows_is_quoted(run: Callable, normal: np.ndarray, tmp_path: Path) -> None:
    """The coordinator only knows that it refused."""
    file = written(normal, tmp_path / "numbers.csv")
    second = split_rows(dagora.read_table(file), 3, seed=0)[1]
    normal[np.isin(normal[:, 1], second.values(1)), 1] = 0.5
    line = refused_alike(run, written(normal, file), *PARTIES, "-m", "vote", "--option", "model=mlp")
    assert line.startswith("site2: column 'b' is constant")


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a process nor a listener may be needed to refuse."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("it was not refused at once")

    monkeypatch.setattr("dagora.parties.processes.party_processes.PartyProcesses.start", refuse)
    monkeypatch.setattr("dagora.parties.transport.listener.Listener.__init__", refuse)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-m", "notears-mlp"), "the method notears-mlp needs rows"),
        (("-m", "notears", "--option", "loss=logistic"), "loss=logistic needs rows"),
        (("-m", "tabu", "--score", "gp"), "the score gp needs rows"),
        (("-m", "best"), "the method best needs the option --truth"),
        (("-m", "notears", "--score", "bic"), "takes no score"),
        (("-m", "ges", "--score", "k2"), "the method ges needs a score-equivalent score"),
        (("--knowledge", "circle.json"), "the required edges cannot all be there"),
        (("--knowledge", "nowhere.json"), "nowhere.json: no such file"),
    ],
)
def test_what_needs_no_data_to_be_refused_is_refused_at_once(
    run: Callable,
    keys: Path,
    numbers: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nothing_starts: None,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    agree_on(keys, [numbers])
    Path("circle.json").write_text(json.dumps({"required": [["x0", "x1"], ["x1", "x0"]]}))
    coordinator = run(*coordinator_line(keys, *arguments))
    simulation = run("federate", "simulate", numbers, *PARTIES, *arguments)
    for ran in (coordinator, simulation):
        assert ran.code == 2
        assert words in only_line(ran)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    """The graph that the rows of `numbers` come from."""
    write_graph(dagora.random_dag("er", 6, 1.5, seed=4), tmp_path / "truth.json")
    return tmp_path / "truth.json"


def test_best_takes_the_truth_that_it_is_compared_with(run: Callable, numbers: Path, truth: Path) -> None:
    line = ("federate", "simulate", numbers, "--parties", 4, "-m", "best", "--in-memory", "--json")
    ran = run(*line, "--truth", truth)
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    known = dagora.read_graph(truth)
    alone = [
        dagora.compare(dagora.learn(part, "notears", lambda1=0.01).graph, known).shd
        for part in split_rows(dagora.read_table(numbers), 4, seed=0)
    ]
    assert content["comparison"]["shd"] == content["stats"]["shd"] == min(alone)
    assert content["settings"]["truth"] == [list(edge) for edge in known.edges]
    chosen = json.loads(run(*line, "--option", f"truth={truth}").out)
    assert chosen["edges"] == content["edges"]
    assert "comparison" not in chosen


def test_best_over_the_network(
    play: Callable, keys: Path, files: dict[str, Path], numbers: Path, truth: Path
) -> None:
    clients = {site: client_line(keys, site, numbers, "--show-weights") for site in SITES}
    ended = play("--method", "best", "--truth", truth, "--json", others=clients, tables=[numbers])
    assert {ran.code for ran in ended.values()} == {0}, ended
    assert json.loads(ended[COORDINATOR].out)["stats"]["shd"] >= 0


def test_a_merged_graph_is_also_compared_as_it_was_before_the_cut(
    run: Callable, normal: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = iter([[(0, 1), (1, 2)], [(0, 1), (2, 0)], [(1, 2), (2, 0)]] * 2)

    def learned(_site: object, _question: object) -> dict[str, object]:
        weights = np.zeros((3, 3))
        weights[tuple(zip(*next(votes), strict=True))] = 1.0
        return {"weights": weights}

    monkeypatch.setitem(TASKS, "local-weights", learned)
    write_graph(DAG("abc", [("c", "a")]), tmp_path / "truth.json")
    file = written(normal, tmp_path / "numbers.csv")
    line = ("simulate", file, *PARTIES, "--in-memory", "-m", "vote", "--truth", tmp_path / "truth.json")
    content = json.loads(run("federate", *line, "--json", "--report", tmp_path / "r.html").out)
    # All three edges of a circle have two votes of three; the truth has one of them.
    assert content["comparison"]["raw"]["shd"] == 2
    assert content["comparison"]["raw"]["tpr"] == 1.0
    assert content["comparison"]["raw"]["fdr"] == pytest.approx(2 / 3)
    assert len(content["dropped"]) == 1
    assert content["comparison"]["correct"] + content["comparison"]["wrong"] == 2
    assert "uncut" in (tmp_path / "r.html").read_text()
    shown = run("federate", *line).out
    assert "uncut          2   1.000   0.667   1.000   0.500\n" in shown


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes that a process has started."""
    return [int(number) for number in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]  # fmt: skip


@pytest.fixture
def at_work(
    start: Callable, long_work: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[subprocess.Popen[str], list[int]]]:
    """A simulation in the middle of a search without end, and the processes of its parties."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))

    def begin(*arguments: object) -> tuple[subprocess.Popen[str], list[int]]:
        process = start("federate", "simulate", long_work["east"], *PARTIES, *ENDLESS, *arguments)
        deadline = time.monotonic() + PATIENCE
        while "climbing" not in process.stderr.readline():
            assert time.monotonic() < deadline
        return process, children(process)

    return begin


def nothing_is_left(tmp_path: Path, parties: list[int]) -> None:
    assert len(parties) == 4
    assert not any(map(alive, parties))
    assert list((tmp_path / "temporary").iterdir()) == [], "rows or keys were left behind"


@pytest.mark.slow
def test_ctrl_c_gives_the_best_so_far(at_work: Callable, tmp_path: Path) -> None:
    process, parties = at_work("--json", "-o", tmp_path / "best.json")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    content = json.loads(out)
    assert content["status"] == "time-limit"
    assert "interrupted" in content["message"]
    assert content["edges"]
    assert json.loads((tmp_path / "best.json").read_text())["edges"] == content["edges"]
    nothing_is_left(tmp_path, parties)


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once(at_work: Callable, tmp_path: Path) -> None:
    process, parties = at_work("-o", tmp_path / "best.json")
    # A coordinator that does not listen.
    coordinator = parties[0]
    os.kill(coordinator, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "it waits for the coordinator"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert not out
    assert err.endswith("dagora: interrupted\n")
    assert "Traceback" not in err
    assert not (tmp_path / "best.json").exists()
    nothing_is_left(tmp_path, parties)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_leaves_nothing(at_work: Callable, tmp_path: Path, number: int) -> None:
    process, parties = at_work()
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (128 + number, "")
    nothing_is_left(tmp_path, parties)


@pytest.mark.slow
def test_what_a_killed_simulation_leaves_goes_with_the_next(
    at_work: Callable, run: Callable, numbers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, parties = at_work()
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert any((tmp_path / "temporary").rglob("*.csv")), "the test can fail"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    assert run("federate", "simulate", numbers, *PARTIES, "--quiet").code == 0
    deadline = time.monotonic() + PATIENCE
    while any(map(alive, parties)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    nothing_is_left(tmp_path, parties)
