"""The lasso solver against its optimality conditions and against exact rational arithmetic, on awkward data."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.scores.lasso_kernels import solve_lasso

PENALTIES = [0.0, 1e-3, 0.03, 0.3, 2.0]


def solve(moments, child, free, penalty, ridge=None, start=None):
    """Objective, weights and gradient, with the arrays that the solver writes to made here."""
    d = len(moments)
    weights = np.zeros(d) if start is None else np.array(start, dtype=float)
    gradient = np.full(d, np.nan)
    ridge = np.zeros(d) if ridge is None else ridge
    value = solve_lasso(moments, child, free, penalty, ridge, weights, gradient, np.full((d, d), np.nan))
    return value, weights, gradient


def violation(moments, child, free, penalty, ridge, weights):
    """Largest breach of the optimality conditions, relative to the columns' scales."""
    slope = moments @ weights - moments[child] + ridge * weights
    breach = np.where(
        weights != 0, np.abs(slope + penalty * np.sign(weights)), np.maximum(np.abs(slope) - penalty, 0)
    )
    scale = np.sqrt(np.diag(moments) * moments[child, child])
    return float((breach / scale)[free].max(initial=0.0))


def linear_rows(rng, n, d):
    weights = np.triu(rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.5), 1)
    rows = rng.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - weights)
    return rows[:, rng.permutation(d)]


def plain(rng, d):
    return linear_rows(rng, 60, d)


