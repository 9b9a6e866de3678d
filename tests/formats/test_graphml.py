"""GraphML: exchanged with networkx, read from igraph, and safe to read from a stranger."""

import networkx as nx
import pytest
from hypothesis import given, settings

from dagora.formats import graphml, write_graph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from tests.formats.format_oracles import graphs, names


def test_networkx_reads_what_we_write(tmp_path):
    graph = DAG(["rain & <snow>", 'a "b"', "c"], [("rain & <snow>", 'a "b"'), ('a "b"', "c")])
    write_graph(graph, tmp_path / "g.graphml")
    assert DAG.from_networkx(nx.read_graphml(tmp_path / "g.graphml")) == graph


@given(graphs(names.filter(lambda name: name and name.isprintable())))
@settings(max_examples=30, deadline=None)
def test_we_read_what_networkx_writes(graph):
    if graph.undirected:
        plain = nx.Graph(list(graph.undirected))
        plain.add_nodes_from(graph.nodes)
        read = graphml.parse_graph("\n".join(nx.generate_graphml(plain)))
        assert {frozenset(edge) for edge in read.undirected} == {frozenset(edge) for edge in graph.undirected}
        assert read.edges == ()
    else:
        assert graphml.parse_graph("\n".join(nx.generate_graphml(graph.to_networkx()))) == graph


def test_names_from_igraph():
    text = """<?xml version="1.0" encoding="UTF-8"?>
    <graphml xmlns="http://graphml.graphdrawing.org/xmlns"><!-- Created by igraph -->
      <key id="v_name" for="node" attr.name="name" attr.type="string"/>
      <key id="e_w" for="edge" attr.name="weight" attr.type="double"/>
      <graph id="G" edgedefault="directed">
        <node id="n0"><data key="v_name">rain</data></node>
        <node id="n1"><data key="v_name">wet</data></node>
        <edge source="n0" target="n1"><data key="e_w">1.5</data></edge>
      </graph>
    </graphml>"""
    assert graphml.parse_graph(text) == DAG(["rain", "wet"], [("rain", "wet")])
    # Names that do not tell the nodes apart are not names.
    assert graphml.parse_graph(text.replace("wet", "rain")) == DAG(["n0", "n1"], [("n0", "n1")])


def test_one_undirected_edge_among_directed_ones():
    text = (
        '<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><node id="c"/>'
        '<edge source="a" target="b"/><edge source="c" target="b" directed="false"/></graph></graphml>'
    )
    assert graphml.parse_graph(text) == CPDAG("abc", [("a", "b")], [("b", "c")])


BOMB = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><graphml>&b;</graphml>'
OUTSIDE = '<!DOCTYPE g SYSTEM "file:///etc/passwd"><graphml><graph/></graphml>'


@pytest.mark.parametrize("text", [BOMB, OUTSIDE])
def test_declarations_are_refused(text, refused):
    assert refused("g.graphml", text).startswith("has a document type declaration, which is not read")


def one_graph(inside, default="directed"):
    return f'<graphml>\n<graph edgedefault="{default}">{inside}</graph></graphml>'


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1: is not XML: no element found"),
        ("<graphml>\n<graph>", "line 2: is not XML"),
        ("<graphml>&a;</graphml>", "line 1: is not XML: undefined entity"),
        ("<svg/>", "must be one <graphml> with one <graph>, not <svg> with 0"),
        (
            "<graphml><graph/><graph/></graphml>",
            "must be one <graphml> with one <graph>, not <graphml> with 2",
        ),
        (one_graph("<node/>"), "a <node> has no id"),
        (one_graph('<node id="a"/><node id="a"/>'), "two nodes have the id 'a'"),
        (one_graph('<node id="a"/><edge source="a"/>'), "an <edge> has no target"),
        (
            one_graph('<node id="a"/><edge source="a" target="b"/>'),
            "an <edge> has the target 'b', which is not a node",
        ),
        (one_graph('<node id="a"/><edge source="a" target="a"/>'), "the graph has a cycle: a → a"),
        (
            one_graph('<node id="a"/><node id="b"/><edge source="a" target="b" directed="x"/>'),
            "an edge of 'a' has",
        ),
        (one_graph('<node id="a"/><hyperedge/>'), "has a hyperedge"),
    ],
)
def test_malformed(text, line, refused):
    assert refused("g.graphml", text).startswith(line)
