"""JSON: graphs with other keys, both kinds of network, and what must be refused."""

import json

import numpy as np
import pytest

from dagora.base.errors import FormatError
from dagora.formats import json_format, read_network
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.networks import DiscreteNetwork, GaussianNetwork
from tests.formats.format_oracles import assert_same_network

GRAPH = DAG(["c", "a", "b"], [("a", "c"), ("b", "c")])
DISCRETE = DiscreteNetwork(
    GRAPH,
    {"a": ("n", "y"), "b": ("0", "1", "2"), "c": ("n", "y")},
    {
        "a": np.array([1 / 3, 2 / 3]),
        "b": np.array([0.1, 0.2, 0.7]),
        "c": np.random.default_rng(0).dirichlet([1, 1], size=(2, 3)),
    },
    "three",
)
GAUSSIAN = GaussianNetwork(
    GRAPH,
    {"a": 0.1, "b": -1 / 3, "c": 1e300},
    {"a": np.empty(0), "b": np.empty(0), "c": np.array([0.1 + 0.2, -5e-324])},
    {"a": 1.0, "b": 0.0, "c": 2.5},
    "three",
)


def test_the_result_of_a_command_is_a_graph():
    text = (
        '{"method": "pc", "nodes": ["a", "b"], "edges": [], "undirected": [["a", "b"]], "stats": {"x": [1]}}'
    )
    assert json_format.parse_graph(text) == CPDAG("ab", undirected=[("a", "b")])


def test_an_empty_list_of_undirected_edges_makes_a_dag():
    assert json_format.parse_graph('{"nodes": ["a"], "edges": [], "undirected": []}') == DAG("a")


@pytest.mark.parametrize("network", [DISCRETE, GAUSSIAN])
def test_networks_survive_and_are_graphs(network):
    text = json_format.render_network(network)
    assert_same_network(json_format.parse(text), network)
    assert json_format.parse_graph(text) == GRAPH
    assert json.loads(text)["edges"] == [["a", "c"], ["b", "c"]]


def test_published_regressions_with_parents_in_any_order():
    nodes = {
        "a": {"parents": [], "intercept": 1, "coefficients": [], "sd": 2},
        "b": {"parents": [], "intercept": 0, "coefficients": [], "sd": 1},
        "c": {"parents": ["b", "a"], "intercept": 0.5, "coefficients": [10, 20], "sd": 0.1},
    }
    network = json_format.parse(json.dumps({"kind": "linear-gaussian", "name": "p", "nodes": nodes}))
    assert network.graph.parents("c") == ("a", "b")
    assert network.coefficients["c"].tolist() == [20, 10]
    assert network.name == "p"


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1: is not JSON: expecting value"),
        ('{"nodes": ["a"],\n "edges": [', "line 2: is not JSON: expecting value"),
        ("[]", "a graph is an object"),
        ("{}", 'a graph needs "nodes": [names] and "edges": [[from, to], ...]'),
        ('{"nodes": ["a"]}', 'a graph needs "nodes": [names] and "edges"'),
        ('{"nodes": ["a"], "edges": {}}', '"edges" must be a list of pairs of names'),
        ('{"nodes": ["a"], "edges": [["a"]]}', '"edges" must be a list of pairs of names, but has ["a"]'),
        ('{"nodes": ["a"], "edges": [[1, 2]]}', '"edges" must be a list of pairs of names, but has [1, 2]'),
        ('{"nodes": ["a"], "edges": ["ab"]}', '"edges" must be a list of pairs of names, but has "ab"'),
        ('{"nodes": [1], "edges": []}', "node names are text, not int: 1"),
        ('{"nodes": ["a", "a"], "edges": []}', "two nodes are named 'a'"),
        ('{"nodes": ["a"], "edges": [["a", "z"]]}', "there is no node named 'z'"),
        ('{"nodes": ["a"], "edges": [["a", "z\\ny"]]}', "there is no node named 'z\\ny'"),
        ('{"nodes": ["a"], "nodes": ["b"], "edges": []}', "the key 'nodes' occurs twice in one object"),
        ('{"nodes": ["a", "b"], "edges": [["a", "b"], ["b", "a"]]}', "the graph has a cycle: a → b → a"),
        ('{"nodes": ["a"], "edges": [["a", "a"]]}', "the graph has a cycle: a → a"),
        ('{"nodes": ["a"], "edges": [], "x": NaN}', "the number NaN is not JSON"),
        ("[" * 100_000, "is not JSON that can be read"),
        ('{"x": ' + "9" * 5000 + "}", "is not JSON that can be read"),
        ('{"nodes": {"a": 1}}', "the node 'a' must be an object with \"parents\": [names]"),
        ('{"nodes": {"a": {"parents": ["a", "a"]}}}', "the node 'a' lists a parent twice"),
    ],
)
def test_malformed_graphs(text, line, refused):
    assert refused("g.json", text).startswith(line)


