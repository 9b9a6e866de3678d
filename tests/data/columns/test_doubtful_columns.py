"""Columns that are no variables, mix units or copy each other are told."""

import numpy as np
import pandas as pd
import pytest

import dagora


def said(table):
    """The warnings about a table, in one text."""
    return "\n".join(dagora.inspect(table).warnings)


@pytest.fixture
def draw():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    "name", ["n", "count", "Freq", "patients", "effectif", "Nombre", "no_of_patients", "cells"]
)
def test_counts_of_rows_are_told(name, draw):
    cells = np.array([(a, b, c) for a in "ab" for b in "cde" for c in "fg"])
    table = dict(zip(("x", "y", "z"), cells.T, strict=True))
    assert f"column '{name}' seems to count the rows" in said({**table, name: draw.poisson(30, 12)})
    twice = {key: np.r_[column, column] for key, column in table.items()}
    assert "seems to count" not in said({**twice, name: draw.poisson(30, 24)})


def test_plurals_of_persons_count_them(draw):
    cells = np.array([(a, b, c, d) for a in "ab" for b in "cde" for c in "fg" for d in "hij"])
    table = dict(zip(("x", "y", "z", "v"), cells.T, strict=True)) | {"persons": 5 + draw.permutation(36) * 7}
    assert 'counts="persons" counts them so' in said(table)
    assert "belong together" in said({**table, "person": np.repeat(table["persons"][:30], 2)[:36]})


def test_weights_of_rows_are_told(draw):
    other = draw.standard_normal(300)
    assert "seems to hold weights" in said({"survey_weight": draw.random(300), "x": other})
    weights = draw.random(300)
    assert "seems to hold weights" in said({"weight": weights / weights.mean(), "x": other})
    assert "weights" not in said({"weight": 70 + 10 * other, "x": draw.random(300)})


def test_days_written_as_numbers_are_left_out(draw):
    days = 20180000 + 100 * draw.integers(1, 13, 300) + draw.integers(1, 29, 300)
    overview = dagora.inspect({"seen": days, "x": draw.standard_normal(300)})
    assert (overview.columns[0].type, overview.columns[0].why) == ("left out", "dates written as numbers")


@pytest.mark.parametrize("name", ["zip", "zip_code", "Postcode", "PLZ"])
def test_codes_of_places_are_left_out(name, draw):
    overview = dagora.inspect({name: draw.integers(10000, 99999, 300), "x": draw.standard_normal(300)})
    assert (overview.columns[0].type, overview.columns[0].why) == ("left out", "codes of places")


@pytest.mark.parametrize("name", ["icd9", "dx", "Diagnosis_Code", "ICD-9-CM code", "naics"])
def test_codes_of_classifications_that_look_like_numbers_are_left_out(name, draw):
    codes = draw.choice(np.unique(draw.integers(1000, 99999, 60)), 300)
    for values in (codes, codes / 100):
        overview = dagora.inspect({name: values, "x": draw.standard_normal(300)})
        assert (overview.columns[0].type, overview.columns[0].why) == (
            "left out",
            "codes of a classification",
        )
    few = dagora.inspect({name: draw.choice([250.0, 401.9, 428.0], 300), "x": draw.standard_normal(300)})
    assert few.columns[0].type != "left out"
    assert (
        dagora.inspect({"index": codes / 100, "x": codes % 7}).columns[0].why != "codes of a classification"
    )


def test_negative_ages_are_told(draw):
    ages = draw.integers(-78, 80, 300)
    told = said({"age": ages, "x": draw.random(300)})
    assert f"column 'age' has {(ages < 0).sum()} negative numbers (down to -78), which it cannot have" in told
    assert "negative" not in said({"change": ages, "age": draw.standard_normal(300)}), "as of a scaled column"


