"""Moves in batches: the state stays solved, no weighed verdict is worse than an exact one, threads change no bit."""

from itertools import pairwise

import numpy as np
import pytest

from dagora.learners.optimise.path import order_descent
from dagora.learners.optimise.path.column_problem import workspace_for
from dagora.learners.optimise.path.order_descent import solve_given_order
from dagora.learners.optimise.path.order_moves import changed_columns
from dagora.learners.optimise.path.path_solver import solve_by_path
from dagora.learners.optimise.path.quick_moves import QuickMoves, best_place
from dagora.learners.optimise.path.wide_moves import Move, WideMoves, reachable_places, seems_to_gain
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.learners.run import Run
from tests.learners.optimise.order_oracles import FreshSolves, obeys, random_program

KINDS = [{}, {"profile": True}, {"known": True}, {"rows": 8}, {"lambda1": 0.0}]


def drawn(seed, d=9, **kind):
    rng = np.random.default_rng(seed)
    program = random_program(rng, d, **{"lambda1": 0.1, **kind})
    order = rng.permutation(d)
    return program, order_descent.obeying_order(order, program.required)


def begun(program, order, workers=ALONE):
    solution = solve_given_order(program, order, np.zeros((len(program),) * 2))
    return solution, WideMoves(program.column_problem, solution, workers)


