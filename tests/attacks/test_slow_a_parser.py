"""Whoever sends a file wants its reader to be busy for minutes: the time must grow as the text does."""

import contextlib
import json
import time
from collections.abc import Callable

import pytest

from dagora.base.errors import DagoraError
from dagora.base.parsing import parse_toml
from dagora.formats import (
    adjacency_csv,
    bif,
    dagitty,
    dot,
    graphml,
    hugin,
    json_format,
    tetrad,
    uai,
    xdsl,
    xmlbif,
)
from dagora.graph.knowledge import Knowledge

SIZE = 50_000
"""Characters: a quadratic reader takes seconds for twice as many."""
FREE = 1.5
"""Seconds for twice the size that nobody minds, and in which a ratio says little."""
MOST = 3.0
"""The largest ratio of two times: 2 is linear, 4 is quadratic."""

VARIABLE = "variable {} {{ type discrete [ 2 ] {{ a, b }}; }}\n"


def lines_of(text: str) -> Callable[[int], str]:
    """As many copies as there is room for, numbered."""

    def make(size: int) -> str:
        return "".join(text.format(k) for k in range(size // len(text.format(size)) + 1))

    return make


def around(before: str, unit: str, after: str = "") -> Callable[[int], str]:
    """Copies of a text between two others."""
    return lambda size: before + unit * (size // len(unit)) + after


BIF = {
    "unclosed comments": around("", "/*"),
    "comment openings after one": around("/**/", "/* "),
    "slashes": around("", "/"),
    "quotes": around("", '"'),
    "an odd number of quotes": around('"', '""'),
    "quoted comments": around("", '"/*"'),
    "open braces": around("", "{"),
    "closed braces": around("", "}"),
    "open parentheses": around("variable a { type discrete [ 2 ] { a, b }; } probability ", "("),
    "blanks": around("network n {}", " "),
    "lines": around("network n {}", "\n"),
    "one word": around("", "a"),
    "one number": around("variable a { type discrete [ ", "1", " ] { a, b }; }"),
    "a property": around("network n { property ", "a ", "; }"),
    "unclosed properties": around("", "network n { property "),
    "many variables": lines_of(VARIABLE),
    "one variable again and again": around("", VARIABLE.format("x")),
    "many levels": lambda size: (
        f"variable a {{ type discrete [ {size // 7} ] {{ " + lines_of("l{}, ")(size) + "}; }"
    ),
    "rows without an end": around(
        VARIABLE.format("a") + VARIABLE.format("b") + "probability ( a | b ) { ", "(a) 0.5, 0.5 "
    ),
    "many rows": around(
        VARIABLE.format("a") + VARIABLE.format("b") + "probability ( a | b ) { ", "(a) 0.5, 0.5; ", "}"
    ),
    "original names": around("variable a { ", "// original name: x\n", "}"),
    "a level twice": lambda size: "variable a { type discrete { " + lines_of("l{}, ")(size) + "z, z }; }",
    "many parents": lambda size: (
        VARIABLE.format("a") + "probability ( a | " + lines_of("p{} ")(size) + ") {}"
    ),
}
ARROWS = {
    "unclosed comments": around("", "/*"),
    "comments": around("", "/**/"),
    "slashes": around("", "/"),
    "hashes": around("", "#"),
    "hashes on lines": around("", "\n#"),
    "quotes": around("", '"'),
    "an odd number of quotes": around('"', '""'),
    "unclosed quotes with backslashes": around('"', "\\"),
    "open angles": around("", "<"),
    "open angles and words": around("", "<a "),
    "closed angles": around("", ">"),
    "pairs of angles in one": around("<", "<>"),
    "braces": around("", "{"),
    "nested groups": around("", "{a ", "}"),
    "brackets": around("a ", "["),
    "blanks": around("", " "),
    "blank lines": around("", "\n"),
    "one word": around("", "a"),
    "a path": around("a", " -> a"),
    "a long path": lines_of("node_number_{} -> "),
    "groups joined": around("", "{a b} -> "),
    "arrows alone": around("", "->"),
    "minus signs": around("", "-"),
    "attributes": around("a [", "b=c,", "]"),
    "equals": around("", "a="),
    "colons": around("a", ":a"),
    "plus": around('"a"', '+"a"'),
    "many nodes": lines_of("node_number_{};"),
    "many edges of one node": lines_of("a -> node_number_{};"),
    "groups of many": lambda size: f"{{{lines_of('n{} ')(size // 2)}}} -> {{{lines_of('m{} ')(size // 2)}}}",
    "defaults for all": lambda size: f"edge [{lines_of('k{}=1,')(size // 2)}] {'a->b;' * (size // 10)}",
}
TEXTS = {
    "brackets": around("", "["),
    "braces": around("", '{"a":'),
    "quotes": around("", '"'),
    "backslashes": around('"', "\\"),
    "commas": around("", ","),
    "lines": around("", "\n"),
    "returns": around("", "\r"),
    "blanks": around("", " "),
    "digits": around("", "1"),
    "letters": around("", "a"),
    "arrows": around("Graph Edges:\n", "1. a --> b\n"),
    "numbered": lines_of("{}. a --> b\n"),
    "nodes": around("Graph Nodes:\n", "a;", "\nGraph Edges:\n"),
    "different nodes": lambda size: "Graph Nodes:\n" + lines_of("node number {};")(size) + "\nGraph Edges:\n",
    "words after a long name": lambda size: (
        f"Graph Nodes:\na;{'x' * size}\n\nGraph Edges:\n1. a --> {'b ' * (size // 2)}"
    ),
    "a key twice": lambda size: "{" + lines_of('"k{}":1,')(size) + '"z":1,"z":1}',
    "words after an edge": around("Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> ", "b "),
    "tags": around("<graphml>", "<node>"),
    "closed tags": around("<graphml>", '<node id="a"/>', "</graphml>"),
    "open angles": around("", "<"),
    "entities": around("<graphml>", "&amp;", "</graphml>"),
    "columns": lines_of("c{},"),
    "rows": around("a,b\n", "0,1\n"),
}
GRAPHML = {
    "different nodes": lambda size: (
        '<graphml><graph edgedefault="directed">' + lines_of('<node id="n{}"/>')(size) + "</graph></graphml>"
    ),
    "edges to one": lambda size: (
        '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
        + '<edge source="a" target="b"/>' * (size // 32)
        + "</graph></graphml>"
    ),
}
CPT = '<cpt id="n{}"><state id="a"/><state id="b"/><probabilities>0.5 0.5</probabilities></cpt>'
VARIABLES = '<VARIABLE TYPE="nature"><NAME>n{}</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>'
HUGIN = {
    "nodes": lines_of('node n{} {{ states = ("a" "b"); }}\n'),
    "nodes with originals": lines_of('node n{} {{\n% original name: "x"\nstates = ("a" "b"); }}\n'),
    "one node again and again": around("", 'node a { states = ("a" "b"); }\n'),
    "states": lambda size: "node a { states = (" + lines_of('"l{}" ')(size) + "); }",
    "nested data": around("node a { states = (a b); } potential (a) { data = ", "(", ");}"),
    "numbers": around("node a { states = (a b); } potential (a) { data = (", "0.5 ", ");}"),
    "tables": lambda size: (
        'node a { states = ("a" "b"); }\n' + "potential (a) { data = (0.5 0.5); }\n" * (size // 36)
    ),
    "statements": around("net {", "a = 1;"),
    "percents": around("", "%\n"),
    "originals that nobody wants": around("", "% original name: 1\n"),
    "quotes": around("", '"'),
    "backslashes": around('"', "\\"),
    "open braces": around("", "{"),
    "closed braces": around("", "}"),
}
XMLBIF = {
    "variables": lambda size: f"<BIF><NETWORK>{lines_of(VARIABLES)(size)}</NETWORK></BIF>",
    "numbers": around(
        "<BIF><NETWORK><DEFINITION><FOR>a</FOR><TABLE>", "0.5 ", "</TABLE></DEFINITION></NETWORK></BIF>"
    ),
    "outcomes": lambda size: (
        "<BIF><NETWORK><VARIABLE><NAME>a</NAME>"
        + lines_of("<OUTCOME>l{}</OUTCOME>")(size)
        + "</VARIABLE></NETWORK></BIF>"
    ),
    "nested": around("<BIF>", "<a>"),
    "attributes": lambda size: "<BIF " + lines_of('k{}="1" ')(size) + "/>",
    "comments": around("<BIF>", "<!---->", "</BIF>"),
    "a declaration": around("<!DOCTYPE BIF [", "<!ELEMENT a ANY>", "]><BIF/>"),
    "entities": around("<!DOCTYPE BIF [", '<!ENTITY a "b">', "]><BIF/>"),
}
XDSL = {
    "nodes": lambda size: f'<smile id="n"><nodes>{lines_of(CPT)(size)}</nodes></smile>',
    "parents": lambda size: (
        '<smile id="n"><nodes><cpt id="a"><state id="a"/><parents>'
        + lines_of("p{} ")(size)
        + "</parents><probabilities>1</probabilities></cpt></nodes></smile>"
    ),
    "results": around(
        '<smile id="n"><nodes><deterministic id="a"><state id="a"/><state id="b"/><resultingstates>',
        "a ",
        "</resultingstates></deterministic></nodes></smile>",
    ),
}
UAI = {
    "numbers": around("BAYES 1 2 1 1 0 2 ", "0.5 "),
    "variables": lambda size: (
        f"BAYES {size // 16} {'2 ' * (size // 16)} {size // 16} "
        + "".join(f"1 {k} " for k in range(size // 16))
        + "2 0.5 0.5 " * (size // 16)
    ),
    "one long word": around("BAYES ", "1"),
    "levels": lambda size: f"BAYES 1 {size // 4} 1 1 0 {size // 4} {'0.5 ' * (size // 4)}",
}
NODES = {
    "a chain": lambda size: json.dumps(
        {
            "nodes": [f"n{k}" for k in range(size // 24)],
            "edges": [[f"n{k}", f"n{k + 1}"] for k in range(size // 24 - 1)],
        }
    )
}


def edges_of(size: int, step: int = 1) -> list[list[str]]:
    return [[f"n{k}", f"n{k + step}"] for k in range(size // 20)]


KNOWLEDGE = {
    "required": lambda size: {"required": edges_of(size)},
    "forbidden": lambda size: {"forbidden": edges_of(size)},
    "both": lambda size: {"required": edges_of(size // 2), "forbidden": edges_of(size // 2, 2)},
    "one edge, again and again": lambda size: {"required": [["a", "b"]] * (size // 12)},
    "tiers": lambda size: {"tiers": [[f"n{k}"] for k in range(size // 10)]},
    "tiers of nothing": lambda size: {"tiers": [[]] * (size // 3)},
    "one tier": lambda size: {"tiers": [[f"n{k}" for k in range(size // 10)]]},
    "tiers and edges": lambda size: {
        "required": edges_of(size // 2),
        "tiers": [[f"n{k}"] for k in range(size // 20)],
    },
    "a star": lambda size: {"required": [["a", f"n{k}"] for k in range(size // 20)]},
    "a star inwards": lambda size: {"required": [[f"n{k}", "a"] for k in range(size // 2)]},
    "a long name": lambda size: {"required": [["a" * size, "b"]]},
    "a circle": lambda size: {"required": [*edges_of(size), [f"n{size // 20}", "n0"]]},
}
TOML = {
    "dots": around("", "."),
    "a key of many parts": around("a", ".a", " = 1"),
    "quoted parts": around("a", '."="', " = 1"),
    "a table of many parts": around("[a", " . a", "]"),
    "keys of many parts": around("", "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.b\n"),
    "many keys": lines_of("a.b.c.d{} = 1\n"),
    "quotes": around("", '"'),
    "three quotes": around("", '"""'),
    "apostrophes": around("", "'"),
    "unclosed quotes with backslashes": around('"', '\\"'),
    "hashes": around("", "#"),
    "open brackets": around("a = ", "["),
    "numbers": around("a = [", "1.5, ", "]"),
}


def ask_knowledge(content: dict) -> None:
    known = Knowledge.from_dict(content)
    known.check_nodes(["a", "b", *(f"n{k}" for k in range(20_000))])
    if not known.mentioned:
        known.forbidden_matrix(["a", "b"])


CASES = {
    **{f"bif: {name}": (bif.parse, make) for name, make in BIF.items()},
    **{f"dot: {name}": (dot.parse_graph, make) for name, make in ARROWS.items()},
    **{
        f"{kind.__name__.rpartition('.')[2]} with {start.strip()}: {name}": (
            kind.parse_graph,
            add(start, make),
        )
        for kind, start in ((dot, "digraph {"), (dagitty, "dag {"))
        for add in (lambda start, make: lambda size: start + make(size),)
        for name, make in ARROWS.items()
    },
    **{
        f"{kind.__name__.rpartition('.')[2]}: {name}": (kind.parse_graph, make)
        for kind in (adjacency_csv, json_format, tetrad, graphml)
        for name, make in TEXTS.items()
    },
    **{f"graphml: {name}": (graphml.parse_graph, make) for name, make in GRAPHML.items()},
    **{f"hugin: {name}": (hugin.parse, make) for name, make in HUGIN.items()},
    **{f"xmlbif: {name}": (xmlbif.parse, make) for name, make in XMLBIF.items()},
    **{f"xdsl: {name}": (xdsl.parse, make) for name, make in XDSL.items()},
    **{f"uai: {name}": (uai.parse, make) for name, make in UAI.items()},
    **{f"json: {name}": (json_format.parse_graph, make) for name, make in NODES.items()},
    **{f"toml: {name}": (parse_toml, make) for name, make in TOML.items()},
    **{f"knowledge: {name}": (ask_knowledge, make) for name, make in KNOWLEDGE.items()},
}


def seconds(read: Callable[[object], object], text: object) -> float:
    """The least processor time of three readings."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        with contextlib.suppress(DagoraError):
            read(text)
        times.append(time.process_time() - begun)
        if times[-1] < FREE:
            break
    return min(times)


@pytest.mark.parametrize("case", CASES)
def test_twice_the_text_takes_twice_the_time(case):
    read, make = CASES[case]
    twice = seconds(read, make(2 * SIZE))
    if twice > FREE:
        assert twice < MOST * seconds(read, make(SIZE))
