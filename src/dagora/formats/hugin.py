r"""Discrete networks in Hugin's .net language (Hugin, GeNIe, SamIam, pyAgrum and Netica read and write it).

    node wet { states = ("no" "yes"); }
    potential ( wet | rain ) { data = ((0.9 0.1) (0.2 0.8)); }

Comments run from % to the end of the line. Names of nodes are identifiers; other names become such words, and
a comment in the node keeps the original, as in our BIF. Of the values of a node, only the states are read.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.bif_originals import Originals, in_words, restored
from dagora.formats.bif_words import identifier_words, level_words
from dagora.formats.parsed_tables import ParsedTables, by_parents, table_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dagora.network.networks import DiscreteNetwork

TOKEN = re.compile(
    r'(?P<blank>\s+)|%(?P<comment>[^\n]*)|"(?P<text>(?:[^"\\]|\\.)*+)"|(?P<sign>[{}()=;|])|(?P<word>[^\s{}()=;|%"]+)',
    re.DOTALL,
)
UNQUOTABLE = re.compile(r'["\\%]|[^\x20-\x7e]')
CHANCE = {"", "discrete"}
KINDS = {"continuous", "decision", "utility", "function", "discrete", "instance"}
ORIGINAL = " original "

Token = tuple[str, str, int]


def parse(text: str) -> DiscreteNetwork:
    """Read a network.

    >>> parse('net {} node a { states = ("x" "y"); } potential (a) { data = (0.25 0.75); }').tables["a"]
    array([0.25, 0.75])
    """
    return HuginReader(text).network()


class HuginReader:
    """Reads the tokens of a file from left to right; positions become line numbers only for errors."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens, self.comments = tokens_of(text)
        self.position = 0
        self.parsed = ParsedTables("unknown")
        self.originals = Originals()
        self.tables: list[tuple[str, list[str], list[str], int]] = []

    def network(self) -> DiscreteNetwork:
        """The network of a whole file."""
        while self.position < len(self.tokens):
            kind, word, place = self.next()
            if (kind, word) == ("word", "net"):
                self.header(place)
            elif (kind, word) == ("word", "class"):
                self.parsed.name = self.next()[1]
                self.expect("{")
            elif (kind, word) == ("word", "potential"):
                self.potential(place)
            elif (kind, word) == ("word", "node"):
                self.node("", place)
            elif kind == "word" and word in KINDS:
                self.other_node(word, place)
            elif (kind, word) == ("sign", "}"):
                continue  # the end of a class
            elif kind == "word" and self.peek() == "=":
                self.skip_statement()
            else:
                raise self.error(f"expected net, node or potential, not '{word[:40]}'", place)
        for child, parents, words, place in self.tables:
            with self.at(place):
                self.parsed.add_table(child, parents, words)
        return restored(self.parsed.network(), self.originals)

    def header(self, start: int) -> None:
        """The block of the whole network."""
        self.expect("{")
        while self.peek() != "}":
            if self.next()[1] == "name" and self.peek() == "=":
                self.next()
                self.parsed.name = self.next()[1]
            self.skip_statement()
        self.expect("}")
        self.keep_originals(None, start)

    def other_node(self, kind: str, start: int) -> None:
        """A node of a kind: `continuous node a`, `decision d`, `continuous utility u`."""
        if kind == "instance":
            raise self.error("has an instance of a class: write the network out as one", start)
        word = self.word()
        if word == "node":
            self.node(kind, start)
        elif word in KINDS:
            self.other_node(word, start)
        elif kind in CHANCE:
            raise self.error("expected node", start)
        else:
            raise self.not_chance(word, kind, start)

    def not_chance(self, name: str, kind: str, start: int) -> FormatError:
        """The error for a node of another kind."""
        return self.error(f"'{name}' is a {kind} node: only discrete chance nodes can be read", start)

    def node(self, kind: str, start: int) -> None:
        """The block of a node, of which the states count."""
        name = self.word()
        if kind not in CHANCE:
            raise self.not_chance(name, kind, start)
        self.expect("{")
        levels: list[str] | None = None
        while self.peek() != "}":
            key = self.word()
            if key == "states" and self.peek() == "=":
                self.expect("=")
                levels = self.listed()
                self.expect(";")
            else:
                self.skip_statement()
        self.expect("}")
        if levels is None:
            raise self.error(f"'{name}' has no states", start)
        with self.at(start):
            self.parsed.add_variable(name, levels)
        self.keep_originals(name, start)

    def potential(self, start: int) -> None:
        """The table of a node."""
        self.expect("(")
        family: list[list[str]] = [[]]
        while self.peek() != ")":
            kind, word, place = self.next()
            if (kind, word) == ("sign", "|"):
                family.append([])
            elif kind == "sign":
                raise self.error(f"expected the name of a node, not '{word}'", place)
            else:
                family[-1].append(word)
        self.expect(")")
        if len(family) > 2 or len(family[0]) != 1:
            raise self.error("a potential must be of one node given others, as in (a | b c)", start)
        (child,), parents = family[0], family[1] if len(family) > 1 else []
        self.expect("{")
        words: list[str] | None = None
        while self.peek() != "}":
            key = self.word()
            if key == "data" and self.peek() == "=":
                self.expect("=")
                words = self.listed()
                self.expect(";")
            else:
                self.skip_statement()
        self.expect("}")
        if words is None:
            raise self.error(
                f"the potential of '{child}' has no data: tables can be read, models of them cannot", start
            )
        self.tables.append((child, parents, words, start))

    def listed(self) -> list[str]:
        """The words in parentheses, which may be nested."""
        self.expect("(")
        depth, found = 1, []
        while depth:
            kind, word, place = self.next()
            if kind != "sign":
                found.append(word)
            elif word in "()":
                depth += 1 if word == "(" else -1
            else:
                raise self.error(f"expected ) and not '{word}'", place)
        return found

    def skip_statement(self) -> None:
        """Take the rest of a statement."""
        while self.next()[:2] != ("sign", ";"):
            pass

    def keep_originals(self, name: str | None, start: int) -> None:
        """Take the originals from the comments of a block that has just ended."""
        end = self.tokens[self.position - 1][2]
        found = []
        while self.comments and self.comments[-1][1] < end:
            comment, place = self.comments.pop()
            if place > start:
                found.append(comment)
        declared = () if name is None else self.parsed.levels[name]
        with self.at(start):
            self.originals.take(name, found, declared)

    def next(self) -> Token:
        """The next token."""
        if self.position >= len(self.tokens):
            raise self.error("ends too early", len(self.text))
        self.position += 1
        return self.tokens[self.position - 1]

    def peek(self) -> str:
        """The next sign, without taking it; nothing where a word or a text comes next."""
        if self.position >= len(self.tokens):
            raise self.error("ends too early", len(self.text))
        kind, word, _ = self.tokens[self.position]
        return word if kind == "sign" else ""

    def word(self) -> str:
        """A name."""
        kind, word, place = self.next()
        if kind == "sign":
            raise self.error(f"expected a name and not '{word}'", place)
        return word

    def expect(self, sign: str) -> None:
        """A certain sign."""
        kind, word, place = self.next()
        if (kind, word) != ("sign", sign):
            raise self.error(f"expected {sign} and not '{word[:40]}'", place)

    @contextmanager
    def at(self, place: int) -> Iterator[None]:
        """Errors of the block name the line of a position."""
        try:
            yield
        except FormatError as error:
            raise self.error(str(error), place) from None

    def line(self, place: int) -> int:
        """The line of a position."""
        return self.text.count("\n", 0, place) + 1

    def error(self, message: str, place: int) -> FormatError:
        """An error at a position."""
        return FormatError(f"line {self.line(place)}: {message}")


