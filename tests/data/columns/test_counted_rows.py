"""A table of counts is read as the table in which every row stands as often as it is counted."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dagora
from dagora.data.columns.counted_rows import read_counts

RANDOM = np.random.default_rng(3)
CELLS = pd.DataFrame(
    product(["no", "yes"], ["f", "m"], ["mild", "severe", None]), columns=["mi", "sex", "ill"]
)
COUNTED = CELLS.assign(n=RANDOM.integers(0, 40, len(CELLS)))
REPEATED = CELLS.loc[CELLS.index.repeat(COUNTED["n"])].reset_index(drop=True)


def same(one: dagora.Table, other: dagora.Table) -> bool:
    """Return True for tables of the same columns and cells."""
    pairs = zip(one.columns, other.columns, strict=True)
    return one.schema == other.schema and all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("missing", ["drop", "level"])
def test_every_door_repeats_rows(missing: str, tmp_path: Path, run: Callable) -> None:
    wanted = dagora.Table.from_frame(REPEATED, missing=missing)
    assert same(dagora.Table.from_frame(COUNTED, counts="n", missing=missing), wanted)
    file = tmp_path / "cells.csv"
    COUNTED.to_csv(file, index=False)
    table = dagora.read_table(file, counts="n", missing=missing)
    assert same(table, wanted)
    assert [each.why for each in table.overview.columns if each.name == "n"] == [
        "says how many rows each row stands for"
    ]
    repeated = tmp_path / "rows.csv"
    REPEATED.to_csv(repeated, index=False)
    counted = run("learn", file, "--counts", "n", "--missing", missing, "--json")
    assert counted.code == 0
    plain = run("learn", repeated, "--missing", missing, "--json")
    one, other = json.loads(counted.out), json.loads(plain.out)
    assert [one[key] for key in ("edges", "score")] == [other[key] for key in ("edges", "score")]


def test_every_question_has_the_answer_of_the_repeated_rows() -> None:
    graph = dagora.DAG(["mi", "sex", "ill"], [("sex", "mi"), ("ill", "mi")])

    def answers(data: pd.DataFrame, **how: str) -> list:
        how = {"missing": "drop", **how}
        return [
            dagora.learn(data, "pc", **how).graph,
            dagora.score(data, graph, **how),
            str(dagora.fit(graph, data, **how).query("P(mi | sex=f)")),
            dagora.sample(data, "exact", seed=1, **how).edge_probability.tolist(),
            dagora.effect(data, "sex", "mi", graph=graph, **how).interval,
            dagora.check(graph, data, permutations=20, seed=1, **how).to_dict(),
        ]

    assert answers(COUNTED, counts="n") == answers(REPEATED)


def test_missing_values_are_modelled_in_repeated_rows() -> None:
    one = dagora.learn(COUNTED, "hill-climb", counts="n", missing="model")
    other = dagora.learn(REPEATED, "hill-climb", missing="model")
    assert (one.graph, one.score) == (other.graph, other.score)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([1, 2, -1], "data row 3 holds no whole number of 0 or more"),
        ([1, 2.5, 1], "data row 2"),
        ([1, None, 1], "data row 2"),
        (["1", "many", "2"], "data row 2"),
        ([0, 0, 0], "all counts are 0"),
        ([10**9, 1, 1], "at most 100000000 rows of 2 columns are repeated"),
        ([float("inf"), 1, 1], "data row 1"),
    ],
)
def test_other_counts_are_refused(counts: list, said: str) -> None:
    with pytest.raises(dagora.DataError, match=said):
        dagora.Table.from_frame(pd.DataFrame({"a": ["x", "y", "x"], "n": counts}), counts="n")


def test_counts_whose_sum_begins_anew_in_64_bits_are_refused() -> None:
    """4096 counts of 2^52 sum to 2^64, and would have left the ten rows of the last two."""
    rows = {"a": [0, 1] * 2049, "b": [1, 0] * 2049, "n": [2**52] * 4096 + [5, 5]}
    assert np.array(rows["n"]).sum() == 10
    with pytest.raises(
        dagora.DataError, match=r'^counts="n": the rows stand for 1\.84e\+19 rows, which cannot'
    ):
        read_counts("n", pa.chunked_array([rows["n"]]))
    with pytest.raises(dagora.DataError, match="which cannot be counted"):
        dagora.learn(rows, counts="n")


def test_an_error_names_the_row_of_the_file() -> None:
    frame = pd.DataFrame({"a": ["x", "y", None], "n": [5, 4, 3]})
    with pytest.raises(dagora.DataError, match=r"3 cells are missing.*data row 3"):
        dagora.Table.from_frame(frame, counts="n")


def test_who_asks_for_counts_as_a_variable_is_told() -> None:
    with pytest.raises(dagora.DagoraError, match=r"counts=\"n\" is no variable"):
        dagora.Table.from_frame(COUNTED, counts="n", discrete=["n"])
    with pytest.raises(dagora.DataError, match="did you mean 'n'"):
        dagora.Table.from_frame(COUNTED, counts="nn")


def test_a_column_that_looks_like_counts_is_offered() -> None:
    overview = dagora.Table.from_frame(CELLS.dropna().assign(n=range(3, 11))).overview
    assert any('counts="n" counts them so' in warning for warning in overview.warnings)


GERMAN = [
    "sex;ill;dose;n;w",
    "m;yes;0,5;1.000;2,5",
    "m;no;1,25;950;1",
    "w;yes;0,75;2.000;0,25",
    "w;no;2,5;12;3",
]


@pytest.mark.parametrize("scanned", [False, True])
@pytest.mark.parametrize("column", ["n", "w"])
@pytest.mark.parametrize("option", ["counts", "weights"])
def test_counts_and_weights_in_german(tmp_path: Path, scanned: bool, column: str, option: str) -> None:
    """Points between thousands were decimal ones: 1.000 was one row."""
    if (option, column) == ("counts", "w"):
        return
    german, english = tmp_path / "german.csv", tmp_path / "english.csv"
    german.write_text("\n".join(GERMAN))
    english.write_text(
        "\n".join(line.replace(".", "").replace(",", ".").replace(";", ",") for line in GERMAN)
    )
    drop = ["nw".replace(column, "")]

    def score(file: Path, **decimal: str) -> float:
        if scanned:
            return dagora.learn(
                dagora.open_rows(file, drop=drop, **{option: column}, **decimal), "tabu"
            ).score
        return dagora.learn(file, "tabu", drop=drop, **{option: column}).score

    assert score(german, decimal="comma") == score(english)


def test_counts_that_can_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "german.csv"
    file.write_text("\n".join(";".join(line.split(";")[i] for i in (0, 1, 3)) for line in GERMAN))
    for read in (dagora.read_table, dagora.open_rows):
        with pytest.raises(
            dagora.DataError, match=r"'n' has '1.000' beside '950': with a decimal point that is"
        ):
            dagora.learn(read(file, counts="n"), "tabu")
