"""Files of graphs (JSON, DOT, GraphML, DAGitty, Tetrad, CSV) and networks (JSON, BIF and its kin)."""

from dagora.formats.registry import convert, read_graph, read_network, write_graph, write_network

__all__ = ["convert", "read_graph", "read_network", "write_graph", "write_network"]
