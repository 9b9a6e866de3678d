import time

import numpy as np
import pytest

from dagora.events import Budget
from dagora.run import Run
from dagora.scores.candidates.candidates import Candidates
from dagora.scores.candidates.jkl import read_jkl
from dagora.search.components import LocalProblem
from dagora.search.exact import dynamic as module
from dagora.search.exact.dynamic import completions, dynamic, refusal
from tests.search.exact.exact_oracles import (
    best_of_graphs,
    check_optimal,
    check_stopped,
    completed,
    layered_lists,
    random_lists,
)
from tests.search.order.order_oracles import best_of_all


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("empty", [1.0, 0.4])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_no_graph_is_better(size, empty, whole):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        candidates = random_lists(rng, size, density=0.5, empty=empty, whole=whole)
        optimum = best_of_graphs(candidates)
        outcome = dynamic(candidates, Run())
        if optimum is None:
            assert outcome.status == "failed"
            assert outcome.score is None
            assert "no acyclic graph" in outcome.message
        else:
            check_optimal(outcome, candidates, optimum)


@pytest.mark.parametrize("seed", range(3))
def test_no_graph_on_five_nodes_is_better(seed):
    candidates = random_lists(np.random.default_rng(seed), 5, most=4, empty=0.8, whole=seed == 0)
    check_optimal(dynamic(candidates, Run()), candidates, best_of_graphs(candidates))


@pytest.mark.parametrize("seed", range(3))
def test_components_together_give_the_optimum(seed):
    candidates = layered_lists(np.random.default_rng(seed), [2, 1, 4])
    outcome = dynamic(candidates, Run())
    check_optimal(outcome, candidates, best_of_all(candidates))
    assert outcome.stats["components"] > 1
    assert f"over {outcome.stats['components']:.0f} components" in outcome.message


def test_the_table_is_the_best_of_what_remains():
    candidates = random_lists(np.random.default_rng(5), 6)
    problem = LocalProblem.of(candidates, tuple(range(6)))
    table = np.empty(2**6)
    assert list(completions(problem, table)) == [2**6]
    assert np.allclose(table, completed(problem))


def test_water_is_proved(data_dir):
    candidates = read_jkl(data_dir / "scores" / "water_500c.jkl")
    outcome = dynamic(candidates, Run())
    check_optimal(outcome, candidates, outcome.score)
    assert outcome.score == pytest.approx(-6785.3185, abs=1e-4)
    assert outcome.message == "no network scores higher: proved by dynamic programming over 2 components"


def test_too_large_a_component_is_refused_before_memory_is_taken():
    size = 40
    listed = [[((), 0.0), (((x + 1) % size,), 1.0)] for x in range(size)]
    candidates = Candidates.of([f"x{i}" for i in range(size)], listed)
    started = time.perf_counter()
    outcome = dynamic(candidates, Run())
    assert time.perf_counter() - started < 20
    assert (outcome.status, outcome.score, outcome.graph.edges) == ("failed", None, ())
    assert "40 variables" in outcome.message
    assert "8.19e+03 GiB, the limit is 4 GiB: try the method astar or ilp" in outcome.message


def test_the_memory_option_is_the_limit():
    candidates = random_lists(np.random.default_rng(0), 10, most=1)
    assert dynamic(candidates, Run(), memory=8 * 2**10 / 2**30).status == "optimal"
    assert dynamic(candidates, Run(), memory=8 * 2**10 / 2**30 * 0.99).status == "failed"
    assert "far more memory" in refusal(500, 4.0)


def test_an_exhausted_budget_gives_a_graph_and_a_bound():
    for seed, empty in ((0, 1.0), (1, 0.8), (2, 0.8), (3, 0.8)):
        candidates = random_lists(np.random.default_rng(seed), 4, density=0.7, empty=empty)
        outcome = dynamic(candidates, Run(budget=Budget(1e-9)))
        check_stopped(outcome, candidates, best_of_graphs(candidates), "time-limit")
        assert outcome.message.startswith("the time limit of 1e-09 s was reached; ")


def test_a_stop_on_the_way_gives_the_first_order(monkeypatch):
    monkeypatch.setattr(module, "WORK_PER_ROUND", 1000)
    candidates = random_lists(np.random.default_rng(3), 9, most=2)
    whole = dynamic(candidates, Run())
    assert whole.status == "optimal", "many rounds give the same as one"
    monkeypatch.undo()
    assert dynamic(candidates, Run()).score == whole.score
    monkeypatch.setattr(module, "WORK_PER_ROUND", 1000)
    budget = Budget()
    seen = []

    def stop(event):
        seen.append(event)
        if len(seen) == 3:
            budget.stop("interrupted")

    outcome = dynamic(candidates, Run(budget=budget, on_event=stop))
    check_stopped(outcome, candidates, whole.score, "time-limit")
    assert outcome.message.startswith("interrupted; ")
    assert len(seen) == 3
    steps = [event.step for event in seen]
    assert steps == sorted(steps)
    assert all(event.step <= event.total == 2**9 for event in seen)
    assert all(event.score <= whole.score + 1e-9 <= event.bound + 2e-9 for event in seen)


def test_incomplete_candidates_are_named_in_the_message():
    complete = random_lists(np.random.default_rng(0), 4)
    candidates = Candidates(complete.names, complete.sets, complete=False, note="the rest was not looked at")
    outcome = dynamic(candidates, Run())
    assert outcome.status == "optimal"
    assert "among the candidate parent sets, which are incomplete" in outcome.message
