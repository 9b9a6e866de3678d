"""Rows in files of SQLite, and text files with other separators: the same table as from a plain CSV file."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DagoraError
from dagora.cli.main import main

R = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {"smoker": R.choice(["yes", "no"], 80), "cough": R.integers(0, 2, 80), "dose": R.normal(size=80)}
)


@pytest.fixture
def clinic(tmp_path):
    file = tmp_path / "clinic.sqlite"
    with sqlite3.connect(file) as base:
        FRAME.to_sql("patients", base, index=False)
    base.close()
    return file


def test_the_only_table_is_read(clinic):
    rows = dagora.open_rows(clinic)
    expected = dagora.Table.from_frame(FRAME)
    assert rows.schema == expected.schema
    assert dagora.learn(rows, method="hill-climb").graph == dagora.learn(expected, method="hill-climb").graph
    assert dagora.open_rows(f"sqlite:{clinic}", query="SELECT smoker, cough FROM patients").schema.names == (
        "smoker",
        "cough",
    )


def test_several_tables_are_named(clinic):
    with sqlite3.connect(clinic) as base:
        FRAME.to_sql("visits", base, index=False)
    base.close()
    with pytest.raises(DagoraError, match="needs table or query: known are patients, visits"):
        dagora.open_rows(clinic)
    assert dagora.open_rows(clinic, table="visits", sample=10).n_rows == 10
    with pytest.raises(DagoraError, match="no such table: nothing"):
        dagora.open_rows(clinic, table="nothing")


def test_the_command(clinic, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(clinic), "--table", "patients"])
    assert not ended.value.code
    assert "80 rows, 3 columns" in capsys.readouterr().out


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "x.sqlite").write_text("a,b")
    with pytest.raises(DagoraError, match="file is not a database"):
        dagora.open_rows(tmp_path / "x.sqlite")
    with pytest.raises(DagoraError, match="there is no such file"):
        dagora.open_rows(tmp_path / "y.sqlite")


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_separators_are_recognised(mark, tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False, sep=mark)
    expected = dagora.Table.from_frame(FRAME)
    assert dagora.read_table(tmp_path / "t.csv").schema == expected.schema
    assert dagora.open_rows(tmp_path / "t.csv").schema == expected.schema


def test_decimal_commas_beside_semicolons(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    table = dagora.read_table(tmp_path / "t.csv")
    np.testing.assert_allclose(table.values(2), FRAME["dose"])
