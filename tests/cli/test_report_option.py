"""`--report`: one page from every command that learns, refused in time where it cannot be written."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.api.fitted_parameters import NO_TIME, fit_parameters
from dagora.base.budget import Budget
from dagora.cli.learn_request import LearnRequest
from dagora.data.table import Table
from dagora.data.writers import write_table
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics
from tests.report.reading import read, table_under


def edges_on(file: Path) -> set[tuple[str, str]]:
    rows = table_under(read(file.read_text()), "from", "to")
    words = ("determined", "either", "by intervention", "rests on", "assumed by")
    # Tables that follow may have as many columns.
    return {(row[0], row[1]) for row in rows if row[2].startswith(words)}


@pytest.mark.full
def test_learn_writes_the_edges_it_found(run: Callable, garden: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    ran = run("learn", garden / "garden.csv", "--report", file, "--truth", garden / "garden.bif")
    assert ran.code == 0
    assert f"written: {file}" in ran.err
    assert edges_on(file) == set(dagora.learn(garden / "garden.csv").graph.edges)
    page = read(file.read_text())
    assert {"Against the truth", "Conditional probabilities"} <= set(page.within("h2"))
    charts = [tags for _, tags in page.tags if "distribution" in tags.get("class", "")]
    assert len(charts) == len(dagora.read_network(garden / "garden.bif").graph)


def test_learning_by_gaussian_processes_draws_their_functions(run: Callable, tmp_path: Path) -> None:
    """After the score gp the report has a chart for each edge; after a linear score it has regressions."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 60)
    lines = [
        "a,b",
        *(f"{u},{np.cos(2 * u) + v}" for u, v in zip(x, 0.2 * rng.standard_normal(60), strict=True)),
    ]
    (tmp_path / "curve.csv").write_text("\n".join(lines))
    headings = {}
    for score in ("gp", "bge"):
        file = tmp_path / f"{score}.html"
        assert run("learn", tmp_path / "curve.csv", "--score", score, "--report", file, "--quiet").code == 0
        headings[score] = read(file.read_text()).within("h2")
    assert ("a", "b") in edges_on(tmp_path / "gp.html")
    assert "Functions" in headings["gp"]
    assert "Regressions" in headings["bge"]


def test_scores_alone_have_no_parameters(run: Callable, garden: Path, tmp_path: Path) -> None:
    scores, file = tmp_path / "garden.jkl", tmp_path / "r.html"
    assert run("score", garden / "garden.csv", "--max-parents", 2, "-o", scores).code == 0
    assert run("learn", scores, "--method", "order-search", "--report", file).code == 0
    assert "Conditional probabilities" not in read(file.read_text()).within("h2")


