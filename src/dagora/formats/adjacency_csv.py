"""Graphs as a CSV matrix, or as a CSV list of edges.

The matrix has the names in its first row and usually also in its first column. The entry in row i and column
j is non-zero where there is an edge i → j; an edge in both directions is undirected. The list has the header
`from,to` (or `source,target`) and one edge per row; its nodes are the names that occur in edges.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import FormatError, GraphError
from dagora.formats.graphs import build_graph, nodes_of_edges
from dagora.graph.dag import DAG
from dagora.graph.named_graph import index_nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dagora.graph.cpdag import Graph

Row = tuple[int, list[str]]
PLAIN = re.compile(r"[^\s,\"](?:[^\n\r,\"]*[^\s,\"])?")
EDGE_LISTS = (["from", "to"], ["source", "target"])


def parse_graph(text: str) -> Graph:
    r"""Read a graph.

    >>> parse_graph(",rain,wet\nrain,0,1\nwet,0,0\n").edges
    (('rain', 'wet'),)
    >>> parse_graph("from,to\nrain,wet\n").edges
    (('rain', 'wet'),)
    """
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise FormatError(f"line {reader.line_num}: is not CSV: {error}") from None
    if not rows:
        raise FormatError("is empty; expected a matrix with names in its first row, or a list with from,to")
    header = rows[0][1]
    if [name.strip().lower() for name in header[:2]] in EDGE_LISTS:
        return _from_list(rows[1:], len(header))
    return _from_matrix(header, rows[1:])


def render_graph(graph: Graph) -> str:
    """Write the matrix.

    >>> print(render_graph(DAG("ab", [("a", "b")])), end="")
    ,a,b
    a,0,1
    b,0,0
    """
    nodes = graph.nodes
    index = {node: i for i, node in enumerate(nodes)}
    matrix = np.full((len(nodes), len(nodes)), "0")
    for tail, head in graph.edges:
        matrix[index[tail], index[head]] = "1"
    for tail, head in graph.undirected:
        matrix[index[tail], index[head]] = matrix[index[head], index[tail]] = "1"
    names = [_field(node) for node in nodes]
    # A quoted empty corner, so that the file of a graph without nodes is not empty.
    lines = [",".join(["" if names else '""', *names])]
    lines += [",".join([name, *row]) for name, row in zip(names, matrix.tolist(), strict=True)]
    return "\n".join(lines) + "\n"


def _field(name: str) -> str:
    if PLAIN.fullmatch(name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _from_list(rows: list[Row], width: int) -> Graph:
    edges = []
    for line, row in rows:
        if len(row) != width:
            raise FormatError(f"line {line}: has {len(row)} cells where the header has {width}")
        if not row[0] or not row[1]:
            raise FormatError(f"line {line}: an edge needs two names")
        edges.append((row[0], row[1]))
    return DAG(nodes_of_edges(edges), edges)


def _from_matrix(header: list[str], rows: list[Row]) -> Graph:
    named = len(header) == len(rows) + 1
    if not named and len(header) != len(rows):
        raise FormatError(
            f"has {len(rows)} rows below a header of {len(header)} cells; an adjacency matrix has the nodes' "
            "names in its first row and first column, and as many rows as names"
        )
    names = header[1:] if named else header
    index_nodes(names)
    present = np.zeros((len(names), len(names)), dtype=np.bool_)
    for i, (line, row) in enumerate(rows):
        if len(row) != len(header):
            raise FormatError(f"line {line}: has {len(row)} cells where the header has {len(header)}")
        if named and row[0] != names[i]:
            raise FormatError(f"line {line}: row '{row[0]}' stands where the header has '{names[i]}'")
        present[i] = _weights(row[1:] if named else row, line) != 0
    loops = np.flatnonzero(present.diagonal())
    if loops.size:
        raise GraphError(f"the graph has a cycle: {names[loops[0]]} → {names[loops[0]]}")
    mutual = present & present.T
    undirected = [(names[i], names[j]) for i, j in np.argwhere(np.triu(mutual))]
    directed = [(names[i], names[j]) for i, j in np.argwhere(present & ~mutual)]
    return build_graph(names, directed, undirected)


def _weights(cells: list[str], line: int) -> NDArray[np.float64]:
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        bad = next(cell for cell in cells if not _is_number(cell))
        raise FormatError(f"line {line}: '{bad}' is not a number; an entry is 0, 1 or a weight") from None
    if not np.isfinite(values).all():
        raise FormatError(f"line {line}: an entry is not a finite number")
    return values


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
