import networkx as nx
import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact import astar as module
from dagora.learners.search.exact.astar import astar, largest_group, search
from dagora.learners.search.exact.astar_kernels import closed_component
from dagora.learners.search.exact.component_solver import Watch
from dagora.learners.search.exact.dynamic import dynamic
from tests.learners.search.exact.exact_oracles import (
    check_optimal,
    check_stopped,
    competing_lists,
    layered_lists,
    random_lists,
)

KINDS = {
    "dense": lambda rng, size: random_lists(rng, size, most=2, density=0.8),
    "sparse": lambda rng, size: random_lists(rng, size, most=2, density=0.1),
    "ties": lambda rng, size: random_lists(rng, size, most=2, density=0.3, whole=True),
    "few empty sets": lambda rng, size: random_lists(rng, size, most=3, density=0.2, empty=0.7),
    "competing": competing_lists,
    "blocks": lambda rng, size: layered_lists(rng, [size // 3, size - size // 3]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [7, 10, 12])
def test_both_exact_searches_agree(kind, size):
    for seed in range(3):
        candidates = KINDS[kind](np.random.default_rng(seed), size)
        expected = dynamic(candidates, Run())
        for group in (1, 4):
            outcome = astar(candidates, Run(seed=seed), bound_size=group)
            if kind == "few empty sets" and expected.status == "failed":
                assert (outcome.status, outcome.score) == ("failed", None)
            else:
                check_optimal(outcome, candidates, expected.score)


def search_from(candidates, order, group, memory=4.0, run=None):
    problem = LocalProblem.of(candidates, tuple(range(len(candidates))))
    watch = Watch(run or Run(), "A*", 0.0, 0.0)
    return problem, search(problem, np.array(order), watch, memory, group)


@pytest.mark.parametrize("group", [1, 3, 5])
def test_a_bad_first_order_is_improved_to_the_optimum(group):
    improved = 0
    for seed in range(20):
        candidates = random_lists(np.random.default_rng(seed), 9, most=2, density=0.4, whole=seed % 2 == 0)
        expected = dynamic(candidates, Run()).score
        problem, answer = search_from(candidates, range(9), group)
        assert answer.status == "optimal"
        assert sorted(answer.order.tolist()) == list(range(9))
        assert problem.score(answer.order) == pytest.approx(expected)
        assert answer.bound == pytest.approx(expected)
        improved += problem.score(np.arange(9)) < expected - 1e-6
    assert improved > 10, "else the search was not tested"


def test_growing_space_changes_nothing(monkeypatch):
    candidates = competing_lists(np.random.default_rng(2), 11)
    whole = astar(candidates, Run(), bound_size=1)
    monkeypatch.setattr(module, "FIRST_CAPACITY", 32)
    monkeypatch.setattr(module, "WORK_PER_ROUND", 5000)
    grown = astar(candidates, Run(), bound_size=1)
    assert whole.stats["generated"] > 32
    assert grown.graph == whole.graph
    assert grown.stats == whole.stats


def test_the_memory_limit_gives_the_best_found_and_a_bound(monkeypatch):
    monkeypatch.setattr(module, "FIRST_CAPACITY", 32)
    candidates = competing_lists(np.random.default_rng(2), 11)
    optimum = dynamic(candidates, Run()).score
    outcome = astar(candidates, Run(), bound_size=1, memory=64 * 50 / 2**30)
    check_stopped(outcome, candidates, optimum, "memory-limit")
    assert outcome.message.startswith("the memory limit was reached; ")
    problem, answer = search_from(candidates, range(11), 1, memory=64 * 50 / 2**30)
    assert answer.status == "memory-limit"
    assert problem.score(answer.order) < optimum <= answer.bound + 1e-9


def test_tables_leave_memory_to_the_states():
    candidates = competing_lists(np.random.default_rng(4), 12)
    little = astar(candidates, Run(), bound_size=20, memory=2**20 / 2**30)
    check_optimal(little, candidates, dynamic(candidates, Run()).score)
    for memory in (2.0**-10, 1.0, 4.0, 30.0):
        group = largest_group(memory)
        assert 8 * 2**group * -(-64 // group) <= memory * 2**30 / 4 < 8 * 2 ** (group + 1) * 64


def test_larger_groups_bound_better():
    candidates = competing_lists(np.random.default_rng(4), 12)
    expanded = [astar(candidates, Run(), bound_size=group).stats["expanded"] for group in (1, 6, 12)]
    assert expanded[0] > expanded[1] > expanded[2]
    assert expanded[2] <= 1, "one group of all is the exact solution"


def test_a_stop_on_the_way_gives_the_best_found_and_a_falling_bound(monkeypatch):
    monkeypatch.setattr(module, "WORK_PER_ROUND", 500)
    candidates = competing_lists(np.random.default_rng(6), 12)
    optimum = dynamic(candidates, Run()).score
    budget = Budget()
    seen = []

    def stop(event):
        seen.append(event)
        if len(seen) == 4:
            budget.stop("interrupted")

    outcome = astar(candidates, Run(budget=budget, on_event=stop), bound_size=1)
    check_stopped(outcome, candidates, optimum, "time-limit")
    assert outcome.message.startswith("interrupted; ")
    assert len(seen) == 4
    bounds = [event.bound for event in seen]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] >= optimum - 1e-9
    assert all(event.score <= optimum + 1e-9 for event in seen)


def test_water_is_proved_with_small_groups(data_dir):
    candidates = read_jkl(data_dir / "scores" / "water_500c.jkl")
    outcome = astar(candidates, Run(), bound_size=8)
    check_optimal(outcome, candidates, outcome.score)
    assert outcome.score == pytest.approx(-6785.3185, abs=1e-4)


@pytest.mark.full
def test_the_same_search_every_time(data_dir):
    candidates = read_jkl(data_dir / "scores" / "alarm_1000.jkl")
    outcome = astar(candidates, Run())
    assert outcome.stats["expanded"] <= outcome.stats["generated"]
    again = astar(candidates, Run())
    assert (again.graph, again.stats) == (outcome.graph, outcome.stats)


def ring(size):
    listed = [[((), 0.0), (((x + 1) % size,), 1.0 + x)] for x in range(size)]
    return Candidates.of([f"x{i}" for i in range(size)], listed)


def test_sixty_four_variables_fill_the_word():
    # A ring must be cut, best at its cheapest edge.
    candidates = ring(64)
    check_optimal(astar(candidates, Run(), bound_size=10), candidates, sum(range(2, 65)))
    _, answer = search_from(candidates, range(64), 10)
    assert (answer.status, answer.bound) == ("optimal", sum(range(2, 65)))


def test_more_variables_in_one_component_are_refused():
    outcome = astar(ring(65), Run())
    assert (outcome.status, outcome.score, outcome.graph.edges) == ("failed", None, ())
    assert "at most 64 variables that depend on each other, here there are 65" in outcome.message


@pytest.mark.parametrize("seed", range(30))
def test_the_closed_component_is_one_that_nothing_leads_into(seed):
    rng = np.random.default_rng(seed)
    size = 8
    matrix = rng.random((size, size)) < 0.2
    np.fill_diagonal(matrix, val=False)
    remaining = np.flatnonzero(rng.random(size) < 0.8)
    remaining = remaining if len(remaining) else np.arange(size)
    graph = nx.DiGraph(matrix).subgraph(remaining.tolist())
    above = np.array(
        [sum(1 << p for p in graph.pred[x]) if x in graph else 0 for x in range(size)], dtype=np.uint64
    )
    mask = np.uint64(sum(1 << int(x) for x in remaining))
    found = int(closed_component(above, mask, size))
    members = {x for x in range(size) if found >> x & 1}
    assert members in [set(part) for part in nx.strongly_connected_components(graph)]
    assert all(set(graph.pred[x]) <= members for x in members)
