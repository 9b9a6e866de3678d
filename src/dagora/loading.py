"""Import objects by names such as "dagora.search.k2:k2": registries import what they list only when used."""

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
