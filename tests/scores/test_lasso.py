"""The lasso score against coordinate descent, closed forms and the enumeration of all graphs."""

import math
import time
from itertools import combinations

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.graph.enumerate import all_dags
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.run import Run
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table, random_continuous


def make(rows, **options):
    return score_named("lasso").make(TableStatistics(continuous_table(rows)), **options)


def rows_of(table):
    return np.stack(table.columns, axis=1)


def centred(rows):
    return rows - rows.mean(axis=0)


def objective(rows, child, parents, weights, lambda1):
    x = centred(rows)
    rest = x[:, child] - x[:, list(parents)] @ weights
    return (rest @ rest) / (2 * len(x)) + lambda1 * np.abs(weights).sum()


def coordinate_descent(rows, child, parents, lambda1):
    """One weight at a time on the rows themselves, until nothing moves."""
    x = centred(rows)
    weights = np.zeros(len(parents))
    rest = x[:, child].copy()
    for _ in range(20_000):
        moved = 0.0
        for k, p in enumerate(parents):
            size = x[:, p] @ x[:, p] / len(x)
            pull = x[:, p] @ rest / len(x) + size * weights[k]
            new = np.sign(pull) * max(abs(pull) - lambda1, 0.0) / size
            rest -= (new - weights[k]) * x[:, p]
            moved = max(moved, abs(new - weights[k]))
            weights[k] = new
        if moved < 1e-13:
            break
    return objective(rows, child, parents, weights, lambda1)


@pytest.mark.parametrize("lambda1", [0.02, 0.1, 0.7])
@pytest.mark.parametrize("n", [8, 100])
def test_coordinate_descent_agrees(n, lambda1):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = rows_of(random_continuous(rng, n, 6)) + 100 * rng.normal(size=6)
        families = [
            (int(o[0]), tuple(int(i) for i in o[1 : 1 + seed + 2]))
            for o in (rng.permutation(6) for _ in range(5))
        ]
        expected = [-coordinate_descent(rows, child, parents, lambda1) for child, parents in families]
        np.testing.assert_allclose(
            make(rows, lambda1=lambda1).families(families), expected, rtol=1e-7, atol=1e-9
        )


def test_one_parent_is_a_soft_threshold():
    rows = rows_of(random_continuous(np.random.default_rng(1), 50, 2)) * [1.0, 3.0] + 7
    x, y = centred(rows).T
    for lambda1 in (0.0, 0.1, 0.5, 100.0):
        c, v = x @ y / 50, x @ x / 50
        saved = max(abs(c) - lambda1, 0.0) ** 2 / (2 * v)
        assert make(rows, lambda1=lambda1).families([(1, (0,))])[0] == pytest.approx(saved - y @ y / 100)


def test_without_a_penalty_it_is_least_squares():
    rng = np.random.default_rng(2)
    rows = rows_of(random_continuous(rng, 40, 6)) * 10.0 ** rng.integers(-3, 4, 6)
    score = make(rows, lambda1=0)
    for size in range(6):
        for parents in combinations(range(1, 6), size):
            design = np.column_stack([np.ones(40), rows[:, parents]])
            rest = rows[:, 0] - design @ np.linalg.lstsq(design, rows[:, 0], rcond=None)[0]
            assert score.families([(0, parents)])[0] == pytest.approx(-rest @ rest / 80, rel=1e-8)


def test_an_empty_set_costs_half_the_variance():
    rows = rows_of(random_continuous(np.random.default_rng(3), 30, 3))
    np.testing.assert_allclose(make(rows).families([(i, ()) for i in range(3)]), -rows.var(axis=0) / 2)


def test_the_batch_and_the_order_of_parents_change_nothing():
    rng = np.random.default_rng(4)
    score = make(rows_of(random_continuous(rng, 60, 6)))
    families = []
    for _ in range(80):
        order = [int(i) for i in rng.permutation(6)]
        families.append((order[0], tuple(order[1 : rng.integers(1, 7)])))
    together = score.families(families)
    np.testing.assert_array_equal(together, [score.families([family])[0] for family in families])
    np.testing.assert_array_equal(together, score.families([(c, tuple(sorted(p))) for c, p in families]))
    parents = np.array([[0, 1], [1, 4], [3, 5]])
    np.testing.assert_array_equal(
        score.block(np.array([2, 3, 4]), parents), score.families([(2, (0, 1)), (3, (1, 4)), (4, (3, 5))])
    )
    assert score.families([]).shape == (0,)


