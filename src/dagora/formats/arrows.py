r"""The grammar that DOT and DAGitty share: statements of nodes joined by arrows.

    a [colour=red];  b -> c -> d;  {e f} -> g [dir=none];  key=value

The parser keeps the nodes in the order of their first mention and every arrow with its attributes; each
format decides what an arrow means. Comments are those of C++ and lines that start with `#`. In a quoted name
`\"` is a quote, `\\` a backslash and `\n` a line break; any other backslash stands for itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dagora.base.errors import FormatError
from dagora.formats.graphs import build_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dagora.graph.cpdag import Graph

TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|(?:(?<=\n)|(?<![\s\S]))\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<html><(?!->|-)(?:[^<>]|<[^<>]*>)*>)
    |(?P<arrow><->|<-@|<-(?!-)|--@|->|--|@-[>@-])
    |(?P<word>[\w.]+|-[\d.]+)
    |(?P<sign>[{}\[\];,=:+])""",
    re.VERBOSE | re.DOTALL,
)
ESCAPE = re.compile(r'\\(["\\n]|\r?\n)')
ESCAPED = {'"': '"', "\\": "\\", "n": "\n"}

# Attributes that mean something to a format: the others are not kept for every arrow.
KEPT = frozenset({"dir", "arrowhead", "arrowtail"})
UNWRITTEN_ARROWS = 1 << 20  # most arrows that groups stand for, beside those that could be written out

