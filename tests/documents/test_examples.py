"""The examples, each in a folder of its own: one by the interpreter as a user would, the others in this process."""

import html
import os
import re
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import dagora
from tests.conftest import ROOT

FOLDER = ROOT / "examples"
# Cold caches of compiled kernels on a busy machine.
PATIENCE = 600


@pytest.fixture
def run_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """An example, run in this process, which saves its start."""

    def call(name: str) -> str:
        monkeypatch.chdir(tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        said, complained = capsys.readouterr()
        assert complained == ""
        return as_shown(name, said)

    return call


def run_by_interpreter(name: str, folder: Path) -> str:
    """An example, run as a user would."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONUTF8": "1",
        "PYTHONWARNINGS": "ignore",
    }
    ran = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py")],
        cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    return as_shown(name, ran.stdout)


def as_shown(name: str, said: str) -> str:
    """What an example said, of which its tutorial shows lines."""
    page = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    assert f"{{literalinclude}} ../../examples/{name}.py" in page
    shown = re.search(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert set(without_digits(shown[1])) <= set(without_digits(said)), "the tutorial shows what is printed"
    return said


def without_digits(text: str) -> list[str]:
    """Lines in which numbers, and the blanks that align them, are left out."""
    return re.sub(r"[\d.]+| +", " ", text).splitlines()


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in {text!r}"
    return float(found[1])


def test_table(tmp_path: Path) -> None:
    said = run_by_interpreter("table", tmp_path)
    assert "wrong edges, as a class of equivalent graphs: 0\n" in said
    true_edges = {("smoker", "tar"), ("tar", "cough"), ("dust", "cough"), ("tar", "xray")}
    graph = dagora.read_graph(tmp_path / "network.dot")
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(edge) for edge in true_edges}
    assert {("tar", "cough"), ("dust", "cough")} <= set(graph.edges), "the v-structure has its directions"
    network = dagora.read_network(tmp_path / "network.bif")
    assert network.graph == graph
    # P(xray = yes | tar = yes) is 0.9 in the simulation.
    assert graph.parents("xray") == ("tar",), "the earlier column wins"
    assert network.tables["xray"][1, 1] == pytest.approx(0.9, abs=0.03)
    page = html.unescape((tmp_path / "network.html").read_text(encoding="utf-8"))
    assert all(name in page for name in graph.nodes)


def test_posterior(run_example: Callable[[str], str], tmp_path: Path) -> None:
    said = run_example("posterior")
    assert number(r"R-hat ([\d.]+)", said) < 1.01
    assert "warning" not in said
    for one, other in (("rain", "river"), ("river", "flood"), ("flood", "damage")):
        assert number(rf"{one} — {other}: ([\d.]+)", said) > 0.9
    for other in ("rain", "river", "flood", "damage"):
        found = re.search(rf"{other} — lottery: ([\d.]+)", said)
        assert found is None or float(found[1]) < 0.2
    # Of the four chains of this class three have river → rain; other classes change that a little.
    assert number(r"rain → river: ([\d.]+)", said) == pytest.approx(0.25, abs=0.1)
    assert said.count("rain — river, river — flood, flood — damage") == 1
    assert (tmp_path / "posterior.html").stat().st_size > 10_000


def test_sites(run_example: Callable[[str], str], tmp_path: Path) -> None:
    said = run_example("sites")
    assert said.startswith("optimal: ")
    assert "same graph as on the pooled rows: True\n" in said
    rows = [int(number(rf"{name}: (\d+) rows", said)) for name in ("north", "south", "west")]
    assert sum(rows) == 900
    alone, together = (
        number(rf"wrong edges of {who}: (\d+)", said) for who in ("west alone", "all together")
    )
    assert together < alone, "the smallest site gains from the others"


def test_two_owners(run_example: Callable[[str], str], tmp_path: Path) -> None:
    said = run_example("two_owners")
    assert said.startswith("800 people in common")
    assert re.findall(r"  (\w+) → (\w+)\n", said) == [("smoker", "tar"), ("tar", "cough"), ("tar", "xray")]
    assert "same edges as on the joined rows: True\n" in said
    assert "Neither learned a value" in said


def test_database(run_example: Callable[[str], str], tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    said = run_example("database")
    assert said.startswith("20000 rows: local-optimum")
    edges = re.findall(r"  (\w+) → (\w+)\n", said)
    assert edges == [("season", "visits"), ("advert", "visits"), ("visits", "sale")]
    assert 0 < number(r"the database answered: (\d+)", said) < 20
    assert "wrong edges, as a class of equivalent graphs: 0\n" in said
    assert "same graph as from the rows in memory: True\n" in said


def test_time_series(run_example: Callable[[str], str], tmp_path: Path) -> None:
    said = run_example("time_series")
    # The weights of the simulation.
    for edge, weight in {"light → air": 0.8, "air[t-1] → soil": 0.5, "soil[t-1] → soil": 0.7}.items():
        assert number(rf"{re.escape(edge)}: ([\d.]+)", said) == pytest.approx(weight, abs=0.11)
    assert said.count("as simulated: True\n") == 2
    assert (tmp_path / "greenhouses.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.full
def test_forecast(run_example: Callable[[str], str]) -> None:
    pytest.importorskip("statsmodels")
    said = run_example("forecast")
    errors = {
        name: [
            float(number)
            for number in re.search(rf"^{name} +1" + r" +([\d.]+)" * 4, said, re.MULTILINE).groups()
        ]
        for name in ("output", "unemployment", "spots")
    }
    for network, last, mean, var in errors.values():
        assert network < min(last, mean)
        assert network < 1.06 * var
    assert number(r"next maximum is forecast for (\d+)", said) == pytest.approx(2012, abs=1)


def test_missing(run_example: Callable[[str], str], tmp_path: Path) -> None:
    said = run_example("missing")
    assert "wrong edges, as a class of equivalent graphs: 0\n" in said
    found = re.search(r"what was lost: (\d+) of (\d+)\n", said)
    # Who always fills in the level that is more frequent is right in 70 % or less of two columns.
    assert int(found[2]) == pytest.approx(600, abs=80)
    assert 0.8 < int(found[1]) / int(found[2]) < 0.95
    assert 0.5 <= number(r"with probability ([\d.]+)", said) <= 1


def test_interventions(run_example: Callable[[str], str], tmp_path: Path) -> None:
    said = run_example("interventions")
    assert said.splitlines() == [
        "from watching: valve — level, level — float",
        "with rows in which the level was set: valve → level, level → float",
    ]


def test_paper(run_example: Callable[[str], str], tmp_path: Path) -> None:
    said = run_example("paper")
    rows = re.findall(r"^ +(\d)" + r" +([\d.]+)" * 5 + "$", said, re.MULTILINE)
    assert [row[0] for row in rows] == ["0", "1", "2"]
    for _, optimum, solution, gap, published, published_gap in rows:
        # Ten columns of noise variance 1 give 5, the price of some twenty edges the rest; the paper has 13.32.
        assert 8 < float(optimum) < 20
        assert float(optimum) <= float(solution) + 1e-3
        assert float(gap) == pytest.approx(100 * (float(solution) / float(optimum) - 1), abs=0.02)
        # Algorithm 1 ends with a little of h left, so that F may be a trace below the optimum.
        above = max(0.0, 100 * (float(published) / float(optimum) - 1))
        assert float(published_gap) == pytest.approx(above, abs=0.02)
        assert above < 20
    ours = number(r"mean gap of our path solver: ([\d.]+) %", said)
    assert ours < number(r"the paper's, of ten other graphs: ([\d.]+) %", said)
    assert ours <= number(r"of algorithm 1: ([\d.]+) %", said)


@pytest.mark.full
def test_effects(run_example: Callable[[str], str], data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    said = run_example("effects")
    assert number(r"possible causes: (\d+) of 8 directions", said) == 6
    assert number(r"directions and (\d+) intervals hold", said) == 3
    assert number(r"no causes, it said: (\d+) of 50 stayed", said) == pytest.approx(13, abs=1)


@pytest.mark.full
def test_decision(run_example: Callable[[str], str], data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    with_lesion, without = re.findall(r"difference: (-?[\d.]+) \[", run_example("decision"))
    assert float(with_lesion) == pytest.approx(0.3, abs=0.02)
    assert float(without) == pytest.approx(-0.21, abs=0.02)


@pytest.mark.parametrize("name", ["effects", "decision"])
def test_an_example_says_that_its_table_is_not_there(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DAGORA_DATA", "nowhere")
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert "is not there: set DAGORA_DATA" in capsys.readouterr().out


def test_every_example_is_tested_listed_and_short() -> None:
    names = sorted(file.stem for file in FOLDER.glob("*.py"))
    assert names == sorted(
        name.removeprefix("test_") for name in globals() if name.removeprefix("test_") in names
    )
    assert len(names) == 12
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in names:
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        assert f"examples/{name}.py" in readme
        assert len(text.splitlines()) < 60
        assert text.endswith('\n\nif __name__ == "__main__":\n    main()\n')


def test_notebook(tmp_path: Path) -> None:
    """Every cell of the notebook runs, and every last line shows itself as HTML or SVG."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(FOLDER / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=PATIENCE, resources={"metadata": {"path": str(tmp_path)}}, kernel_name="python3"
    ).execute(env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"})
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        (output,) = cell.outputs  # nothing else is printed
        assert {"text/html", "image/svg+xml"} & set(output.data), cell.source
    bar, result = (next(c for c in cells if c.source.startswith(start)) for start in ("with", "result"))
    assert bar.outputs[0].data["text/html"].startswith("<progress")
    score = re.search(r"best score -(\d+)", bar.outputs[0].data["text/plain"])[1]
    assert score in re.sub(r"\D", "", result.outputs[0].data["text/html"]), "the last event was shown"
    assert {file.name for file in tmp_path.iterdir()} == {"network.svg", "network.html"}
