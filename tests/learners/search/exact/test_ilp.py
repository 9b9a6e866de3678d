"""The integer program against all graphs and against dynamic programming; what it says when it cannot prove."""

import sys
from itertools import combinations, permutations

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact import component_solver as exact
from dagora.learners.search.exact import ilp as ilp_module
from dagora.learners.search.exact.ilp import VerificationError, ilp, verify, worth_keeping
from tests.learners.search.exact.exact_oracles import (
    best_of_graphs,
    check_optimal,
    check_stopped,
    competing_lists,
    layered_lists,
    random_lists,
)

pyscipopt = pytest.importorskip("pyscipopt")


def best_by_subsets(candidates):
    """The optimum by dynamic programming over subsets; None where there is no acyclic graph."""
    size = len(candidates)
    tables = [
        [
            (sum(1 << i for i in parents), value)
            for parents, value in zip(child.parents, child.scores, strict=True)
        ]
        for child in candidates
    ]
    best = {0: 0.0}
    for subset in range(1, 1 << size):
        values = [
            best[subset ^ 1 << x] + next(value for mask, value in tables[x] if not mask & ~(subset ^ 1 << x))
            for x in range(size)
            if subset >> x & 1
            and subset ^ 1 << x in best
            and any(not mask & ~(subset ^ 1 << x) for mask, _ in tables[x])
        ]
        if values:
            best[subset] = max(values)
    return best.get((1 << size) - 1)


def tempting_lists(rng, size, length=3):
    """Every variable would like the next few in a circle as its parents, and loses most without them."""
    listed = []
    for child in range(size):
        wished = [(child + step) % size for step in range(1, length + 1) if step < size]
        pairs = [
            (parents, 10.0 * count + float(rng.random()))
            for count in range(len(wished) + 1)
            for parents in combinations(wished, count)
        ]
        listed.append(pairs)
    return Candidates.of([f"x{i}" for i in range(size)], listed)


@pytest.fixture
def no_search(monkeypatch):
    """The solver starts at once."""
    monkeypatch.setattr(ilp_module, "better_order", lambda problem, order, watch: order)


@pytest.fixture
def no_root(monkeypatch):
    """The solver gets every set and no cuts."""
    from dagora.learners.search.exact import root

    def nothing(problem, kept, start, watch, *, facets):
        return root.Root(start, problem.bound, False, kept, [], {})

    monkeypatch.setattr(root, "tighten", nothing)


@pytest.fixture(params=["whole root", "one round", "no root"])
def any_root(request, monkeypatch):
    """The rounds before the solver end by themselves, after the first, or are left out; all cuts are tried."""
    from dagora.learners.search.exact import root

    monkeypatch.setattr("dagora.learners.search.exact.separation.LEAST_NODES", 0)
    if request.param == "no root":
        request.getfixturevalue("no_root")
    elif request.param == "one round":
        monkeypatch.setattr(root, "STALLED_ROUNDS", 1)
        monkeypatch.setattr(root, "STALLED_SHARE", 1.0)


@pytest.mark.parametrize("seed", range(40))
def test_every_graph_of_up_to_four_nodes(seed):
    rng = np.random.default_rng(seed)
    candidates = random_lists(rng, int(rng.integers(1, 5)), density=0.8, empty=0.8, whole=seed % 3 == 0)
    optimum = best_of_graphs(candidates)
    outcome = ilp(candidates, Run(), facets=seed % 2 == 0)
    if optimum is None:
        assert outcome.status == "failed"
    else:
        check_optimal(outcome, candidates, optimum)


@pytest.mark.parametrize("seed", range(6))
def test_every_graph_of_five_nodes(seed):
    rng = np.random.default_rng(100 + seed)
    candidates = tempting_lists(rng, 5) if seed % 2 else random_lists(rng, 5, most=4, density=0.7, empty=0.7)
    check_optimal(ilp(candidates, Run()), candidates, best_of_graphs(candidates))


@pytest.mark.parametrize("seed", range(20))
def test_problems_of_six_to_nine_nodes(any_root, seed):
    rng = np.random.default_rng(200 + seed)
    size = int(rng.integers(6, 10))
    candidates = (
        random_lists(rng, size, density=0.4, whole=seed % 8 == 0),
        competing_lists(rng, size),
        tempting_lists(rng, size, length=int(rng.integers(2, 5))),
        layered_lists(rng, (2, size - 4, 2)),
    )[seed % 4]
    optimum = best_by_subsets(candidates)
    check_optimal(ilp(candidates, Run(seed=seed), facets=seed % 5 > 0), candidates, optimum)


