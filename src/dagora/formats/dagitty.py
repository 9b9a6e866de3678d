"""Graphs in the language of DAGitty: `dag { a -> b  c <- d  e -- f }` (Textor et al., IJE 2016).

The parser reads `dag` and `pdag`, chains and groups in braces, and ignores attributes such as
`[exposure,pos="0,1"]`. Arrows for hidden causes (`<->`) and uncertain marks (`@->`) are read in a `pag` or
`mag` only: a DAG or CPDAG cannot hold them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.arrows import Arrow, Direction, graph_of, parse_drawing, quote
from dagora.formats.graphs import build_pag
from dagora.graph.ancestral.pag import PAG

if TYPE_CHECKING:
    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.cpdag import Graph

PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
DIRECTIONS: dict[str, Direction] = {"->": "forward", "<-": "back", "--": "none"}
# In a PAG an @ is a circle; a short sign has tails.
MARKED = {
    "->": "-->",
    "<-": "<--",
    "--": "---",
    "<->": "<->",
    "@->": "o->",
    "<-@": "<-o",
    "@-@": "o-o",
    "--@": "--o",
    "@--": "o--",
}
WRITTEN = {sign: written for written, sign in MARKED.items()}


def parse_graph(text: str) -> AnyGraph:
    """Read a graph.

    >>> parse_graph('dag { x [exposure,pos="0,1"]  x -> {m y}  m -> y }').edges
    (('x', 'm'), ('x', 'y'), ('m', 'y'))
    """
    drawing = parse_drawing(text, ("dag", "pdag", "pag", "mag"), keywords=False)
    if drawing.kind in {"pag", "mag"}:
        return build_pag(
            drawing.nodes, [(arrow.tail, MARKED[arrow.sign], arrow.head) for arrow in drawing.arrows]
        )

    def direction(arrow: Arrow) -> Direction:
        if arrow.sign not in DIRECTIONS:
            raise FormatError(
                f"line {arrow.line}: the edge {arrow.tail} {arrow.sign} {arrow.head} is neither directed nor "
                f"undirected; in a {drawing.kind} only ->, <- and -- can be read"
            )
        return DIRECTIONS[arrow.sign]

    return graph_of(drawing, direction)


def render_graph(graph: Graph) -> str:
    """Write a graph, every node first, so that their order is kept.

    >>> from dagora.graph.dag import DAG
    >>> print(render_graph(DAG("ab", [("a", "b")])), end="")
    dag {
    a
    b
    a -> b
    }
    """
    names = {node: quote(node, PLAIN.fullmatch) for node in graph.nodes}
    lines = list(names.values())
    lines += [f"{names[tail]} -> {names[head]}" for tail, head in graph.edges]
    lines += [f"{names[tail]} -- {names[head]}" for tail, head in graph.undirected]
    kind = "pdag" if graph.undirected else "dag"
    return f"{kind} {{\n" + "".join(line + "\n" for line in lines) + "}\n"


def render_pag(graph: PAG) -> str:
    """Write a PAG.

    >>> print(render_pag(PAG("ab", [("a", "o->", "b")])), end="")
    pag {
    a
    b
    a @-> b
    }
    """
    names = {node: quote(node, PLAIN.fullmatch) for node in graph.nodes}
    lines = [*names.values()]
    lines += [f"{names[one]} {WRITTEN[sign]} {names[other]}" for one, sign, other in graph.marked_edges]
    return "pag {\n" + "".join(line + "\n" for line in lines) + "}\n"
