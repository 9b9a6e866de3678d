"""Samples that are drawn while rows go by: the rows with the smallest random numbers, however they come."""

import numpy as np
import pyarrow as pa
import pytest

from dagora.data.scan.row_sample import Reservoir, random_numbers

ROWS = 5000


def drawn(size: int, *, expected: int | None = None, batch: int = 700, rows: int = ROWS) -> list[int]:
    reservoir = Reservoir(size, 3, expected=expected)
    for start in range(0, rows, batch):
        reservoir.add(pa.record_batch({"row": np.arange(start, min(rows, start + batch))}))
    found = reservoir.rows(size)
    return [] if found is None else found.column("row").to_pylist()


@pytest.mark.parametrize("expected", [None, ROWS, ROWS // 3, 10 * ROWS, -1, 0, 2**63])
def test_the_smallest_numbers_are_drawn_whatever_was_expected(expected):
    smallest = np.sort(np.argsort(random_numbers(3, 0, ROWS))[:200]).tolist()
    found = drawn(200, expected=expected)
    if expected is not None and expected > ROWS:  # fewer rows came: fewer are drawn, and the same ones
        assert set(found) < set(smallest)
        assert len(found) == pytest.approx(200 * ROWS / expected, abs=20)
    else:
        assert found == smallest
        assert drawn(200, expected=expected, batch=33) == smallest


def test_few_rows_are_taken_where_their_number_is_known():
    taken = Reservoir(100, 3, expected=ROWS)
    for start in range(0, ROWS, 500):
        taken.add(pa.record_batch({"row": np.arange(start, start + 500)}))
    assert 100 <= sum(rows.num_rows for rows in taken._kept) < 250
