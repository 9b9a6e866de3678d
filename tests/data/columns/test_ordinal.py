"""Ordered levels and ranks as reading options: from words, frames, files, scans and tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, rankdata

import dagora
from dagora.base.errors import DagoraError, DataError, OptionError
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import ReadingOptions, always
from dagora.data.table import Table
from dagora.stats.row_sources import source_of
from dagora.stats.scan.first_pass import scan_source

ROWS = {
    "pain": ["none", "severe", "mild", "moderate"] * 10,
    "dose": ["small", "big", "huge", "big"] * 10,
    "stage": ["10 late", "2 mid", "1 early", "2 mid"] * 10,
    "x": [float(k * k) + 0.5 for k in range(40)],
}


def levels(table, name):
    variable = table.schema[table.schema.index(name)]
    return variable.levels, variable.ordered


@pytest.mark.parametrize(
    ("ordinal", "name", "expected"),
    [
        (["pain"], "pain", ("none", "mild", "moderate", "severe")),
        (["stage"], "stage", ("1 early", "2 mid", "10 late")),
        (["dose: small<big<huge"], "dose", ("small", "big", "huge")),
        (["dose: small < big < giant < huge"], "dose", ("small", "big", "giant", "huge")),
        ({"pain": (), "dose": ["huge", "big", "small"]}, "dose", ("huge", "big", "small")),
    ],
)
def test_the_order_of_levels(ordinal, name, expected):
    table = Table.from_frame(pd.DataFrame(ROWS), ordinal=ordinal)
    assert levels(table, name) == (expected, True)
    named = [
        table.schema[table.schema.index(name)].levels[code] for code in table.codes(table.names.index(name))
    ]
    assert named == ROWS[name]


def test_levels_that_hold_the_sign_are_said_with_blanks():
    ages = {"age": ["<18", "18-65", ">65"] * 5, "b": [0, 1, 1] * 5}
    table = Table.from_frame(pd.DataFrame(ages), ordinal={"age": ["<18", "18-65", ">65"]})
    assert levels(table, "age") == (("<18", "18-65", ">65"), True)


def test_whole_numbers_stay_levels_and_categories_keep_their_order():
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    frame = pd.DataFrame({"q": np.digitize(z, [-1, 0, 0.5, 1]) + 1, "y": z + rng.normal(size=400)})
    assert Table.from_frame(frame).schema[0].kind == "continuous"
    assert levels(Table.from_frame(frame, ordinal="q"), "q") == (tuple("12345"), True)
    assert levels(Table.from_frame(frame, ordinal="all"), "q") == (tuple("12345"), True)
    sizes = pd.Categorical(["big", "small"] * 5, ["small", "big", "vast"], ordered=True)
    assert levels(Table.from_frame(pd.DataFrame({"s": sizes, "b": range(10)})), "s") == (
        ("small", "big", "vast"),
        True,
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"ordinal": ["dose"]},
            r"levels of column 'dose' \(big, huge, small\) have no order that can be seen",
        ),
        (
            {"ordinal": ["dose: small<huge"]},
            r"the order of column 'dose' \(small < huge\) lacks the levels big",
        ),
        (
            {"ordinal": {"dose": ["small", "big", "huge", "big"]}},
            "the order of column 'dose' has 'big' twice",
        ),
        ({"ordinal": ["dosis"]}, "there is no column 'dosis'"),
        ({"ordinal": ["x"], "continuous": ["x"]}, "declared both discrete and continuous"),
        ({"ranks": ["pain"]}, "takes numbers by their ranks, and this column is discrete"),
        ({"ranks": ["y"]}, r"there is no column 'y' \(to be taken by its ranks\)"),
        ({"ordinal": ["dose"], "counts": "dose"}, "leave it out of ordinal"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options, words):
    with pytest.raises(DagoraError, match=words) as problem:
        Table.from_frame(pd.DataFrame(ROWS), **options)
    assert "\n" not in str(problem.value)


def test_columns_with_a_role_are_no_variables():
    frame = pd.DataFrame(ROWS).assign(t=range(40), s=["A", "B"] * 20, set=["", "x"] * 20)
    timed = frame.drop(columns=["set", "dose"])
    roles = {"in_time": ("t", "s"), "numbers": ("t",), "wanted": ("t", "s"), "continuous": "t"}
    table = as_any_table(timed, ReadingOptions(ranks="all", ordinal="all", **roles))
    assert table.values(table.names.index("t")).tolist() == list(range(40))
    assert levels(table, "s") == (("A", "B"), False)
    assert levels(table, "pain")[1]
    marked = as_any_table(frame, ReadingOptions(ordinal=["all", "dose: small < big < huge"], marks="set"))
    assert not levels(marked, "set")[1]
    for said, words in [
        (roles | {"ranks": "t"}, "time=.t. is no variable: leave it out of ranks"),
        (roles | {"ordinal": "s"}, "series=.s. is no variable: leave it out of ordinal"),
        (roles | {"join": "s"}, "series=.s. is no variable: leave it out of join"),
        ({"marks": "set", "ordinal": ["set: x < y"]}, "interventions=.set. is no variable: leave it out"),
    ]:
        with pytest.raises(OptionError, match=words):
            as_any_table(frame, ReadingOptions(**said))


def test_missing_has_no_place_in_an_order():
    frame = pd.DataFrame({"pain": ["none", "mild", None, "severe"] * 5, "b": [0, 1] * 10})
    with pytest.raises(DataError, match="without a place in the order of its levels"):
        Table.from_frame(frame, ordinal="pain", missing="level")


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_ranks_are_normal_scores_and_the_reading_says_so():
    table = Table.from_frame(pd.DataFrame(ROWS), ranks="all")
    expected = norm.ppf(rankdata(ROWS["x"]) / 41)
    np.testing.assert_allclose(table.values(3), expected, atol=1e-12)
    assert "by ranks, as normal scores" in table.overview.columns[3].why
    assert any("results are in these units" in line for line in table.overview.warnings)
    again = dagora.learn(
        Table.from_frame(pd.DataFrame(ROWS)), ranks="x", ordinal={"dose": ["small", "big", "huge"]}
    )
    assert again.graph.nodes == tuple(ROWS)


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_ranks_of_seen_cells_only():
    frame = pd.DataFrame({"x": [0.5, None, 9.5, 2.5] * 5, "y": np.arange(20) + 0.5})
    seen = frame["x"].dropna()
    table = as_any_table(
        frame, ReadingOptions(missing="model", why_not_model=always, continuous="x", ranks="x")
    )
    values = table.columns[0][table.seen[0]]
    np.testing.assert_allclose(values, norm.ppf(rankdata(seen) / 16), atol=1e-12)


def test_scanned_rows_have_the_same_order_and_no_ranks(tmp_path):
    path = tmp_path / "a.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    asked = ["pain", "stage", "dose: small < big < huge"]
    rows, table = dagora.open_rows(path, ordinal=asked), dagora.read_table(path, ordinal=asked)
    for name in asked:
        name = name.partition(":")[0]  # noqa: PLW2901
        assert levels(rows, name) == levels(table, name)
    place = table.names.index("dose")
    counted = rows.contingency((place,))
    assert counted.counts.tolist() == np.bincount(table.codes(place)).tolist()
    with pytest.raises(OptionError, match="ranks need all rows at once"):
        scan_source(source_of(str(path), None, None, None), ReadingOptions(ranks="x"))


def test_answers_on_a_scale_get_a_suggestion():
    rng = np.random.default_rng(1)
    items = {f"q{k}": rng.integers(1, 6, 200) for k in range(3)}
    found = Table.from_frame(pd.DataFrame(items)).overview.warnings
    assert any("'q0', 'q1', 'q2' seem to hold answers on a scale" in line for line in found)
    declared = Table.from_frame(pd.DataFrame(items), ordinal="all").overview.warnings
    two = Table.from_frame(pd.DataFrame({name: items[name] for name in ("q0", "q1")})).overview.warnings
    assert not any("on a scale" in line for line in (*declared, *two))


def test_a_column_that_is_not_there_is_told_by_the_option_that_names_it():
    with pytest.raises(dagora.DataError, match=r"there is no column 'nobody' \(declared ordinal\)"):
        dagora.learn({"a": [0, 1] * 20, "b": [1, 0] * 20}, ordinal=["nobody"])
