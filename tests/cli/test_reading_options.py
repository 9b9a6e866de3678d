"""How a table is understood is told before learning, in the result and in the report; `dagora inspect`."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dagora

NETWORK = """network t {{ }}
variable job {{ type discrete [ 3 ] {{ baker, {word}, smith }}; }}
variable ill {{ type discrete [ 2 ] {{ no, yes }}; }}
probability ( job ) {{ table 0.4, 0.2, 0.4; }}
probability ( ill | job ) {{ (baker) 0.9, 0.1; ({word}) 0.5, 0.5; (smith) 0.1, 0.9; }}
"""


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """Row numbers, a name per row, a name with a comma, holes under another name, and few-valued floats."""
    file = tmp_path / "messy.csv"
    lines = ['id,name,smoker,age,"job, main",dose']
    for i in range(60):
        age = "NA" if i % 10 == 0 else str(20 + i)
        job = ("baker", "?", "smith")[i % 3]
        lines.append(f"{i},person {i},{'yes' if i % 2 else 'no'},{age},{job},{(0.5, 1.0, 2.0)[i % 3]}")
    file.write_text("\n".join(lines) + "\n")
    return file


def test_inspect_shows_every_column(run: Callable, messy: Path) -> None:
    ran = run("inspect", messy)
    assert ran.code == 0
    shown = {line.split("  ")[1].strip(): line for line in ran.out.splitlines()[2:]}
    assert "left out" in shown["id"]
    assert "numbers the rows" in shown["id"]
    assert "names or free text" in shown["name"]
    assert "continuous" in shown["age"]
    assert " 6 " in shown["age"]
    assert "0.5, 1, 2" in shown["dose"]
    warnings = ran.err.splitlines()
    assert all(line.startswith("dagora: warning: ") for line in warnings)
    for part in ("6 of 60 rows", "left out: 'id'", "--na none", "--na '\"job, main:?\"'", "--missing drop"):
        assert any(part in line for line in warnings), part
    seen = json.loads(run("inspect", messy, "--json").out)
    assert seen["rows"] == 60
    assert [column["type"] for column in seen["columns"]] == [
        "left out",
        "left out",
        "discrete",
        "continuous",
        "discrete",
        "discrete",
    ]


def test_the_summary_comes_before_the_result(run: Callable, messy: Path, tmp_path: Path) -> None:
    line = ("learn", messy, "--missing", "drop", "--discretise", "quantile", "--report", tmp_path / "r.html")
    ran = run(*line)
    assert ran.code == 0
    assert ran.err.startswith(f"{messy}: 60 rows, 6 columns: 4 discrete, 2 left out\n")
    assert "26 of 60 rows (43.3 %) were dropped" not in ran.err  # 6 holes and 20 doubtful words overlap
    dropped = "24 of 60 rows (40.0 %) were dropped, because a cell is missing"
    assert ran.err.count(dropped) == 1
    assert dropped in ran.out
    page = (tmp_path / "r.html").read_text()
    for part in ("dagora learn", "--discretise quantile", "messy.csv", "names or free text", "40.0%"):
        assert part in page, part
    assert hashlib.sha256(messy.read_bytes()).hexdigest() in page


def test_the_json_holds_all_of_it_and_stderr_the_warnings(run: Callable, messy: Path) -> None:
    ran = run("learn", messy, "--missing", "drop", "--discretise", "mean", "--json")
    content = json.loads(ran.out)
    assert content["data"]["rows_dropped"] == 24
    assert content["data"]["reading"] == {"missing": "drop", "discretise": "mean"}
    assert content["command"].startswith("dagora learn ")
    assert [f"dagora: warning: {text}" for text in content["warnings"]] == ran.err.splitlines()
    assert run("learn", messy, "--missing", "drop", "--discretise", "mean", "--quiet").err == ""


def test_a_posterior_says_how_its_data_were_read(run: Callable, messy: Path, tmp_path: Path) -> None:
    options = (
        "--na",
        "NA,?",
        "--missing",
        "drop",
        "--discretise",
        "mean",
        "--method",
        "exact",
        "--draws",
        10,
    )
    ran = run("sample", messy, *options, "--report", tmp_path / "r.html", "--json")
    content = json.loads(ran.out)
    assert content["data"]["reading"]["na"] == "NA,?"
    assert "24 of 60 rows" in content["message"]
    assert "names or free text" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("quoted", ["job, main", '"job, main"', 'smoker,"job, main"'])
def test_a_name_with_a_comma(run: Callable, messy: Path, quoted: str) -> None:
    seen = json.loads(run("inspect", messy, "--drop", quoted, "--json").out)
    assert "job, main" not in [column["name"] for column in seen["columns"]]


def test_a_list_may_be_given_in_several_options(run: Callable, messy: Path) -> None:
    seen = json.loads(run("inspect", messy, "--drop", "id", "--drop", "name,dose", "--json").out)
    assert [column["name"] for column in seen["columns"]] == ["smoker", "age", "job, main"]


def test_missing_as_a_level_of_intervals(run: Callable, messy: Path) -> None:
    ran = run("learn", messy, "--missing", "level", "--discretise", "quantile", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["data"]["rows_dropped"] == 0


@pytest.mark.parametrize("word", ["NA", "None"])
def test_a_truth_keeps_its_levels(run: Callable, tmp_path: Path, word: str) -> None:
    (tmp_path / "t.csv").write_text("job,ill\n" + f"baker,no\n{word},yes\nsmith,yes\nsmith,\n" * 20)
    (tmp_path / "truth.bif").write_text(NETWORK.format(word=word))
    (tmp_path / "truth.json").write_text(json.dumps({"nodes": ["job", "ill"], "edges": []}))
    known = run("learn", tmp_path / "t.csv", "--missing", "drop", "--truth", tmp_path / "truth.bif", "--json")
    assert json.loads(known.out)["data"]["rows_dropped"] == 20
    unknown = run(
        "learn", tmp_path / "t.csv", "--missing", "drop", "--truth", tmp_path / "truth.json", "--json"
    )
    assert json.loads(unknown.out)["data"]["rows_dropped"] == 40
    told = run("learn", tmp_path / "t.csv", "--missing", "drop", "--na", "none", "--json")
    assert json.loads(told.out)["data"]["rows_dropped"] == 20


def test_what_a_truth_names_is_not_left_out(run: Callable, messy: Path, tmp_path: Path) -> None:
    nodes = ["id", "smoker", "age", "job, main", "dose"]
    (tmp_path / "truth.json").write_text(json.dumps({"nodes": nodes, "edges": []}))
    options = ("--drop", "name", "--missing", "drop", "--discretise", "mean", "--json")
    ran = run("learn", messy, *options, "--truth", tmp_path / "truth.json")
    assert json.loads(ran.out)["nodes"] == nodes


def test_unusable_data_get_one_line_that_says_all(run: Callable, messy: Path) -> None:
    ran = run("learn", messy, "--missing", "error")
    assert ran.code == 2
    (line,) = ran.err.splitlines()
    for part in ("6 cells are missing", "'NA' among numbers", "--missing drop", "--discretise quantile"):
        assert part in line, part


def test_all_stands_for_every_other_column(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n" + "0,1,x\n1,0,y\n2,1,x\n" * 20)
    seen = json.loads(
        run("inspect", tmp_path / "t.csv", "--continuous", "all", "--discrete", "c", "--json").out
    )
    assert [column["type"] for column in seen["columns"]] == ["continuous", "continuous", "discrete"]


def test_the_demo_network_is_read_without_a_warning(run: Callable, tmp_path: Path) -> None:
    run("demo", "-o", tmp_path / "demo")
    (table,) = (tmp_path / "demo").glob("*.csv")
    assert dagora.inspect(table).warnings == ()
