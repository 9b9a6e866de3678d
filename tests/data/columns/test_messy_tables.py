"""Messy tables as people have them, each with something that was once understood wrongly without a word."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.accepting import as_table

ROWS = 120
GENERATOR = np.random.default_rng(3)


def table(**columns):
    return pd.DataFrame({"ill": ["no", "yes"] * (ROWS // 2), "sex": ["f", "m", "m"] * (ROWS // 3)} | columns)


def types(data, **options):
    return {column.name: column.type for column in dagora.inspect(data, **options).columns}


def test_the_mask_of_a_masked_array_counts():
    cells = GENERATOR.integers(0, 4, (200, 3))
    hidden = np.ma.masked_equal(cells, 0)
    result = dagora.learn(hidden, missing="drop")
    assert result.data["rows_dropped"] == int((cells == 0).any(axis=1).sum()) > 0
    assert all("0" not in column["values"].split(", ") for column in result.data["columns"])


def test_columns_outside_the_graph_are_not_looked_at():
    frame = table(junk=[None, 1.5] * (ROWS // 2), span=pd.period_range("2020", periods=ROWS, freq="D"))
    graph = dagora.DAG(["ill", "sex"], [("ill", "sex")])
    assert dagora.fit(graph, frame).tables["ill"].tolist() == [0.5, 0.5]
    with pytest.raises(DataError, match="there is no column named 'age': known are ill, sex, junk"):
        dagora.fit(dagora.DAG(["age"]), frame)


@pytest.mark.parametrize("written", ["-999", "-999.0", "-9.99e2"])
def test_a_number_that_means_missing_is_found_however_it_is_written(tmp_path, written):
    values = [written if i % 10 == 0 else f"{v:.3f}" for i, v in enumerate(GENERATOR.normal(10, 8, ROWS))]
    file = tmp_path / "t.csv"
    table(temperature=values).to_csv(file, index=False)
    for options in ({}, {"discretise": "quantile"}):
        (line,) = [w for w in dagora.inspect(file, **options).warnings if "temperature" in w]
        assert 'na="temperature:-999"' in line
    seen = dagora.inspect(file, na="-999", missing="drop")
    assert seen.dropped == ROWS // 10
    assert seen.warnings == (seen.dropped_rows,)


def test_two_such_numbers_are_named_together():
    frame = table(age=[-99 if i % 9 == 0 else -999 if i % 9 == 1 else 20 + i % 50 for i in range(ROWS)])
    assert any('na="age:-999,age:-99"' in line for line in dagora.inspect(frame).warnings)


@pytest.mark.parametrize(
    "spelled", ["2020-01-{:02d}", "{:02d}.03.2020", "3/{}/2020", "2020-01-{:02d} 10:30:00"]
)
def test_dates_in_text_are_left_out(tmp_path, spelled):
    frame = table(day=[spelled.format(1 + i % 28) for i in range(ROWS)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert types(frame)["day"] == types(tmp_path / "t.csv")["day"] == "left out"


def test_codes_with_leading_zeros_keep_them(tmp_path):
    frame = table(zip=[f"0{500 + i % 12}" for i in range(ROWS)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert dagora.read_table(tmp_path / "t.csv").schema[2].levels[0] == "0500"
    frame.loc[3, "zip"] = "NA"
    assert types(frame)["zip"] == types(frame, na=["NA"])["zip"] == "discrete"


def left_out(found):
    """Why columns are left out, with all warnings."""
    overview = getattr(found, "overview", found)
    return {column.name: column.why for column in overview.columns if column.type == "left out"}, "\n".join(
        overview.warnings
    )


def test_numbers_with_units_are_told_as_such(tmp_path):
    weights = GENERATOR.normal(70, 9, ROWS).round(1)
    frame = table(
        weight=[f"{weight} kg" for weight in weights],
        mixed=[f"{weight} {'kg' if k % 3 else 'lb'}" for k, weight in enumerate(weights)],
        code=[f"{int(100 * weight)}{'abcdefgh'[k % 8]}" for k, weight in enumerate(weights)],
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    for found in (
        dagora.inspect(frame),
        dagora.inspect(tmp_path / "t.csv"),
        dagora.open_rows(tmp_path / "t.csv"),
    ):
        reasons, warnings = left_out(found)
        assert reasons["weight"] == "numbers written as text ('kg'): leave the units out of the cells"
        assert "numbers written as text ('kg', 'lb')" in reasons["mixed"]
        assert "names or free text" in reasons["code"]
        assert 'discrete=["code"] would keep one' in warnings


def test_numbers_stored_as_text_are_told_as_such(tmp_path):
    weights = GENERATOR.normal(70, 9, ROWS).round(1)
    frame = table(weight=weights.astype(str), phone=[f"0{5000 + 7 * k}" for k in range(ROWS)])
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    for found in (dagora.inspect(frame), dagora.open_rows(tmp_path / "t.parquet")):
        reasons, warnings = left_out(found)
        assert reasons["weight"] == 'numbers written as text: continuous=["weight"] reads them'
        assert "names or free text" in reasons["phone"]
        assert 'discrete=["weight"]' not in warnings
    assert types(frame, continuous=["weight"])["weight"] == "continuous"


def test_levels_that_are_numbers_stored_as_text_are_told(tmp_path):
    frame = table(age=[str(20 + 3 * (k % 40)) for k in range(ROWS)], grade=["1", "2", "3"] * (ROWS // 3))
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    line = "the levels of column 'age' are numbers written as text: continuous=[\"age\"] reads them"
    for found in (dagora.inspect(frame), dagora.open_rows(tmp_path / "t.parquet").overview):
        assert [told for told in found.warnings if "levels" in told] == [line]
    assert not [told for told in dagora.inspect(frame, discrete=["age"]).warnings if "as text" in told]


def test_identifiers_written_as_floats_are_left_out():
    frame = table(customer_id=[float(3 * i) for i in range(ROWS)])
    frame.loc[5, "customer_id"] = np.nan
    assert types(frame)["customer_id"] == "left out"


def test_codes_written_as_floats_get_the_hint_of_codes():
    (column,) = [
        c for c in dagora.inspect(table(ward=[1.0 + i % 26 for i in range(ROWS)])).columns if c.name == "ward"
    ]
    assert column.why.startswith("26 distinct whole numbers: if they are codes")


def test_missing_as_a_level_is_counted_among_the_levels():
    frame = table(job=["baker", None, "smith"] * (ROWS // 3))
    column = dagora.learn(frame, missing="level").data["columns"][2]
    assert (column["levels"], column["missing"]) == (3, ROWS // 3)
    assert "missing" in column["values"]


def test_one_error_names_all_words_that_are_no_numbers(tmp_path):
    cells = [f"{v:.3f}" for v in GENERATOR.normal(size=ROWS)]
    cells[4], cells[9] = "NA", "unclear"
    table(x=cells).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r'"x:NA,x:unclear"'):
        dagora.learn(tmp_path / "t.csv")
    assert dagora.inspect(tmp_path / "t.csv", na="x:unclear", missing="drop").dropped == 2


def test_commas_between_thousands_are_not_decimal_commas(tmp_path):
    frame = table(salary=[f"{v:,}" for v in GENERATOR.integers(10**4, 10**6, ROWS)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match="say which"):
        dagora.learn(tmp_path / "t.csv")


def test_a_column_that_cannot_be_read_can_be_dropped():
    frame = table(span=pd.period_range("2020", periods=ROWS, freq="D"), mixed=[1, "x"] * (ROWS // 2))
    assert dagora.learn(frame, drop=["span", "mixed"]).graph.nodes == ("ill", "sex")


def test_a_separator_is_recognised_or_given(tmp_path):
    table().to_csv(tmp_path / "t.csv", sep=";", index=False)
    found = dagora.learn(tmp_path / "t.csv")
    given = dagora.learn(tmp_path / "t.csv", separator=";")
    assert given.data["reading"] == {"separator": ";"}
    assert found.graph == given.graph


def test_lines_that_end_with_a_separator(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,\n" + "x,y,\nz,y,\nx,w,\n" * 10)
    assert dagora.read_table(tmp_path / "t.csv").names == ("a", "b")


def test_two_keys_of_one_name():
    with pytest.raises(DataError, match="two columns are named '1'"):
        dagora.learn({1: [0, 1], "1": [0, 1], "b": [0, 1]})


def test_inspecting_and_learning_agree_on_dropped_rows():
    codes = [float(i % 30) if i % 2 else float(i % 3) for i in range(ROWS)]
    frame = table(k=codes, hole=["x" if i % 2 == 0 else None for i in range(ROWS)])
    seen = dagora.inspect(frame, missing="drop")
    learned = dagora.learn(frame, missing="drop").data
    assert [c.to_dict() for c in seen.columns] == learned["columns"]
    assert seen.dropped == learned["rows_dropped"] == ROWS // 2


def test_what_was_done_to_a_table_is_told():
    ready = dagora.Table.from_frame(table(x=GENERATOR.normal(size=ROWS)))
    said = dagora.learn(ready, discretise="quantile", bins=3, drop=["sex"]).data["reading"]
    assert said == {"discretise": "quantile", "bins": 3, "drop": ["sex"]}


def test_sites_and_owners_say_what_they_left_out():
    frame = table(name=[f"person {i}" for i in range(ROWS)])
    frame.loc[:11, "ill"] = None
    sites = dict.fromkeys(("north", "south", "west"), frame)
    result = dagora.learn_federated(sites, missing="drop")
    assert "36 of 360 rows were dropped at the sites" in result.message
    assert any(line.startswith("north: ") and "'name'" in line for line in result.warnings)
    owner = frame.assign(key=range(ROWS))[["key", "ill", "name"]]
    other = frame.assign(key=range(ROWS))[["key", "sex"]]
    result = dagora.learn_private(owner, other, key="key", missing="drop")
    assert "12 of 120 rows (10.0 %) were dropped" in result.message
    assert any("'name'" in line for line in result.warnings)


@pytest.mark.parametrize("fixed", [3.5, None, 3.0])
@pytest.mark.parametrize(
    ("others", "options"),
    [("numbers", {}), ("both", {}), ("numbers", {"score": "bge"}), ("numbers", {"method": "notears"})],
)
def test_a_constant_number_is_left_out_unless_it_is_named(fixed, others, options):
    """None stands for a whole number, which is a level where levels can be."""
    rng = np.random.default_rng(0)
    rows = {"k": [3 if fixed is None else fixed] * 60, "x": rng.normal(size=60), "y": rng.normal(size=60)}
    if others == "both":
        rows["c"] = ["no", "yes"] * 30
    if fixed is None and not options:
        with pytest.warns(match="constant columns, at which no edge can be learned: 'k'"):
            assert "k" in dagora.learn(rows).graph.nodes
        return
    with pytest.warns(match=r"1 column is left out: 'k' \(a constant number\)$"):
        assert "k" not in dagora.learn(rows, **options).graph.nodes
    named = {"continuous": "k"}, {"knowledge": {"forbidden": [["k", "x"]]}}
    for naming in named:
        with pytest.raises(DataError, match=r"'k' is constant.*: leave it out \(drop=\[\"k\"\]\)$"):
            dagora.learn(rows, **{**options, **naming})
    assert "k" not in dagora.learn(rows, **options, drop="k").graph.nodes


def test_a_constant_number_is_left_out_at_every_door(tmp_path):
    rng = np.random.default_rng(0)
    rows = {"k": [3.5] * 60, "x": rng.normal(size=60), "y": rng.normal(size=60)}
    with pytest.warns(match="'k' .a constant number"):
        assert dagora.candidates(rows).names == ("x", "y")
    with pytest.warns(match="'k' .a constant number"):
        assert dagora.sample(rows, "exact", draws=5).nodes == ("x", "y")
    assert dagora.inspect(rows).columns[0].why == "a constant number"
    file = tmp_path / "rows.csv"
    file.write_text("k,x,y\n" + "".join(f"3.5,{x},{y}\n" for x, y in zip(rows["x"], rows["y"], strict=True)))
    assert dagora.read_table(file).names == ("k", "x", "y")


def test_an_index_that_says_more_than_the_number_of_a_row_is_told():
    frame = table(dose=GENERATOR.normal(size=ROWS))
    patients = np.repeat(np.arange(ROWS // 4), 4)
    by_patient = dagora.inspect(frame.set_index(pd.Index(patients, name="patient"))).warnings
    assert by_patient[0] == "the index 'patient' of the frame is left out: reset_index() makes columns of it"
    assert by_patient[1].startswith("rows that share a 'patient' are not independent")
    levels = pd.MultiIndex.from_arrays([patients, np.arange(ROWS) % 4], names=["patient_id", "visit"])
    both = dagora.inspect(frame.set_index(levels)).warnings
    assert both[0].startswith("the index 'patient_id', 'visit' of the frame is left out")
    assert both[1].startswith("rows that share a 'patient_id' are not independent")
    repeated = dagora.inspect(pd.concat([frame[:60], frame[:60] * 1])).warnings
    assert any("its values repeat, so rows that share one may not be independent" in w for w in repeated)
    days = pd.date_range("2020-01-01", periods=ROWS)
    assert "the index of the frame is left out" in dagora.inspect(frame.set_index(days)).warnings[0]
    with pytest.warns(dagora.DagoraWarning, match="the index 'patient' of the frame is left out"):
        as_table(frame.set_index(pd.Index(patients, name="patient")))


def test_an_index_that_only_numbers_rows_is_no_trouble():
    frame = table(dose=GENERATOR.normal(size=ROWS))
    for same in (frame, frame[frame.dose > 0], frame.sample(frac=1, random_state=0), frame.iloc[::2]):
        assert not any("index" in line for line in dagora.inspect(same).warnings)


@pytest.mark.parametrize("lengths", [[4] * 30, [3, 5] * 15, [2, 6, 4, 4, 5, 3] * 5, [20] * 6])
def test_merged_cells_are_told(lengths, tmp_path):
    ward = [
        word for k, length in enumerate(lengths) for word in [f"ward {'abc'[k % 3]}", *[None] * (length - 1)]
    ]
    frame = table(ward=ward, dose=GENERATOR.normal(size=ROWS))
    frame.to_csv(tmp_path / "t.csv", index=False)
    for data in (frame, tmp_path / "t.csv"):
        (line,) = [line for line in dagora.inspect(data).warnings if "merged" in line]
        assert "'ward'; if a value holds for the rows below it, write it into each of them" in line


def test_other_holes_are_no_merged_cells():
    draws = np.random.default_rng(1)
    for share in (0.03, 0.1, 0.3, 0.5, 0.8):
        for _ in range(20):
            seen = draws.random(ROWS) < share
            seen[0] = True
            frame = table(lab=np.where(seen, draws.normal(size=ROWS), np.nan))
            assert not any("merged" in line for line in dagora.inspect(frame).warnings)


def test_sodium_among_elements_is_no_missing_word():
    frame = table(ion=["Na", "K", "Cl"] * (ROWS // 3), Na=140 + GENERATOR.normal(size=ROWS))
    assert not any("missing" in line for line in dagora.inspect(frame).warnings)
    assert dagora.inspect(frame, missing="drop").dropped == 0
    assert any("'Na'" in w for w in dagora.inspect(table(pain=["Na", "low", "high"] * (ROWS // 3))).warnings)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("age", lambda draws: draws.integers(18, 90, 500)),
        ("x", lambda draws: draws.normal(50, 12, 500).clip(20, 90).round()),
        ("Insulin", lambda draws: draws.gamma(2, 70, 500).round() + 15),
        ("SkinThickness", lambda draws: draws.normal(29, 9, 500).clip(7, 60).round()),
        ("systolic_pressure", lambda draws: draws.normal(130, 45, 500).clip(70, 260).round()),
    ],
)
def test_zeros_far_from_the_rest_are_told(name, make):
    draws = np.random.default_rng(0)
    column = np.where(draws.random(500) < 0.04, 0, make(draws))
    assert any(
        f"in '{name}'" in w and "'0'" in w
        for w in dagora.inspect({name: column, "y": draws.random(500)}).warnings
    )


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("age", lambda draws: draws.integers(0, 90, 500)),
        ("age", lambda draws: draws.gamma(2, 4, 500).round()),
        ("x", lambda draws: draws.gamma(2, 10, 500).round(1)),
        ("x", lambda draws: draws.poisson(8, 500)),
        ("income", lambda draws: np.where(draws.random(500) < 0.1, 0, draws.normal(3000, 500, 500).round())),
        ("x", lambda draws: draws.uniform(0, 100, 500).round()),
    ],
)
def test_zeros_among_the_rest_are_numbers(name, make):
    draws = np.random.default_rng(0)
    assert not any("'0'" in w for w in dagora.inspect({name: make(draws), "y": draws.random(500)}).warnings)