def few_rows(rng, d):
    return linear_rows(rng, max(2, d // 2), d)


def badly_scaled(rng, d):
    return linear_rows(rng, 60, d) * 10.0 ** rng.uniform(-3, 3, d)


def duplicated(rng, d):
    rows = linear_rows(rng, 60, d)
    rows[:, 1] = rows[:, 0]
    rows[:, 3] = -2 * rows[:, 2]
    return rows


def collinear(rng, d):
    rows = linear_rows(rng, 60, d)
    rows[:, 3] = rows[:, :3] @ rng.normal(size=3)
    return rows


def nearly_collinear(rng, d):
    rows = linear_rows(rng, 60, d)
    rows[:, 3] = rows[:, :3] @ rng.normal(size=3) + 1e-4 * rng.normal(size=60)
    return rows


DATA = [plain, few_rows, badly_scaled, duplicated, collinear, nearly_collinear]


def second_moments(rows):
    centred = rows - rows.mean(axis=0)
    return np.ascontiguousarray(centred.T @ centred / len(rows))


@pytest.mark.parametrize("with_ridge", [False, True], ids=["lasso", "elastic net"])
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
@pytest.mark.parametrize("make", DATA, ids=lambda make: make.__name__)
def test_optimality_conditions(make, warm, with_ridge):
    for case in range(120):
        rng = np.random.default_rng([case, warm, with_ridge])
        d = int(rng.integers(5, 13))
        moments = second_moments(make(rng, d))
        child = int(rng.integers(d))
        free = rng.random(d) < 0.85
        free[child] = False
        penalty = float(rng.choice(PENALTIES))
        ridge = rng.exponential(size=d) * (rng.random(d) < 0.7) if with_ridge else np.zeros(d)
        start = rng.normal(size=d) * 10.0 ** rng.integers(-3, 3) * (rng.random(d) < 0.6) if warm else None
        value, weights, gradient = solve(moments, child, free, penalty, ridge, start)
        assert not weights[~free].any()
        assert violation(moments, child, free, penalty, ridge, weights) < 1e-8, (case, d, child, penalty)
        np.testing.assert_allclose(
            gradient, moments @ weights - moments[child], atol=1e-9 * np.abs(moments).max()
        )
        # Large weights that cancel cost digits, here as in the solver.
        rounding = 1e-14 * d * (moments[child, child] + np.abs(weights) @ np.abs(moments) @ np.abs(weights))
        loss = moments[child, child] - 2 * moments[child] @ weights + weights @ moments @ weights
        assert value == pytest.approx(loss / 2 + penalty * np.abs(weights).sum(), rel=1e-9, abs=rounding)


def exact_optimum(moments, child, columns, penalty):
    """Smallest objective over all signs of all sets of independent columns, in rational numbers."""
    best = moments[child][child] / 2
    for signs in product((-1, 0, 1), repeat=len(columns)):
        active = [(i, s) for i, s in zip(columns, signs, strict=True) if s]
        right = [moments[child][i] - penalty * s for i, s in active]
        weights = rational_solve([[moments[i][j] for j, _ in active] for i, _ in active], right)
        if not active or weights is None or any(w * s < 0 for w, (_, s) in zip(weights, active, strict=True)):
            continue
        # At a stationary point of the signs, wᵀSw = wᵀ(S_j − penalty · signs).
        value = (
            moments[child][child]
            - sum(w * (moments[child][i]) for w, (i, _) in zip(weights, active, strict=True))
        ) / 2 + penalty * sum(abs(w) for w in weights) / 2
        best = min(best, value)
    return best


def rational_solve(matrix, right):
    """Gaussian elimination; None where the matrix is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = next((r for r in range(k, size) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for r in range(size):
            if r != k and rows[r][k]:
                rows[r] = [a - rows[r][k] * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.full
@settings(max_examples=60)
@given(
    st.integers(2, 7).flatmap(
        lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=n, max_size=n)
    ),
    st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(3, 2)]),
    st.lists(st.sampled_from([0.0, -1.0, 0.5, 3.0]), min_size=5, max_size=5),
)
def test_exact_arithmetic_finds_nothing_better(rows, penalty, start):
    """Small whole numbers, so that columns are often dependent, constant or tied."""
    n = len(rows)
    means = [Fraction(sum(row[i] for row in rows), n) for i in range(5)]
    exact = [
        [sum((row[i] - means[i]) * (row[j] - means[j]) for row in rows) / n for j in range(5)]
        for i in range(5)
    ]
    moments = np.array([[float(value) for value in row] for row in exact])
    free = np.array([True] * 4 + [False])
    best = float(exact_optimum(exact, 4, range(4), penalty))
    for begin in (None, start):
        value, _, _ = solve(moments, 4, free, float(penalty), start=begin)
        assert value == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_a_penalty_larger_than_everything():
    moments = second_moments(plain(np.random.default_rng(0), 6))
    free = np.arange(6) != 2
    largest = np.abs(moments[2][free]).max()
    start = np.random.default_rng(1).normal(size=6)
    for penalty in (largest, 1e6 * largest):
        value, weights, _ = solve(moments, 2, free, penalty, start=start)
        assert not weights.any()
        assert value == moments[2, 2] / 2
    assert solve(moments, 2, free, 0.999 * largest)[1].any()


def test_no_free_columns():
    moments = second_moments(plain(np.random.default_rng(0), 4))
    value, weights, gradient = solve(moments, 1, np.zeros(4, dtype=bool), 0.1, start=np.ones(4))
    assert not weights.any()
    assert value == moments[1, 1] / 2
    np.testing.assert_array_equal(gradient, -moments[1])


def test_of_two_columns_in_proportion_the_larger_is_cheaper():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    rows = np.column_stack([x, -2 * x, x + 0.1 * rng.normal(size=200)])
    moments = second_moments(rows)
    free = np.array([True, True, False])
    for start in (None, [0.9, 0.0, 0.0], [0.4, -0.3, 0.0]):
        _, weights, _ = solve(moments, 2, free, 0.1, start=start)
        assert weights[0] == 0
        assert weights[1] == pytest.approx((moments[2, 1] + 0.1) / moments[1, 1])


def test_many_columns():
    rng = np.random.default_rng(5)
    moments = second_moments(linear_rows(rng, 300, 80))
    free = np.arange(80) != 40
    for penalty in (0.0, 0.01, 0.1):
        _, weights, _ = solve(moments, 40, free, penalty, start=rng.normal(size=80))
        assert violation(moments, 40, free, penalty, np.zeros(80), weights) < 1e-8
