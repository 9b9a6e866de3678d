"""Kernels as parts of others: linked into their callers, but neither optimised nor made machine code.

numba does both for every function that a kernel calls, though only the kernel is ever run, which is optimised
with all its parts: half of what compiling takes. Here such a function stays what is linked into its callers.
"""

from __future__ import annotations

from typing import Any

from numba.core import codegen, compiler


class WithoutEngine:
    """The code generator of a part, whose engine never sees it."""

    def __init__(self, generator: Any) -> None:  # noqa: ANN401
        self._generator = generator

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._generator, name)

    def set_env(self, name: str, environment: object) -> None:
        """Nothing to set: `set_environments` does so in the kernel that the part is linked into."""


class PartLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """The code of a part."""

    @property
    def codegen(self) -> Any:  # noqa: ANN401
        """The code generator."""
        return WithoutEngine(self._codegen)

    def _optimize_final_module(self) -> None:
        """Nothing: it is optimised within each kernel that it becomes a part of."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """There is nothing to call."""
        self._ensure_finalized()
        return 0


class PartCompiler(compiler.Compiler):  # type: ignore[misc]  # numba has no types
    """Compiles a function that kernels call."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:  # noqa: ANN401
        if library is None:
            library = PartLibrary(target.codegen(), "part")
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)


def set_environments(compiled: Any) -> None:  # noqa: ANN401
    """Tell a compiled kernel where the constants of its parts are, as numba does for kept ones."""
    for environment in compiled._find_referenced_environments():  # noqa: SLF001
        compiled.library.codegen.set_env(environment.env_name, environment)
