"""Graphs in GraphML, the XML format that networkx, igraph, yEd and Gephi exchange.

A node's name is its `id`, unless the file gives every node a different text under a key whose `attr.name` is
`name` (as igraph does). An edge is undirected where it says `directed="false"`, or where the graph's
`edgedefault` does. A document type declaration is refused: GraphML needs none, and with its entities a small
file can fill the memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.graphs import build_graph

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from dagora.graph.cpdag import Graph
    from dagora.graph.dag import Edge

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_graph(text: str) -> Graph:
    """Read a graph.

    >>> parse_graph('<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
    ...             '<edge source="a" target="b"/></graph></graphml>').edges
    (('a', 'b'),)
    """
    from xml.etree import ElementTree as ET

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError("has a document type declaration, which is not read; remove <!DOCTYPE ...>")
    try:
        root = ET.fromstring(text)  # noqa: S314 - no entities: declarations are refused above
    except ET.ParseError as error:
        line, _ = error.position
        raise FormatError(f"line {line}: is not XML: {str(error).split(': line')[0]}") from None
    except ValueError as error:
        raise FormatError(f"is not XML: {error}") from None
    _strip_namespaces(root)
    graphs = root.findall("graph")
    if root.tag != "graphml" or len(graphs) != 1:
        raise FormatError(f"must be one <graphml> with one <graph>, not <{root.tag}> with {len(graphs)}")
    names = _names(root, graphs[0])
    default = graphs[0].get("edgedefault", "directed")
    edges: list[Edge] = []
    undirected: list[Edge] = []
    for element in graphs[0].iter("edge"):
        pair = (_name(names, element, "source"), _name(names, element, "target"))
        directed = element.get("directed", "true" if default == "directed" else "false")
        if directed not in {"true", "false", "1", "0"}:
            raise FormatError(f"an edge of '{pair[0]}' has directed=\"{directed}\"; it must be true or false")
        (edges if directed in {"true", "1"} else undirected).append(pair)
    if graphs[0].find("hyperedge") is not None:
        raise FormatError("has a hyperedge, which a graph of single edges cannot hold")
    return build_graph(names.values(), edges, undirected)


def render_graph(graph: Graph) -> str:
    """Write a graph.

    >>> from dagora.graph.dag import DAG
    >>> print(render_graph(DAG("ab", [("a", "b")])), end="")
    <?xml version="1.0" encoding="UTF-8"?>
    <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <graph edgedefault="directed">
        <node id="a"/>
        <node id="b"/>
        <edge source="a" target="b"/>
      </graph>
    </graphml>
    """
    for node in graph.nodes:
        if NOT_XML.search(node):
            raise FormatError(
                f"XML cannot hold the name {node!r}: take out the control character, or use .json"
            )
    names = {node: _attribute(node) for node in graph.nodes}
    lines = [f"<node id={names[node]}/>" for node in graph.nodes]
    lines += [f"<edge source={names[tail]} target={names[head]}/>" for tail, head in graph.edges]
    lines += [
        f'<edge source={names[tail]} target={names[head]} directed="false"/>'
        for tail, head in graph.undirected
    ]
    body = "".join(f"    {line}\n" for line in lines)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<graphml xmlns="{NAMESPACE}">\n  <graph edgedefault="directed">\n{body}  </graph>\n</graphml>\n'
    )


def _attribute(text: str) -> str:
    """Return text as a quoted attribute; tabs and line breaks are escaped, else they are read as spaces."""
    from xml.sax.saxutils import escape

    return '"' + escape(text, {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}) + '"'


def _strip_namespaces(root: Element) -> None:
    for element in root.iter():
        # A comment's tag is a function, not a text.
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]


def _names(root: Element, graph: Element) -> dict[str, str]:
    """Name of each node by its id."""
    nodes = list(graph.iter("node"))
    names: dict[str, str] = {}
    for node in nodes:
        identifier = node.get("id")
        if identifier is None:
            raise FormatError("a <node> has no id")
        if identifier in names:
            raise FormatError(f"two nodes have the id '{identifier}'")
        names[identifier] = identifier
    keys = {
        key.get("id")
        for key in root.iter("key")
        if key.get("attr.name") == "name" and key.get("for", "all") in {"node", "all"}
    }
    given = [
        next((data.text for data in node.findall("data") if data.get("key") in keys), None) for node in nodes
    ]
    texts = [text for text in given if text]
    if len(set(texts)) == len(nodes):
        return dict(zip(names, texts, strict=True))
    return names


def _name(names: dict[str, str], edge: Element, end: str) -> str:
    identifier = edge.get(end)
    if identifier is None:
        raise FormatError(f"an <edge> has no {end}")
    if identifier not in names:
        raise FormatError(f"an <edge> has the {end} '{identifier}', which is not a node")
    return names[identifier]
