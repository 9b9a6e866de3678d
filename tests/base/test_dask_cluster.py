"""Work on the workers of a real Dask cluster: the same results as here, also where workers are killed."""

import importlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.base import dask_cluster as room
from dagora.base.budget import Budget
from dagora.base.errors import DagoraError, DataError, OptionError
from dagora.base.events import Event
from dagora.data.writers import write_table
from dagora.learners.run import Run
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.papers.cell_file import CellFile
from dagora.papers.experiment import Size
from dagora.papers.measuring import measure_cells
from dagora.papers.registry import Item, item_named
from dagora.posterior.chains import run_chains
from tests.dask_cluster import cluster_of_processes, kill, processes_of
from tests.papers.toy import computed, end_the_process, refuse_three, toy, wait_on_two

pytest.importorskip("distributed", reason="needs the extra dask")

DISCRETE = sample_network(greenhouse(), 300, seed=5)
NOBODY = "tcp://127.0.0.1:1"


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    with cluster_of_processes(workers=2, threads=2) as connected:
        yield connected


@pytest.fixture
def file(tmp_path: Path) -> CellFile:
    return CellFile(tmp_path / "cells.jsonl")


# --- the bootstrap ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("killed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_samples_are_those_of_one_process_though_workers_are_killed(
    client: object, killed: int, tmp_path: Path
) -> None:
    lost = set(sorted(processes_of(client))[:killed])
    seen: list[int] = []

    def kill_some(event: Event) -> None:
        seen.append(event.step)
        if event.step == 5:
            kill(lost)

    kept = tmp_path / "samples.npz"
    asked = {"method": "hill-climb", "samples": 30, "seed": 1}
    there = dagora.bootstrap(DISCRETE, **asked, dask=client, checkpoint=kept, on_event=kill_some)
    assert seen == list(range(31))
    assert not lost & processes_of(client)
    here = dagora.bootstrap(DISCRETE, **asked)
    assert np.array_equal(there.marks, here.marks)
    assert there.settings == here.settings
    more = dagora.bootstrap(DISCRETE, **{**asked, "samples": 33}, dask=client, checkpoint=kept)
    assert "30 of them from a file" in more.message
    assert np.array_equal(more.marks, dagora.bootstrap(DISCRETE, **{**asked, "samples": 33}).marks)


def test_the_command_shows_the_same_strengths(client: object, run: Callable, tmp_path: Path) -> None:
    write_table(DISCRETE, tmp_path / "house.csv")
    line = ("learn", tmp_path / "house.csv", "-m", "hill-climb", "--bootstrap", 8, "--json", "--quiet")
    there, here = run(*line, "--dask", client.scheduler.address), run(*line)
    assert (there.code, there.err, here.code) == (0, "", 0)
    shown = [json.loads(ran.out)["bootstrap"] for ran in (there, here)]
    for strengths in shown:
        assert strengths.pop("seconds") > 0
    assert shown[0] == shown[1]
    folder = run("learn", tmp_path, *line[2:], "--dask", client.scheduler.address)
    assert (folder.code, folder.err.count("\n")) == (2, 1)
    assert "--bootstrap draws from rows in memory" in folder.err


def test_time_ends_the_samples(client: object) -> None:
    budget = Budget()

    def stop(event: Event) -> None:
        if event.step == 3:
            budget.stop("it was interrupted")

    found = dagora.bootstrap(DISCRETE, "hill-climb", samples=10**6, dask=client, budget=budget, on_event=stop)
    assert 3 <= found.samples < 100
    assert "it was interrupted before 1000000 samples" in found.message


# --- cells of reproductions -------------------------------------------------------------------------------


def test_cells_are_the_same(client: object, file: CellFile, tmp_path: Path) -> None:
    log = tmp_path / "log"
    events: list[Event] = []
    there = measure_cells(toy(log), file, Run(on_event=events.append), client)
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    assert sorted(computed(log)) == [(x, seed) for x in (1, 2, 3) for seed in (0, 1)]
    processes = {int(line.split()[2]) for line in log.read_text().splitlines()}
    assert processes <= processes_of(client)
    assert max(event.step for event in events) == 6
    other = CellFile(tmp_path / "here.jsonl")
    assert measure_cells(toy(log), other, Run()).measured == there.measured
    for line in (known := [json.loads(line) for line in other.path.read_text().splitlines()]) + lines:
        line.pop("seconds")
    assert sorted(map(str, lines)) == sorted(map(str, known))
    assert measure_cells(toy(log), file, Run(), NOBODY).kept == 6, "nothing is left to ask a cluster for"


