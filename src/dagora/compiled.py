"""The decorator of our numerical kernels: compiled by numba, cached on disk, free of the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers; several threads may run it at once."""
    return cast("F", numba.njit(cache=True, nogil=True)(function))


def inlined(function: F) -> F:
    """Compile a small function into each kernel that calls it; a call would cost more than its work."""
    return cast("F", numba.njit(cache=True, nogil=True, forceinline=True)(function))
