"""The kernel with first-order interactions: density, derivatives and modes."""

import numpy as np
import pytest
from scipy.stats import invgamma

from dagora.scores.gp import interactions
from dagora.scores.gp.fit import Fitter
from dagora.scores.gp.interactions import Interactions
from dagora.scores.gp.laplace import laplace
from dagora.scores.gp.mode import climb
from dagora.scores.gp.score import MISSED, GaussianProcessScore
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table
from tests.scores.gp.problems import dense_interactions, standardised, wavy_columns

FAMILIES = [
    ((0,), (0.9,)),
    ((0, 1), (0.8, 3.0)),
    ((0, 1, 2), (2.0, 4.0, 1.1)),
    ((3, 0, 2, 1), (6.0, 2, 3, 2)),
]


def score_of(columns, **options):
    return GaussianProcessScore(TableStatistics(continuous_table(columns)), kernel="interactions", **options)


def random_points(rng, parents, number):
    """Points from wiggly to smooth, with amplitudes and noise as data have them."""
    amplitudes = 2 if parents > 1 else 1
    return np.column_stack(
        [
            rng.normal(0.8, 0.5, (number, parents)),
            rng.normal(-0.3, 0.7, (number, amplitudes)),
            rng.normal(-0.3, 0.3, number),
        ]
    )


def central(function, point, step):
    """Central differences of a function of one point, with the error of order step² taken out."""
    found = []
    for k in range(len(point)):
        one, two = np.zeros(len(point)), np.zeros(len(point))
        one[k], two[k] = step, 2 * step
        near = (function(point + one) - function(point - one)) / (2 * step)
        far = (function(point + two) - function(point - two)) / (4 * step)
        found.append((4 * near - far) / 3)
    return np.array(found)


def fine(monkeypatch):
    monkeypatch.setattr(interactions, "CUT", 1e-10)
    monkeypatch.setattr(interactions, "CUT_DERIVATIVES", 1e-10)


@pytest.fixture
def exact(monkeypatch):
    """Hardly any column is left out, so that differences see a smooth function."""
    fine(monkeypatch)


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize(("parents", "scales"), FAMILIES)
def test_log_density_is_that_of_the_full_matrix(published, parents, scales):
    columns = wavy_columns(200)
    taus = (1.7, 0.4)[: 2 if len(parents) > 1 else 1]
    point = np.log([*scales, *taus, 0.5])
    found = Interactions(columns, published=published).log_density(
        np.array([4]), np.array([parents]), point[None]
    )[0]
    first, second = taus[0], taus[-1]
    main, product = (first**2, second * first**4) if published else (first, second)
    prior = sum(invgamma(2, scale=2).logpdf(scale) + np.log(scale) for scale in scales)
    prior += sum(invgamma(1).logpdf(tau) + np.log(tau) for tau in (*taus, 0.5))
    dense = dense_interactions(columns[:, 4], columns[:, list(parents)], scales, main, product, 0.5)
    assert found == pytest.approx(dense + prior, abs=5e-4)


@pytest.mark.parametrize("rows", [30, 150])
@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("parents", [(0,), (0, 1), (2, 0, 3)])
def test_derivatives_are_those_of_the_density(exact, rows, published, parents):
    # Few rows are computed with the full matrix, more with the columns of the factor.
    columns = wavy_columns(rows)
    model = Interactions(columns, published=published)
    child, family = np.array([4]), np.array([parents])
    for point in random_points(np.random.default_rng(len(parents)), len(parents), 3):
        found = model.derivatives(child, family, point[None])
        value = model.log_density(child, family, point[None])[0]
        assert found.values[0] == pytest.approx(value, abs=1e-6)
        slope = central(lambda x: model.log_density(child, family, x[None])[0], point, 2e-3)
        assert found.gradients[0] == pytest.approx(slope, rel=1e-5, abs=1e-5 * np.abs(slope).max() + 1e-6)
        bend = central(lambda x: model.derivatives(child, family, x[None]).gradients[0], point, 2e-3)
        assert found.hessians[0] == pytest.approx(bend, abs=1e-4 * np.abs(bend).max())
        assert np.array_equal(found.hessians[0], found.hessians[0].T)


@pytest.mark.parametrize("parents", [(0,), (0, 1), (0, 1, 2)])
def test_what_is_left_out_is_little(parents):
    columns = wavy_columns(300)
    rng = np.random.default_rng(7)
    model = Interactions(columns)
    points = random_points(rng, len(parents), 8)
    children, families = np.full(8, 4), np.tile(parents, (8, 1))
    rough = model.derivatives(children, families, points)
    values = model.log_density(children, families, points)
    with pytest.MonkeyPatch.context() as patch:
        fine(patch)
        whole = model.derivatives(children, families, points)
    assert rough.values == pytest.approx(whole.values, abs=2e-5)
    assert values == pytest.approx(whole.values, abs=5e-4)
    assert rough.gradients == pytest.approx(whole.gradients, abs=2e-3)
    assert rough.hessians == pytest.approx(whole.hessians, rel=1e-3, abs=1e-2)


