import time

import numpy as np

from dagora.base.budget import Budget
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact import dynamic as module
from dagora.learners.search.exact.dynamic import completions, dynamic, refusal
from tests.learners.search.exact.exact_oracles import check_stopped, completed, random_lists


def test_the_table_is_the_best_of_what_remains():
    candidates = random_lists(np.random.default_rng(5), 6)
    problem = LocalProblem.of(candidates, tuple(range(6)))
    table = np.empty(2**6)
    assert list(completions(problem, table)) == [2**6]
    assert np.allclose(table, completed(problem))


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


def test_rounding_does_not_change_which_variable_comes_first():
    """Both directions score −3; the 1e-13 that b → a has more is as little as a different order of sums makes."""
    listed = [[((1,), -1.0), ((), -2.0)], [((0,), -1.0), ((), -2.0 + 1e-13)]]
    assert dynamic(Candidates.of("ab", listed), Run()).graph.edges == (("a", "b"),)
