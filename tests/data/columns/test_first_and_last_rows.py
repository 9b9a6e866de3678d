"""Rows at the end of a table that sum up the others."""

import numpy as np
import pytest

import dagora

R = np.random.default_rng(0)
NAMES = [f"patient {k} of ward {k % 7}" for k in range(60)]


def said(names, rows=None):
    """The warnings about a table with names in a first column, which is left out."""
    numbers = R.normal(50, 9, len(names)).round(1)
    overview = dagora.inspect({"who": names, "x": numbers, "y": numbers + R.normal(size=len(names))})
    assert overview.columns[0].type == "left out"
    return "\n".join(overview.warnings)


@pytest.mark.parametrize(
    "words",
    [["Minimum", "Maximum", "N"], ["mean", "SD"], ["Mittelwert", "Stabw", "Anzahl"], ["total", "average"]],
)
def test_rows_of_a_summary_are_told_although_their_names_are_left_out(words):
    assert f"rows from data row 61 on are called '{words[0]}'" in said([*NAMES, *words])


@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        [*NAMES, "Max"],  # a name, too
        ["mean of ward 3", "min. dose", *NAMES, "Maxine", "Count Basie"],
        ["Min", *NAMES, "Max", "Mean"],  # such words stand elsewhere, too
        [*NAMES, "max", "max"],
    ],
)
def test_other_last_rows_are_not(names):
    assert "are called" not in said(names)