@pytest.mark.parametrize("seed", range(12))
def test_lists_without_the_empty_set(seed):
    # As required edges leave them: some have no acyclic graph at all.
    rng = np.random.default_rng(300 + seed)
    candidates = random_lists(rng, 7, most=2, density=0.4, empty=0.4)
    optimum = best_by_subsets(candidates)
    outcome = ilp(candidates, Run())
    if optimum is None:
        assert outcome.status == "failed"
    else:
        check_optimal(outcome, candidates, optimum)


def test_arc_variables_change_nothing(no_root, monkeypatch):
    from dagora.learners.search.exact import ilp_program

    candidates = competing_lists(np.random.default_rng(1), 9)
    without = ilp(candidates, Run())
    monkeypatch.setattr(ilp_program, "SETS_FOR_ARCS", 1)
    check_optimal(ilp(candidates, Run()), candidates, without.score)


def test_a_time_limit_gives_a_graph_and_a_gap(any_root, no_search):
    candidates = competing_lists(np.random.default_rng(2), 12)
    optimum = best_by_subsets(candidates)
    check_stopped(ilp(candidates, Run(budget=Budget(1e-9))), candidates, optimum, "time-limit")

    # Stopped by the observer once the solver runs.
    budget = Budget()

    def stop(event):
        if event.bound is not None:
            budget.stop("enough")

    outcome = ilp(candidates, Run(budget=budget, on_event=stop))
    check_stopped(outcome, candidates, optimum, "time-limit")
    assert outcome.message.startswith("enough")


def test_what_would_take_too_long_to_hand_over_is_not(no_root, no_search, monkeypatch):
    import dagora.learners.search.exact.ilp as module
    from dagora.learners.search.exact import ilp_program

    candidates = competing_lists(np.random.default_rng(2), 9)
    optimum = best_by_subsets(candidates)
    check_optimal(ilp(candidates, Run(budget=Budget(60.0))), candidates, optimum)
    monkeypatch.setattr(module, "HAND_OVER", 10.0)
    monkeypatch.setattr(ilp_program, "IlpProgram", None)
    check_stopped(ilp(candidates, Run(budget=Budget(60.0))), candidates, optimum, "time-limit")


def test_the_memory_option_is_the_limit(no_root, no_search):
    candidates = competing_lists(np.random.default_rng(2), 9)
    optimum = best_by_subsets(candidates)
    check_stopped(ilp(candidates, Run(), memory=0.001), candidates, optimum, "memory-limit")
    check_optimal(ilp(candidates, Run(), memory=0.25), candidates, optimum)


@pytest.mark.full
def test_a_poor_start_is_made_up_for(any_root, no_search, monkeypatch):
    # Nothing but the worst order to start from: the solver must find the optimum by itself.
    monkeypatch.setattr(exact, "quick_order", lambda problem, start, run, patience: start)
    for seed in range(8):
        candidates = competing_lists(np.random.default_rng(500 + seed), 8, most=3)
        check_optimal(ilp(candidates, Run()), candidates, best_by_subsets(candidates))


@pytest.mark.full
@pytest.mark.parametrize("arcs", [1, 10**6])
def test_branching_where_cuts_are_scarce(no_search, no_root, monkeypatch, arcs):
    from dagora.learners.search.exact import ilp_program

    scarce = {"separating/maxroundsroot": 0, "separating/maxrounds": 0}
    monkeypatch.setattr(ilp_program, "SETTINGS", ilp_program.SETTINGS | scarce)
    monkeypatch.setattr(ilp_program, "SETS_FOR_ARCS", arcs)
    nodes = 0
    for seed in range(8):
        candidates = competing_lists(np.random.default_rng(600 + seed), 7)
        outcome = ilp(candidates, Run())
        check_optimal(outcome, candidates, best_by_subsets(candidates))
        nodes += outcome.stats["nodes"]
    assert nodes > 30


def test_events_carry_a_bound_that_holds():
    events = []
    candidates = competing_lists(np.random.default_rng(3), 10)
    optimum = best_by_subsets(candidates)
    ilp(candidates, Run(on_event=events.append))
    bounds = [event.bound for event in events if event.bound is not None]
    assert bounds
    assert min(bounds) >= optimum - 1e-6
    assert all(event.score <= optimum + 1e-9 for event in events if event.score is not None)


