"""`dagora forecast`, `dagora impute --time` and `dagora effect --time`: files, words and refusals."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.graph.lagged_graph import LaggedGraph

GRAPH = LaggedGraph("xy", 1, [("x", "x", 1), ("x", "y", 1), ("y", "y", 1)])
TIME = ["--time", "t", "--series", "s"]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two series of 60 rows with a missing cell and a missing step, and a graph in time."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    lines = ["t,s,x,y"]
    for name in ("north", "south"):
        x = y = 0.0
        for t in range(60):
            x, y = 0.6 * x + rng.normal(), 0.5 * y + 0.7 * x + rng.normal()
            if (name, t) == ("south", 30):
                continue
            cell = "" if (name, t) == ("north", 20) else f"{x:.4f}"
            lines.append(f"{t},{name},{cell},{y:.4f}")
    Path("plant.csv").write_text("\n".join(lines) + "\n")
    dagora.write_graph(GRAPH.window, "graph.json")
    return tmp_path


def test_forecasts_to_files(run: Callable, plant: Path) -> None:
    done = run(
        "forecast", "graph.json", "plant.csv", *TIME, "--steps", "3", "-o", "f.csv", "--picture", "f.svg"
    )
    assert done.code == 0, done.err
    assert done.out.startswith("forecast, 95 % intervals\nnorth  60  x ")
    assert "the parameters were fitted to these rows (116 windows of 2 steps)" in done.err
    rows = list(csv.DictReader(Path("f.csv").read_text().splitlines()))
    assert len(rows) == 2 * 3 * 2
    assert {row["time"] for row in rows} == {"60", "61", "62"}
    assert all(float(row["low"]) < float(row["mean"]) < float(row["high"]) for row in rows)
    assert Path("f.svg").read_text().count("<svg") == 5
    again = run("forecast", "graph.json", "plant.csv", *TIME, "--steps", "3", "--json")
    found = json.loads(again.out)
    assert found["series"][1]["mean"]["y"][2] == pytest.approx(float(rows[-1]["mean"]))


def test_settings_scores_and_the_fitted_network(run: Callable, plant: Path) -> None:
    done = run(
        "forecast", "graph.json", "plant.csv", *TIME, "--steps", "3", "--do", "x=3@t+2", "--json",
        "--score-rows", "rows.csv", "--network-file", "fitted.json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["series"][0]["mean"]["x"][1] == 3.0
    assert any("taken as causes" in note for note in found["notes"])
    assert (
        len(list(csv.DictReader(Path("rows.csv").read_text().splitlines())))
        == 117
        == len(found["row_scores"]["rows"])
    )
    network = dagora.read_network("fitted.json")
    slope = network.coefficients["y"][0]
    plain = json.loads(run("forecast", "fitted.json", "plant.csv", *TIME, "--steps", "3", "--json").out)
    gain = found["series"][0]["mean"]["y"][2] - plain["series"][0]["mean"]["y"][2]
    assert gain == pytest.approx(slope * (3.0 - plain["series"][0]["mean"]["x"][1]))


def test_filter_smooth_and_backtest(run: Callable, plant: Path) -> None:
    for kind in ("filter", "smooth"):
        found = json.loads(
            run("forecast", "graph.json", "plant.csv", *TIME, "--estimate", kind, "--json").out
        )
        assert found["kind"] == kind
        assert len(found["series"][1]["times"]) == 60
    done = run("forecast", "graph.json", "plant.csv", *TIME, "--backtest", "5", "-o", "skill.json")
    assert done.code == 0, done.err
    assert done.out.startswith("errors of forecasts from 5 origins")
    assert "one learned from these rows has seen what it forecasts" in done.out
    skill = json.loads(Path("skill.json").read_text())
    assert {row["variable"] for row in skill["rows"]} == {"x", "y"}
    assert all(row["network"] > 0 and row["var"] > 0 for row in skill["rows"])


def test_gaps_of_series_are_filled(run: Callable, plant: Path) -> None:
    done = run("impute", "graph.json", "plant.csv", *TIME, "-o", "whole.csv", "--certainty", "cells.csv")
    assert done.code == 0, done.err
    assert done.out == "1 cells filled; written: whole.csv, cells.csv\n"
    (cell,) = csv.DictReader(Path("cells.csv").read_text().splitlines())
    assert (cell["row"], cell["column"]) == ("21", "x")
    rows = list(csv.DictReader(Path("whole.csv").read_text().splitlines()))
    assert len(rows) == 119
    assert float(rows[20]["x"]) == pytest.approx(float(cell["value"]), abs=1e-6)


def test_an_effect_in_time(run: Callable, plant: Path) -> None:
    lines = [line for line in Path("plant.csv").read_text().splitlines() if ",," not in line]
    Path("whole.csv").write_text("\n".join(lines) + "\n")
    done = run(
        "effect",
        "whole.csv",
        *TIME,
        "--from",
        "x",
        "--to",
        "y",
        "--graph",
        "graph.json",
        "--horizon",
        "2",
        "--json",
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["curve"][0] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert found["curve"][1]["low"] < 0.7 < found["curve"][1]["high"]
    assert found["adjustment"][1] == ["y[t-1]"]
    done = run(
        "effect",
        "whole.csv",
        *TIME,
        "--from",
        "x",
        "--to",
        "y",
        "--horizon",
        "1",
        "--option",
        "draws=50",
        "-m",
        "exact",
    )
    assert done.code == 0, done.err
    assert "note: averaged over 200 graphs, exact draws from their posterior (exact, bge)" in done.out
    assert "  in 1.00 of graphs  kept: " in done.out
    asked = ["effect", "plant.csv", *TIME, "--from", "x", "--to", "y", "--graph", "graph.json"]
    assert run(*asked).code == 2, "missing values are refused"
    dropped = run(*asked, "--missing", "drop")  # and a dropped row is a gap
    assert "2 steps without a row" in dropped.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["forecast", "graph.json", "plant.csv"], "--time says which column says when a row was"),
        (["forecast", "plain.json", "plant.csv", *TIME], "this is no graph in time"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--do", "x"], "--do takes NAME=VALUE or NAME=VALUE@t+K"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--do", "w=1"], "--do sets 'w', which is no variable"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--do", "x=1", "--do", "x=2"], "--do sets 'x' twice"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--do", "x=1@t+2", "--do", "x=2@t+2"], "--do sets 'x@t+2' twice"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--estimate", "filter", "--steps", "2"], "leave --steps out"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--backtest", "3", "--do", "x=1"], "leave --do and others out"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--backtest", "100000000000000000000"], "is not in the range 1<=x<=10000"),
        (["forecast", "graph.json", "plant.csv", *TIME, "-o", "f.txt"], "written as .csv or .json"),
        (["forecast", "graph.json", "plant.csv", *TIME, "--estimate", "smooth", "--picture", "a.svg"], "leave --do and --picture out"),
        (["effect", "plant.csv", "--from", "x", "--to", "y", "--horizon", "3"], "--horizon goes with --time"),
        (["effect", "plant.csv", *TIME, "--from", "x", "--to", "y"], "missing"),
        (["effect", "plant.csv", *TIME, "--from", "x", "--to", "y", "--lags", "auto", "--missing", "drop"], "samplers take a number of --lags"),
        (["effect", "plant.csv", *TIME, "--from", "x", "--from", "y", "--to", "y"], "one --from on one --to"),
        (["effect", "plant.csv", *TIME, "--from", "x", "--to", "y", "--graph", "graph.json", "--curve"], "--curve does not go with --time"),
        (["impute", "graph.json", "plant.csv", *TIME, "-o", "a.csv", "--draws", "2"], "do not go with --time"),
        (["impute", "graph.json", "plant.csv", "-o", "a.csv", "--most-probable"], "--most-probable goes with --time"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_line(
    run: Callable, plant: Path, arguments: list[str], said: str
) -> None:
    dagora.write_graph(dagora.DAG("xy", [("x", "y")]), "plain.json")
    done = run(*arguments)
    assert done.code == 2
    lines = [line for line in done.err.splitlines() if line.startswith("dagora: error:")]
    assert len(lines) == 1
    assert said in lines[0]


def test_reports_show_forecasts_surprising_rows_and_the_backtest(run: Callable, plant: Path) -> None:
    done = run(
        "forecast", "graph.json", "plant.csv", *TIME, "--steps", "3", "--score-rows", "rows.csv",
        "--report", "f.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    page = Path("f.html").read_text()
    for heading in ("Forecasts", "The graph", "Over time", "Numbers", "Surprising rows"):
        assert f"<h2>{heading}</h2>" in page
    assert "fitted to these rows (116 windows of 2 steps)" in page
    done = run(
        "forecast", "graph.json", "plant.csv", *TIME, "--steps", "2", "--backtest", "5", "--report", "b.html"
    )
    assert done.code == 0, done.err
    page = Path("b.html").read_text()
    assert "Errors of forecasts" in page
    assert page.count("<details") == 2
    assert "has seen what it forecasts" in page
    done = run("forecast", "graph.json", "plant.csv", *TIME, "--estimate", "smooth", "--report", "s.html")
    assert done.code == 0, done.err
    assert "<h2>Forecasts" not in Path("s.html").read_text()
    done = run("forecast", "graph.json", "plant.csv", *TIME, "--report", "f.svg")
    assert done.code == 2