@pytest.mark.parametrize("factor", [10, 100, 1000])
def test_mixed_units_are_told(factor, draw):
    hb = draw.normal(14, 1.5, 300).round(1)
    hb[:60] *= factor
    assert f"units: 'hb' (around 13.8 and {14.1 * factor:g}, as " in said({"hb": hb, "x": draw.random(300)})


def test_kilograms_and_pounds_in_one_column_are_told(draw):
    weight = draw.normal(70, 7, 300)
    weight[:90] *= 2.2046
    assert "1 column seems to mix units: 'weight'" in said({"weight": weight.round(1), "x": draw.random(300)})


@pytest.mark.parametrize(
    ("units", "make", "convert"),
    [
        ("shares and per cent", lambda draw: draw.normal(0.5, 0.1, 300).round(2), lambda x: 100 * x),
        (
            "HbA1c in % and mmol/mol",
            lambda d: d.gamma(9, 0.22, 300).round(1) + 4.8,
            lambda x: 10.93 * x - 23.5,
        ),
        ("glucose in mmol/l and mg/dl", lambda d: d.lognormal(1.7, 0.25, 300).round(1), lambda x: 18.02 * x),
        ("cholesterol in mmol/l", lambda draw: draw.normal(5.2, 0.8, 300).round(1), lambda x: 38.67 * x),
        ("creatinine in mg/dl", lambda draw: draw.lognormal(0, 0.3, 300).round(2), lambda x: 88.4 * x),
        ("inches and cm", lambda draw: draw.normal(67, 3.5, 300).round(), lambda x: 2.54 * x),
        ("°C and °F", lambda draw: draw.normal(37, 0.7, 300).round(1), lambda x: 32 + 1.8 * x),
    ],
)
@pytest.mark.parametrize("share", [0.15, 0.7])
def test_units_that_fit_are_named(units, make, convert, share, draw):
    one = make(draw)
    mixed = np.where(draw.random(300) < share, convert(one).round(), one)
    assert units in said({"lab": mixed, "x": draw.random(300)})
    assert "mix units" not in said({"lab": one, "x": draw.random(300)})


def test_rounding_does_not_hide_mixed_units(draw):
    celsius = draw.normal(37.2, 0.7, 5000).round(1)
    mixed = np.where(draw.random(5000) < 0.4, 32 + 1.8 * celsius, celsius).round(1)
    assert "°C and °F" in said({"temp": mixed, "x": draw.random(5000)})


@pytest.mark.parametrize(
    "make",
    [
        lambda draw: draw.lognormal(0, 1, 300),
        lambda draw: np.r_[draw.normal(5, 1, 150), draw.normal(20, 1, 150)],
        lambda draw: draw.exponential(1, 300),
        lambda draw: np.r_[draw.normal(14, 1.5, 299), 140],
        lambda draw: np.r_[draw.normal(2, 0.2, 100), draw.normal(4.4, 0.25, 200)].round(2),
        lambda draw: np.r_[draw.normal(10, 1, 150), draw.normal(100, 5, 150)].round(1),
        lambda draw: np.r_[draw.normal(50, 5, 150), draw.normal(115, 6, 150)].round(),
        lambda draw: draw.random(300),
    ],
)
def test_other_numbers_do_not_mix_units(make, draw):
    assert "units" not in said({"x": make(draw), "y": draw.random(300)})


def test_rounded_copies_are_told(draw):
    kg = draw.normal(75, 15, 300).round(1)
    table = {"kg": kg, "lb": (kg * 2.2046).round(1), "height": 1.7 + 0.002 * kg + draw.normal(0, 0.1, 300)}
    assert "these columns say the same, but for units or rounding: 'kg' and 'lb'" in said(table)
    assert "say the same" not in said({"kg": kg, "x": kg + draw.normal(0, 0.5, 300)})
    for whole in (kg.round(), (2.2046 * kg).round()):
        assert "say the same, but for units or rounding: 'kg' and 'whole'" in said({"kg": kg, "whole": whole})
    assert "say the same" not in said({"kg": kg, "x": (kg + draw.normal(0, 0.3, 300)).round()})


