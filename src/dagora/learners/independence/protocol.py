"""The protocol of tests of independence, which the searches in `constraint` use."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]


class IndependenceTest(Protocol):
    """Tests pairs of columns for independence given conditioning sets, many at a time."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    @property
    def max_given(self) -> int:
        """The size of the largest conditioning set that can be tested; −1 if no test is possible."""

    @property
    def batch_size(self) -> int:
        """The number of tests per call, so that the time limit is checked now and then."""

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of x[k] and y[k] given the columns in row k of `given`.

        NaN: the test is impossible, because the conditioning set determines x or y or leaves too few rows.
        """