def test_cells_that_nobody_waits_for_end(client: object, file: CellFile, tmp_path: Path) -> None:
    budget, log = Budget(), tmp_path / "log"

    def stop(event: Event) -> None:
        if event.step == 2:
            budget.stop("it was interrupted")

    experiment = toy(log, xs=(1, 2), measure=wait_on_two)  # the last two cells would go on forever
    part = measure_cells(experiment, file, Run(budget=budget, on_event=stop), client)
    assert [cell.numbers["square"] for cell in part.measured] == [1, 2]
    assert len(file.read()) == 2
    begun = time.monotonic()
    while len(computed(log)) < 4:  # they end, and leave their line
        assert time.monotonic() - begun < 20
        time.sleep(0.05)


def test_an_error_names_its_cell_and_keeps_the_rest(client: object, file: CellFile, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^toy/squares, x=3 seed=. log=.*: three is not liked$"):
        measure_cells(toy(tmp_path / "log", measure=refuse_three), file, Run(), client)
    assert len(file.read()) == 4


@pytest.mark.slow
def test_the_command_reproduces_on_a_cluster(
    client: object, run: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make = item_named("notears/fig3").load()
    few = replace(make(Size()), cells=make(Size()).cells[:3])
    monkeypatch.setattr(Item, "load", lambda _: lambda _: few)
    found = []
    for more in (("--dask", client.scheduler.address), ()):
        folder = tmp_path / f"with{len(more)}"
        ran = run("reproduce", "notears/fig3", "-o", folder, "--quiet", *more)
        assert (ran.code, ran.err.count("error")) == (0, 0)
        lines = next(folder.glob("*.cells.jsonl")).read_text().splitlines()
        cells = [{**json.loads(line), "seconds": 0} for line in lines]
        for cell in cells:
            assert cell["numbers"].pop("cpu_seconds") > 0
        found.append(sorted(map(str, cells)))
    assert len(found[0]) == 3
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_task_that_ends_every_worker_is_one_line(client: object, file: CellFile, tmp_path: Path) -> None:
    with pytest.raises(DagoraError, match=r"^every worker of the Dask cluster that took one of the tasks"):
        measure_cells(toy(tmp_path / "log", xs=(1,), measure=end_the_process), file, Run(), client)


@pytest.mark.slow
def test_a_cluster_that_ends_is_one_line() -> None:
    with cluster_of_processes(workers=1) as connected:

        def end(event: Event) -> None:
            if event.step == 3:
                connected.cluster.close()

        with pytest.raises(DagoraError, match=r"^the Dask cluster was lost: "):
            dagora.bootstrap(DISCRETE, "hill-climb", samples=10**5, dask=connected, on_event=end)


# --- chains -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["order", "partition"])
def test_chains_draw_what_threads_draw(
    client: object, method: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_chains, "ROUND_THERE", 0.05)  # many pieces
    asked = {"method": method, "draws": 60, "chains": 3, "thin": 7, "warmup": 50, "seed": 4}
    here = dagora.sample(DISCRETE, **asked)
    kept = str(tmp_path / "chains.npz")
    shorter = dagora.sample(DISCRETE, **{**asked, "draws": 20}, dask=client, checkpoint=kept)
    there = dagora.sample(DISCRETE, **asked, dask=client, checkpoint=kept)
    assert shorter.draws.log_scores.shape == (3, 20)
    assert "taken up from a checkpoint" in there.message
    for posterior in (there, dagora.sample(DISCRETE, **asked, dask=client)):
        assert np.array_equal(posterior.draws.parents, here.draws.parents)
        assert np.array_equal(posterior.draws.log_scores, here.draws.log_scores)
        assert posterior.stats["accepted"] == here.stats["accepted"]


@pytest.mark.slow
def test_killed_workers_do_not_change_the_draws(
    client: object, run: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun = processes_of(client)
    lost: set[int] = set()

    def kill_one(event: Event) -> None:
        if event.phase == "sampling" and event.message != "warm-up" and not lost:
            lost.add(min(begun))
            kill(lost)

    monkeypatch.setattr(run_chains, "ROUND_THERE", 0.2)
    asked = {"draws": 100, "chains": 3, "thin": 2000, "warmup": 1000, "seed": 4}
    there = dagora.sample(DISCRETE, **asked, dask=client, on_event=kill_one)
    assert lost
    assert not lost & processes_of(client)
    here = dagora.sample(DISCRETE, **asked)
    assert np.array_equal(there.draws.parents, here.draws.parents)
    write_table(DISCRETE, tmp_path / "house.csv")
    line = ("sample", tmp_path / "house.csv", "--draws", 50, "--json", "--quiet")
    shown = [json.loads(run(*line, *more).out) for more in ((), ("--dask", client.scheduler.address))]
    assert shown[0]["edge_probability"] == shown[1]["edge_probability"]


# --- what is refused --------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PATIENCE", "200ms")


@pytest.mark.usefixtures("impatient")
def test_no_cluster_is_one_line(run: Callable, tmp_path: Path) -> None:
    write_table(DISCRETE, tmp_path / "house.csv")
    for line in (
        ("learn", tmp_path / "house.csv", "--bootstrap", 3),
        ("learn", tmp_path / "house.csv"),
        ("score", tmp_path / "house.csv", "-o", tmp_path / "house.jkl"),
        ("sample", tmp_path / "house.csv"),
        ("reproduce", "notears/fig2", "-o", tmp_path / "none"),
    ):
        ran = run(*line, "--dask", NOBODY)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert f"there is no Dask cluster at {NOBODY}" in ran.err
    assert not (tmp_path / "none").exists()
    ran = run("reproduce", "notears/fig2", "--dask", NOBODY, "--jobs", 2)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    with pytest.raises(OptionError, match="there is no Dask cluster at"):
        dagora.bootstrap(DISCRETE, "hill-climb", samples=2, dask=NOBODY)


def test_what_is_no_cluster_is_refused_before_data_are_read() -> None:
    for other in (8786, "", object()):
        with pytest.raises(OptionError, match=r"^dask takes the address of a scheduler"):
            dagora.bootstrap("none.csv", dask=other)
    with pytest.raises(OptionError, match="must not hold a password"):
        dagora.bootstrap("none.csv", dask="tcp://ada:hunter2@127.0.0.1:8786")


def test_samplers_without_chains_are_refused() -> None:
    for method in ("exact", "dibs"):
        with pytest.raises(OptionError, match=f"the sampler {method} does not run on a Dask cluster"):
            dagora.sample("none.csv", method, dask=NOBODY)


@pytest.mark.parametrize("place", ["dagora.base.version", "dagora.base.dask_cluster"])
def test_rows_are_not_counted_by_workers_of_another_version(client: object, place: str) -> None:
    """Known before anything is sent; a worker that comes later notices it in its task."""
    import dask.dataframe as dd

    frame = dd.from_pandas(DISCRETE.to_pandas(), npartitions=2)
    client.run(set_version, place, "0.0.1")
    try:
        with pytest.raises(OptionError, match=r"workers of the Dask cluster have dagora 0\.0\.1, not 0\.\d+"):
            dagora.learn(frame, "hill-climb")
        if place == "dagora.base.version":
            client.run(set_version, place, None)
            with pytest.raises(
                OptionError, match=r"workers of the Dask cluster have no dagora: install dagora"
            ):
                dagora.open_rows(frame)
    finally:
        client.run(set_version, place, dagora.__version__)
    assert dagora.open_rows(frame).n_rows == DISCRETE.n_rows


def set_version(place: str, version: str | None) -> None:
    """Let a worker believe that it has another version, or none."""
    module = importlib.import_module(place)
    if version is None:
        del module.__version__
    else:
        module.__version__ = version


def test_workers_of_another_version_are_refused() -> None:
    with pytest.raises(OptionError, match=r"workers of the Dask cluster have dagora .*, not 0\.0\.1$"):
        room.unpack(b"", "0.0.1")
