import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.layout import NODE_HEIGHT, NODE_WIDTH, keep_apart, layout
from dagora.graph.random_graphs import random_dag
from tests.graph.graph_strategies import dags, mixed_matrices


def boxes_apart(plan, widths=None):
    for (a, (ax, ay)), (b, (bx, by)) in itertools.combinations(plan.positions.items(), 2):
        room = NODE_WIDTH if widths is None else (widths[a] + widths[b]) / 2
        if abs(ay - by) < NODE_HEIGHT and abs(ax - bx) < room - 1e-6:
            return False
    return True


@settings(max_examples=60)
@given(dags(max_nodes=10))
def test_dag_runs_down_without_overlaps(dag):
    plan = layout(dag)
    assert list(plan.positions) == list(dag.nodes)
    assert boxes_apart(plan)
    assert set(plan.routes) == set(dag.edges)
    for (tail, head), route in plan.routes.items():
        assert (route[0], route[-1]) == (plan.positions[tail], plan.positions[head])
        assert all(a[1] < b[1] for a, b in itertools.pairwise(route))
    for points in (plan.positions.values(), *plan.routes.values()):
        for x, y in points:
            assert -1e-6 <= x <= plan.width + 1e-6
            assert -1e-6 <= y <= plan.height + 1e-6


@settings(max_examples=40)
@given(mixed_matrices())
def test_any_mixed_graph_even_with_cycles(matrix):
    graph = CPDAG.from_numpy(matrix)
    plan = layout(graph)
    assert boxes_apart(plan)
    assert set(plan.routes) == {*graph.edges, *graph.undirected}
    for (one, other), route in plan.routes.items():
        assert (route[0], route[-1]) == (plan.positions[one], plan.positions[other])


def test_widths_are_respected():
    dag = DAG("abc", [("a", "b"), ("a", "c")])
    widths = {"a": 50.0, "b": 400.0, "c": 300.0}
    plan = layout(dag, widths=widths)
    assert boxes_apart(plan, widths)
    assert plan.width >= 700


def test_extra_edges_are_routed_from_first_to_second():
    plan = layout(DAG("abc", [("a", "b"), ("b", "c")]), extra=[("c", "a")])
    assert plan.positions["a"][1] < plan.positions["b"][1] < plan.positions["c"][1]
    assert plan.routes["c", "a"][0] == plan.positions["c"]
    assert len(plan.routes["c", "a"]) == 3  # bends around b


def test_deterministic():
    dag = random_dag("er", 60, 2, seed=2)
    assert layout(dag) == layout(DAG(dag.nodes, dag.edges))


def test_long_chain_is_straight():
    dag = DAG.from_parents([f"v{i}" for i in range(12)], [[]] + [[i] for i in range(11)])
    x = [point[0] for point in layout(dag).positions.values()]
    assert max(x) - min(x) == pytest.approx(0, abs=1e-6)


def test_parent_stands_over_the_middle_of_its_children():
    positions = layout(DAG("abcd", [("a", "b"), ("a", "c"), ("a", "d")])).positions
    assert positions["a"][0] == pytest.approx(np.mean([positions[n][0] for n in "bcd"]), abs=1)


def test_nodes_without_edges_come_last():
    plan = layout(DAG("abcde", [("d", "e")]))
    assert min(plan.positions[n][1] for n in "abc") > plan.positions["e"][1]


def test_no_nodes_and_one():
    assert layout(DAG([])).positions == {}
    assert layout(DAG("a")).positions == {"a": (NODE_WIDTH / 2, NODE_HEIGHT / 2)}


@pytest.mark.full
def test_five_hundred_nodes_in_time():
    dag = random_dag("er", 500, 2, seed=1)
    start = time.perf_counter()
    plan = layout(dag)
    assert time.perf_counter() - start < 15  # about 0.4 s on a quiet machine
    assert boxes_apart(plan)


@settings(max_examples=40)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=6), st.data())
def test_keep_apart_is_the_least_squares_solution(wishes, data):
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(wishes), max_size=len(wishes)))
    gaps = data.draw(st.lists(st.integers(0, 6), min_size=len(wishes) - 1, max_size=len(wishes) - 1))
    offsets = [0.0, *np.cumsum(gaps).tolist()]
    found = np.array(keep_apart([float(w) for w in wishes], [float(w) for w in weights], offsets))
    assert (np.diff(found) >= np.array(gaps) - 1e-9).all()
    # The optimality conditions of a convex program, on each block of touching items.
    gradient = np.array(weights) * (found - wishes)
    slack = np.diff(found) - gaps
    start = 0
    for end in range(len(wishes)):
        if end == len(wishes) - 1 or slack[end] > 1e-9:  # a block of touching items
            block = gradient[start : end + 1]
            assert block.sum() == pytest.approx(0, abs=1e-6)
            assert all(block[:k].sum() <= 1e-6 for k in range(1, len(block)))  # splitting it gains nothing
            start = end + 1
