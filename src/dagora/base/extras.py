"""Packages that are not always installed: what needs them says so, and which extra brings them.

Methods and reproductions declare their needs in their registries, so that a missing package is noticed before
any data are read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

from dagora.base.errors import OptionError


@dataclass(frozen=True)
class Need:
    """A package by the name that is imported, its own name, and the extra of dagora that installs it."""

    module: str
    title: str
    extra: str

    @property
    def is_installed(self) -> bool:
        """True if the package is there; it is not imported."""
        if self.module in sys.modules:
            return sys.modules[self.module] is not None
        try:
            return find_spec(self.module) is not None
        except (ImportError, ValueError):
            return False

    @property
    def remedy(self) -> str:
        """The command that installs it."""
        return f"pip install 'dagora[{self.extra}]'"

    def require(self, who: str) -> None:
        """Refuse to go on without the package.

        >>> Need("no_such_module", "NoSuch", "exact").require("the method m")
        Traceback (most recent call last):
        dagora.OptionError: the method m needs NoSuch: pip install 'dagora[exact]'
        """
        if not self.is_installed:
            raise OptionError(f"{who} needs {self.title}: {self.remedy}")


def require_all(needs: Iterable[Need], who: str) -> None:
    """Refuse to go on without any of some packages."""
    for need in needs:
        need.require(who)


SCIP = Need("pyscipopt", "PySCIPOpt", "exact")
JAX = Need("jax", "JAX", "bayes")
DASK = Need("dask", "Dask", "dask")
DISTRIBUTED = Need("distributed", "Dask", "dask")
# The same package in another extra.
JAX_GPU = Need("jax", "JAX", "gpu")
ARVIZ = Need("arviz", "ArviZ", "bayes")
MATPLOTLIB = Need("matplotlib", "matplotlib", "papers")
# One package in two extras: which one helps depends on what it is needed for.
CRYPTOGRAPHY_FOR_SITES = Need("cryptography", "the package 'cryptography'", "federated")
CRYPTOGRAPHY_FOR_OWNERS = Need("cryptography", "the package 'cryptography'", "private")
PYNACL = Need("nacl", "the package 'pynacl'", "private")
FOR_OWNERS = (CRYPTOGRAPHY_FOR_OWNERS, PYNACL)
GMPY2 = Need("gmpy2", "the package 'gmpy2'", "private")
DUCKDB = Need("duckdb", "DuckDB", "engines")
SKLEARN = Need("sklearn", "scikit-learn", "sklearn")
STARLETTE = Need("starlette", "Starlette", "app")
UVICORN = Need("uvicorn", "Uvicorn", "app")
POSTGRESQL = Need("adbc_driver_postgresql", "the package 'adbc-driver-postgresql'", "engines")
CALAMINE = Need("python_calamine", "the package 'python-calamine'", "files")
PYREADSTAT = Need("pyreadstat", "the package 'pyreadstat'", "files")
