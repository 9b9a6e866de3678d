"""Graphs in DOT, the language of Graphviz.

The parser reads `digraph` and `graph` with chains, groups and subgraphs. Of the attributes only `dir`
matters: an edge with `dir=none`, and every `--` of a `graph`, is undirected; `dir=back` turns the arrow
around. An edge with `dir=both`, `arrowtail` and `arrowhead` makes the graph a PAG: these are its marks,
`odot` for a circle and `none` for a tail. Names are written in quotes where DOT requires it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.arrows import Arrow, Direction, graph_of, parse_drawing, quote
from dagora.formats.graphs import build_pag
from dagora.graph.ancestral.pag import PAG, SIGNS
from dagora.graph.edge_marks import ARROW, CIRCLE, TAIL

if TYPE_CHECKING:
    from collections.abc import Callable

    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.cpdag import Graph

PLAIN = re.compile(r"(?!(?:node|edge|graph|digraph|subgraph|strict)\Z)[A-Za-z_][A-Za-z_0-9]*", re.IGNORECASE)

DIRECTIONS: dict[str, Direction] = {"forward": "forward", "back": "back", "none": "none"}
# The name of a PAG without edges, which has no marks to be known by.
NAME = "PAG"
# Marks of a PAG by the names of arrowheads.
HEADS = {"normal": ARROW, "odot": CIRCLE, "none": TAIL}
SHAPES = {mark: shape for shape, mark in HEADS.items()}
SIGN_OF = {marks: sign for sign, marks in SIGNS.items()}


def parse_graph(text: str) -> AnyGraph:
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

    if any(has_marks(arrow) for arrow in drawing.arrows) or (drawing.name == NAME and not drawing.arrows):
        return build_pag(
            drawing.nodes, [(arrow.tail, pag_edge(arrow, direction), arrow.head) for arrow in drawing.arrows]
        )
    return graph_of(drawing, direction)


def has_marks(arrow: Arrow) -> bool:
    """Return True if an edge has attributes for both of its ends."""
    return arrow.attributes.get("dir", "").lower() == "both" and {"arrowtail", "arrowhead"} <= set(
        arrow.attributes
    )


def pag_edge(arrow: Arrow, direction: Callable[[Arrow], Direction]) -> str:
    """The edge of a PAG; where only one end is drawn, there is an arrow."""
    if not has_marks(arrow):
        return {"forward": "-->", "back": "<--", "none": "---"}[direction(arrow)]
    shapes = [arrow.attributes[end].lower() for end in ("arrowtail", "arrowhead")]
    for shape in shapes:
        if shape not in HEADS:
            raise FormatError(
                f"line {arrow.line}: the edge between '{arrow.tail}' and '{arrow.head}' ends in '{shape}'; "
                "only normal, odot and none can be read"
            )
    return SIGN_OF[HEADS[shapes[0]], HEADS[shapes[1]]]


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


def render_pag(graph: PAG) -> str:
    """Write a PAG, which Graphviz draws with circles where a mark is open.

    >>> print(render_pag(PAG("ab", [("a", "o->", "b")])), end="")
    digraph {
      a;
      b;
      a -> b [dir=both, arrowtail=odot, arrowhead=normal];
    }
    """
    names = {node: quote(node, PLAIN.fullmatch) for node in graph.nodes}
    lines = [f"  {names[node]};" for node in graph.nodes]
    for one, sign, other in graph.marked_edges:
        left, right = (SHAPES[mark] for mark in SIGNS[sign])
        lines.append(f"  {names[one]} -> {names[other]} [dir=both, arrowtail={left}, arrowhead={right}];")
    opening = "digraph {\n" if graph.marked_edges else f"digraph {NAME} {{\n"
    return opening + "".join(line + "\n" for line in lines) + "}\n"
