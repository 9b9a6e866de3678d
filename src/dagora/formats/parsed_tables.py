"""From the levels and the numbers of a file to a discrete network: what XMLBIF, Hugin, XDSL and UAI share.

All four list the numbers of a table with the variable itself running fastest and its first parent slowest.
Whoever made the file may have listed parents in any order; tables are transposed to that of the variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import FormatError
from dagora.base.phrases import find_repeated
from dagora.formats.graphs import check_number
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork

MOST_PARENTS = 63  # NumPy's limit on dimensions, less the variable itself
SUM_TOLERANCE = 1e-3  # tables are often rounded to three or four decimals


@dataclass
class ParsedTables:
    """A network as a file tells of it: variables with levels, then a table for each.

    >>> parsed = ParsedTables("coins")
    >>> parsed.add_variable("b", ["0", "1"])
    >>> parsed.add_variable("a", ["n", "y"])
    >>> parsed.add_table("a", [], ["0.5", "0.5"])
    >>> parsed.add_table("b", ["a"], ["0.9", "0.1", "0.2", "0.8"])
    >>> parsed.network().tables["b"].tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """

    name: str
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def add_variable(self, name: str, levels: Sequence[str]) -> None:
        """Declare a variable."""
        if name in self.levels:
            raise FormatError(f"the variable '{name}' is declared twice")
        if not levels:
            raise FormatError(f"'{name}' has no levels")
        if (twice := find_repeated(levels)) is not None:
            raise FormatError(f"'{name}' lists the level '{twice}' twice")
        self.levels[name] = tuple(levels)

    def add_table(self, child: str, parents: Sequence[str], words: Iterable[str]) -> None:
        """Take the numbers of a table, the variable itself running fastest."""
        shape = self.shape_of(child, parents)
        values = numbers(child, words)
        if len(values) != math.prod(shape):
            raise FormatError(f"the table of '{child}' needs {math.prod(shape)} numbers, not {len(values)}")
        array = np.array(values, dtype=np.float64).reshape(-1, shape[-1])
        # Written so that NaN, which fails every comparison, is refused too.
        if not ((array >= 0) & (array <= 1 + SUM_TOLERANCE)).all():
            worst = next(value for value in values if not 0 <= value <= 1 + SUM_TOLERANCE)
            raise FormatError(f"a probability of '{child}' is {worst:g}")
        sums = array.sum(axis=1)
        worst = sums[np.argmax(np.abs(sums - 1))]
        if abs(worst - 1) > SUM_TOLERANCE:
            raise FormatError(f"a distribution of '{child}' sums to {worst:.6g}, not to 1")
        self.parents[child], self.tables[child] = list(parents), array.reshape(shape)

    def shape_of(self, child: str, parents: Sequence[str]) -> tuple[int, ...]:
        """The lengths of the axes of a table: parents as listed, then the variable."""
        family = [*parents, child]
        for name in family:
            if name not in self.levels:
                raise FormatError(f"the table of '{child}' names '{name}', which is not a variable")
        if (twice := find_repeated(family)) is not None:
            raise FormatError(f"'{twice}' occurs twice in the table of '{child}'")
        if len(parents) > MOST_PARENTS:
            raise FormatError(f"'{child}' has {len(parents)} parents; {MOST_PARENTS} can be read")
        if child in self.tables:
            raise FormatError(f"the table of '{child}' is given twice")
        return tuple(len(self.levels[name]) for name in family)

    def network(self) -> DiscreteNetwork:
        """The network, once everything was read."""
        if not self.levels:
            raise FormatError("declares no variable")
        for node in self.levels:
            if node not in self.tables:
                raise FormatError(f"the variable '{node}' has no table")
        check_number(self.levels)
        graph = DAG(self.levels, [(parent, node) for node in self.levels for parent in self.parents[node]])
        tables = {}
        for node in self.levels:
            listed = self.parents[node]
            axes = [listed.index(parent) for parent in graph.parents(node)]
            tables[node] = np.ascontiguousarray(self.tables[node].transpose([*axes, len(listed)]))
        return DiscreteNetwork(graph, self.levels, tables, self.name)


def numbers(child: str, words: Iterable[str]) -> list[float]:
    """The numbers of a table.

    >>> numbers("a", ["0.5", "half"])
    Traceback (most recent call last):
    dagora.FormatError: a probability of 'a' is not a number: 'half'
    """
    found = []
    for word in words:
        try:
            found.append(float(word))
        except ValueError:
            raise FormatError(f"a probability of '{child}' is not a number: '{word[:40]}'") from None
    return found


def table_text(table: NDArray[np.float64]) -> list[str]:
    """A line of text per configuration of the parents, with every number to its last bit."""
    return [" ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist()]


def by_parents(network: DiscreteNetwork) -> Mapping[str, tuple[str, ...]]:
    """The parents of every variable, in the order of the axes of its table."""
    return {node: tuple(network.graph.parents(node)) for node in network.graph}
