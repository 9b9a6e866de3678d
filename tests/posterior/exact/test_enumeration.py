"""The list of all graphs, judged by scoring each graph as a whole."""

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.posterior.exact.enumeration import enumerate_posterior, enumerate_weights
from dagora.scores.bdeu import bdeu
from dagora.scores.bge import BGe
from dagora.scores.local_score import graph_score
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete


def test_probabilities_are_those_of_whole_graphs():
    score = bdeu(TableStatistics(random_discrete(np.random.default_rng(0), 40, [2, 3, 2])))
    listed = enumerate_posterior(score, Run(), edge_penalty=0.25)
    assert len(listed.masks) == 25
    values = np.array(
        [
            graph_score(score, listed.graph(k)) - 0.25 * len(listed.graph(k).edges)
            for k in range(len(listed.masks))
        ]
    )
    weights = np.exp(values - values.max())
    np.testing.assert_allclose(listed.probabilities, weights / weights.sum(), atol=1e-12)
    assert listed.log_total == pytest.approx(values.max() + np.log(weights.sum()))
    edge = sum(p for k, p in enumerate(listed.probabilities) if listed.graph(k).has_edge("x2", "x0"))
    assert listed.edges[2, 0] == pytest.approx(edge)


@pytest.mark.parametrize(("nodes", "graphs"), [(1, 1), (2, 3), (3, 25), (4, 543), (5, 29281)])
def test_every_graph_is_listed_once(nodes, graphs):
    names = [f"x{i}" for i in range(nodes)]
    listed = enumerate_weights(names, np.zeros((nodes, 1 << (nodes - 1))))
    assert len(listed.masks) == graphs
    np.testing.assert_allclose(listed.probabilities, 1 / graphs)


def test_a_graph_is_found_by_its_rows():
    listed = enumerate_weights("abcd", np.zeros((4, 8)))
    graph = DAG("abcd", [("b", "a"), ("d", "a"), ("b", "c")])
    assert listed.graph(int(listed.find(graph.parent_rows))) == graph
    rows = listed.masks[..., None].astype(np.uint64)
    np.testing.assert_array_equal(listed.find(rows), np.arange(543))


def test_excluded_graphs_have_no_probability():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(0), 30, 3)))
    knowledge = Knowledge(forbidden=[("x0", "x1")], max_parents=1)
    listed = enumerate_posterior(score, Run(knowledge))
    for k, probability in enumerate(listed.probabilities):
        assert (probability == 0) == bool(knowledge.violations(listed.graph(k)))


def test_too_many_nodes_are_refused():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(0), 30, 6)))
    with pytest.raises(OptionError, match="use the method exact"):
        enumerate_posterior(score, Run())
