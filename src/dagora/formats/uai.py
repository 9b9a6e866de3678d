"""Discrete networks in the format of the UAI competitions: numbers alone, without names.

    BAYES
    2          number of variables
    2 2        number of levels of each
    2          number of tables
    1 0        how many variables the first one has, and which; the variable itself stands last
    2 0 1
    2 0.8 0.2          how many numbers it has, and these, the last variable running fastest
    4 0.9 0.1 0.2 0.8

The last variable runs fastest. pyAgrum (3.3) lets the first parent run fastest of the parents; a comment
behind each scope (`2 0 1   # wet`) tells its files, which are read in its order. Variables are called V0, V1,
… and levels 0, 1, … when such a file is read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.parsed_tables import ParsedTables, by_parents, table_text

if TYPE_CHECKING:
    from dagora.network.networks import DiscreteNetwork

LONGEST_NUMBER = 9  # digits of a number of variables, levels or tables


def parse(text: str) -> DiscreteNetwork:
    """Read a network.

    >>> parse("BAYES 2 2 2 2 1 0 2 0 1 2 0.8 0.2 4 0.9 0.1 0.2 0.8").graph.edges
    (('V0', 'V1'),)
    """
    return UAIReader(text).network()


class UAIReader:
    """Reads the words of a file from left to right."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines()
        halves = [line.partition("#") for line in lines]
        self.commented_scopes = sum(bool(mark) and is_scope(words.split()) for words, mark, _ in halves)
        self.words = " ".join(words for words, _, _ in halves).split()
        self.position = 0

    def network(self) -> DiscreteNetwork:
        """The network of a whole file."""
        kind = self.take(1, "BAYES")[0]
        if kind.upper() != "BAYES":
            raise FormatError(
                f"begins with '{kind[:20]}': a Bayesian network begins with BAYES, and has a table per "
                "variable"
            )
        parsed = ParsedTables("unknown")
        count = self.whole_number("the number of variables")
        sizes = [self.whole_number("a number of levels") for _ in self.take_room(count)]
        self.check_room(sum(sizes))
        names = [f"V{place}" for place in range(count)]
        for name, size in zip(names, sizes, strict=True):
            parsed.add_variable(name, [str(level) for level in range(size)])
        tables = self.whole_number("the number of tables")
        if tables != count:
            raise FormatError(
                f"has {tables} tables for {count} variables: a Bayesian network has one for each"
            )
        scopes = [self.scope(names) for _ in self.take_room(tables)]
        turned = self.commented_scopes >= tables
        for *listed, child in scopes:
            parents = listed[::-1] if turned else listed
            numbers = self.whole_number("the number of probabilities")
            needed = math.prod(parsed.shape_of(child, parents))
            if numbers != needed:
                raise FormatError(f"the table of '{child}' needs {needed} numbers, not {numbers}")
            parsed.add_table(child, parents, self.take(numbers, f"the probabilities of '{child}'"))
        if self.position < len(self.words):
            raise FormatError(f"goes on after the last table, with '{self.words[self.position][:20]}'")
        return parsed.network()

    def scope(self, names: list[str]) -> list[str]:
        """The variables of one table."""
        count = self.whole_number("the number of variables of a table")
        places = [self.whole_number("a variable of a table") for _ in self.take_room(count)]
        if not places:
            raise FormatError("has a table of no variable, which no Bayesian network has")
        for place in places:
            if place >= len(names):
                raise FormatError(
                    f"a table names the variable {place}, and there are {len(names)}, from 0 on"
                )
        return [names[place] for place in places]

    def take(self, count: int, wanted: str) -> list[str]:
        """The next words."""
        if self.position + count > len(self.words):
            raise FormatError(f"ends before {wanted}")
        found = self.words[self.position : self.position + count]
        self.position += count
        return found

    def take_room(self, count: int) -> range:
        """A range over a number of things, each of which takes a word at least."""
        self.check_room(count)
        return range(count)

    def check_room(self, count: int) -> None:
        """Refuse numbers of things that a file of this length cannot hold."""
        if count > len(self.words):
            raise FormatError(f"announces {count:,} things and has {len(self.words):,} words: it is cut off")

    def whole_number(self, wanted: str) -> int:
        """The next word as a whole number."""
        (word,) = self.take(1, wanted)
        if not (word.isascii() and word.isdecimal() and len(word) <= LONGEST_NUMBER):
            raise FormatError(f"{wanted} is '{word[:20]}', not a whole number below a billion")
        return int(word)


def is_scope(words: list[str]) -> bool:
    """Return True for a line that lists the variables of a table, after their number.

    >>> is_scope(["2", "0", "1"]), is_scope(["BAYES"]), is_scope(["2", "0.5", "0.5"])
    (True, False, False)
    """
    return all(map(str.isdecimal, words)) and words[:1] == [str(len(words) - 1)]


def render(network: DiscreteNetwork, *, originals: bool = True) -> str:  # noqa: ARG001 (it holds no names)
    """Write a network without its names.

    >>> print(render(parse("BAYES 1 2 1 1 0 2 0.25 0.75")), end="")
    BAYES
    1
    2
    1
    1 0
    <BLANKLINE>
    2
    0.25 0.75
    """
    graph = network.graph
    lines = ["BAYES", str(len(graph)), " ".join(str(len(network.levels[node])) for node in graph)]
    lines.append(str(len(graph)))
    for node, parents in by_parents(network).items():
        family = [str(graph.index(name)) for name in (*parents, node)]
        lines.append(" ".join([str(len(family)), *family]))
    for node in graph:
        lines += ["", str(network.tables[node].size), *table_text(network.tables[node])]
    return "\n".join(lines) + "\n"
