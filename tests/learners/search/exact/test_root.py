"""The cutting planes against a whole linear program and brute force: bounds hold, no set of an optimum is lost."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog

from dagora.base.budget import Budget
from dagora.graph.enumerate import all_parent_sets
from dagora.learners.run import Run
from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact.component_solver import Watch
from tests.learners.search.exact.exact_oracles import competing_lists, random_lists

pytest.importorskip("pyscipopt")

from dagora.learners.search.exact import relaxation as relaxation_module
from dagora.learners.search.exact.relaxation import Relaxation
from dagora.learners.search.exact.root import tighten
from dagora.learners.search.exact.separation import Cut, ProgramSets, separate


@pytest.fixture(autouse=True)
def cuts_on_many_nodes(monkeypatch):
    """Look for cuts on five and more nodes in problems of any size."""
    monkeypatch.setattr("dagora.learners.search.exact.separation.LEAST_NODES", 0)


def watch(run=None):
    return Watch(run or Run(), "test", 0.0, 0.0)


def gains_of(problem):
    return problem.scores - np.repeat(problem.scores[problem.offsets[:-1]], np.diff(problem.offsets))


def optimal_rows(problem):
    """The optimum, and the sets of all networks that reach it."""
    worth, used = -np.inf, set()
    place = [
        {int(problem.masks[row, 0]): row for row in range(problem.offsets[x], problem.offsets[x + 1])}
        for x in range(len(problem))
    ]
    for masks in all_parent_sets(len(problem)):
        rows = [place[x].get(mask) for x, mask in enumerate(masks)]
        if None in rows:
            continue
        score = float(problem.scores[rows].sum())
        if score > worth + 1e-9:
            worth, used = score, set()
        if score > worth - 1e-9:
            used |= set(rows)
    return worth, used


@pytest.mark.parametrize("facets", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_no_set_of_any_optimum_is_lost(seed, facets):
    rng = np.random.default_rng(seed)
    size = 4 + (seed % 5 == 0)
    candidates = random_lists(rng, size, density=0.9, whole=True) if seed % 2 else competing_lists(rng, size)
    problem = LocalProblem.of(candidates, tuple(range(size)))
    optimum, needed = optimal_rows(problem)
    everything = np.arange(len(problem.scores))
    for order in list(permutations(range(size)))[:: 7 + seed]:
        root = tighten(problem, everything, np.array(order), watch(), facets=facets)
        assert needed <= set(root.kept.tolist())
        assert root.bound >= optimum - 1e-9
        assert problem.score(root.order) <= optimum + 1e-9
        assert not root.is_closed or problem.score(root.order) == pytest.approx(optimum)


def test_on_four_nodes_facets_leave_no_gap():
    for seed in range(10):
        problem = LocalProblem.whole(competing_lists(np.random.default_rng(seed), 4, most=3))
        root = tighten(problem, np.arange(len(problem.scores)), np.arange(4), watch(), facets=True)
        assert root.is_closed


def test_covers_close_what_facets_leave(monkeypatch):
    problem = LocalProblem.whole(random_lists(np.random.default_rng(2), 9, most=2))
    gaps = []
    for sizes in ((), (5, 6, 7)):
        monkeypatch.setattr("dagora.learners.search.exact.separation.COVER_SIZES", sizes)
        root = tighten(problem, np.arange(len(problem.scores)), np.arange(9), watch(), facets=True)
        gaps.append(root.bound - problem.score(root.order))
    assert gaps[0] > 0.5
    assert gaps[1] < 0.5 * gaps[0]


@pytest.mark.parametrize("first", [1, 5])
def test_the_program_with_few_sets_is_the_whole_program(monkeypatch, first):
    monkeypatch.setattr(relaxation_module, "FIRST", first)
    monkeypatch.setattr(relaxation_module, "ENTERING", 3)
    problem = LocalProblem.whole(competing_lists(np.random.default_rng(1), 6, most=3))
    sets = ProgramSets(problem.masks, problem.offsets)
    gains = gains_of(problem)
    # With so large a tolerance nothing is excluded.
    relaxation = Relaxation(sets, gains, 1e6)
    relaxation.learn_of(problem.choose(np.arange(6)))
    child = np.repeat(np.arange(6), np.diff(problem.offsets))
    one = (child == np.arange(6)[:, None]).astype(float)
    for _ in range(8):
        point = relaxation.solve(np.inf)
        rows = np.zeros((len(relaxation.cuts) + 1, len(gains)))
        for k, cut in enumerate(relaxation.cuts):
            rows[k, cut.rows] = cut.weights
        sides = [cut.side for cut in relaxation.cuts] + [0.0]
        whole = -linprog(-gains, A_ub=rows, b_ub=sides, A_eq=one, b_eq=np.ones(6)).fun
        assert relaxation.bound == pytest.approx(whole, abs=1e-6)
        assert relaxation.alive.all()
        relaxation.add(separate(point, sets, facets=True))


def test_every_cut_holds_for_every_network():
    problem = LocalProblem.whole(random_lists(np.random.default_rng(2), 9, most=2))
    sets = ProgramSets(problem.masks, problem.offsets)
    relaxation = Relaxation(sets, gains_of(problem), 1e6)
    relaxation.learn_of(problem.choose(np.arange(9)))
    cuts = []
    while new := separate(relaxation.solve(np.inf), sets, facets=True):
        relaxation.add(new)
        cuts += new
    assert {cut.kind for cut in cuts} == {"clusters", "facets", "covers"}
    rng = np.random.default_rng(0)
    networks = np.array([problem.choose(rng.permutation(9)) for _ in range(1000)])
    for cut in cuts:
        weights = np.zeros(len(problem.scores))
        weights[cut.rows] = cut.weights
        assert weights[networks].sum(axis=1).max() <= cut.side


def test_a_cut_among_fewer_sets():
    cut = Cut(np.array([0, 2, 3]), np.array([1.0, 2.0, 3.0]), 4.0, "covers").renumber(np.array([0, 1, -1, 2]))
    assert cut.rows.tolist() == [0, 2]
    assert cut.weights.tolist() == [1.0, 3.0]


def test_a_budget_ends_the_rounds():
    problem = LocalProblem.whole(competing_lists(np.random.default_rng(2), 9, most=3))
    kept = np.arange(len(problem.scores))
    budget = Budget()
    rounds = []

    def stop(event):
        rounds.append(event.step)
        if event.step == 3:
            budget.stop("enough")

    root = tighten(problem, kept, np.arange(9), watch(Run(budget=budget, on_event=stop)), facets=True)
    assert rounds == [1, 2, 3]
    assert not root.is_closed
    assert root.bound < problem.bound
    late = tighten(problem, kept, np.arange(9), watch(Run(budget=Budget(1e-9))), facets=True)
    assert late.bound == problem.bound