@pytest.mark.parametrize("error", [ValueError("from the observer"), KeyboardInterrupt()])
def test_what_a_callback_raises_is_raised(any_root, no_search, error):
    def fail(event):
        if event.bound is not None:
            raise error

    with pytest.raises(type(error)) as caught:
        ilp(competing_lists(np.random.default_rng(4), 9), Run(on_event=fail))
    assert caught.value is error


@pytest.mark.parametrize("callback", ["separate", "order_of", "improve"])
def test_errors_of_our_own_callbacks_are_raised(no_root, monkeypatch, callback):
    from dagora.learners.search.exact.ilp_program import IlpProgram

    def fail(*_, **__):
        raise ZeroDivisionError(callback)

    monkeypatch.setattr(IlpProgram, callback, fail)
    with pytest.raises(ZeroDivisionError, match=callback):
        ilp(competing_lists(np.random.default_rng(5), 12, most=3), Run())


def test_the_same_graph_every_time():
    candidates = random_lists(np.random.default_rng(6), 9, whole=True)
    first, second = (ilp(candidates, Run(seed=1)) for _ in range(2))
    assert first.graph == second.graph
    assert first.stats == second.stats


def test_a_solver_that_is_wrong_is_not_believed(no_root, monkeypatch):
    from dagora.learners.search.exact.ilp_program import IlpProgram

    candidates = competing_lists(np.random.default_rng(7), 8)
    monkeypatch.setattr(IlpProgram, "claim", property(lambda program: program.bound + 0.01))
    outcome = ilp(candidates, Run())
    assert outcome.status == "failed"
    assert "the solver claims" in outcome.message


def test_verification():
    candidates = Candidates.of("ab", [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)]])
    problem = LocalProblem.of(candidates, (0, 1))
    worse, best = np.array([0, 1]), np.array([1, 0])
    verify(problem, worse, best, -3.0, -3.0)
    with pytest.raises(VerificationError, match="claims"):
        verify(problem, worse, best, -2.9, -2.9)
    with pytest.raises(VerificationError, match="claims"):
        verify(problem, worse, best, -3.0, -2.9)
    with pytest.raises(VerificationError, match="below"):
        verify(problem, best, worse, -4.0, -4.0)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_dropped_is_in_no_better_network(seed):
    rng = np.random.default_rng(400 + seed)
    candidates = random_lists(rng, 6, density=0.6, empty=0.8)
    while best_by_subsets(candidates) is None:
        candidates = random_lists(rng, 6, density=0.6, empty=0.8)
    problem = LocalProblem.of(candidates, tuple(range(6)))
    # All orders that permit a network, worst first; a set of row −1 is no candidate.
    permitting = [
        order
        for order in map(np.array, permutations(range(6)))
        if (problem.rows[problem.choose(order)] >= 0).all()
    ]
    scored = sorted(permitting, key=problem.score)
    start = scored[len(scored) // 2]
    kept = worth_keeping(problem, start)
    needed = {row for order in scored[len(scored) // 2 :] for row in problem.choose(order).tolist()}
    assert needed <= set(kept.tolist())
    assert (problem.rows[kept] >= 0).all()


def test_a_set_that_loses_more_than_the_whole_network_is_dropped():
    listed = [[((1,), -1.0), ((), -3.0)], [((0,), -1.0), ((), -2.0)], [((0, 1), -1.0)]]
    problem = LocalProblem.whole(Candidates.of("abc", listed))
    # b → a loses 1 against the best sets, a → b loses 2: as much as a without parents. Row 5 is no candidate.
    assert worth_keeping(problem, np.array([1, 0, 2])).tolist() == [0, 2, 3, 4]
    assert worth_keeping(problem, np.array([0, 1, 2])).tolist() == [0, 1, 2, 3, 4]


def test_without_the_solver_the_reader_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(OptionError, match=r"pip install 'dagora\[exact\]'"):
        ilp_module.ilp(competing_lists(np.random.default_rng(8), 4), Run())


@pytest.mark.parametrize("unit", [1e-30, 1e-8, 1e12, 1e60])
def test_scores_in_any_unit(any_root, no_search, unit):
    """The solver's tolerances and its infinity are absolute; ours are not."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        usual = competing_lists(rng, 8)
        listed = [
            list(zip(child.parents, (child.scores * unit).tolist(), strict=True)) for child in usual.sets
        ]
        scaled = Candidates.of(usual.names, listed)
        outcome = ilp(scaled, Run())
        assert outcome.status == "optimal"
        assert outcome.score == pytest.approx(best_by_subsets(usual) * unit, rel=1e-9)
