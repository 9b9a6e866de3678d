"""What all exact methods promise: the best of all graphs, or a graph and a bound that holds."""

from dataclasses import replace

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.graph.dag import DAG
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact import astar as astar_module
from dagora.learners.search.exact.astar import astar
from dagora.learners.search.exact.component_solver import improve_order, quick_order
from dagora.learners.search.exact.dynamic import dynamic
from dagora.learners.search.exact.ilp import ilp
from tests.learners.search.exact.exact_oracles import (
    best_of_graphs,
    check_optimal,
    check_stopped,
    competing_lists,
    layered_lists,
    random_lists,
)
from tests.learners.search.order.order_oracles import best_of_all

PROOF_OF = {astar: "A*", dynamic: "dynamic programming", ilp: "integer programming"}


@pytest.fixture(params=PROOF_OF, ids=lambda method: method.__name__)
def method(request):
    if request.param is ilp:
        pytest.importorskip("pyscipopt")
    return request.param


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("empty", [1.0, 0.4])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_no_graph_is_better(method, size, empty, whole):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        candidates = random_lists(rng, size, density=0.5, empty=empty, whole=whole)
        optimum = best_of_graphs(candidates)
        options = {"bound_size": 1 + seed % 4} if method is astar else {}
        outcome = method(candidates, Run(), **options)
        if optimum is None:
            assert outcome.status == "failed"
            assert outcome.score is None
            assert "no acyclic graph" in outcome.message
        else:
            check_optimal(outcome, candidates, optimum)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_no_graph_on_five_nodes_is_better(method, seed):
    candidates = random_lists(np.random.default_rng(seed), 5, most=4, empty=0.8, whole=seed == 0)
    options = {"bound_size": 2} if method is astar else {}
    check_optimal(method(candidates, Run(), **options), candidates, best_of_graphs(candidates))


@pytest.mark.parametrize("seed", range(3))
def test_components_together_give_the_optimum(method, seed):
    candidates = layered_lists(np.random.default_rng(seed), [2, 1, 4])
    outcome = method(candidates, Run())
    check_optimal(outcome, candidates, best_of_all(candidates))
    assert outcome.stats["components"] > 1
    assert f"over {outcome.stats['components']:.0f} components" in outcome.message


@pytest.mark.parametrize(("seed", "empty"), [(0, 1.0), (1, 0.8), (2, 0.8), (3, 0.8)])
def test_an_exhausted_budget_gives_a_graph_and_a_bound(method, seed, empty):
    candidates = random_lists(np.random.default_rng(seed), 4, density=0.7, empty=empty)
    outcome = method(candidates, Run(budget=Budget(1e-9)))
    check_stopped(outcome, candidates, best_of_graphs(candidates), "time-limit")
    assert outcome.message.startswith("the time limit of 1e-09 s was reached; ")


def test_incomplete_candidates_are_named_in_the_message(method):
    complete = random_lists(np.random.default_rng(0), 4)
    outcome = method(Candidates(complete.names, complete.sets, complete=False), Run())
    assert outcome.status == "optimal"
    assert "among the candidate parent sets, which are incomplete" in outcome.message
    assert "incomplete" not in method(complete, Run()).message


def test_edges_of_events_are_those_of_a_graph_with_their_score(method, monkeypatch):
    told = []

    def observe(event):
        graph = DAG(both.names, event.edges())
        families = [(child, graph.parent_indices(child)) for child in range(len(graph))]
        told.append((event.score, sum(scores[family] for family in families)))

    one, other = (competing_lists(np.random.default_rng(seed), 9) for seed in (0, 1))
    apart = [[(tuple(9 + p for p in parents), s) for parents, s in pairs(child)] for child in other]
    both = Candidates.of([f"x{i}" for i in range(18)], [*map(pairs, one), *apart])
    scores = {(child.child, parents): score for child in both for parents, score in pairs(child)}
    monkeypatch.setattr(astar_module, "WORK_PER_ROUND", 100)
    options = {"bound_size": 3} if method is astar else {}
    outcome = method(both, Run(on_event=observe), **options)
    assert outcome.stats["components"] == 2
    assert len(told) > 1
    for score, of_graph in told:
        assert of_graph == pytest.approx(score)


