"""Graphs in the language of DAGitty: `dag { a -> b  c <- d  e -- f }` (Textor et al., IJE 2016).

The parser reads `dag` and `pdag`, chains and groups in braces, and ignores attributes such as
`[exposure,pos="0,1"]`. Arrows for hidden causes (`<->`) and uncertain marks (`@->`) are read in a `pag` or
`mag` only: a DAG or CPDAG cannot hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from dagora.base.errors import FormatError
from dagora.formats.arrows import Arrow, Direction, graph_of, parse_drawing, quote
from dagora.formats.graphs import build_pag
from dagora.graph.adjustment import Adjustment
from dagora.graph.ancestral.pag import PAG, MarkedEdge
from dagora.graph.any_graph import require_any_graph

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
WRITTEN = {sign: short for short, sign in MARKED.items()}
Role = Literal["exposure", "outcome", "adjusted"]
Roles = Mapping[str, Role]


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


def render_graph(graph: Graph, roles: Roles | None = None) -> str:
    """Write a graph, every node first, so that their order is kept, with its role in a question.

    >>> from dagora.graph.dag import DAG
    >>> print(render_graph(DAG("ab", [("a", "b")]), {"a": "exposure"}), end="")
    dag {
    a [exposure]
    b
    a -> b
    }
    """
    edges = [(tail, "-->", head) for tail, head in graph.edges]
    edges += [(tail, "---", head) for tail, head in graph.undirected]
    return graph_text("pdag" if graph.undirected else "dag", graph.nodes, edges, roles)


def render_pag(graph: PAG, roles: Roles | None = None) -> str:
    """Write a PAG.

    >>> print(render_pag(PAG("ab", [("a", "o->", "b")])), end="")
    pag {
    a
    b
    a @-> b
    }
    """
    return graph_text("pag", graph.nodes, graph.marked_edges, roles)


def render_question(found: Adjustment) -> str:
    """Write a graph with the question what x does to y, and what to adjust for.

    >>> from dagora.graph.dag import DAG
    >>> print(render_question(Adjustment(DAG("xyz", ["zx", "zy", "xy"]), "x", "y")), end="")
    dag {
    x [exposure]
    y [outcome]
    z [adjusted]
    x -> y
    z -> x
    z -> y
    }
    """
    adjusted = found.minimal if found.optimal is None else found.optimal
    roles: dict[str, Role] = dict.fromkeys(adjusted or (), "adjusted")
    roles |= {**dict.fromkeys(found.x, "exposure"), found.y: "outcome"}
    graph = require_any_graph(found.graph)
    return render_pag(graph, roles) if isinstance(graph, PAG) else render_graph(graph, roles)


def graph_text(kind: str, nodes: Iterable[str], edges: Iterable[MarkedEdge], roles: Roles | None) -> str:
    """A graph as text: nodes with their roles, then edges with their marks."""
    names = {node: quote(node, PLAIN.fullmatch) for node in nodes}
    lines = [f"{name} [{roles[node]}]" if roles and node in roles else name for node, name in names.items()]
    lines += [f"{names[one]} {WRITTEN[sign]} {names[other]}" for one, sign, other in edges]
    return f"{kind} {{\n" + "".join(line + "\n" for line in lines) + "}\n"
