"""The seam between tests of independence and the searches that use them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]


class IndependenceTest(Protocol):
    """Tests whether pairs of columns are independent given sets of others, many at a time."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    @property
    def most(self) -> int:
        """The largest number of columns to be given that a test can be made with; −1 where there is none."""

    @property
    def at_a_time(self) -> int:
        """How many tests to ask for in one call, so that the clock is looked at now and then."""

    def p_values(self, x: Columns, y: Columns, given: Columns) -> Floats:
        """The p-values of x[k] and y[k] given the columns in row k of `given`.

        NaN stands for a test that cannot be made, since nothing is left to be tested.
        """
