"""The graph that most samples agree on, against every order of the nodes."""

from itertools import permutations

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.graph.cpdag import CPDAG
from dagora.posterior.resample.agreed_graph import agreed_class, agreed_dag, direct_pairs


def shares(nodes: int, seed: int) -> np.ndarray:
    """Shares of i → j that sum to at most 1 with those of j → i."""
    random = np.random.default_rng(seed)
    joined = np.triu(random.random((nodes, nodes)), k=1)
    way = random.random((nodes, nodes))
    return joined * way + (joined * (1 - way)).T


@pytest.mark.parametrize("seed", range(20))
def test_no_order_of_the_nodes_agrees_with_more_samples(seed: int) -> None:
    votes = shares(5, seed)
    pairs = votes + votes.T > 0.2
    found = direct_pairs(votes, pairs)
    best = max(
        sum(votes[i, j] for a, i in enumerate(order) for j in order[a + 1 :] if pairs[i, j])
        for order in permutations(range(5))
    )
    assert votes[found].sum() == pytest.approx(best)
    assert np.array_equal(found | found.T, pairs), "a pair is lost"
    assert not (found & found.T).any()


def test_many_nodes_in_a_circle_lose_no_pair() -> None:
    nodes = 24
    votes = np.zeros((nodes, nodes))
    for i in range(nodes):
        votes[i, (i + 1) % nodes], votes[(i + 1) % nodes, i] = 0.9 - 0.01 * i, 0.05
    graph = agreed_dag([f"v{i}" for i in range(nodes)], votes, 0.5, samples=1)
    assert len(graph.edges) == nodes
    assert ("v0", "v23") in graph.edges, "the weakest edge is the one to turn"


def test_of_equal_votes_the_earlier_column_is_the_parent() -> None:
    votes = np.array([[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]])
    assert agreed_dag("abc", votes, 0.5, samples=1).edges == (("a", "b"), ("b", "c"))


def test_lines_do_not_become_a_v_structure() -> None:
    # a — c — b in every sample: directed by the columns, both would point to c.
    lines = np.array([[0, 0, 1.0], [0, 0, 1.0], [1.0, 1.0, 0]])
    assert agreed_class("abc", np.zeros((3, 3)), lines, 0.5, samples=1) == CPDAG(
        "abc", undirected=["ac", "bc"]
    )


def test_a_line_wins_over_arrows_that_contradict_each_other() -> None:
    arrows, lines = np.array([[0, 3], [3, 0]]), np.array([[0, 4], [4, 0]])
    assert agreed_class("ab", arrows, lines, 0.5, samples=10).undirected == (("a", "b"),)


@pytest.mark.parametrize("threshold", [-0.1, 1.0, True, "half"])
def test_a_threshold_is_a_probability(threshold: object) -> None:
    with pytest.raises(OptionError, match="threshold must be a probability"):
        agreed_dag("ab", np.zeros((2, 2)), threshold, samples=1)
