"""Graphs in the language of DAGitty: `dag { a -> b  c <- d  e -- f }` (Textor et al., IJE 2016).

The parser reads `dag` and `pdag`, chains and groups in braces, and ignores attributes such as
`[exposure,pos="0,1"]`. Arrows for hidden causes (`<->`) or uncertain marks (`@->`) are refused: a DAG or
CPDAG cannot hold them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.errors import FormatError
from dagora.formats.arrows import Arrow, Direction, graph_of, parse_drawing, quote

if TYPE_CHECKING:
    from dagora.graph.cpdag import Graph

PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
DIRECTIONS: dict[str, Direction] = {"->": "forward", "<-": "back", "--": "none"}


def parse_graph(text: str) -> Graph:
    """Read a graph.

    >>> parse_graph('dag { x [exposure,pos="0,1"]  x -> {m y}  m -> y }').edges
    (('x', 'm'), ('x', 'y'), ('m', 'y'))
    """
    drawing = parse_drawing(text, ("dag", "pdag"), keywords=False)

    def direction(arrow: Arrow) -> Direction:
        if arrow.sign not in DIRECTIONS:
            raise FormatError(
                f"line {arrow.line}: the edge {arrow.tail} {arrow.sign} {arrow.head} is neither directed nor "
                "undirected; only ->, <- and -- can be read"
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