def test_times_and_seconds_since_1970_are_left_out(draw):
    minutes = draw.integers(300, 600, 300)
    table = {
        "wake": [f"{m // 60}:{m % 60:02d}" for m in minutes],
        "stamp": 1_520_000_000 + draw.integers(0, 80_000_000, 300),
        "amount": 1_520_000_000 + draw.integers(0, 80_000_000, 300),
        "time": draw.integers(1, 500, 300),
        "x": draw.standard_normal(300),
    }
    found = {column.name: (column.type, column.why) for column in dagora.inspect(table).columns}
    assert found["wake"] == ("left out", "dates or times")
    assert found["stamp"] == ("left out", "dates written as numbers")
    assert found["amount"][0] == found["time"][0] == "continuous"


def test_names_that_differ_only_in_case_are_told(draw):
    x = draw.standard_normal((4, 60))
    assert "'Age' and 'age'" in said(dict(zip(["Age", "age", "b", "c"], x, strict=True)))
    assert "differ only" not in said(dict(zip(["x1_1", "x11", "age_f", "age_m"], x, strict=True)))


def test_the_same_levels_in_other_words_are_told(draw):
    died = draw.integers(0, 2, 200)
    table = {"died": np.where(died, "yes", "no"), "code": 4 - died, "ward": draw.choice(list("abc"), 200)}
    assert "these columns say the same in other words: 'died' and 'code'; if they are one" in said(table)
    once = {**table, "code": np.where(np.arange(200) == 7, 9, 4 - died)}
    assert "in other words" not in said(once)
    rare = np.zeros(200, dtype=int)
    rare[:4] = 1
    assert "in other words" not in said({"a": rare, "b": 1 - rare, "c": draw.integers(0, 2, 200)})


def test_indicators_of_one_variable_are_told(draw):
    region = draw.integers(0, 4, 200)
    block = {f"region_{name}": (region == k).astype(int) for k, name in enumerate("nesw")}
    line = "exactly one of 'region_n', 'region_e', 'region_s', 'region_w' is 1 in every row"
    assert line in said({**block, "smoker": draw.integers(0, 2, 200)})
    assert "make one column 'region'" in said(block)
    some = {name: column.copy() for name, column in block.items()}
    some["region_n"][3] = some["region_e"][3] = 1
    assert "exactly one of" not in said(some)
    assert "exactly one of" not in said({"is_a": block["region_n"], "is_b": 1 - block["region_n"]})


def test_a_column_that_slipped_by_a_row_is_told(draw):
    x = draw.standard_normal(301)
    line = "columns that hold what another one held in the row before: 'previous' (of 'x')"
    assert line in said({"x": x[1:], "previous": x[:-1], "z": draw.standard_normal(300)})
    walk = x.cumsum()
    assert "held in the row before" not in said({"kg": walk, "lb": 2.2 * walk, "z": x})
    assert "held in the row before" not in said({"x": x, "y": x + draw.standard_normal(301)})


def test_holes_that_were_filled_by_the_mean_are_told(draw):
    x = draw.normal(50, 10, 400).round(1)
    gone = draw.random(400) < 0.3
    line = "one value stands in many rows and is the mean or the median of all others"
    for mean in (x[~gone].mean(), x[~gone].mean().round(1)):
        assert line in said({"x": np.where(gone, mean, x), "y": draw.standard_normal(400)})
    skewed = np.exp(x / 10).round(3)
    assert line in said({"x": np.where(gone, np.median(skewed[~gone]), skewed), "y": x})
    assert line not in said({"x": x, "y": draw.standard_normal(400)})
    assert line not in said({"x": np.where(gone, 0.0, x), "y": draw.standard_normal(400)})
    assert line not in said({"x": np.where(gone, 0.0, np.abs(x - 50)), "y": draw.standard_normal(400)})


