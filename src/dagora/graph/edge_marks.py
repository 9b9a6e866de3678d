"""The marks at the ends of edges of ancestral graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# [i, j] is the mark at j of the edge between i and j.
Marks = NDArray[np.int8]

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3  # as pcalg codes them
