"""The version, in its one place, and those of what results depend on."""

from __future__ import annotations

import platform
from functools import cache

__version__ = "0.2.0"


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    others = {package: version_of(package) for package in ("numpy", "numba", "scipy")}
    return {"python": platform.python_version(), "dagora": __version__, **others}


@cache
def version_of(package: str) -> str:
    """Version of an installed package; looking it up is slow, so it is remembered."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