def test_a_directed_cycle_beside_undirected_edges_is_refused(refused):
    edges = [["a", "b"], ["b", "c"], ["c", "a"]]
    text = json.dumps({"nodes": ["a", "b", "c", "d"], "edges": edges, "undirected": [["c", "d"]]})
    assert refused("g.json", text) == "the graph has a cycle: a → b → c → a"


def edited(network, **changes):
    document = json.loads(json_format.render_network(network))
    for key, change in changes.items():
        if isinstance(change, dict):
            document[key].update(change)
        else:
            document[key] = change
    return json.dumps(document)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (json_format.render_graph(GRAPH), "holds a graph without parameters; fit them by giving data"),
        (edited(DISCRETE, levels=None), 'a network of kind "discrete" needs "levels": {name: ...}'),
        (edited(DISCRETE, levels={"a": ["n", "n"]}), "the levels of 'a' must be one or more different texts"),
        (edited(DISCRETE, levels={"a": [0, 1]}), "the levels of 'a' must be a list of texts"),
        (
            edited(DISCRETE, tables={"a": [0.5, 0.4]}),
            "the table of 'a' is not made of probabilities that sum to 1",
        ),
        (edited(DISCRETE, tables={"a": [0.5, 0.25, 0.25]}), "the table of 'a' has shape (3,), not (2,)"),
        (
            edited(DISCRETE, tables={"c": [[1, 0], [1]]}),
            "the table of 'c' must be nested lists of equal lengths",
        ),
        (edited(DISCRETE, tables={"a": ["x", "y"]}), "the table of 'a' must be made of numbers"),
        (edited(DISCRETE, tables={}, nodes=["c", "a", "b", "d"]), "\"levels\" has no entry for 'd'"),
        (
            edited(DISCRETE, edges=[], undirected=[["a", "b"]]),
            "a network with parameters cannot have undirected",
        ),
        (edited(GAUSSIAN, sds={"a": -1}), "the regression of 'a' needs finite numbers"),
        (edited(GAUSSIAN, sds={"a": "1"}), "the sd of 'a' must be a number, not \"1\""),
        (edited(GAUSSIAN, intercepts={"a": None}), "the intercept of 'a' must be a number, not null"),
        (
            edited(GAUSSIAN, coefficients={"c": {"a": 1}}),
            "the coefficients of 'c' must be an object with one number",
        ),
        (
            edited(GAUSSIAN, coefficients={"c": {"a": 1, "b": True}}),
            "a coefficient of 'c' must be a number, not true",
        ),
        (
            '{"nodes": {"a": {"parents": [], "intercept": 0, "coefficients": [1], "sd": 1}}}',
            "'a' has 0 parents and needs as many coefficients",
        ),
        (
            '{"nodes": {"a": {"parents": [], "coefficients": [], "sd": 1}}}',
            "the intercept of 'a' must be a number",
        ),
    ],
)
def test_malformed_networks(text, line, refused):
    assert refused("n.json", text, read_network).startswith(line)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lagged_edges", [["x", "y", 2]]),
        ("lagged_edges", []),
        ("lagged_edges", None),
        ("lags", 2),
        ("variables", ["x", "z"]),
    ],
)
def test_a_graph_in_time_that_contradicts_itself_is_refused(key: str, value: object) -> None:
    graph = LaggedGraph("xy", 1, [("x", "y", 1), ("x", "y", 0)], [])
    content = graph.to_dict()
    content["lagged_edges"].reverse()
    assert LaggedGraph.of_window(json_format.parse_graph(json.dumps(content))) == graph
    with pytest.raises(FormatError, match=f'"{key}" must'):
        json_format.parse_graph(json.dumps({**content, key: value}))
