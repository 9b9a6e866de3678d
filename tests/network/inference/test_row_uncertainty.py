"""The uncertainty that comes from the rows, against the textbook posterior of tables and regressions."""

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.network.fit import fit
from dagora.network.inference.row_uncertainty import draw_line, draw_table
from dagora.network.regressions import Lines


def test_a_combination_seen_once_is_not_certain() -> None:
    """Without a prior, one row spread over the levels stands beside it: after (a, b) = (n, n), (y, y)
    P(b=n | a=n) has the posterior Beta(1.5, 0.5)."""
    network = fit(DAG("ab", [("a", "b")]), {"a": ["n", "y"], "b": ["n", "y"]})
    rng = np.random.default_rng(0)
    assert network.origin is not None
    drawn = np.array([draw_table(network.model, network.origin, "b", rng)[0, 0] for _ in range(4000)])
    assert drawn.mean() == pytest.approx(0.75, abs=0.02)
    assert drawn.var() == pytest.approx(1.5 * 0.5 / (2**2 * 3), rel=0.1)


def test_a_regression_has_the_posterior_of_the_textbook() -> None:
    """Gelman et al. 2013, section 14.2: β given σ is normal around least squares, σ² scaled inverse χ²."""
    n, mean, variance = 20, 3.0, 4.0
    line = Lines(np.array(1.0), np.array([2.0]), np.array(0.5))
    rng = np.random.default_rng(0)
    drawn = [draw_line(line, n, np.array([mean]), np.array([[variance]]), rng) for _ in range(4000)]
    s2 = 0.5**2 * n / (n - 2)  # the residual variance with n - 2 degrees of freedom
    slopes, intercepts = (
        np.array([d.slopes[0] for d in drawn]),
        np.array([float(d.intercepts) for d in drawn]),
    )
    sds = np.array([float(d.sds) for d in drawn])
    spread = s2 * (n - 2) / (n - 4)  # the variance of a t distribution
    assert slopes.mean() == pytest.approx(2.0, abs=0.01)
    assert slopes.var() == pytest.approx(spread / (n * variance), rel=0.15)
    assert (sds**2).mean() == pytest.approx(s2 * (n - 2) / (n - 4), rel=0.05)
    assert (intercepts + slopes * mean).mean() == pytest.approx(1.0 + 2.0 * mean, abs=0.02)
    assert (intercepts + slopes * mean).var() == pytest.approx(spread / n, rel=0.15)
    assert np.corrcoef(intercepts, slopes)[0, 1] < -0.7
