"""Import objects named as "package.module:name": registries import what they list only when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(place: str) -> Any:  # noqa: ANN401 (whatever stands there)
    """Import the object `name` of "module:name".

    >>> load("math:factorial")(5)
    120
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
