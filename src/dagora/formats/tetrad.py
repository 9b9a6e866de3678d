"""Graphs in the text that Tetrad saves and loads: nodes in a line, then numbered edges.

    Graph Nodes:
    rain;wet grass

    Graph Edges:
    1. rain --> wet grass

Edges are `-->`, `---` and, of a PAG, `<->`, `o->` and `o-o`. Older files have commas between nodes. What
stands behind an edge (`dd nl`) or in further sections is not read. The text does not say what kind of graph
it is: one with a circle or `<->` is a PAG, one with `---` a CPDAG, any other a DAG.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.graphs import build_graph, build_pag
from dagora.graph.ancestral.pag import PAG, SIGNS

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.cpdag import Graph

NODES, EDGES = "graph nodes:", "graph edges:"
NUMBERED = re.compile(r"[0-9]+\. +(.*)")
SIGN = re.compile(r" ([<o-]-[>o-]) ")
ONLY_PAG = frozenset({"<->", "o->", "<-o", "o-o", "--o", "o--"})
UNWRITABLE = re.compile(r"[;,\r\n]|^\s|\s$| [<o-]-[>o-] |^$")


def parse_graph(text: str) -> AnyGraph:
    r"""Read a graph.

    >>> parse_graph("Graph Nodes:\na;b;c\n\nGraph Edges:\n1. a --> b\n2. b --- c\n").undirected
    (('b', 'c'),)
    """
    sections: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip().lower().startswith("graph ") and line.strip().endswith(":"):
            current = sections.setdefault(line.strip().lower(), [])
        elif line.strip():
            current.append((number, line.strip()))
    if NODES not in sections:
        raise FormatError("there is no line 'Graph Nodes:', with which a graph of Tetrad begins")
    listed = [line for _, line in sections[NODES]]
    separator = ";" if any(";" in line for line in listed) else ","
    nodes = [name.strip() for line in listed for name in line.split(separator) if name.strip()]
    known = frozenset(nodes)
    lengths = sorted({len(name) for name in known}, reverse=True)
    found = [parse_edge(line, number, known, lengths) for number, line in sections.get(EDGES, [])]
    if any(sign in ONLY_PAG for _, sign, _ in found):
        return build_pag(nodes, found)
    directed = [
        (one, other) if sign == "-->" else (other, one) for one, sign, other in found if sign != "---"
    ]
    return build_graph(nodes, directed, [(one, other) for one, sign, other in found if sign == "---"])


def parse_edge(line: str, number: int, known: Set[str], lengths: Sequence[int]) -> tuple[str, str, str]:
    """One edge: its first node, the sign, its second node. `lengths` are those of names, longest first."""
    numbered = NUMBERED.fullmatch(line)
    found = SIGN.search(numbered[1]) if numbered else None
    if numbered is None or found is None or found[1] not in SIGNS:
        raise FormatError(f"line {number}: '{line[:60]}' is no edge such as '1. a --> b'")
    one, rest = numbered[1][: found.start()].strip(), numbered[1][found.end() :].strip()
    # Something may stand behind the edge.
    begins = (rest[:length] for length in lengths if rest[length : length + 1] in ("", " "))
    other = next((name for name in begins if name in known), rest)
    for name in (one, other):
        if name not in known:
            raise FormatError(f"line {number}: '{name[:60]}' is not among the nodes")
    return one, found[1], other


def render_graph(graph: Graph) -> str:
    """Write a graph.

    >>> from dagora.graph.dag import DAG
    >>> print(render_graph(DAG("ab", [("a", "b")])), end="")
    Graph Nodes:
    a;b
    <BLANKLINE>
    Graph Edges:
    1. a --> b
    """
    edges = [(tail, "-->", head) for tail, head in graph.edges]
    return render(graph.nodes, edges + [(one, "---", other) for one, other in graph.undirected])


def render_pag(graph: PAG) -> str:
    """Write a PAG; one without a circle or `<->` would be read as another kind of graph.

    >>> print(render_pag(PAG("ab", [("a", "o->", "b")])).splitlines()[-1])
    1. a o-> b
    """
    if not any(sign in ONLY_PAG for _, sign, _ in graph.marked_edges):
        raise FormatError(
            "this PAG has neither a circle nor <->, and Tetrad's text does not name its kind: write .json"
        )
    return render(graph.nodes, graph.marked_edges)


def render(nodes: Sequence[str], edges: Sequence[tuple[str, str, str]]) -> str:
    """The text of nodes and edges."""
    for name in nodes:
        if UNWRITABLE.search(name):
            raise FormatError(f"Tetrad's text cannot hold the name '{name}': rename it, or write .json")
    lines = ["Graph Nodes:", ";".join(nodes), "", "Graph Edges:"]
    lines += [f"{i}. {one} {sign} {other}" for i, (one, sign, other) in enumerate(edges, start=1)]
    return "\n".join(lines) + "\n"
