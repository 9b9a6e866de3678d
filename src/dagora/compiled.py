"""The decorator of our numerical kernels: compiled by numba, cached on disk, free of the interpreter lock."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
from numba.core import event

from dagora import kernel_cache
from dagora.compiling import compilation

F = TypeVar("F", bound=Callable[..., object])


class CompileListener(event.Listener):  # type: ignore[misc]  # numba has no types
    """Passes on when numba begins to compile a kernel, and when it has done so."""

    def on_start(self, event: object) -> None:  # noqa: ARG002
        """Note the begin."""
        compilation.begin()

    def on_end(self, event: object) -> None:  # noqa: ARG002
        """Note the end, well or not."""
        compilation.end()


kernel_cache.install()
event.register("numba:compile", CompileListener())


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers; several threads may run it at once."""
    return cast("F", numba.njit(cache=can_keep(function), nogil=True)(function))


def inlined(function: F) -> F:
    """Compile a small function into each kernel that calls it; a call would cost more than its work."""
    return cast("F", numba.njit(cache=can_keep(function), nogil=True, forceinline=True)(function))


def can_keep(function: Callable[..., object]) -> bool:
    """Whether there is a folder for the compiled function; without one numba would refuse to compile it."""
    file = Path(inspect.getfile(function)).resolve()
    return not file.is_relative_to(kernel_cache.PACKAGE) or kernel_cache.cache_folder(file) is not None
