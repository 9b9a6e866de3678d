"""Columns that are no variables, mix units or copy each other are told."""

import numpy as np
import pytest

import dagora


def said(table):
    """The warnings about a table, in one text."""
    return "\n".join(dagora.inspect(table).warnings)


@pytest.fixture
def draw():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ["n", "count", "Freq"])
def test_counts_of_rows_are_told(name, draw):
    cells = np.array([(a, b, c) for a in "ab" for b in "cde" for c in "fg"])
    table = dict(zip(("x", "y", "z"), cells.T, strict=True))
    assert f"column '{name}' seems to count the rows" in said({**table, name: draw.poisson(30, 12)})
    twice = {key: np.r_[column, column] for key, column in table.items()}
    assert "seems to count" not in said({**twice, name: draw.poisson(30, 24)})


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


@pytest.mark.parametrize("factor", [10, 100, 1000])
def test_mixed_units_are_told(factor, draw):
    hb = draw.normal(14, 1.5, 300).round(1)
    hb[:60] *= factor
    assert f"units: 'hb' (around 13.8 and {14.1 * factor:g})" in said({"hb": hb, "x": draw.random(300)})


@pytest.mark.parametrize(
    "make",
    [
        lambda draw: draw.lognormal(0, 1, 300),
        lambda draw: np.r_[draw.normal(5, 1, 150), draw.normal(20, 1, 150)],
        lambda draw: draw.exponential(1, 300),
        lambda draw: np.r_[draw.normal(14, 1.5, 299), 140],
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
