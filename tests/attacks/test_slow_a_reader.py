"""Whoever sends a table of many columns wants the server that looks at it to be busy: time grows as columns do."""

import time

import numpy as np
import pytest

from dagora.data.columns.column_type import Column
from dagora.data.columns.doubtful_columns import count_warnings
from dagora.data.schema import Kind, Variable

COLUMNS = 8_000
FREE = 0.3
"""Seconds for twice the columns that nobody minds."""


def seconds(columns: int) -> float:
    values = np.zeros(5, dtype=np.uint16)
    typed = [Column(Variable(f"c{k}", Kind.DISCRETE, ("a", "b")), values) for k in range(columns)]
    before = time.process_time()
    assert list(count_warnings(typed)) == []
    return time.process_time() - before


@pytest.mark.full
def test_columns_that_count_rows_are_found_in_one_pass():
    small, large = seconds(COLUMNS), seconds(2 * COLUMNS)
    assert large < FREE or large < 3 * small
