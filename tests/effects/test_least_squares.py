"""Least squares: coefficients and HC3 errors against their formulas, written with explicit inverses."""

import numpy as np
import pytest

from dagora.effects.least_squares import independent_columns, least_squares


@pytest.mark.parametrize("seed", range(3))
def test_hc3_is_its_formula(seed):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(30), rng.standard_normal((30, 3)) * [1, 50, 0.01]])
    y = x @ [1, 2, 0.1, 30] + rng.standard_normal(30) * (1 + x[:, 1] ** 2)
    inverse = np.linalg.inv(x.T @ x)
    hat = x @ inverse @ x.T
    e = y - hat @ y
    meat = sum(np.outer(row, row) * (r / (1 - h)) ** 2 for row, r, h in zip(x, e, np.diag(hat), strict=True))
    fit = least_squares(x, y)
    np.testing.assert_allclose(fit.coefficients, inverse @ x.T @ y, rtol=1e-8)
    np.testing.assert_allclose(fit.covariance, inverse @ meat @ inverse, rtol=1e-6)
    assert fit.freedom == 26
    usual = fit.coefficients[2] / np.sqrt(e @ e / 26 * inverse[2, 2])
    assert fit.usual_t(np.array([0.0, 0, 1, 0])) == pytest.approx(usual)


def test_columns_that_others_determine_are_left_out():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 20))
    design = np.column_stack([np.ones(20), a, np.zeros(20), 2 * a - 3, b, np.full(20, 7.0)])
    assert independent_columns(design).tolist() == [True, True, False, False, True, False]
    y = 1 + 2 * a + 3 * b
    fit = least_squares(design, y)
    np.testing.assert_allclose(fit.coefficients, [1, 2, 0, 0, 3, 0], atol=1e-9)
    assert fit.freedom == 17
