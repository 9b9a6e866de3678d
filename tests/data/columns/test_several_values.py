"""Cells that hold more than one value, or one of another kind, are told at every door."""

import contextlib
import sqlite3

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.data.columns.missing_codes import facts_of_levels, missing_codes

ROWS = 240
GENERATOR = np.random.default_rng(11)
SEX = ["f", "m"] * (ROWS // 2)
NUMBERS = GENERATOR.integers(0, 40, ROWS)
SETS = ["1", "2", "3", "1;2", "1;3", "2;3", "1;2;3"]


def warnings(tmp_path, cells, name="x"):
    """What is told of a column, in memory and scanned."""
    file = tmp_path / "t.csv"
    pd.DataFrame({name: cells, "sex": SEX}).to_csv(file, index=False)
    found = [
        "\n".join(line for line in door(file).overview.warnings if f"'{name}'" in line)
        for door in (dagora.read_table, dagora.open_rows)
    ]
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("mark", [";", ", ", "|"])
def test_several_answers_in_a_cell(tmp_path, mark):
    cells = [SETS[k % 7].replace(";", mark) for k in NUMBERS]
    told = warnings(tmp_path, cells)
    assert f"the levels of column 'x' seem to be several answers each ('1{mark}2')" in told


@pytest.mark.parametrize("questions", [4, 5])
def test_answers_written_together(tmp_path, questions):
    """Of four questions all lists are discrete by their number, of five they would be amounts."""
    picked = GENERATOR.random((ROWS, questions)) < 0.5
    picked[~picked.any(1), 0] = True
    cells = ["".join(str(k + 1) for k in np.flatnonzero(row)) for row in picked]
    told = warnings(tmp_path, cells)
    assert "the numbers of column 'x' seem to be several answers each, written together ('" in told
    assert "answers" not in warnings(tmp_path, [str(k + 1) for k in NUMBERS])
    column = dagora.read_table(tmp_path / "t.csv").overview.columns[0]
    assert column.type == "continuous"


@pytest.mark.parametrize(
    ("written", "told"),
    [("~{:.1f}", "write plain numbers, '~0.0' as 0.0,"), ("{:.1f}k", "write plain numbers, '0.0k' as 0,")],
)
def test_approximate_and_short_numbers(tmp_path, written, told):
    cells = ["0.05", *(written.format(k / 10) if k % 3 == 0 else f"{k / 7:.3f}" for k in range(ROWS - 1))]
    pd.DataFrame({"x": cells, "sex": SEX}).to_csv(tmp_path / "t.csv", index=False)
    frame = pd.read_csv(tmp_path / "t.csv")
    with contextlib.closing(sqlite3.connect(tmp_path / "t.sqlite")) as database:
        frame.to_sql("t", database, index=False)
    doors = ((dagora.read_table, "t.csv"), (dagora.open_rows, "t.csv"), (dagora.open_rows, "t.sqlite"))
    for door, file in doors:
        with pytest.raises(dagora.DataError) as problem:
            door(tmp_path / file)
        assert told in str(problem.value), (door, file)
        assert "\n" not in str(problem.value)


def test_many_levels_are_told_by_all_doors(tmp_path):
    assert "column 'x' has 39 levels in 240 rows: expect few edges at it" in warnings(
        tmp_path, [f"D{k:02d}" for k in NUMBERS]
    )


@pytest.mark.parametrize("written", ["{}/{}", "{}'{}\"", "{}y{}m", "{} y {} mo"])
def test_two_numbers_in_a_cell(tmp_path, written):
    told = warnings(tmp_path, [written.format(k // 6 + 1, 2 + k % 6) for k in NUMBERS])
    assert "the levels of column 'x' are two numbers each" in told


def test_marks_behind_numbers(tmp_path):
    told = warnings(tmp_path, [f"{k / 10:.1f}{'*' if k > 12 else ''}" for k in NUMBERS])
    assert "numbers written as text ('*'): leave the marks out of the cells" in told


def test_a_word_among_few_numbers(tmp_path):
    told = warnings(tmp_path, ["not asked" if k < 15 else k % 15 + 5 for k in NUMBERS])
    assert "column 'x' has numbers, but also 'not asked', so that all are levels" in told
    assert 'choose na="x:not asked"' in told


@pytest.mark.parametrize(
    "cells",
    [
        ["Yes, often", "Yes, rarely", "No", "Yes, never"],
        ["A/A", "A/G", "G/G", "A/T"],
        ["Paris, France", "Nice, France", "Rome, Italy", "Bari, Italy"],
        ["K", *map(str, range(1, 13))],
        [f"2{k:03d}q1" for k in range(40)],
        [f"0{k % 9 + 1}/{k}" for k in range(40)],
        ["01", "02", "03", "04", "05", "06", "07", "none"],
    ],
)
def test_other_levels_are_not_suspected(tmp_path, cells):
    told = warnings(tmp_path, [cells[k % len(cells)] for k in NUMBERS])
    assert "each (" not in told
    assert "but also" not in told


def test_two_currencies_in_a_column(tmp_path):
    told = warnings(tmp_path, [f"{'€$'[k % 2]}{1000 + k}.50" for k in NUMBERS])
    assert "column 'x' has amounts in $ and €, read as if they were of one currency: convert them" in told
    assert "currency" not in warnings(tmp_path, [f"${1000 + k}.50" for k in NUMBERS])


@pytest.mark.parametrize("zero", [0x660, 0x6F0, 0x966, 0xFF10])
def test_digits_of_other_scripts_are_numbers(tmp_path, zero):
    cells = [str(100 + k).translate({48 + digit: zero + digit for digit in range(10)}) for k in NUMBERS]
    warnings(tmp_path, cells)
    column = dagora.read_table(tmp_path / "t.csv").overview.columns[0]
    assert (column.type, column.values) == ("continuous", f"{100 + NUMBERS.min()} to {100 + NUMBERS.max()}")


def test_letters_that_look_alike_are_one_level(tmp_path):
    """A and B of the Latin and of the Cyrillic alphabet; a Cyrillic word by itself stays as it is."""
    told = warnings(tmp_path, [("A", "B", "\u0410", "\u0412", "\u0440\u0430\u043a")[k % 5] for k in NUMBERS])
    assert told.count("which look alike, and are stored in different ways") == 2
    assert "\u0440" not in told
    table = dagora.read_table(tmp_path / "t.csv", join="x")
    assert table.schema[0].levels == ("a", "b", "\u0440\u0430\u043a")


def test_codes_of_what_does_not_apply():
    smoked = dict.fromkeys(range(1, 21), 10)
    assert missing_codes(facts_of_levels(smoked | {96: 100})) == {96.0: 100}
    assert missing_codes(facts_of_levels(smoked | {66: 50, 77: 3, 99: 2})) == {66.0: 50, 77.0: 3, 99.0: 2}
    assert missing_codes(facts_of_levels(dict.fromkeys(range(50, 67), 10))) == {}


def test_phone_numbers_are_left_out():
    phone = GENERATOR.choice(10**7, ROWS, replace=False) + 10**9
    (column,) = [
        c for c in dagora.inspect(pd.DataFrame({"tel": phone, "sex": SEX})).columns if c.name == "tel"
    ]
    assert column.type == "left out"


def test_ranges_that_a_spreadsheet_turned_into_dates(tmp_path):
    cells = [["0", "5-Jan", "10-Jun", "11-20", "over 20"][k % 5] for k in NUMBERS]
    told = warnings(tmp_path, cells)
    assert "the levels of column 'x' are dates in part ('10-Jun', '5-Jan')" in told
    for levels in (["Jan", "Feb", "Mar"], ["none", "few", "5-Jan"], ["A-1", "B-2"]):
        assert "dates" not in warnings(tmp_path, [levels[k % len(levels)] for k in NUMBERS])
