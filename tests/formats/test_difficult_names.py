"""Names with quotes, blanks, arrows, braces and line breaks survive every format, or are refused by name."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from dagora.base.errors import FormatError
from dagora.formats import read_graph, read_network, write_graph, write_network
from dagora.graph.dag import DAG
from tests.formats.format_oracles import assert_same_network, discrete_networks, graphs
from tests.formats.messy_tables import NAMES
from tests.formats.strict_bif import assert_like, strict_reading

NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
GRAPH_NAMES = {**NAMES, "keywords of DOT": ["node", "Edge", "GRAPH", "strict"]}


@pytest.mark.full
@pytest.mark.parametrize("suffix", ["json", "dot", "dagitty", "csv", "graphml"])
@given(graph=graphs())
@example(DAG([]))
@example(DAG([""]))
@example(DAG(["from", "to"], [("to", "from")]))
@example(DAG(["node", "edge", "strict", "Graph"], [("node", "edge")]))
@settings(max_examples=60, deadline=None)
def test_graphs(suffix, graph):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"g.{suffix}"
        if suffix == "graphml" and any(NOT_IN_XML.search(node) for node in graph.nodes):
            with pytest.raises(FormatError, match="XML cannot hold the name") as caught:
                write_graph(graph, path)
            assert len(str(caught.value).splitlines()) == 1
            assert list(Path(folder).iterdir()) == []
        else:
            write_graph(graph, path)
            assert read_graph(path) == graph


@pytest.mark.full
@pytest.mark.parametrize("suffix", ["json", "bif"])
@given(network=discrete_networks())
@settings(max_examples=60, deadline=None)
def test_networks(suffix, network):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"n.{suffix}"
        write_network(network, path)
        assert_same_network(read_network(path), network)
        if suffix == "bif":
            assert_like(network, *strict_reading(path.read_text(encoding="ascii")))


@pytest.mark.every_case
@pytest.mark.parametrize("suffix", ["json", "dot", "dagitty", "csv", "graphml"])
@pytest.mark.parametrize("style", GRAPH_NAMES)
def test_graphs_of_messy_tables(style, suffix, tmp_path):
    names = GRAPH_NAMES[style]
    if suffix == "graphml":
        names = [NOT_IN_XML.sub("", name) for name in names]
    graph = DAG(names, [(names[0], names[1]), (names[3], names[1]), (names[2], names[3])])
    write_graph(graph, tmp_path / f"g.{suffix}")
    assert read_graph(tmp_path / f"g.{suffix}") == graph


@pytest.mark.parametrize("suffix", ["json", "dot", "dagitty", "csv"])
def test_half_a_surrogate_is_refused(suffix, tmp_path):
    with pytest.raises(FormatError, match=rf"g\.{suffix}: the character '\\ud800' cannot be written"):
        write_graph(DAG(["a\ud800"]), tmp_path / f"g.{suffix}")
    assert list(tmp_path.iterdir()) == []