def pairs(child):
    """The sets of a child with their scores."""
    return list(zip(child.parents, child.scores.tolist(), strict=True))


def test_no_acyclic_graph(method):
    candidates = Candidates.of("abc", [[((1,), -1.0)], [((0,), -1.0)], [((), -1.0)]])
    outcome = method(candidates, Run())
    assert outcome.status == "failed"
    assert "no acyclic graph" in outcome.message
    assert "'a', 'b'" in outcome.message


@pytest.mark.parametrize(
    ("name", "optimum", "methods"),
    [("water_500c", -6785.3185, (astar, dynamic, ilp)), ("alarm_1000", -11537.6593, (astar, ilp))],
)
def test_published_optima_are_proved(data_dir, name, optimum, methods):
    candidates = read_jkl(data_dir / "scores" / f"{name}.jkl")
    for method in methods:
        if method is ilp:
            pytest.importorskip("pyscipopt")
        outcome = method(candidates, Run())
        check_optimal(outcome, candidates, outcome.score)
        assert outcome.score == pytest.approx(optimum, abs=1e-4)
        proof = f"no network scores higher: proved by {PROOF_OF[method]} over 2 components"
        assert outcome.message == proof


@pytest.fixture
def hard():
    return LocalProblem.whole(competing_lists(np.random.default_rng(1), 12))


def improved_from(problem, patience=200, budget=None, **options):
    """Orders and best scores by round of a search from the order of the columns."""
    start = np.arange(len(problem))
    state = np.array([1], dtype=np.uint64)
    told = []
    found = improve_order(
        problem,
        start,
        problem.score(start),
        state,
        patience,
        budget or Budget(),
        report=lambda score, order: told.append((score, problem.score(order))),
        **options,
    )
    assert start.tolist() == list(range(len(problem))), "the given order stays as it is"
    for score, of_order in told:
        assert of_order == pytest.approx(score)
    return found, [score for score, _ in told]


def test_local_search_improves_an_order_and_tells_of_every_round(hard):
    found, told = improved_from(hard)
    assert sorted(found.tolist()) == list(range(12))
    assert hard.score(found) == pytest.approx(told[-1])
    assert hard.score(found) > hard.score(np.arange(12)) + 1.0
    assert told == sorted(told)


def test_local_search_ends_with_patience_limit_budget_or_bound(hard):
    # A round has min(patience, work // (variables · sets)) disturbances: here 200 and 2 000 000 // (12 · 804).
    _, patient = improved_from(hard, patience=200)
    assert len(patient) >= 2
    assert patient[-1] == patient[-2], "the last round gained nothing"
    assert len(improved_from(hard, most=1)[1]) == 1
    assert improved_from(hard, most=0)[1] == []
    assert improved_from(hard, patience=0)[1] == []
    assert improved_from(hard, budget=Budget(1e-9))[1] == []
    easy = LocalProblem.whole(Candidates.of("ab", [[((), -1.0)], [((0,), -1.0), ((), -2.0)]]))
    assert improved_from(easy)[1] == []


def test_a_first_order_is_descended_even_without_time(hard):
    start = np.arange(12)
    found = quick_order(hard, start, Run(budget=Budget(1e-9)), patience=100)
    assert start.tolist() == list(range(12))
    assert hard.score(found) > hard.score(start) + 1.0


def test_sets_that_were_not_looked_at_have_no_bound(method):
    """A graph that is best among a few sets may be far from the best of all."""
    some = Candidates.of("ab", [[((), -3.0)], [((0,), -1.0), ((), -2.0)]])
    outcome = method(replace(some, complete=False, note="not looked at: most"), Run())
    assert "incomplete" in outcome.message
    assert not {"bound", "gap"} & outcome.stats.keys()
