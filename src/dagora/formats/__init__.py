"""Files of graphs and networks: JSON, BIF, XMLBIF, Hugin, XDSL, UAI, DOT, GraphML, DAGitty, Tetrad and CSV, each also compressed."""

from dagora.formats.registry import convert, read_graph, read_network, write_graph, write_network

__all__ = ["convert", "read_graph", "read_network", "write_graph", "write_network"]
