"""Shares of samples are whole numbers divided once: no rounding decides what most samples agree on."""

import numpy as np
import pytest

from dagora.graph.bits import pack
from dagora.graph.cpdag import CPDAG
from dagora.posterior.resample.strengths import Strengths


def of_graphs(matrices: list[np.ndarray], *, directed: bool) -> Strengths:
    marks = np.stack([pack(matrix.astype(np.bool_).T) for matrix in matrices])
    nodes = tuple("abcdefgh"[: len(matrices[0])])
    return Strengths(nodes, marks, directed, "hill-climb", "finished", "made by hand")


def empty(nodes: int = 8) -> np.ndarray:
    return np.zeros((nodes, nodes))


def test_an_edge_of_every_graph_has_the_share_one() -> None:
    # Ten different graphs with a → b: ten times 0.1 is not 1, and 49 times 1/49 neither.
    for samples in (10, 49):
        graphs = []
        for k in range(samples):
            graph = empty()
            graph[0, 1] = 1
            graph[2 + k % 6, 0] = k % 7 > 0
            graph[2 + k // 6 % 6, 1] = 1
            graphs.append(graph)
        strengths = of_graphs(graphs, directed=True)
        assert strengths.edge_frequency[0, 1] == strengths.adjacency_frequency[0, 1] == 1.0
        assert strengths.edge_frequency.max() <= 1.0
        assert strengths.edge_error[0, 1] == 0.0, "a share above 1 would give NaN"
        assert not np.isnan(strengths.edge_error).any()
        assert strengths.direction_frequency[0, 1] == 1.0


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("samples", [6, 10, 20, 30])
def test_three_of_ten_are_not_more_than_three_tenths(samples: int, directed: bool) -> None:
    """Joined k times, by arrows and in classes also by lines, among graphs that all differ elsewhere."""
    for often in range(1, samples):
        graphs = []
        for k in range(samples):
            graph = empty()
            graph[2, 3:8] = [k >> bit & 1 for bit in range(5)]
            if k < often:
                graph[(0, 1) if k % 3 else (1, 0)] = 1
                if not directed and k % 3 == 2:
                    graph[0, 1] = graph[1, 0] = 1
            graphs.append(graph)
        strengths = of_graphs(graphs, directed=directed)
        assert strengths.adjacency_frequency[0, 1] == often / samples
        for threshold in (often / samples, (often - 1) / samples):
            agreed = strengths.consensus(threshold)
            joined = {frozenset(edge) for edge in (*agreed.edges, *agreed.undirected)}
            assert (frozenset("ab") in joined) == (often / samples > threshold)


def test_the_shares_of_classes_are_exact() -> None:
    # The three orders of a path are one class.
    paths = [[(0, 1), (1, 2)], [(2, 1), (1, 0)], [(1, 0), (1, 2)]]
    graphs = [empty(3) for _ in range(10)]
    for k in range(10):
        for edge in paths[k % 3] if k < 6 else [(0, 1), (2, 1)] if k < 9 else []:
            graphs[k][edge] = 1
    shares = of_graphs(graphs, directed=True).classes()
    assert [share for _, share in shares] == [0.6, 0.3, 0.1]
    assert shares[0][0] == CPDAG("abc", undirected=["ab", "bc"])


def test_an_arrow_of_every_class_is_an_arrow_of_their_consensus() -> None:
    collider = empty(3)
    collider[0, 2] = collider[1, 2] = 1
    agreed = of_graphs([collider] * 3, directed=False).consensus()
    assert agreed == CPDAG("abc", [("a", "c"), ("b", "c")])
