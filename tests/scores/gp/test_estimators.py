"""Estimated log evidences against quadrature and against each other."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from dagora.scores.gp.additive import Additive, Derivatives
from dagora.scores.gp.asking import side_by_side
from dagora.scores.gp.bridge import bridge, meng_wong
from dagora.scores.gp.fit import Fitter
from dagora.scores.gp.nuts import sample
from dagora.scores.gp.qmc import GOAL, LEAST_SHARE, ROUNDS, GPMixture, GPProposal, estimate
from dagora.scores.gp.root import root_density, root_evidence
from dagora.scores.gp.score import GaussianProcessScore
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table
from tests.scores.gp.problems import dense_log_likelihood, wavy_columns


def score_of(columns, **options):
    return GaussianProcessScore(TableStatistics(continuous_table(columns)), **options)


def grid_evidence(columns, child, parent):
    """The integral over log ρ and log σ as a sum over a grid."""
    model = Additive(columns)
    scales, noises = np.arange(np.log(0.07), 5.0, 0.1), np.arange(-2.4, 1.6, 0.05)
    points = np.array([(a, b) for a in scales for b in noises])
    values = model.log_density(np.array([child]), np.array([[parent]]), points)
    return logsumexp(values) + np.log(0.1 * 0.05)


@pytest.mark.parametrize("rows", [3, 20, 500])
def test_a_root_is_integrated_exactly(rows):
    from scipy.integrate import quad

    y = np.random.default_rng(rows).normal(size=rows)
    y = (y - y.mean()) / y.std(ddof=1)
    found = root_evidence(rows, y.sum(), y @ y)
    top = root_density(rows, y.sum(), y @ y, np.linspace(-2, 2, 4001)).max()
    integral = quad(
        lambda t: np.exp(root_density(rows, y.sum(), y @ y, t) - top), -4, 12, points=[0.0], limit=500
    )
    assert found == pytest.approx(np.log(integral[0]) + top, abs=1e-6)
    # The likelihood itself is that of the full matrix.
    dense = dense_log_likelihood(y, np.empty((rows, 0)), (), 0.7)
    assert root_density(rows, y.sum(), y @ y, np.log([0.7]))[0] == pytest.approx(
        dense - 1 / 0.7 - np.log(0.7)
    )


@pytest.fixture(scope="module")
def columns():
    return wavy_columns(60)


@pytest.fixture(scope="module")
def scores(columns):
    """Scores by name; bases are made once."""
    return {
        "qmc": score_of(columns),
        "fine": score_of(columns, points=4096),
        "laplace": score_of(columns, estimator="laplace"),
    }


@pytest.mark.full
@pytest.mark.parametrize(("child", "parent"), [(4, 0), (4, 1), (0, 2), (2, 4)])
def test_one_parent_against_quadrature(columns, scores, child, parent):
    exact = grid_evidence(columns, child, parent)
    details = scores["qmc"].details((child, (parent,)))
    assert details.log_score == pytest.approx(exact, abs=0.015)
    assert details.standard_error < 0.05
    assert details.ess > 0.4 * details.points
    assert scores["fine"].details((child, (parent,))).log_score == pytest.approx(exact, abs=0.004)
    assert scores["laplace"].families([(child, (parent,))])[0] == pytest.approx(exact, abs=0.6)


@pytest.mark.full
@pytest.mark.parametrize("parents", [(0, 1), (0, 1, 2), (0, 1, 2, 3)])
def test_estimators_agree_on_several_parents(scores, parents):
    qmc, fine, laplace = (scores[name].details((4, parents)) for name in ("qmc", "fine", "laplace"))
    assert qmc.log_score == pytest.approx(fine.log_score, abs=0.07)
    assert abs(qmc.log_score - fine.log_score) < 4 * qmc.standard_error
    assert laplace.log_score == pytest.approx(fine.log_score, abs=1.2)
    assert np.isnan(laplace.standard_error)


@pytest.mark.full
def test_bridge_sampling_agrees():
    columns = wavy_columns(40)
    exact = score_of(columns, points=1024).details((4, (0,)))
    bridged = score_of(columns, estimator="bridge").details((4, (0,)))
    assert bridged.log_score == pytest.approx(exact.log_score, abs=max(0.06, 4 * bridged.standard_error))
    assert 0 < bridged.standard_error < 0.1


class Gaussian:
    """A known density: correlated, with evidence exp(3)."""

    precision = np.array([[2.0, 0.8], [0.8, 1.0]])
    constant = 3.0 - np.log(2 * np.pi) + 0.5 * np.log(np.linalg.det(precision))

    def log_density(self, children, parents, parameters):
        return self.constant - 0.5 * np.einsum("bi,ij,bj->b", parameters, self.precision, parameters)

    def derivatives(self, children, parents, parameters):
        values = self.log_density(children, parents, parameters)
        return Derivatives(values, -parameters @ self.precision, None)


def test_a_gaussian_has_its_evidence_by_every_way():
    from dagora.scores.gp.mode import Modes

    density = Gaussian()
    modes = Modes(np.zeros((1, 2)), np.array([density.constant]), 3 * np.eye(2)[None])
    bridged = bridge(density, np.array([0]), np.array([[1]]), modes)
    assert bridged.log_score == pytest.approx(3.0, abs=0.05)
    # A proposal in the wrong place and too narrow is widened by further rounds.
    poor = GPMixture(
        (GPProposal(np.array([1.5, -1.0]), 0.3 * np.eye(2), np.ones(2), np.ones(2)),), np.ones(1)
    )
    (found,) = side_by_side([estimate(poor, 256)], lambda _, points: density.log_density(None, None, points))
    assert found.points > 256
    assert found.log_score == pytest.approx(3.0, abs=0.1)


def test_rounds_go_on_until_the_error_is_small_and_points_enough_carry_weight():
    for scale, offset in product((0.1, 0.3, 1.0, 10.0), (0.0, 1.5)):
        part = GPProposal(np.full(2, offset), scale * np.eye(2), np.ones(2), np.ones(2))
        density = lambda _, points: Gaussian().log_density(None, None, points)  # noqa: E731
        (found,) = side_by_side([estimate(GPMixture((part,), np.ones(1)), 64)], density)
        good = found.standard_error <= GOAL and found.ess >= LEAST_SHARE * found.points
        assert good or found.points == 64 * 2 ** (ROUNDS - 1), (scale, offset)


@pytest.mark.full
def test_nuts_draws_from_the_density():
    density = Gaussian()

    def slopes(x):
        found = density.derivatives(None, None, x[None])
        return found.values[0], found.gradients[0]

    draws = sample(slopes, np.array([2.0, 2.0]), 2000, 300, np.random.default_rng(0))
    covariance = np.linalg.inv(density.precision)
    assert np.abs(draws.mean(axis=0)).max() < 0.15
    assert np.allclose(np.cov(draws.T), covariance, atol=0.25)


def test_meng_wong_of_two_samples():
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=2000), rng.normal(0.3, 1.2, size=2000)

    def ratio(x):
        return 2.0 - 0.5 * x**2 + 0.5 * ((x - 0.3) / 1.2) ** 2 + np.log(1.2)

    evidence = meng_wong(ratio(one), ratio(two))
    assert evidence.log_score == pytest.approx(2.0, abs=4 * evidence.standard_error)
    assert evidence.standard_error < 0.02


@pytest.mark.full
def test_a_wiggly_and_a_smooth_mode_are_both_found():
    rng = np.random.default_rng(2)
    x = np.sort(rng.normal(size=60))
    y = x + 0.5 * np.sin(9 * x) + 0.25 * rng.normal(size=60)
    columns = np.column_stack([x, y])
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0, ddof=1)
    fit = Fitter(Additive(columns)).fit(np.array([1]), np.array([[0]]))[0]
    assert score_of(columns).details((1, (0,))).log_score == pytest.approx(
        grid_evidence(columns, 1, 0), abs=0.03
    )
    assert (np.diff(fit.log_evidences) <= 0).all()
