"""Whole numbers that identify rows or count days, though no name says so, at every door."""

import numpy as np
import pandas as pd
import pytest

import dagora

ROWS = 300
DRAW = np.random.default_rng(5)
CODES = DRAW.choice(900_000_000, ROWS, replace=False) + 100_000_000


def why(tmp_path, cells, name):
    """Why a column is what it is, in memory and scanned."""
    file = tmp_path / "t.csv"
    pd.DataFrame({name: cells, "z": DRAW.normal(size=ROWS)}).to_csv(file, index=False)
    found = [door(file).overview.columns[0] for door in (dagora.read_table, dagora.open_rows)]
    assert (found[0].type, found[0].why) == (found[1].type, found[1].why)
    return found[0].type, found[0].why


@pytest.mark.parametrize(
    ("cells", "name", "reason"),
    [
        (CODES, "ref", "a different long number in every row"),
        ([f"{a}{b}42" for a, b in zip(CODES, CODES[::-1], strict=True)], "ref", "a different long number"),
        (43101 + DRAW.integers(0, 900, ROWS), "admission_date", "dates written as numbers"),
        (20000 + DRAW.integers(0, 9000, ROWS), "DOB", "dates written as numbers"),
    ],
)
def test_left_out(tmp_path, cells, name, reason):
    kind, told = why(tmp_path, cells, name)
    assert kind == "left out"
    assert told.startswith(reason)


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ((np.exp(DRAW.normal(18, 2, ROWS))).astype(int), "population"),  # from 7 digits to 10
        ([f"{v:.3e}" for v in DRAW.uniform(1e20, 9e20, ROWS)], "viral_load"),
        (43101 + DRAW.integers(0, 900, ROWS), "income"),
        (np.repeat(CODES[: ROWS // 3], 3), "revenue"),  # repeats
        (1000 + DRAW.choice(90_000_000, ROWS, replace=False), "cents"),
    ],
)
def test_amounts_stay(tmp_path, cells, name):
    assert why(tmp_path, cells, name)[0] == "continuous"


@pytest.mark.parametrize("frame", [pd.DataFrame({None: [1.5, 2.5, 4.0], "b": [1.0, 2.0, 5.0]}), None])
def test_no_name_is_no_name(frame):
    data = {None: [1.5, 2.5, 4.0], "b": [1.0, 2.0, 5.0]} if frame is None else frame
    with pytest.raises(dagora.DataError, match="column 1 has no name"):
        dagora.inspect(data)
