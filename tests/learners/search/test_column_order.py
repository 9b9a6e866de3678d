import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.equivalence import cpdag_matrix
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.search.column_order import family_scores, in_column_order


def every_set(score):
    """Candidates with all parent sets of four nodes."""
    sets = [[tuple(p for k, p in enumerate(others) if bits >> k & 1) for bits in range(8)]
            for others in ([j for j in range(4) if j != child] for child in range(4))]  # fmt: skip
    return Candidates.of(
        "wxyz", [[(p, score(child, p)) for p in listed] for child, listed in enumerate(sets)]
    )


def equivalent_score(child, parents):
    """A determinant-like score: f(family) − f(parents), which equivalent graphs share."""
    weight = np.random.default_rng(3).normal(size=16)

    def of(nodes):
        return weight[sum(1 << node for node in nodes)]

    return float(of((*parents, child)) - of(parents))


@pytest.fixture(scope="module")
def graphs():
    return [DAG.from_numpy(graph.to_numpy(), "wxyz") for graph in all_dags(4)]


def test_all_members_of_a_class_give_one_graph_of_the_class(graphs):
    candidates = every_set(equivalent_score)
    found = {}
    for graph in graphs:
        other = in_column_order(graph, candidates)
        own = cpdag_matrix(graph.to_numpy())
        assert np.array_equal(cpdag_matrix(other.to_numpy()), own)
        found.setdefault(own.tobytes(), set()).add(other)
    assert len(graphs) == 543
    assert len(found) == 185
    assert {len(some) for some in found.values()} == {1}
    complete = in_column_order(next(g for g in graphs if len(g.edges) == 6), candidates)
    assert complete.order == tuple("wxyz")


def test_a_worse_score_or_a_set_that_is_no_candidate_is_not_taken(graphs):
    uneven = every_set(lambda child, parents: equivalent_score(child, parents) + 0.1 * child * len(parents))
    back = next(graph for graph in graphs if graph.edges == (("x", "w"),))
    forth = next(graph for graph in graphs if graph.edges == (("w", "x"),))
    assert in_column_order(back, uneven) == forth
    better = every_set(lambda child, parents: equivalent_score(child, parents) - 0.1 * child * len(parents))
    assert in_column_order(back, better) == back
    few = Candidates.of("wxyz", [[((), 0.0), ((1,), 1.0)], [((), 0.0)], [((), 0.0)], [((), 0.0)]])
    assert family_scores(forth, few) is None
    assert in_column_order(back, few) == back
