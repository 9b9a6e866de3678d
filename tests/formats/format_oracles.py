"""Equality of networks, random graphs with difficult names, and a second reader of the repository's files."""

import re

import numpy as np
from hypothesis import strategies as st

from dagora.formats.graphs import build_graph
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork

NASTY = "ab \"'\\\n\r\t{}[]()<>->;:,=|#/*&%é→日\x00\x1f\u2028\ufeff"
names = st.text(alphabet=NASTY, max_size=6) | st.sampled_from(
    [
        "node",
        "edge",
        "graph",
        "table",
        "from",
        "to",
        "//",
        "/*",
        "a -> b",
        "dag {",
        "]]>",
        "&amp;",
        "\\n",
        "\\",
        "-1",
        " ",
    ]
)


def assert_same_network(one, other):
    """Same graph, levels, name and parameters, to the last bit."""
    assert type(one) is type(other)
    assert one.graph == other.graph
    assert one.name == other.name
    for node in one.graph:
        if isinstance(one, DiscreteNetwork):
            assert one.levels[node] == other.levels[node]
            np.testing.assert_array_equal(one.tables[node], other.tables[node])
        else:
            np.testing.assert_array_equal(one.coefficients[node], other.coefficients[node])
            assert (one.intercepts[node], one.sds[node]) == (other.intercepts[node], other.sds[node])


@st.composite
def graphs(draw, node_names=names):
    """A DAG or CPDAG whose nodes stand in no topological order."""
    nodes = draw(st.lists(node_names, unique=True, max_size=5))
    order = draw(st.permutations(nodes))
    edges, undirected = [], []
    for j, head in enumerate(order):
        for tail in order[:j]:
            match draw(st.sampled_from(["none", "none", "directed", "undirected"])):
                case "directed":
                    edges.append((tail, head))
                case "undirected":
                    undirected.append((tail, head))
    return build_graph(nodes, edges, undirected)


@st.composite
def discrete_networks(draw, node_names=names):
    """A network with random tables over nodes and levels with difficult names."""
    nodes = draw(st.lists(node_names, unique=True, min_size=1, max_size=4))
    order = draw(st.permutations(nodes))
    edges = [(a, b) for j, b in enumerate(order) for a in order[:j] if draw(st.booleans())]
    graph = DAG(nodes, edges)
    levels = {node: tuple(draw(st.lists(node_names, unique=True, min_size=1, max_size=3))) for node in nodes}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {}
    for node in nodes:
        shape = [len(levels[x]) for x in (*graph.parents(node), node)]
        raw = rng.exponential(size=shape)
        tables[node] = raw / raw.sum(axis=-1, keepdims=True)
    return DiscreteNetwork(graph, levels, tables, draw(node_names))


def second_reading(text):
    """Read a repository file line by line, which their regular layout allows: (levels, parents, rows)."""
    levels, parents, rows = {}, {}, {}
    node = ""
    for line in text.splitlines():
        if found := re.match(r"(variable|probability) \(? ?([^ ]+)(?: \| (.*?))? [{)]", line):
            node = found[2]
            if found[1] == "probability":
                parents[node] = found[3].split(", ") if found[3] else []
                rows[node] = {}
        elif found := re.match(r"  type discrete \[ (\d+) \] { (.*) };", line):
            levels[node] = tuple(found[2].split(", "))
            assert len(levels[node]) == int(found[1])
        elif found := re.match(r"  (?:\((.*)\)|table) (.*);", line):
            key = tuple(found[1].split(", ")) if found[1] else ()
            rows[node][key] = [float(number) for number in found[2].split(", ")]
    return levels, parents, rows