def test_points_far_out_have_no_density_and_do_no_harm():
    model = Interactions(wavy_columns(60), published=True)
    child, family = np.array([4]), np.array([[0, 1]])
    usual = np.log([2.0, 2.0, 0.6, 0.5, 0.6])
    far = np.array([[-9.0, 0, 0, 0, 0], [0, 0, 30.0, 0, 0], [0, 0, 0, -30.0, 0], [0, 0, 0, 0, -20.0]])
    points = np.vstack([usual, usual + far])
    assert np.isfinite(model.log_density(child, family, points)).tolist() == [True] + [False] * 4
    found = model.derivatives(np.repeat(child, 5), np.repeat(family, 5, axis=0), points)
    assert np.isfinite(found.values).tolist() == [True] + [False] * 4
    assert np.isfinite(found.gradients).all()
    # Amplitudes at which rounding swamps the noise: low, or none, but never an error.
    extreme = usual + np.array([[0, 0, a, b, c] for a in (-20, 15, 24) for b in (-20, 20) for c in (-5, 2)])
    values = model.log_density(child, family, extreme)
    usually = model.log_density(child, family, usual[None])[0]
    assert not np.isnan(values).any()
    assert (values < usually).all()


def test_a_family_that_only_interacts_is_seen_by_this_kernel_only():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 3))
    x[:, 2] = x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=40)
    families = [(2, (0, 1)), (2, ())]
    columns = standardised(x)
    additive = GaussianProcessScore(TableStatistics(continuous_table(columns))).families(families)
    joint = score_of(columns)
    both, none = joint.families(families)
    assert none == additive[1]
    assert both > additive[0] + 10
    assert joint.details(families[0]).standard_error < 0.1


def test_odd_but_legal_columns_get_finite_scores():
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    columns = np.column_stack([x, 2 * x + 1, rng.integers(0, 2, 40), np.where(np.arange(40) == 7, 1e6, x)])
    for published in (False, True):
        score = score_of(columns, estimator="laplace", published=published)
        values = score.families([(1, (0,)), (2, (0, 1)), (0, (2,)), (3, (0,)), (0, (3, 2, 1))])
        assert np.isfinite(values).all()
        assert values[0] > score.families([(1, ())])[0] + 20
    assert np.isfinite(score_of(np.eye(3)).families([(0, (1,)), (0, (1, 2))])).all()


@pytest.fixture(scope="module")
def sachs(data_dir):
    rows = np.genfromtxt(data_dir / "sachs" / "sachs_observational.csv.gz", delimiter=",", skip_header=1)
    return standardised(np.log2(rows + 0.5))


def test_laplace_agrees_with_integration_and_no_mode_is_missed(sachs):
    # The first two have several modes; one start alone misses the best of the second.
    families = [(6, (3, 7)), (8, (4, 7)), (9, (0, 3, 4))]
    quick = score_of(sachs, estimator="laplace")
    fitter = quick._fitter
    for child, parents in families:
        children, several = np.array([child]), np.array([parents])
        fit = fitter.fit(children, several)[0]
        details = score_of_fitted(sachs, fitter).details((child, parents))
        assert details.standard_error < 0.06
        assert fit.log_evidences[0] == pytest.approx(details.log_score, abs=0.8)
        points = random_points(np.random.default_rng(child), len(parents), 3)

        def ask(which, x, children=children, several=several):
            return fitter.model.derivatives(children.repeat(len(x)), several.repeat(len(x), axis=0), x)

        ends = climb(ask, points)
        assert laplace(ends).max() < fit.log_evidences[0] + 0.05
        assert fitter.model.log_density(children, several, points).max() < fit.modes.values.max() + MISSED


def score_of_fitted(columns, fitter):
    """A score by qmc that shares what another has computed."""
    score = score_of(columns)
    score._fitter = fitter
    return score


def test_climbs_end_where_the_gradient_vanishes():
    columns = wavy_columns(120)
    fit = Fitter(Interactions(columns)).fit(np.array([4]), np.array([[0, 1, 2]]))[0]
    found = Interactions(columns).derivatives(np.array([4]), np.array([[0, 1, 2]]), fit.modes.points[:1])
    assert found.gradients[0] == pytest.approx(0, abs=0.05)
    assert np.linalg.eigvalsh(fit.modes.precisions[0])[0] > 0


@pytest.mark.parametrize("parents", [(0, 1), (0, 1, 2)])
def test_a_wiggly_interaction_without_main_effects_is_found(parents):
    # From long length-scales, and from the parents alone, no climb leads there.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(250, 4))
    x[:, 3] = np.sin(4 * x[:, 0]) * np.cos(4 * x[:, 1]) + 0.2 * rng.normal(size=250)
    columns = standardised(x)
    fit = Fitter(Interactions(columns)).fit(np.array([3]), np.array([parents]))[0]
    assert np.exp(fit.modes.points[0, :2]).max() < 0.8
    assert fit.log_evidences[0] > score_of(columns).families([(3, ())])[0] + 30