@pytest.mark.full
@pytest.mark.parametrize("lambda1", [0.0, 0.1])
def test_more_parents_never_cost_even_with_few_rows_and_collinear_columns(lambda1):
    rng = np.random.default_rng(5)
    for n in (4, 30):
        rows = rows_of(random_continuous(rng, n, 7))
        rows[:, 3] = rows[:, 1] - 2 * rows[:, 2]
        rows[:, 5] = rows[:, 4] + rows[:, 6]
        score = make(rows, lambda1=lambda1)
        for child in (0, 3):
            others = [i for i in range(7) if i != child]
            sets = [s for size in range(7) for s in combinations(others, size)]
            values = dict(zip(sets, score.families([(child, s) for s in sets]).tolist(), strict=True))
            slack = 1e-9 * rows[:, child].var()
            for s in sets:
                assert all(values[s] >= values[tuple(j for j in s if j != i)] - slack for i in s), (child, s)
                if lambda1:
                    expected = -coordinate_descent(rows, child, s, lambda1)
                    assert values[s] == pytest.approx(expected, rel=1e-5)


def test_a_perfect_fit_is_not_improved_by_rounding():
    rows = np.random.default_rng(6).normal(size=(5, 8))
    found = find_candidates(make(rows, lambda1=0), Run())
    assert found.complete
    # Five centred rows are fitted perfectly by any four columns.
    assert {len(parents) for entry in found for parents in entry.parents} == {0, 1, 2, 3, 4}
    assert all(len(entry) == sum(math.comb(7, size) for size in range(5)) for entry in found)


def test_sets_with_a_zero_weight_are_pruned():
    rng = np.random.default_rng(7)
    x, z = rng.normal(size=(2, 300))
    rows = np.column_stack([x, z, 2 * x + rng.normal(size=300)])
    found = find_candidates(make(rows, lambda1=0.3), Run())
    assert found.sets[2].parents == ((0,), ())
    assert found.sets[1].parents == ((),)


@pytest.mark.parametrize("lambda1", [0.0, 0.1, 0.5])
def test_exact_searches_find_the_best_of_all_543_graphs(lambda1):
    for seed, n in ((0, 3), (1, 40)):
        table = random_continuous(np.random.default_rng(seed), n, 4)
        score = score_named("lasso").make(TableStatistics(table), lambda1=lambda1)
        best = max(graph_score(score, dag) for dag in all_dags(4))
        for method in ("dynamic", "ilp", "astar"):
            result = dagora.learn(table, method, score="lasso", lambda1=lambda1)
            assert result.status == "optimal"
            assert result.score == pytest.approx(best, rel=1e-9)


@pytest.mark.full
def test_fifteen_columns_need_no_parent_limit():
    truth = dagora.random_dag("er", 15, 2, seed=1)
    table = dagora.simulate(truth, "gaussian", 200, seed=2).table
    started = time.process_time()
    optimum = dagora.learn(table, "dynamic", score="lasso", lambda1=0.5)
    assert time.process_time() - started < 20
    assert optimum.status == "optimal"
    assert not any("incomplete" in warning for warning in optimum.warnings)
    searched = dagora.learn(table, "hill-climb", score="lasso", lambda1=0.5)
    assert searched.score <= optimum.score + 1e-9
    assert optimum.score >= dagora.score(table, truth, score="lasso", lambda1=0.5)


def test_what_it_refuses():
    with pytest.raises(DataError, match="the score lasso needs continuous columns, but 'x0' is discrete"):
        score_named("lasso").make(TableStatistics(discrete_table([[0, 1]], [2])))
    with pytest.raises(DataError, match="'x1' is constant, and the score lasso"):
        make([[1.0, 2.0], [3.0, 2.0]])
    with pytest.raises(DataError, match=r"'x0' and 'x1' are equal .* the score lasso cannot tell"):
        make([[1.0, 2.0], [3.0, -2.0], [4.0, -4.0]])
    for wrong in (-0.1, math.inf, math.nan):
        with pytest.raises(OptionError, match="lambda1"):
            make(np.eye(3), lambda1=wrong)
    with pytest.raises(OptionError, match="the method ges needs a score-equivalent score"):
        dagora.learn(random_continuous(np.random.default_rng(0), 20, 3), "ges", score="lasso")