@pytest.mark.full
def test_sample(run: Callable, garden: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    ran = run("sample", garden / "garden.csv", "--draws", 20, "--chains", 2, "--report", file, "--quiet")
    assert ran.code == 0
    assert "How probable each edge is" in read(file.read_text()).within("h2")


@pytest.mark.slow
def test_over_sites(run: Callable, garden: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    ran = run("federate", "simulate", garden / "garden.csv", "--parties", 3, "--report", file)
    assert ran.code == 0
    page = read(file.read_text())
    assert page.within("h1") == ["auto on 3 sites"]
    # Parameters and distributions would have been more sums than were asked for.
    assert "Conditional probabilities" not in page.within("h2")
    assert not any("distribution" in tags.get("class", "") for _, tags in page.tags)


def test_two_owners(run: Callable, tmp_path: Path) -> None:
    table = sample_network(greenhouse(), 40, seed=1)
    columns = [table.columns[table.names.index(name)] % 2 for name in ("light", "soil", "pests")]
    (tmp_path / "a.csv").write_text(
        "ID,light,soil\n"
        + "".join(f"{k},{a},{b}\n" for k, (a, b) in enumerate(zip(*columns[:2], strict=True)))
    )
    (tmp_path / "b.csv").write_text("ID,pests\n" + "".join(f"{k},{c}\n" for k, c in enumerate(columns[2])))
    file = tmp_path / "r.html"
    ran = run("private", "simulate", tmp_path / "a.csv", tmp_path / "b.csv", "--key", "ID", "--max-parents", 1,
              "--in-memory", "--report", file, "--quiet")  # fmt: skip
    assert ran.code == 0, ran.err
    page = read(file.read_text())
    assert "Who learned what" in page.within("h2")
    assert not any("distribution" in tags.get("class", "") for _, tags in page.tags)


@pytest.mark.parametrize("command", ["learn", "sample"])
@pytest.mark.parametrize(
    ("name", "line"), [("r.pdf", "reports are written as .html"), ("none/r.html", "there is no folder")]
)
def test_a_report_that_cannot_be_written(
    run: Callable, garden: Path, tmp_path: Path, command: str, name: str, line: str
) -> None:
    ran = run(command, garden / "garden.csv", "--report", tmp_path / name, "-o", tmp_path / "g.json")
    assert ran.code == 2
    assert line in ran.err
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_picture_shows_weights(run: Callable, tmp_path: Path) -> None:
    data = dagora.simulate(dagora.DAG("ab", [("a", "b")]), "gaussian", 200, seed=1).table
    write_table(data, tmp_path / "d.csv")
    assert run("learn", tmp_path / "d.csv", "--method", "notears", "--picture", tmp_path / "p.svg").code == 0
    weight = dagora.learn(data, "notears").weights[0, 1]
    assert weight != 0
    assert f">{weight:.2f}<" in (tmp_path / "p.svg").read_text()


def wide_result(edges: int) -> dagora.Result:
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(200)]
    chosen: set[tuple[str, str]] = set()
    while len(chosen) < edges:
        one, other = sorted(rng.choice(200, 2, replace=False))
        chosen.add((names[one], names[other]))
    return dagora.Result(dagora.DAG(names, sorted(chosen)), "hill-climb", "finished", "")


def test_a_picture_that_takes_longer_than_there_is_time_is_left_out(tmp_path: Path) -> None:
    """A picture of 2159 edges took 17 s, after a time limit or Ctrl-C too."""
    file = tmp_path / "r.html"
    began = time.process_time()
    dagora.write_report(wide_result(2159), file, seconds=2.0)
    assert time.process_time() - began < 2.5
    assert "The picture of 2,159 edges was left out" in file.read_text()
    dagora.write_report(wide_result(100), file, seconds=2.0)
    assert "was left out, as time" not in file.read_text()


@pytest.mark.full
def test_a_large_picture_is_drawn_in_seconds() -> None:
    began = time.process_time()
    wide_result(2159).plot()
    assert time.process_time() - began < 6


@pytest.mark.full
def test_a_time_limit_leaves_time_for_files(run: Callable, garden: Path, tmp_path: Path) -> None:
    """Of 2 s, 0.4 are for files: the search ends before, and says which limit it was given."""
    file, out = tmp_path / "r.html", tmp_path / "r.json"
    endless = ("--method", "hill-climb", "--option", "restarts=1000000000", "--time-limit", "2")
    ran = run("learn", garden / "garden.csv", *endless, "--report", file, "-o", out)
    assert ran.code == 0
    content = json.loads(out.read_text())
    assert content["status"] == "time-limit"
    assert "the time limit of 2 s was reached" in content["message"]
    assert content["seconds"] < 1.9


@pytest.mark.full
def test_a_limit_holds_for_thousands_of_edges_their_parameters_and_the_page(
    run: Callable, tmp_path: Path
) -> None:
    """The table of 400 x 200 whose report ended at 37 s under a limit of 10 s."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(30, 200)) * (rng.random((30, 200)) < 0.4)
    rows = rng.normal(size=(400, 30)) @ mixing + 0.5 * rng.normal(size=(400, 200))
    write_table(Table.from_numpy(rows.round(4), [f"x{k}" for k in range(200)]), tmp_path / "wide.csv")
    line = (
        "learn",
        tmp_path / "wide.csv",
        "--option",
        "penalty=1",
        "--report",
        tmp_path / "r.html",
        "--json",
    )
    run(*line, "--time-limit", "60")  # kernels are compiled while the clock runs
    began = time.process_time()
    content = json.loads(run(*line, "--time-limit", "10").out)
    assert time.process_time() - began < 12
    assert content["status"] == "time-limit"
    assert len(content["edges"]) + len(content["undirected"]) > 1000


def test_after_ctrl_c_or_a_limit_no_file_takes_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Picture, parameters and report together: 2 s for files, whatever the graph."""
    rows = np.random.default_rng(0).standard_normal((400, 200))
    names = [f"x{k}" for k in range(200)]
    statistics = TableStatistics(Table.from_numpy(rows, names))
    files = {"output": "n.json", "picture": "n.svg", "report": "n.html"}
    request = LearnRequest(
        method="hill-climb", score=None, options=(), max_parents=None, knowledge=None, truth=None, seed=0,
        time_limit=None, jobs=1, as_json=False, quiet=False, **{k: str(tmp_path / v) for k, v in files.items()},
    )  # fmt: skip
    request.budget.stop("it was interrupted")
    began = time.process_time()
    request.present(wide_result(2159), statistics)
    assert time.process_time() - began < 2.5
    assert not (tmp_path / "n.svg").exists()
    assert "n.svg was not drawn, as time was up: 2,159 edges take seconds" in capsys.readouterr().err
    assert "The picture of 2,159 edges was left out" in (tmp_path / "n.html").read_text()
    assert len(json.loads((tmp_path / "n.json").read_text())["edges"]) == 2159


def test_a_limit_ends_the_fit_of_parameters_by_em() -> None:
    table = dagora.punch_holes(dagora.example(), "mcar:0.1", seed=1)
    statistics = IncompleteStatistics(table)
    result = dagora.Result(dagora.DAG(table.names, [("severity", "death")]), "hill-climb", "finished", "")
    assert fit_parameters(result, statistics, budget=Budget(0.0)) == (None, NO_TIME)
    assert fit_parameters(result, statistics, budget=Budget(60.0))[0] is not None
    began = time.process_time()
    assert fit_parameters(result, statistics, budget=Budget(0.05)) == (None, NO_TIME)
    assert time.process_time() - began < 1


def test_parameters_are_fitted_once_for_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dagora.api.fitted_parameters as module

    fits: list[object] = []
    real = module.fit_parameters
    monkeypatch.setattr(module, "fit_parameters", lambda *given: (fits.append(given), real(*given))[1])
    rows = np.random.default_rng(0).standard_normal((50, 4))
    statistics = TableStatistics(Table.from_numpy(rows, [f"x{k}" for k in range(200)][:4]))
    request = LearnRequest(
        method="hill-climb", score=None, options=(), max_parents=None, knowledge=None, truth=None, seed=0,
        time_limit=None, jobs=1, as_json=False, quiet=False, picture=None,
        output=str(tmp_path / "n.json"), report=str(tmp_path / "n.html"),
    )  # fmt: skip
    request.present(
        dagora.Result(dagora.DAG(["x0", "x1", "x2", "x3"], [("x0", "x1")]), "hill-climb", "finished", ""),
        statistics,
    )
    assert len(fits) == 1
    assert "parameters" in json.loads((tmp_path / "n.json").read_text())
    assert "Regressions" in (tmp_path / "n.html").read_text()
