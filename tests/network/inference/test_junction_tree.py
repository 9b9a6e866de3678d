"""The junction tree against the whole joint distribution of small networks."""

import numpy as np
import pytest

from dagora.base.errors import QueryError
from dagora.graph.dag import DAG
from dagora.network.inference import junction_tree
from dagora.network.inference.arithmetic import LEAST_SPAN
from dagora.network.inference.elimination import eliminate, moral_bits
from dagora.network.inference.junction_tree import JunctionTree
from dagora.network.networks import DiscreteNetwork
from tests.network.inference.random_networks import given, joint_array, marginal, naive_bayes, random_discrete


def random_evidence(network, seed):
    rng = np.random.default_rng(seed)
    observed = [node for node in network.graph if rng.random() < 0.4]
    return {node: int(rng.integers(len(network.levels[node]))) for node in observed}


@pytest.fixture(params=["numbers", "logarithms"])
def arithmetic(request, monkeypatch):
    """With a span of zero, every product is too wide for plain numbers."""
    if request.param == "logarithms":
        monkeypatch.setattr("dagora.network.inference.arithmetic.LEAST_SPAN", np.inf)
    return request.param


@pytest.mark.parametrize("seed", range(60))
def test_marginals_are_those_of_the_joint_distribution(seed, arithmetic):
    network = random_discrete(6, seed)
    evidence = random_evidence(network, seed)
    joint = given(network, joint_array(network), evidence)
    tree = JunctionTree(network)
    found = tree.calibrate(evidence)
    codes = np.full((3, 6), -1)
    codes[1] = [evidence.get(node, -1) for node in network.graph]
    rows = tree.log_probabilities(codes)
    with np.errstate(divide="ignore"):
        expected = np.log(joint.sum())
    assert found.log_probability == pytest.approx(expected, abs=1e-12)
    assert rows == pytest.approx([0, expected, 0], abs=1e-12)
    if joint.sum() == 0:
        return
    for node in network.graph:
        alone = marginal(network, joint, [node]) / joint.sum()
        np.testing.assert_allclose(found.marginal(node), alone, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_many_rows_have_the_probabilities_of_each_alone(seed, monkeypatch):
    monkeypatch.setattr(junction_tree, "CELLS_AT_ONCE", 100)  # several parts
    network = random_discrete(5, seed)
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(-1, len(network.levels[node]), 40) for node in network.graph], axis=1)
    tree = JunctionTree(network)
    for row, found in zip(codes, tree.log_probabilities(codes), strict=True):
        one = tree.calibrate({node: int(c) for node, c in zip(network.graph, row, strict=True) if c >= 0})
        assert found == pytest.approx(one.log_probability)


def test_hundreds_of_contradicting_observations_do_not_underflow():
    network = naive_bayes(300)
    assert 150 * np.log(0.001) < LEAST_SPAN
    evidence = {name: 1 for name in network.graph if name != "class"}
    tree = JunctionTree(network)
    found = tree.calibrate(evidence)
    expected = 150 * (np.log(0.999) + np.log(0.001))
    assert found.log_probability == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(found.marginal("class"), [0.4, 0.6], rtol=1e-9)
    rows = tree.log_probabilities(np.array([[-1, *[1] * 300], [-1] * 301]))
    assert rows == pytest.approx([expected, 0], rel=1e-9, abs=1e-9)


def test_nodes_of_one_level_and_no_nodes_at_all():
    one = DiscreteNetwork(DAG("a"), {"a": ("only",)}, {"a": np.ones(1)})
    assert JunctionTree(one).calibrate().marginal("a").tolist() == [1.0]
    assert JunctionTree(one).log_probabilities(np.array([[0], [-1]])).tolist() == [0.0, 0.0]
    assert JunctionTree(DiscreteNetwork(DAG([]), {}, {})).calibrate().log_probability == 0.0


def test_a_tree_that_is_too_wide_is_refused_with_its_width():
    names = [f"x{i}" for i in range(24)]
    graph = DAG(names, [(tail, head) for i, tail in enumerate(names[:12]) for head in names[12:]])
    levels = dict.fromkeys(names, ("no", "yes"))
    tables = {name: np.full([2] * (1 + len(graph.parents(name))), 0.5) for name in names}
    network = DiscreteNetwork(graph, levels, tables)
    with pytest.raises(QueryError, match=r"^the network has width 12: its tables need 1\d\d,\d\d\d cells"):
        JunctionTree(network, most_cells=100_000)
    assert JunctionTree(network).width == 12


def test_orders_go_stage_by_stage():
    ladder = moral_bits([(i, i + 1) for i in range(9)], 10)
    order = eliminate(
        ladder, [2] * 10, [sum(1 << i for i in range(0, 10, 2)), sum(1 << i for i in range(1, 10, 2))]
    )
    assert {v % 2 for v in order.order[:5]} == {0}
    assert order.width == 2
    assert sorted(order.order) == list(range(10))
    assert not order.neighbours[order.order[-1]]
