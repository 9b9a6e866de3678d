"""Discrete networks in the Interchange Format for Bayesian Networks (BIF, version 0.15; F. Cozman, 1996).

A file declares variables with their levels, then one conditional probability table per variable:

    variable wet { type discrete [ 2 ] { no, yes }; }
    probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }

Rows may come in any order; a `default` row stands for the configurations that have none. A `table` lists all
numbers at once, the last parent running fastest and the variable itself slowest, as in the format's own
examples. Commas and `|` separate like blanks, comments are those of C++, any name may be in quotes, and
properties are skipped. Parents may be listed in any order: tables are transposed to the order of the
variables.

What we write is plainer than what we read: names in words that pyAgrum, pgmpy and bnlearn read (`bif_words`),
no quotes, the layout of the repository's files, and comments that keep the original names and what the
parameters rest on (`bif_originals`).
"""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import FormatError
from dagora.base.files import naming
from dagora.base.phrases import find_repeated
from dagora.formats.bif_originals import (
    ORIGIN,
    Originals,
    check_levels,
    in_words,
    origin_comment,
    parse_origin,
    parse_original,
    restored,
)
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

TOKEN = re.compile(
    r'\s*(?:"(?P<quoted>[^"]*)"|(?P<word>[^\s{}\[\]();,|"]+)|(?P<sign>[{}\[\]();,|])|(?P<end>\Z))'
)
NUMBERS = re.compile(r'([^;{}()"]*);')
BLOCK = re.compile(r'(?:[^"}]++|"[^"]*")*+\}')
# A comment that is not closed reaches to the end, so that the search for its end is made once.
STRING_OR_COMMENT = re.compile(r'"[^"]*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
UNWRITTEN_NUMBERS = 1 << 21  # most numbers of all tables that only default rows stand for
MOST_PARENTS = 63  # NumPy's limit on dimensions, less the variable itself
LONGEST_COUNT = 6  # digits of a number of levels
SUM_TOLERANCE = 1e-3  # tables are often rounded to three or four decimals
"""Published tables are rounded (the repository's are off by up to 3e-7); more than this is a mistake."""


def parse(text: str) -> DiscreteNetwork:
    """Read a network.

    >>> network = parse('''
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet  { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (yes) 0.2, 0.8; default 0.9, 0.1; }
    ... ''')
    >>> network.graph.edges, network.tables["wet"].tolist()
    ((('rain', 'wet'),), [[0.9, 0.1], [0.2, 0.8]])
    """
    return BIFParser(text).network()


def parse_graph(text: str) -> DAG:
    """Read the graph of a network."""
    return parse(text).graph


def render(network: DiscreteNetwork, *, originals: bool = True) -> str:
    """Write a network in words that pyAgrum, pgmpy and bnlearn read.

    With `originals`, comments keep the names and levels that were changed, and `parse` returns the very
    network. The numbers are read back as they were, to the last bit.

    >>> tiny = DiscreteNetwork(DAG("a"), {"a": ("no", "x y")}, {"a": np.array([0.25, 0.75])}, "tiny")
    >>> print(render(tiny), end="")
    network tiny {
    }
    variable a {
      // original levels: ["no", "x y"]
      type discrete [ 2 ] { no, x_y };
    }
    probability ( a ) {
      table 0.25, 0.75;
    }
    """
    plain, found = in_words(network)
    kept = found if originals else Originals()
    graph, levels = plain.graph, plain.levels
    rests_on = origin_comment(network.origin) if originals else []
    lines = [f"network {plain.name} {{", *kept.comments(None), *rests_on, "}"]
    for node in graph:
        listed = ", ".join(levels[node])
        lines += [
            f"variable {node} {{",
            *kept.comments(node),
            f"  type discrete [ {len(levels[node])} ] {{ {listed} }};",
            "}",
        ]
    for node in graph:
        parents = graph.parents(node)
        given = " | " + ", ".join(parents) if parents else ""
        lines.append(f"probability ( {node}{given} ) {{")
        rows = plain.tables[node].reshape(-1, len(levels[node])).tolist()
        heads = _configurations([levels[parent] for parent in parents]) if parents else ["table"]
        lines += [f"  {head} {', '.join(map(repr, row))};" for head, row in zip(heads, rows, strict=True)]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _configurations(levels: Sequence[Sequence[str]]) -> Iterator[str]:
    from itertools import product

    return (f"({', '.join(configuration)})" for configuration in product(*levels))


class BIFParser:
    """Reads the text in one pass; positions are turned into line numbers only for errors."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        # A number that is written takes a digit and a blank at least.
        self.room = UNWRITTEN_NUMBERS + len(text) // 2
        self.originals = Originals()
        self.kept: deque[tuple[int, str]] = deque()
        self.line, self.counted = 1, 0  # the line of the last of these, and up to where lines were counted
        self.origin = ""
        self._blank_comments()
        self.name = "unknown"
        self.levels: dict[str, tuple[str, ...]] = {}
        self.codes: dict[str, dict[str, int]] = {}
        self.parents: dict[str, list[str]] = {}
        self.tables: dict[str, NDArray[np.float64]] = {}

    def network(self) -> DiscreteNetwork:
        """Read all variables, then all probabilities (wherever they stand), and put them together."""
        blocks: list[int] = []
        while True:
            start = self.position
            kind, word = self._token()
            if kind == "end":
                break
            if kind == "sign" and word == ";":
                continue
            if word == "network":
                self.name = self._words_until("{")
                self._skip_properties()
                self._keep_originals(None, start)
            elif word == "variable":
                self._variable()
            elif word == "probability":
                blocks.append(self.position)
                block = BLOCK.match(self.text, self.position)
                if block is None:
                    raise self._error("the probability block is not closed with }", start)
                self.position = block.end()
            else:
                raise self._error(f"expected network, variable or probability, not '{word}'", start)
        for self.position in blocks:
            self._probability()
        if not self.levels:
            raise FormatError("declares no variable; is this a BIF file?")
        for node in self.levels:
            if node not in self.tables:
                raise FormatError(f"the variable '{node}' has no probability block")
        graph = DAG(self.levels, [(parent, node) for node in self.levels for parent in self.parents[node]])
        tables = {}
        for node in self.levels:
            listed = self.parents[node]
            axes = [listed.index(parent) for parent in graph.parents(node)]
            tables[node] = np.ascontiguousarray(self.tables[node].transpose([*axes, len(listed)]))
        network = DiscreteNetwork(graph, self.levels, tables, self.name)
        network = restored(network, self.originals)
        return replace(network, origin=parse_origin(self.origin, network)) if self.origin else network

    def _variable(self) -> None:
        start = self.position
        name = self._words_until("{")
        if name in self.levels:
            raise self._error(f"the variable '{name}' is declared twice", start)
        found: tuple[str, ...] | None = None
        while True:
            here = self.position
            kind, word = self._token()
            if kind == "sign" and word == "}":
                break
            if kind == "word" and word == "property":
                self._skip_statement()
            elif kind == "word" and word == "type":
                found = self._type(name)
            else:
                raise self._error(
                    f"expected type, property or }} in the variable '{name}', not '{word}'", here
                )
        if found is None:
            raise self._error(f"the variable '{name}' has no type with its levels", start)
        self.levels[name] = found
        self.codes[name] = {level: code for code, level in enumerate(found)}
        self._keep_originals(name, start)

    def _keep_originals(self, variable: str | None, start: int) -> None:
        """Take the originals from the comments of a block, of a variable or of the network."""
        while self.kept and self.kept[0][0] < self.position:
            position, comment = self.kept.popleft()
            if position < start:
                continue
            self.line += self.text.count("\n", self.counted, position)
            self.counted = position
            with naming(f"line {self.line}"):
                found = parse_original(comment)
                if found is None:
                    continue
                if variable is None:
                    self.originals.network = found if isinstance(found, str) else None
                elif isinstance(found, str):
                    self.originals.names[variable] = found
                else:
                    check_levels(variable, found, self.levels[variable])
                    self.originals.levels[variable] = found

    def _type(self, name: str) -> tuple[str, ...]:
        start = self.position
        _, word = self._token()
        if word != "discrete":
            raise self._error(
                f"the variable '{name}' is of type '{word}'; only discrete ones can be read", start
            )
        declared: int | None = None
        _, sign = self._token()
        if sign == "[":
            _, number = self._token()
            if not number.isdecimal() or len(number) > LONGEST_COUNT:
                raise self._error(
                    f"the number of levels of '{name}' is '{number[:20]}', not a whole number "
                    "below a million",
                    start,
                )
            declared = int(number)
            self._expect("]")
            self._expect("{")
        elif sign != "{":
            raise self._error(f"expected the levels of '{name}' in braces, not '{sign}'", start)
        groups = self._groups_until("}")
        levels = _choose(groups, declared)
        self._expect(";")
        if declared is not None and len(levels) != declared:
            raise self._error(f"'{name}' declares {declared} levels and lists {len(levels)}", start)
        if not levels:
            raise self._error(f"'{name}' has no levels", start)
        if (twice := find_repeated(levels)) is not None:
            raise self._error(f"'{name}' lists the level '{twice}' twice", start)
        return tuple(levels)

    def _probability(self) -> None:
        start = self.position
        self._expect("(")
        groups = self._groups_until(")")
        names = [word for group in groups for word in group]
        if not all(name in self.levels for name in names):
            # Names of several words without quotes: commas and | tell them apart.
            names = [" ".join(group) for group in groups]
        for name in names:
            if name not in self.levels:
                raise self._error(f"there is no variable named '{name}'", start)
        if not names:
            raise self._error("expected the name of a variable", start)
        child, parents = names[0], names[1:]
        if len(set(names)) < len(names):
            raise self._error(f"a variable occurs twice in the probability of '{child}'", start)
        if child in self.tables:
            raise self._error(f"the probability of '{child}' is given twice", start)
        self._expect("{")
        self.parents[child] = parents
        self.tables[child] = self._rows(child, parents, start)

    def _rows(self, child: str, parents: list[str], start: int) -> NDArray[np.float64]:
        """Read rows until the brace closes; axes are the parents as listed, then the child."""
        shape = tuple(len(self.levels[name]) for name in (*parents, child))
        size, count = shape[-1], math.prod(shape[:-1])
        self._check_size(child, len(parents), size * count, start)
        codes = [self.codes[parent] for parent in parents]
        rows: dict[int, list[float]] = {}
        default: list[float] | None = None
        table: list[float] | None = None
        while True:
            here = self.position
            kind, word = self._token()
            if kind == "sign" and word == "}":
                break
            if kind == "sign" and word == "(":
                levels = _choose(self._groups_until(")"), len(parents))
                row = self._row_index(child, parents, codes, levels, here)
                if row in rows:
                    raise self._error(f"'{child}' has two rows for ({', '.join(levels)})", here)
                rows[row] = self._distribution(child, size)
            elif kind == "word" and word == "default" and default is None:
                default = self._distribution(child, size)
            elif kind == "word" and word == "table" and table is None:
                table = self._numbers(child, size * count)
            elif kind == "word" and word == "property":
                self._skip_statement()
            elif kind == "word" and word in {"default", "table"}:
                raise self._error(f"'{child}' has a second {word}", here)
            else:
                raise self._error(f"expected a row of the probability of '{child}', not '{word}'", here)
        if table is not None:
            if rows or default is not None:
                raise self._error(f"'{child}' has a table and rows; give one of them", start)
            # The variable itself runs slowest in a table: move its axis from first to last.
            array = np.array(table).reshape(size, count).T
            self._check_sums(child, array, start)
            return array.reshape(shape)
        if len(rows) < count and default is None:
            missing = next(row for row in range(count) if row not in rows)
            positions = np.unravel_index(missing, shape[:-1])
            names = [self.levels[parent][int(i)] for parent, i in zip(parents, positions, strict=True)]
            raise self._error(
                f"'{child}' has no row for ({', '.join(names)})" if parents else f"'{child}' has no table",
                start,
            )
        array = np.empty((count, size))
        if default is not None:
            array[:] = default
        if rows:
            array[list(rows)] = list(rows.values())
        return array.reshape(shape)

    def _check_size(self, child: str, parents: int, numbers: int, start: int) -> None:
        """Refuse tables that a `default` row would make far larger than the file, all together."""
        if parents > MOST_PARENTS:
            raise self._error(f"'{child}' has {parents} parents; {MOST_PARENTS} can be read", start)
        self.room -= numbers
        if self.room < 0:
            raise self._error(
                f"the table of '{child}' makes the network far larger than the file: "
                "write its rows out instead of a default row, or give it fewer parents",
                start,
            )

    def _row_index(
        self, child: str, parents: list[str], codes: list[dict[str, int]], levels: list[str], here: int
    ) -> int:
        if len(levels) != len(parents):
            listed = ", ".join(levels)
            raise self._error(f"'{child}' has {len(parents)} parents, but a row for ({listed})", here)
        index = 0
        for parent, code, level in zip(parents, codes, levels, strict=True):
            if level not in code:
                raise self._error(f"'{parent}' has no level named '{level}'", here)
            index = index * len(code) + code[level]
        return index

    def _distribution(self, child: str, size: int) -> list[float]:
        here = self.position
        values = self._numbers(child, size)
        if abs(sum(values) - 1) > SUM_TOLERANCE:
            raise self._error(f"a row of '{child}' sums to {sum(values):.6g}, not to 1", here)
        return values

    def _numbers(self, child: str, size: int) -> list[float]:
        here = self.position
        match = NUMBERS.match(self.text, here)
        if match is None:
            raise self._error(f"the numbers of '{child}' must end with ;", here)
        self.position = match.end()
        words = match[1].replace(",", " ").split()
        try:
            values = list(map(float, words))
        except ValueError as error:
            raise self._error(
                f"a probability of '{child}' is not a number: {str(error).split(': ')[-1]}", here
            ) from None
        if len(values) != size:
            raise self._error(f"'{child}' needs {size} numbers here, not {len(values)}", here)
        # Written so that NaN, which fails every comparison, is refused too.
        if not all(0 <= value <= 1 + SUM_TOLERANCE for value in values):
            worst = next(value for value in values if not 0 <= value <= 1 + SUM_TOLERANCE)
            raise self._error(f"a probability of '{child}' is {worst}", here)
        return values

    def _check_sums(self, child: str, array: NDArray[np.float64], start: int) -> None:
        sums = array.sum(axis=1)
        worst = sums[np.argmax(np.abs(sums - 1))]
        if abs(worst - 1) > SUM_TOLERANCE:
            order = " (in a table the variable itself runs slowest)" if len(array) > 1 else ""
            raise self._error(f"a distribution of '{child}' sums to {worst:.6g}, not to 1{order}", start)

    def _token(self) -> tuple[str, str]:
        match = TOKEN.match(self.text, self.position)
        if match is None:
            raise self._error('a quote " is not closed', self.position)
        self.position = match.end()
        kind = match.lastgroup or "end"
        return kind, match[kind]

    def _expect(self, sign: str) -> None:
        here = self.position
        kind, word = self._token()
        if kind != "sign" or word != sign:
            found = "the end of the file" if kind == "end" else f"'{word}'"
            raise self._error(f"expected {sign} and not {found}", here)

    def _groups_until(self, close: str) -> list[list[str]]:
        """Names up to a closing sign, grouped by the commas and | between them."""
        groups: list[list[str]] = [[]]
        start = self.position
        while True:
            kind, word = self._token()
            if kind in {"word", "quoted"}:
                groups[-1].append(word)
            elif kind == "sign" and word in {",", "|"}:
                groups.append([])
            elif kind == "sign" and word == close:
                return [group for group in groups if group]
            else:
                found = "the end of the file" if kind == "end" else f"'{word}'"
                raise self._error(f"expected {close} and not {found}", start)

    def _words_until(self, close: str) -> str:
        groups = self._groups_until(close)
        return " ".join(word for group in groups for word in group)

    def _skip_properties(self) -> None:
        while True:
            here = self.position
            kind, word = self._token()
            if kind == "sign" and word == "}":
                return
            if kind != "word" or word != "property":
                raise self._error(f"expected property or }} and not '{word}'", here)
            self._skip_statement()

    def _skip_statement(self) -> None:
        start = self.position
        kind, word = self._token()
        while (kind, word) != ("sign", ";"):
            if kind == "end":
                raise self._error("a property must end with ;", start)
            kind, word = self._token()

    def _blank_comments(self) -> None:
        """Overwrite comments with blanks, so that positions and line numbers stay the same."""
        if "//" not in self.text and "/*" not in self.text:
            return

        def blank(match: re.Match[str]) -> str:
            found = match[0]
            if found.startswith("// original "):
                self.kept.append((match.start(), found))
            elif found.startswith(ORIGIN):
                self.origin = found
            elif found.startswith("/*") and (len(found) < 4 or not found.endswith("*/")):
                raise self._error("a comment /* is not closed", match.start())
            return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

        self.text = STRING_OR_COMMENT.sub(blank, self.text)

    def _error(self, message: str, position: int) -> FormatError:
        after = re.compile(r"\s*").match(self.text, position)
        line = self.text.count("\n", 0, after.end() if after else position) + 1
        return FormatError(f"line {line}: {message}")


def _choose(groups: list[list[str]], expected: int | None) -> list[str]:
    """Names in groups: each word is a name, unless the expected number says that each group is one."""
    words = [word for group in groups for word in group]
    if expected is not None and len(words) != expected and len(groups) == expected:
        return [" ".join(group) for group in groups]
    return words
