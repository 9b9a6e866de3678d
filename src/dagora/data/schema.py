"""The names, kinds and levels of a table's columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.notebook import NotebookView
from dagora.base.phrases import among, find_repeated, nearest

# Codes have 16 bits; a column with more levels than this identifies rows rather than describing them.
MAX_LEVELS = 10_000


class Kind(StrEnum):
    """The two kinds of column.

    >>> Kind("discrete") is Kind.DISCRETE, [str(kind) for kind in Kind]
    (True, ['discrete', 'continuous'])
    """

    DISCRETE = "discrete"
    CONTINUOUS = "continuous"


@dataclass(frozen=True, slots=True)
class Variable:
    """A named column; a discrete one declares its levels, in the order of their codes.

    `ordered` says that this order means something. It matters to frames and files, and not to equality.

    >>> Variable("dose", Kind.DISCRETE, ("none", "low", "high")).cardinality
    3
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    ordered: bool = field(default=False, compare=False)

    @property
    def cardinality(self) -> int:
        """The number of levels of a discrete variable; 0 for a continuous one."""
        return len(self.levels)


class Schema(NotebookView):
    """The variables of a data set, in column order.

    >>> schema = Schema([Variable("a", Kind.DISCRETE, ("no", "yes")), Variable("x", Kind.CONTINUOUS)])
    >>> schema.names, schema.index("x"), schema.kinds == {Kind.DISCRETE, Kind.CONTINUOUS}
    (('a', 'x'), 1, True)
    """

    def __init__(self, variables: Iterable[Variable]) -> None:
        self.variables = tuple(variables)
        self._names = tuple(variable.name for variable in self.variables)
        self._index = {name: i for i, name in enumerate(self._names)}
        if (twice := find_repeated(self._names)) is not None:
            raise DataError(f"two columns are named '{twice}': rename one of them")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self._names

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds that occur."""
        return frozenset(variable.kind for variable in self.variables)

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        """Number of levels of each column (0 where continuous).

        >>> Schema([Variable("x", Kind.CONTINUOUS), Variable("a", Kind.DISCRETE, ("no",))]).cardinalities
        array([0, 1])
        """
        return np.array([variable.cardinality for variable in self.variables], dtype=np.int64)

    def index(self, name: str) -> int:
        """Position of a column."""
        try:
            return self._index[name]
        except (KeyError, TypeError):
            near = nearest(name, self.names) if isinstance(name, str) else None
            hint = f"did you mean '{near}'? " if near else ""
            raise DataError(f"there is no column named '{name}': {hint}{among(self.names)}") from None

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __getitem__(self, position: int) -> Variable:
        try:
            return self.variables[position]
        except (IndexError, TypeError):
            raise DataError(
                f"columns have positions from 0 to {len(self) - 1}, not {position!r}: index(name) finds one"
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.variables == other.variables

    def __hash__(self) -> int:
        return hash(self.variables)

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{v.name}: {v.kind}' for v in self.variables)})"
