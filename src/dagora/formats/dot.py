"""Graphs in DOT, the language of Graphviz.

The parser reads `digraph` and `graph` with chains, groups and subgraphs. Of the attributes only `dir`
matters: an edge with `dir=none`, and every `--` of a `graph`, is undirected; `dir=back` turns the arrow
around. Names are written in quotes where DOT requires it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.errors import FormatError
from dagora.formats.arrows import Arrow, Direction, graph_of, parse_drawing, quote

if TYPE_CHECKING:
    from dagora.graph.cpdag import Graph

PLAIN = re.compile(r"(?!(?:node|edge|graph|digraph|subgraph|strict)\Z)[A-Za-z_][A-Za-z_0-9]*", re.IGNORECASE)

DIRECTIONS: dict[str, Direction] = {"forward": "forward", "back": "back", "none": "none"}


def parse_graph(text: str) -> Graph:
    """Read a graph.

    >>> parse_graph('digraph { a -> b -> "c d" [color=red] }').edges
    (('a', 'b'), ('b', 'c d'))
    """
    drawing = parse_drawing(text, ("digraph", "graph"), keywords=True)
    joins = "->" if drawing.kind == "digraph" else "--"

    def direction(arrow: Arrow) -> Direction:
        if arrow.sign != joins:
            raise FormatError(
                f"line {arrow.line}: edges of a {drawing.kind} are written {joins}, not {arrow.sign}"
            )
        given = arrow.attributes.get("dir", "forward" if joins == "->" else "none").lower()
        if given not in DIRECTIONS:
            raise FormatError(
                f"line {arrow.line}: the edge between '{arrow.tail}' and '{arrow.head}' has dir={given}; "
                "only forward, back and none can be read"
            )
        return DIRECTIONS[given]

    return graph_of(drawing, direction)


def render_graph(graph: Graph) -> str:
    """Write a graph, every node first, so that their order is kept.

    >>> from dagora.graph.dag import DAG
    >>> print(render_graph(DAG(["rain", "wet grass"], [("rain", "wet grass")])), end="")
    digraph {
      rain;
      "wet grass";
      rain -> "wet grass";
    }
    """
    names = {node: quote(node, PLAIN.fullmatch) for node in graph.nodes}
    lines = [f"  {names[node]};" for node in graph.nodes]
    lines += [f"  {names[tail]} -> {names[head]};" for tail, head in graph.edges]
    lines += [f"  {names[tail]} -> {names[head]} [dir=none];" for tail, head in graph.undirected]
    return "digraph {\n" + "".join(line + "\n" for line in lines) + "}\n"