def test_celsius_and_fahrenheit_are_told(draw):
    celsius = draw.normal(37.2, 0.7, 300)
    mixed = np.where(draw.random(300) < 0.2, 32 + 1.8 * celsius, celsius)
    assert "1 column seems to mix units: 'temp'" in said({"temp": mixed.round(1), "x": draw.random(300)})
    assert "mix units" not in said({"temp": (celsius - 36).round(1), "x": draw.random(300)})


def test_totals_among_the_rows_are_told(draw):
    cases = draw.poisson(300, (100, 2))
    columns = {"sex": ["f", "m", "Total"] * 100, "cases": np.c_[cases, cases.sum(1)].ravel()}
    assert "rows seem to be totals of others: 'Total' in 'sex' (100 rows)" in said(columns)
    assert "totals" not in said({**columns, "sex": ["slim", "average", "heavy"] * 100})


@pytest.mark.parametrize("name", ["pw", "Gewicht", "w"])
def test_weights_of_a_sample_have_a_mean_near_one(name, draw):
    weights = 1.015 * draw.gamma(4, 0.25, 600)
    assert "seems to hold weights" in said({name: weights.round(3), "x": draw.random(600)})
    assert "weights" not in said({name: (1.3 * weights).round(3), "x": draw.random(600)})


def test_numbers_that_two_forms_explain_are_told(draw):
    some = draw.random(600) < 0.2
    year = draw.integers(1940, 2000, 600)
    celsius, share = draw.normal(37, 0.8, 600), draw.beta(4, 3, 600)
    written = np.where(some, share.round(2), (100 * share).round())
    for forms, numbers in (
        ("years of two and of four digits", np.where(some, year % 100, year)),
        ("°C and K", (celsius + 273.15 * some).round(1)),
        ("°C and K", (draw.normal(5, 8, 600) + 273.15 * some).round(1)),  # some below zero
        ("shares and per cent", written),
    ):
        assert forms in said({"x": numbers, "y": draw.random(600)})


def test_numbers_that_no_two_forms_explain_are_not_told(draw):
    some = draw.random(600) < 0.2
    for numbers in (
        draw.integers(1900, 2020, 600),
        np.where(some, draw.normal(25, 1, 600), draw.normal(290, 12, 600)).round(1),  # of other spread
        np.where(some, 0.5 * draw.integers(1, 3, 600), draw.integers(1, 40, 600)),  # halves
        draw.random(600).round(2),
        draw.integers(0, 101, 600),
    ):
        assert "units" not in said({"x": numbers, "y": draw.random(600)})


def test_days_that_no_name_calls_dates_are_told(draw):
    other = draw.random(600)
    told = said({"admitted": draw.integers(43_000, 44_500, 600), "x": other})
    assert "column 'admitted' may be dates as a spreadsheet counts days (2017-09" in told
    for amounts in (
        draw.integers(36_600, 47_400, 600),  # over thirty years
        draw.normal(43_500, 200, 600).round(2),
        draw.choice([43_100, 43_200, 43_300, 43_400], 600),
        draw.integers(20_000, 24_000, 600),
    ):
        assert "spreadsheet" not in said({"income": amounts, "x": other})


def test_declared_levels_that_no_row_has_are_told() -> None:
    """They cost as much as levels that rows have: the edge was lost without a word."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 200)
    b = np.where(rng.random(200) < 0.28, a, rng.integers(0, 3, 200))
    tables = [
        pd.DataFrame(
            {name: pd.Categorical.from_codes(codes, list(levels)) for name, codes in (("a", a), ("b", b))}
        )
        for levels in ("uvw", "uvwxyz")
    ]
    seen, declared = (dagora.learn(table, "hill-climb") for table in tables)
    assert (seen.graph.edges, declared.graph.edges) == ((("a", "b"),), ())
    (told,) = declared.warnings
    assert told.startswith("declared levels that no row has count as levels")
    assert "'x', 'y', 'z' of 'a'" in told
    assert seen.warnings == ()
