"""PC on windows: the exact class where tests read off the unrolled graph; the past is never tested among itself."""

import numpy as np
import pytest

import dagora
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_in_time import knowledge_in_time
from dagora.graph.lagged_graph import LaggedGraph, class_in_time, lagged_name, split_name
from dagora.learners.constraint.gaussian_sets import GaussianSets
from dagora.learners.constraint.pc import pc_by
from dagora.learners.constraint.skeleton import TestedSets, sets_around
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.run import Run
from dagora.stats.table import TableStatistics
from tests.learners.constraint.separation_oracle import SeparationOracle

BACK = 6  # steps of the unrolled graph before the window


def random_graph(variables: int, lags: int, seed: int) -> LaggedGraph:
    rng = np.random.default_rng(seed)
    names = tuple("abcd"[:variables])
    order = rng.permutation(variables)
    edges = [
        (names[i], names[j], 0) for k, i in enumerate(order) for j in order[k + 1 :] if rng.random() < 0.4
    ]
    edges += [(a, b, lag) for a in names for b in names for lag in range(1, lags + 1) if rng.random() < 0.25]
    return LaggedGraph(names, lags, edges)


def unrolled(graph: LaggedGraph) -> SeparationOracle:
    """Tests on the window that read the graph over many steps; steps before the window are hidden."""
    depth = graph.lags + BACK
    nodes = [lagged_name(name, lag) for lag in range(depth + 1) for name in graph.variables]
    edges = [
        (lagged_name(tail, step + lag), lagged_name(head, step))
        for tail, head, lag in graph.edges
        for step in range(depth + 1 - lag)
    ]
    return SeparationOracle(DAG(nodes, edges), [node for node in nodes if split_name(node)[1] > graph.lags])


@pytest.mark.parametrize("orientation", ["max", "first", "conservative", "majority"])
@pytest.mark.parametrize("seed", range(5))
def test_the_exact_class_where_every_test_is_right(seed: int, orientation: str) -> None:
    truth = random_graph(3, 1 + seed % 2, seed)
    known = knowledge_in_time(Knowledge(), truth.variables, truth.lags)
    found = pc_by(unrolled(truth), Run(known), orientation=orientation)
    assert found.graph == class_in_time(truth.window, truth.variables)
    assert not found.warnings


@pytest.mark.full
@pytest.mark.parametrize("seed", range(40))
def test_the_exact_class_of_many_graphs(seed: int) -> None:
    truth = random_graph(3 + seed % 2, 1 + seed % 2, 100 + seed)
    known = knowledge_in_time(Knowledge(), truth.variables, truth.lags)
    assert pc_by(unrolled(truth), Run(known)).graph == class_in_time(truth.window, truth.variables)


@pytest.mark.parametrize("orientation", ["max", "conservative"])
def test_two_nodes_of_the_past_are_never_tested_and_none_is_joined(orientation: str) -> None:
    truth = random_graph(3, 2, 7)
    oracle = unrolled(truth)
    tested: set[tuple[str, str]] = set()
    around: list[tuple[str, str, list[str]]] = []
    answer = oracle.p_values

    def p_values(x, y, given):
        for a, b, rest in zip(x.tolist(), y.tolist(), given.tolist(), strict=True):
            tested.add((oracle.names[a], oracle.names[b]))
            around.append((oracle.names[a], oracle.names[b], [oracle.names[k] for k in rest]))
        return answer(x, y, given)

    oracle.p_values = p_values
    known = knowledge_in_time(Knowledge(), truth.variables, truth.lags)
    found = pc_by(oracle, Run(known), orientation=orientation)
    assert tested
    assert all(not split_name(a)[1] or not split_name(b)[1] for a, b in tested)
    assert not [edge for edge in found.plain_graph.undirected if "[" in edge[0] + edge[1]]
    assert all(not split_name(head)[1] for _, head in found.plain_graph.edges)


@pytest.mark.parametrize("largest", [True, False])
def test_both_searches_look_around_the_other_end_of_a_root_alone(largest: bool) -> None:
    truth = dagora.random_dag("er", 9, 3, seed=2)
    test = FisherZ(TableStatistics(dagora.simulate(truth, "gaussian", 300, seed=2).table), "it")
    roots = np.arange(9) >= 6
    some = np.triu(np.random.default_rng(1).random((9, 9)) < 0.6, 1)
    adjacent = (some | some.T) & ~(roots[:, None] & roots)
    for size in (0, 1, 2):
        one, other = (
            kind(test, largest=largest, roots=roots).separate(adjacent, size, 0.05, Run())
            for kind in (GaussianSets, TestedSets)
        )
        assert {pair: found.given for pair, found in one[0].items()} == {
            pair: found.given for pair, found in other[0].items()
        }


def test_sets_around_a_root_are_those_of_the_other_end() -> None:
    ring = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0]], dtype=bool)
    assert list(sets_around(ring, 0, 1, 1)) == [(2,), (3,)]
    assert list(sets_around(ring, 0, 1, 1, np.array([True, False, False, False]))) == [(2,)]
    assert list(sets_around(ring, 1, 0, 1, np.array([True, False, False, False]))) == [(2,)]