@pytest.fixture
def all_wide(monkeypatch):
    """Even few variables are moved in batches, here of four."""
    for name, value in {"EXACT_TO": 0, "BATCH": 4, "COARSE_TOLERANCE": 1e-9, "WORTH_A_ROUND": 0}.items():
        monkeypatch.setattr(order_descent, name, value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_batch_leaves_a_solved_state(seed, kind):
    program, order = drawn(seed, **kind)
    solution, moves = begun(program, order)
    before = solution.objective
    for start in (0, 3, 6) * 3:
        moves(np.arange(start, start + 3), 1e-9, 0)
        assert solution.objective <= before + 1e-12
        before = solution.objective
        assert obeys(solution.order, program.required)
        assert np.array_equal(moves.rank[solution.order], np.arange(9))
        fresh = solve_given_order(program, solution.order, np.zeros((9, 9)))
        np.testing.assert_allclose(solution.losses, fresh.losses, rtol=1e-7, atol=1e-9)
        slopes = program.moments @ solution.columns.T - program.moments
        np.testing.assert_allclose(solution.gradients, slopes.T, atol=1e-9)


@pytest.mark.parametrize("kind", [{}, {"profile": True}, {"known": True}])
@pytest.mark.parametrize("seed", range(8))
def test_verdicts_are_those_of_fresh_solves(seed, kind):
    """Nearly always: what is not solved counts as its estimate. Refusals to the right and approvals to the
    left rest on solved columns alone, so those must be right."""
    program, order = drawn(seed, **kind)
    solution, moves = begun(program, order)
    fresh, problem = FreshSolves(program), program.column_problem
    right = wrong = 0
    for x in range(9):
        position, lowest, highest = reachable_places(problem, solution, moves.savings, x, 1e-9)
        for place in range(lowest, highest + 1):
            if place == position:
                continue
            moved = np.insert(np.delete(order, position), place, x)
            gains = fresh.order(order) - fresh.order(moved) > 1e-9
            arguments = (solution, moves.savings, moves.rank, position, place, 1e-9, workspace_for(9))
            seen = seems_to_gain(problem, *arguments)
            right, wrong = right + (seen == gains), wrong + (seen != gains)
            if seen != gains:
                assert seen == (place > position), "only estimates may be wrong"
    assert right > 9 * wrong
    assert not (program.profile and wrong), "no estimates there"


@pytest.mark.parametrize("kind", [{}, {"known": True}])
def test_no_gain_lies_beyond_the_reachable_places(kind):
    for seed in range(5):
        program, order = drawn(seed, **kind)
        solution, moves = begun(program, order)
        fresh = FreshSolves(program)
        for x in range(9):
            position, _, highest = reachable_places(program.column_problem, solution, moves.savings, x, 1e-9)
            for place in range(highest + 1, 9):
                if not obeys(moved := np.insert(np.delete(order, position), place, x), program.required):
                    continue
                assert fresh.order(moved) > fresh.order(order) - 0.05 * abs(fresh.order(order))


def test_changed_columns_are_all_that_change():
    for seed in range(5):
        program, order = drawn(seed)
        solution, _ = begun(program, order)
        for position in range(9):
            for place in set(range(9)) - {position}:
                moved = np.insert(np.delete(order, position), place, order[position])
                other = solve_given_order(program, moved, np.zeros((9, 9)))
                differ = np.flatnonzero(np.abs(other.columns - solution.columns).max(axis=1) > 1e-7)
                listed = changed_columns(program.column_problem, solution, position, place)
                assert set(differ) <= set(listed.tolist())


def test_a_refused_move_is_undone():
    program, order = drawn(1)
    solution, moves = begun(program, order)
    before, savings = solution.copy(), moves.savings.copy()
    for x in range(9):
        for place in range(9):
            if place != moves.rank[x]:
                (changed,) = moves._move([Move(x, int(moves.rank[x]), place)], np.inf)
                assert len(changed) == 0
    assert all(np.array_equal(a, b) for a, b in zip(solution, before, strict=True))
    assert np.array_equal(moves.savings, savings)


def test_moves_without_a_common_place_are_as_good_as_made_in_turn():
    met = 0
    for seed in range(20):
        program, order = drawn(seed, d=12, known=seed % 2 > 0)
        solution, moves = begun(program, order)
        wanted = moves._screen(np.arange(12), 1e-9)
        together, rest = moves._disjoint(wanted)
        assert len(together) + len(rest) <= len(wanted)
        spans = sorted((move.first, move.last) for move in together)
        assert all(one[1] < two[0] for one, two in pairwise(spans))
        if len(together) < 2:
            continue
        met += 1
        found = moves._move(together, 1e-9)
        other, turns = begun(program, order)
        single = [turns._move([move], 1e-9)[0] for move in together]
        assert [part.tolist() for part in found] == [part.tolist() for part in single]
        assert all(np.array_equal(a, b) for a, b in zip(solution, other, strict=True))
        assert np.array_equal(moves.rank, turns.rank)
        assert obeys(solution.order, program.required)
    assert met > 3


def test_when_it_is_late_nothing_moves():
    program, order = drawn(1)
    solution, _ = begun(program, order)
    before = solution.copy()
    moves = WideMoves(program.column_problem, solution, ALONE, lambda: True)
    moves(np.arange(9), 1e-9, 0)
    assert all(np.array_equal(a, b) for a, b in zip(solution, before, strict=True))


def test_a_refused_variable_waits_for_a_better_promise():
    program, order = drawn(2, d=12)
    solution, moves = begun(program, order)
    everyone = np.arange(12)
    moves.refused[:] = np.inf
    assert moves(everyone, 1e-9, 0) == 12, "nobody promises more than infinity"
    assert np.array_equal(solution.order, order)
    moves.prepare()
    assert not moves.refused.any(), "a new state forgets"
    assert moves(everyone, 1e-9, 0) < 12
    while moves(everyone, 1e-9, 0) < 12:
        pass
    assert (moves.refused > 0).any(), "some are refused at the end"


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_as_good_as_moves_one_by_one(kind, all_wide):
    """Both end in local optima, which differ; neither kind of move ends in better ones."""
    excess = []
    for seed in range(10):
        program, order = drawn(seed, 12, **kind)
        ends = []
        for make in (lambda *given: WideMoves(*given, ALONE), QuickMoves):
            solution, _ = begun(program, order)
            moves = make(program.column_problem, solution)
            order_descent.descend_fully(program, solution, Run(), np.random.default_rng(seed), moves)
            ends.append(solution.objective)
        excess.append((ends[0] - ends[1]) / max(abs(ends[1]), 1))
    assert abs(np.median(excess)) < 0.01
    assert max(excess) < 0.25


@pytest.mark.parametrize("kind", [{}, {"profile": True}, {"known": True}])
def test_threads_change_no_bit(kind, all_wide):
    program, _ = drawn(5, 14, **kind)
    found = [solve_by_path(program, Run(jobs=jobs), 0.3, "guarded", 3) for jobs in (1, 2, 3)]
    for other in found[1:]:
        assert np.array_equal(found[0].weights, other.weights)
        assert (found[0].stats, found[0].effort) == (other.stats, other.effort)


def test_workers_share_in_order():
    with ColumnWorkers(3) as workers:
        parts = workers.parts(np.arange(7))
        pieces = workers.shares(np.arange(50))
        assert len(pieces) > 3
        assert sorted(np.concatenate(pieces).tolist()) == list(range(50))
        assert workers.shares(np.arange(0)) == []
        assert sorted(np.concatenate(parts).tolist()) == list(range(7))
        assert workers.map(lambda item: item * 2, range(50)) == list(range(0, 100, 2))
        assert workers.parts(np.arange(0)) == []
        with pytest.raises(ZeroDivisionError):
            workers.map(lambda item: 1 // item, [1, 0])
    assert ALONE.workspace(4).factor.shape == (4, 4)
    assert ALONE.workspace(5).factor.shape == (5, 5)


def test_the_best_place_says_what_it_promises():
    program, order = drawn(0)
    solution, moves = begun(program, order)
    for x in range(9):
        position = int(moves.rank[x])
        place, gain = best_place(
            program.column_problem, solution, moves.savings, position, 0, 8, 1e-9, workspace_for(9)
        )
        assert (gain > 0) == (place != position)