def tokens_of(text: str) -> tuple[list[Token], list[tuple[str, int]]]:
    """Words, texts and signs with their positions; and the comments that keep originals, last first."""
    tokens: list[Token] = []
    comments: list[tuple[str, int]] = []
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            line = text.count("\n", 0, position) + 1
            raise FormatError(f'line {line}: a quote " is not closed')
        kind = match.lastgroup or "blank"
        content = match[kind]
        if kind == "text":
            content = re.sub(r"\\(.)", r"\1", content, flags=re.DOTALL) if "\\" in content else content
        if kind == "comment":
            if content.startswith(ORIGINAL):
                comments.append((content, position))
        elif kind != "blank":
            tokens.append((kind, content, position))
        position = match.end()
    return tokens, comments[::-1]


def render(network: DiscreteNetwork, *, originals: bool = True) -> str:
    """Write a network; with `originals`, comments keep names that had to be changed.

    >>> print(render(parse('net {} node a { states = ("x" "y"); } potential (a) { data = (0.25 0.75); }')))
    net
    {
      name = "unknown";
      node_size = (80 40);
    }
    ...
    """
    plain, found = in_words(network, identifier_words, quotable_words, identifier_words)
    kept = found if originals else Originals()
    lines = ["net", "{", f'  name = "{plain.name}";', "  node_size = (80 40);", *comments_of(kept, None), "}"]
    for node in plain.graph:
        states = " ".join(f'"{level}"' for level in plain.levels[node])
        lines += [f"node {node}", "{", *comments_of(kept, node), f"  states = ({states});", "}"]
    for node, parents in by_parents(plain).items():
        given = f" | {' '.join(parents)}" if parents else ""
        lines += [f"potential ({node}{given})", "{", *data_lines(plain.tables[node]), "}"]
    return "\n".join(lines) + "\n"


def quotable_words(levels: Sequence[str]) -> list[str]:
    """Levels as they can stand in quotes that every reader takes, or words for all of them.

    >>> quotable_words(["no", "a b", "<5"])
    ['no', 'a b', '<5']
    """
    if all(level and level == level.strip() and not UNQUOTABLE.search(level) for level in levels):
        return list(levels)
    return level_words(levels)


def comments_of(originals: Originals, word: str | None) -> list[str]:
    """The comments that keep the originals of a variable, or of the network (None)."""
    return [f"  % {text}" for text in originals.texts(word)]


def data_lines(table: NDArray[np.float64]) -> list[str]:
    """The numbers of a table in parentheses, which are nested as its axes are.

    >>> import numpy as np
    >>> data_lines(np.array([[0.9, 0.1], [0.2, 0.8]]))
    ['  data = ((0.9 0.1)', '          (0.2 0.8));']
    """
    rows = table_text(table)
    shown = []
    for place, row in enumerate(rows):
        block, opened, closed = 1, 1, 1
        for length in reversed(table.shape[:-1]):
            block *= length
            opened += place % block == 0
            closed += (place + 1) % block == 0
        start = "  data = " if place == 0 else " " * 10
        shown.append(f"{start}{'(' * opened}{row}{')' * closed}")
    return [*shown[:-1], f"{shown[-1]};"]