Attributes = dict[str, str]
Direction = Literal["forward", "back", "none"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: its kind (the name of the pattern's group), what it says and its line."""

    kind: str
    text: str
    line: int

    def is_sign(self, text: str) -> bool:
        """Return True if this is the given sign and not a quoted name."""
        return self.kind == "sign" and self.text == text

    def is_word(self, words: Iterable[str]) -> bool:
        """Return True if this is one of the keywords, in any case and without quotes."""
        return self.kind == "word" and self.text.lower() in words


@dataclass(frozen=True, slots=True)
class Arrow:
    """Two nodes, the sign between them, and the attributes that hold for it."""

    tail: str
    sign: str
    head: str
    attributes: Attributes
    line: int


@dataclass(slots=True)
class ArrowDrawing:
    """The nodes and arrows of a file, before the format decides what its arrows mean."""

    kind: str
    name: str = ""
    nodes: dict[str, None] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)


def parse_drawing(text: str, kinds: tuple[str, ...], *, keywords: bool) -> ArrowDrawing:
    """Read one graph that opens with one of `kinds`; `keywords` turns on DOT's node, edge, graph, subgraph.

    >>> drawing = parse_drawing('dag { "a b" -> c <- d }', ("dag",), keywords=False)
    >>> list(drawing.nodes), [(arrow.tail, arrow.sign, arrow.head) for arrow in drawing.arrows]
    (['a b', 'c', 'd'], [('a b', '->', 'c'), ('c', '<-', 'd')])
    """
    try:
        return ArrowParser(text, kinds, keywords=keywords).drawing
    except RecursionError:
        raise FormatError("has groups nested too deeply to be read") from None


def graph_of(drawing: ArrowDrawing, direction: Callable[[Arrow], Direction]) -> Graph:
    """Make the graph of a drawing; `direction` says which way an arrow points, `none` for undirected.

    >>> drawing = parse_drawing("dag { a <- b }", ("dag",), keywords=False)
    >>> graph_of(drawing, lambda arrow: "back" if arrow.sign == "<-" else "forward").edges
    (('b', 'a'),)
    """
    edges, undirected = [], []
    for arrow in drawing.arrows:
        points = direction(arrow)
        if points == "none":
            undirected.append((arrow.tail, arrow.head))
        else:
            edges.append((arrow.tail, arrow.head) if points == "forward" else (arrow.head, arrow.tail))
    return build_graph(drawing.nodes, edges, undirected)


def quote(name: str, plain: Callable[[str], object]) -> str:
    r"""Return a name as it stands where `plain` accepts it, else in quotes.

    >>> print(quote('say "hi"', str.isidentifier), quote("rain", str.isidentifier))
    "say \"hi\"" rain
    """
    if plain(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class ArrowParser:
    """Reads the tokens of one graph."""

    def __init__(self, text: str, kinds: tuple[str, ...], *, keywords: bool) -> None:
        self.text = text
        self.keywords = keywords
        self.tokens = self._scan()
        self.next = 0
        self.room = UNWRITTEN_ARROWS + len(text)
        if self._peek().is_word({"strict"}):
            self._take()
        opening = self._take()
        if not opening.is_word(kinds):
            raise _error(f"expected {' or '.join(kinds)} {{ ... }}, not {_show(opening)}", opening)
        named = self._peek().kind in {"word", "quoted"}
        self.drawing = ArrowDrawing(opening.text.lower(), self._take().text if named else "")
        self._expect("{")
        self._statements({})
        rest = self._peek()
        if rest.kind != "end":
            raise _error(f"expected nothing after the graph's last brace, not {_show(rest)}", rest)

    def _scan(self) -> list[Token]:
        tokens: list[Token] = []
        position, line = 0, 1
        while position < len(self.text):
            match = TOKEN.match(self.text, position)
            if match is None:
                bad = Token("bad", self.text[position], line)
                unclosed = {
                    '"': "a quote is not closed",
                    "/": "a comment is not closed or a / is out of place",
                }
                raise _error(unclosed.get(bad.text, f"the character '{bad.text}' is out of place"), bad)
            kind = match.lastgroup or ""
            if kind == "quoted":
                tokens.append(Token(kind, ESCAPE.sub(_unescape, match[0][1:-1]), line))
            elif kind != "blank":
                tokens.append(Token(kind, match[0], line))
            line += match[0].count("\n")
            position = match.end()
        tokens.append(Token("end", "", line))
        return tokens

    def _statements(self, inherited: Attributes) -> dict[str, None]:
        """Read statements up to the closing brace; return the nodes they mention."""
        defaults = dict(inherited)
        mentioned: dict[str, None] = {}
        while True:
            token = self._peek()
            if token.is_sign("}"):
                self._take()
                return mentioned
            if token.kind == "end":
                raise _error("a brace { is not closed", token)
            if token.is_sign(";") or token.is_sign(","):
                self._take()
            elif self.keywords and token.is_word({"node", "edge", "graph"}) and self._peek(1).is_sign("["):
                self._take()
                attributes = self._attributes()
                if token.is_word({"edge"}):
                    defaults.update(attributes)
            elif token.kind in {"word", "quoted"} and self._peek(1).is_sign("="):
                self._take()
                self._take()
                self._value()
            else:
                mentioned.update(self._edges(defaults))

    def _edges(self, defaults: Attributes) -> dict[str, None]:
        """Read one node, or a chain of nodes and groups joined by arrows."""
        chain = [self._endpoint(defaults)]
        signs: list[Token] = []
        while self._peek().kind == "arrow":
            signs.append(self._take())
            chain.append(self._endpoint(defaults))
        attributes = {**defaults, **self._attributes()}
        for left, sign, right in zip(chain, signs, chain[1:], strict=False):
            self.room -= len(left) * len(right)
            if self.room < 0:
                raise _error("groups of nodes stand for far more arrows than the file has room for", sign)
            self.drawing.arrows += [
                Arrow(a, sign.text, b, attributes, sign.line) for a in left for b in right
            ]
        return {node: None for group in chain for node in group}

    def _endpoint(self, defaults: Attributes) -> dict[str, None]:
        token = self._take()
        if self.keywords and token.is_word({"subgraph"}):
            if self._peek().kind in {"word", "quoted"}:
                self._take()
            self._expect("{")
            return self._statements(defaults)
        if token.is_sign("{"):
            return self._statements(defaults)
        if token.kind not in {"word", "quoted"} or (
            self.keywords and token.is_word({"node", "edge", "graph"})
        ):
            raise _error(f"expected the name of a node, not {_show(token)}", token)
        name = self._join_strings(token)
        while self.keywords and self._peek().is_sign(":"):
            self._take()
            self._value()
        self.drawing.nodes[name] = None
        return {name: None}

    def _join_strings(self, token: Token) -> str:
        """Return the text of a name; quoted pieces may be joined by +."""
        text = token.text
        while token.kind == "quoted" and self._peek().is_sign("+") and self._peek(1).kind == "quoted":
            self._take()
            text += self._take().text
        return text

    def _attributes(self) -> Attributes:
        found: Attributes = {}
        while self._peek().is_sign("["):
            opening = self._take()
            while not self._peek().is_sign("]"):
                token = self._peek()
                if token.kind == "end":
                    raise _error("a bracket [ is not closed", opening)
                if token.is_sign(",") or token.is_sign(";"):
                    self._take()
                    continue
                key = self._value()
                found[key] = ""
                if self._peek().is_sign("="):
                    self._take()
                    found[key] = self._value()
            self._take()
        return {key: value for key, value in found.items() if key in KEPT}

    def _value(self) -> str:
        token = self._take()
        if token.kind not in {"word", "quoted", "html"}:
            raise _error(f"expected a name or a value, not {_show(token)}", token)
        return self._join_strings(token)

    def _peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.next + ahead, len(self.tokens) - 1)]

    def _take(self) -> Token:
        token = self._peek()
        self.next += 1
        return token

    def _expect(self, sign: str) -> None:
        token = self._take()
        if not token.is_sign(sign):
            raise _error(f"expected {sign}, not {_show(token)}", token)


def _error(message: str, token: Token) -> FormatError:
    return FormatError(f"line {token.line}: {message}")


def _unescape(match: re.Match[str]) -> str:
    # A backslash at the end of a line joins the two lines.
    return ESCAPED.get(match[1], "")


def _show(token: Token) -> str:
    return "the end of the file" if token.kind == "end" else f"'{token.text}'"
