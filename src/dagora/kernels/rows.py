"""Copies of rows inside kernels: `target[:] = source` does the same, but takes seconds to compile.

numba compiles with it the text of an error about different shapes.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from dagora.kernels.decorators import borrowing


@borrowing
def copy_row(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy a row to another of the same length.

    >>> import numpy as np
    >>> target = np.zeros(2)
    >>> copy_row(np.array([1.0, 2.0]), target)
    >>> target.tolist()
    [1.0, 2.0]
    """
    for i in range(len(source)):
        target[i] = source[i]
