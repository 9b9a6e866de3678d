"""`dagora learn --time` and `dagora simulate --sem var`: files, words and refusals."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dagora.graph.lagged_graph import LaggedGraph


@pytest.fixture
def files(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = run(
        *[
            "simulate",
            "--nodes",
            "4",
            "--degree",
            "1",
            "--sem",
            "var",
            "--lags",
            "2",
            "--series",
            "2",
            "--rows",
            "200",
            "--seed",
            "3",
            "-o",
            "s.csv",
        ],
        *["--truth", "t.json"],
    )
    assert made.code == 0, made.err
    return tmp_path


def test_from_series_to_files(run: Callable, files: Path) -> None:
    done = run(
        *[
            "learn",
            "s.csv",
            "-m",
            "dynotears",
            "--time",
            "t",
            "--series",
            "series",
            "--lags",
            "2",
            "--truth",
            "t.json",
            "-o",
            "g.json",
        ],
        *["--picture", "g.svg", "--report", "g.html"],
    )
    assert done.code == 0, done.err
    assert "within a step and" in done.out
    assert "from earlier steps, among 4 variables" in done.out
    assert "\nlagged" in done.out
    learned = json.loads((files / "g.json").read_text())
    assert LaggedGraph.from_dict(learned).variables == ("x0", "x1", "x2", "x3")
    assert learned["no_parameters"] == "a graph in time has its weights instead; `dagora forecast` fits them"
    assert "t − 2" in (files / "g.svg").read_text()
    page = (files / "g.html").read_text()
    for said in ("edges from earlier steps", "by time", "Lagged: those from earlier steps", "t − 2"):
        assert said in page
    compared = run(*["compare", "g.json", "t.json", "--json"])
    assert json.loads(compared.out)["within"]["shd"] == 0


def test_no_edge_at_all_still_has_a_page_and_a_picture(run: Callable, files: Path) -> None:
    done = run(
        *[
            "learn",
            "s.csv",
            "-m",
            "dynotears",
            "--time",
            "t",
            "--series",
            "series",
            "--option",
            "threshold=99",
        ],
        *["--option", "threshold_lagged=99", "--picture", "g.svg", "--report", "g.html", "--json"],
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["edges"] == []


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.timestamp("ns"), pa.timestamp("us", "Europe/Berlin")], ids=str
)
def test_a_parquet_file_with_dates(run: Callable, tmp_path: Path, kind: pa.DataType) -> None:
    generator = np.random.default_rng(0)
    days = pa.array([datetime(2024, 1, 1) + timedelta(k) for k in range(60)]).cast(kind)  # noqa: DTZ001
    rows = pa.table({"t": days, "x": generator.standard_normal(60), "y": generator.standard_normal(60)})
    pq.write_table(rows, tmp_path / "rows.parquet")
    done = run(
        "learn", tmp_path / "rows.parquet", *["-m", "dynotears", "--time", "t", "--lags", "1", "--json"]
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["variables"] == ["x", "y"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-m dynotears", "--time says which column holds the time"),
        ("-m dynotears --series series", "--series goes with --time"),
        ("-m dynotears --lags 2", "--lags goes with --time"),
        ("-m dynotears --time t", "the time 1 is there twice"),
        ("-m dynotears --time when", "there is no column 'when'"),
        ("-m dynotears --time t --series series --lags 500", "'lags' must be at most 100"),
        ("-m dynotears --time t --series series --lags 2 --option lags=1", "leave one of them out"),
        ("-m dynotears --block 5", "--block goes with --bootstrap"),
        ("-m tabu --bootstrap 5 --block 5", "--block goes with --time"),
        ("-m dynotears --time t --series series --discretise mean", "does not go with --time"),
        ("-m dynotears --time t --series series --interventions x0", "does not go with --time"),
        ("-m dynotears --time t --series series -o g.bif", "discrete columns only"),
        ("-m tabu --time t --series series --discretise mean", "does not go with --time"),
        ("-m tabu --time t --series series -o g.bif", "a graph in time has none"),
        ("-m tabu --time t --series series --lags 101", "--lags must be a whole number from 1 to 100"),
        (
            "-m fci --time t --series series",
            "the method fci does not learn from series: choose svar-rfci, or leave --time out",
        ),
        ("-m lingam --time t --series series", "choose var-lingam"),
    ],
)
def test_one_line_for_what_cannot_be(run: Callable, files: Path, line: str, said: str) -> None:
    done = run("learn", files / "s.csv", *line.split())
    assert done.code == 2
    (only,) = done.err.strip().splitlines()
    assert said in only


def test_a_series_too_short_is_one_line(run: Callable, files: Path) -> None:
    rows = (files / "s.csv").read_text().splitlines()
    (files / "short.csv").write_text("\n".join(rows[:6]))
    done = run(
        "learn", files / "short.csv", *["-m", "dynotears", "--time", "t", "--series", "series", "--lags", "5"]
    )
    assert done.code == 2
    (only,) = done.err.strip().splitlines()
    assert "the series has 5 steps, and 6 steps (--lags 5) are needed: choose fewer lags" in only


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--sem gaussian --lags 2", "--lags goes with --sem var"),
        ("--sem var --missing mcar:0.1", "--missing does not go with --sem var"),
        ("--sem var --relations clg", "--relations does not go with --sem var"),
    ],
)
def test_simulating_what_cannot_be(run: Callable, tmp_path: Path, line: str, said: str) -> None:
    made = run(
        "simulate", "--nodes", "3", "--degree", "1", "--rows", "9", "-o", f"{tmp_path}/s.csv", *line.split()
    )
    assert made.code == 2
    assert said in made.err


@pytest.mark.parametrize("method", ["auto", "ges", "pc", "var-lingam"])
def test_any_method_from_series_to_files(run: Callable, files: Path, method: str) -> None:
    common = ["--time", "t", "--series", "series", "--lags", "2"]
    done = run(
        *["learn", "s.csv", "-m", method, *common, "--truth", "t.json", "-o", "g.json"],
        *["--picture", "g.svg", "--report", "g.html", "--bootstrap", "4", "--block", "9"],
    )
    assert done.code == 0, done.err
    assert "from earlier steps, among 4 variables" in done.out
    assert "\nlagged" in done.out
    assert "blocks of 9 steps" in done.out
    learned = json.loads((files / "g.json").read_text())
    assert LaggedGraph.from_dict(learned).variables == ("x0", "x1", "x2", "x3")
    assert learned["settings"]["lags"] == 2
    assert "t − 2" in (files / "g.svg").read_text()
    page = (files / "g.html").read_text()
    for said in ("edges from earlier steps", "by time", "Lagged: those from earlier steps"):
        assert said in page
    compared = run(*["compare", "g.json", "t.json", "--json"])
    assert json.loads(compared.out)["lagged"]["tpr"] > 0.2
    printed = run("learn", "s.csv", "-m", method, *common, "--json")
    assert json.loads(printed.out)["lagged_edges"] == learned["lagged_edges"]


def test_sampling_from_series(run: Callable, files: Path) -> None:
    done = run(
        *[
            "sample",
            "s.csv",
            "--time",
            "t",
            "--series",
            "series",
            "--lags",
            "1",
            "-m",
            "exact",
            "--draws",
            "50",
        ],
        *["-o", "p.json", "--report", "p.html"],
    )
    assert done.code == 0, done.err
    written = json.loads((files / "p.json").read_text())
    assert written["settings"]["lags"] == 1
    assert "398 windows of 2 steps" in written["message"]
    refused = run("sample", "s.csv", "--lags", "1")
    assert refused.code == 2
    assert "--lags goes with --time" in refused.err
