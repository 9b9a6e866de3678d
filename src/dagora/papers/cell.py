"""A cell of an experiment: parameters in, numbers out.

A cell's parameters are its identity. Everything its numbers depend on, the seed included, is among them, so
that a cell measured once need not be measured again, and a changed setting has cells of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Parameters = Mapping[str, str | int | float]
Numbers = Mapping[str, Any]  # what JSON can hold; numbers for the tables, edges for a picture


@dataclass(frozen=True)
class MeasuredCell:
    """A cell with its numbers."""

    parameters: Parameters
    numbers: Numbers


def cell_key(item: str, revision: int, parameters: Parameters) -> str:
    """Return the identity of a cell: its item, the revision of the measurement, its parameters in any order.

    >>> cell_key("paper/table1", 1, {"n": 20, "d": 5}) == cell_key("paper/table1", 1, {"d": 5, "n": 20})
    True
    """
    return json.dumps([item, revision, dict(parameters)], sort_keys=True, ensure_ascii=False)


def describe(parameters: Parameters) -> str:
    """Parameters in a line.

    >>> describe({"graph": "ER2", "n": 20})
    'graph=ER2 n=20'
    """
    return " ".join(f"{name}={value}" for name, value in parameters.items())
