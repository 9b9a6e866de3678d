"""The quadratic model, against the recursion it stands for and plain coordinate descent."""

import numpy as np

from dagora.learners.optimise.curvature import Curvature, descend
from tests.learners.optimise.optimise_oracles import plain_lasso, random_covariance


def test_the_compact_form_is_the_bfgs_recursion():
    rng = np.random.default_rng(0)
    gram = random_covariance(rng, 7)
    curvature = Curvature()
    pairs = []
    for _ in range(5):
        move = rng.normal(size=7)
        pairs.append((move, gram @ move))
        curvature.add(*pairs[-1])
    curvature.add(np.ones(7), -np.ones(7))  # curves down: not learned
    move, turn = pairs[-1]
    matrix = np.eye(7) * (turn @ turn) / (move @ turn)
    for s, y in pairs:
        pushed = matrix @ s
        matrix = matrix - np.outer(pushed, pushed) / (s @ pushed) + np.outer(y, y) / (s @ y)
    rows, inverse = curvature.compact()
    np.testing.assert_allclose(
        curvature.scale * np.eye(7) - rows.T @ inverse @ rows, matrix, rtol=1e-8, atol=1e-8
    )
    # Coordinate descent minimises the model of that matrix.
    point, gradient = rng.normal(size=7) * (rng.random(7) < 0.5), rng.normal(size=7)
    factors = np.ascontiguousarray(rows.T)
    step = descend(point, gradient, factors, factors @ inverse, curvature.scale, 0.2, 10_000, 1e-13)
    expected = plain_lasso(matrix, matrix @ point - gradient, 0.2)
    np.testing.assert_allclose(point + step, expected, atol=1e-8)
