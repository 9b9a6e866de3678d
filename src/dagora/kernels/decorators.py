"""Decorators of numerical kernels: compiled by numba, cached on disk, free of the interpreter lock."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import event
from numba.extending import overload
from numba.np import arrayobj

from dagora.kernels import cache as kernel_cache
from dagora.kernels.compilation import compilation
from dagora.kernels.parts import PartCompiler
from dagora.kernels.stamp import PACKAGE

F = TypeVar("F", bound=Callable[..., object])


class CompileListener(event.Listener):  # type: ignore[misc]  # numba has no types
    """Notes the begin and the end of each compilation by numba."""

    def on_start(self, event: object) -> None:  # noqa: ARG002
        """Note a begin."""
        compilation.begin()

    def on_end(self, event: object) -> None:  # noqa: ARG002
        """Note an end, also after an error."""
        compilation.end()


def fail_on_shapes(source: object, target: object) -> None:
    """Raise an error where a slice is assigned an array of another shape.

    The error of numba names both shapes: to make text of them is compiled into every kernel that assigns a
    slice, and takes longer to compile than most kernels.
    """


@overload(fail_on_shapes)  # type: ignore[untyped-decorator]  # numba has no types
def compile_failure(source: object, target: object) -> Callable[[object, object], None]:  # noqa: ARG001
    """Return what is compiled."""

    def fail(source: object, target: object) -> None:  # noqa: ARG001
        raise ValueError("cannot assign an array of another shape to a slice")

    return fail


arrayobj.raise_with_shape_context = fail_on_shapes
kernel_cache.install()
event.register("numba:compile", CompileListener())


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers; several threads may run it at once."""
    return compile_kernel(function)


def inlined(function: F) -> F:
    """Compile a small function into each kernel that calls it, where a call would cost more than its work."""
    return compile_kernel(function, forceinline=True)


def borrowing(function: F) -> F:
    """Compile a kernel without reference counts; it must create no arrays and return none.

    numba counts the references to every array that is taken out of a tuple, with atomic instructions: in a
    small kernel that takes tuples, they cost more than its work.
    """
    return compile_kernel(function, _nrt=False)


def vectorised(function: F) -> F:
    """Compile a loop over arrays so that the processor works on several entries at once.

    No entry may be NaN; a division by zero gives infinity. Products may be added without rounding in between.
    """
    return compile_kernel(function, fastmath={"nnan", "nsz", "contract"}, error_model="numpy")


def patient(plain: Callable[..., object], takes: Callable[..., float], compiling: float) -> Callable[[F], F]:
    """Let a kernel be compiled only when its plain form would have taken as long as compilation takes.

    So a small table is done before its kernels would be compiled. `plain` gives the same answer, to the last
    bit; `takes` says in about how many seconds, and `compiling` how many the kernel takes to compile. Where
    compiled code was kept, it is used.
    """

    def decorate(entry: Any) -> Any:  # noqa: ANN401
        compiled = entry._compile_for_args  # noqa: SLF001 - numba asks it for what to call, on arguments of new types
        spent = 0.0

        def plain_or_compiled(*arguments: object) -> object:
            nonlocal spent
            if compilation.patient and not getattr(entry._cache, "kept", False):  # noqa: SLF001
                spent += takes(*arguments)
                if spent < compiling:
                    return plain
            entry._compile_for_args = compiled  # noqa: SLF001
            return compiled(*arguments)

        entry._compile_for_args = plain_or_compiled  # noqa: SLF001
        return entry

    return decorate


def compile_kernel(function: F, **options: object) -> F:
    """Compile a function in two versions, each when it is needed: for Python, and as a part of other kernels.

    A kernel that others call becomes part of their machine code. That version has no entry from Python, which
    takes longer to compile than a small kernel itself, and is not cached on its own.
    """
    shared = {"nogil": True, "no_cfunc_wrapper": True, **options}
    entry = numba.njit(**shared)(function)
    as_part: dict[str, object] = {"no_cpython_wrapper": True}
    if can_cache(function):
        entry._cache = kernel_cache.KernelCache(function)  # noqa: SLF001 - as njit(cache=True) sets numba's own
        as_part["pipeline_class"] = PartCompiler
    part = numba.njit(**as_part, **shared)(function)

    def call_template(arguments: Iterable[Any], named: dict[str, Any]) -> Any:  # noqa: ANN401
        # numba would compile a kernel once more for each literal number in a call of it.
        named = {name: types.unliteral(each) for name, each in named.items()}
        return part.get_call_template([types.unliteral(each) for each in arguments], named)

    entry.get_call_template = call_template
    entry.get_overload = part.get_overload
    return cast("F", entry)


def can_cache(function: Callable[..., object]) -> bool:
    """Return True if there is a cache folder; without one numba would refuse to compile the function."""
    file = Path(inspect.getfile(function)).resolve()
    return not file.is_relative_to(PACKAGE) or kernel_cache.cache_folder(file) is not None
