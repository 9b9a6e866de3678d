"""The command on rows that stay where they are: folders, patterns, databases, samples."""

import json

import numpy as np
import polars as pl
import pytest

import dagora


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows as a CSV file, a partitioned folder and a DuckDB table."""
    duckdb = pytest.importorskip("duckdb")
    place = tmp_path_factory.mktemp("outside")
    rng = np.random.default_rng(0)
    smoker = rng.integers(0, 2, 600)
    cough = np.where(rng.random(600) < 0.8, smoker, 1 - smoker)
    rows = pl.DataFrame(
        {"smoker": np.array(["never", "daily"])[smoker], "cough": cough, "ward": smoker ^ cough}
    )
    rows.write_csv(place / "rows.csv")
    for year, part in ((2024, rows[:200]), (2025, rows[200:])):
        (place / f"sales/year={year}").mkdir(parents=True)
        part.write_parquet(place / f"sales/year={year}/part.parquet")
    with duckdb.connect(str(place / "shop.db")) as shop:
        shop.execute(f"CREATE TABLE orders AS SELECT * FROM '{place / 'rows.csv'}'")
    return place


def result_of(run, *arguments):
    ran = run("learn", *arguments, "-m", "hill-climb", "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_every_door_gives_the_graph_of_the_file(run, folder):
    known = result_of(run, folder / "rows.csv")
    doors = [
        (folder / "sales", "--drop", "year"),
        (folder / "sales/**/*.parquet", "--drop", "year"),
        (f"duckdb:{folder / 'shop.db'}", "--table", "orders"),
        (f"duckdb:{folder / 'shop.db'}", "--query", "SELECT * FROM orders;"),
        (folder / "rows.csv", "--scan"),
        (folder / "sales", "--drop", "year", "--sample", "600"),
    ]
    for door in doors:
        found = result_of(run, *door)
        assert (found["edges"], found["score"]) == (known["edges"], known["score"]), door
        assert ("passes" in found["stats"]) == ("--sample" not in door)


def test_scores_are_those_of_the_file(run, folder, tmp_path):
    for name, data in (("one.jkl", folder / "rows.csv"), ("two.jkl", folder / "sales")):
        drop = ("--drop", "year") if name == "two.jkl" else ()
        assert run("score", data, *drop, "--max-parents", "2", "-o", tmp_path / name).code == 0
    assert (tmp_path / "one.jkl").read_bytes() == (tmp_path / "two.jkl").read_bytes()


def test_inspect(run, folder):
    shown = run("inspect", f"duckdb:{folder / 'shop.db'}", "--table", "orders").out
    assert "daily, never" in shown
    assert "100 rows" in run("inspect", folder / "sales", "--sample", "100").out


REFUSED = [
    (("learn", "{sales}", "-m", "lingam", "--continuous", "all", "--drop", "smoker"), "--sample 100000 (one pass, and about 1 MB"),
    (("learn", "{sales}", "--bootstrap", "5"), "is scanned: leave it out, or take a sample (--sample 100000)"),
    (("learn", "{sales}", "--missing", "level"), "--missing level take a sample"),
    (("learn", "{sales}", "--discretise", "mean"), "leave --discretise out"),
    (("learn", "{sales}", "--interventions", "ward"), "--interventions needs a table of rows"),
    (("learn", "{shop}"), "needs either --table or --query"),
    (("learn", "{shop}", "--query", "SELEC 1"), "syntax error at or near"),
    (("learn", "{csv}", "--table", "orders"), "--table goes with a spreadsheet or a database"),
    (("learn", "{csv}", "--sample", "5", "--scan"), "leave one of them out"),
    (("sample", "{sales}"), "needs the rows themselves"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_what_cannot_be_done_gets_one_line(run, folder, arguments, said):
    names = {"sales": folder / "sales", "shop": f"duckdb:{folder / 'shop.db'}", "csv": folder / "rows.csv"}
    ran = run(*(each.format(**names) for each in arguments))
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("dagora: error") == 1


@pytest.mark.parametrize(
    "address", ["postgresql://ada:secret@localhost/shop", "postgres://ada@h/shop?password=secret"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(run, address):
    for command in (("learn", address, "--table", "t"), ("inspect", address), ("score", address, "-o", "x.jkl"), ("nonsense", address)):  # fmt: skip
        ran = run(*command)
        assert (ran.code, "must not hold a password" in ran.err) == (2, True)
        assert "secret" not in ran.err + ran.out
    with pytest.raises(dagora.OptionError, match="PGPASSWORD") as caught:
        dagora.open_rows(address, table="t")
    assert "secret" not in str(caught.value)


def test_a_json_file_without_parameters_says_why(run, folder, tmp_path):
    ran = run("learn", folder / "rows.csv", "--scan", "-m", "hill-climb", "-o", tmp_path / "x.json")
    assert (ran.code, "secure sum" in ran.err) == (0, False)
    assert "no parameters: the rows are not in memory, and tables take more passes over them" in ran.err
    assert run("learn", folder / "rows.csv", "--scan", "-m", "hill-climb", "-o", tmp_path / "x.bif").code == 0
    assert "probability" in (tmp_path / "x.bif").read_text(), "-o network.bif fits them, as the line says"
    numbers = folder / "numbers.csv"
    numbers.write_text("a,b\n" + "".join(f"{k * 0.37:.2f},{k * k % 97 * 0.11:.2f}\n" for k in range(90)))
    ran = run("learn", numbers, "--scan", "-m", "hill-climb", "-o", tmp_path / "y.json")
    assert "; dagora.fit in Python fits them" in ran.err
    rows = dagora.open_rows(numbers)
    assert dagora.fit(dagora.learn(rows, "hill-climb").graph, rows) is not None
