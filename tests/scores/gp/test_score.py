"""The score as a whole: promises that do not depend on how it is computed."""

from itertools import combinations

import numpy as np
import pytest

from dagora.base.budget import OutOfTimeError
from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.scores.gp.fit import Fitter, GPFit
from dagora.scores.gp.mode import Modes
from dagora.scores.gp.score import PUBLISHED_KERNEL, GaussianProcessScore
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table
from tests.scores.gp.problems import wavy_columns

FAMILIES = [(4, (0,)), (4, (0, 1)), (0, ()), (3, (4, 0)), (4, (2, 1, 0))]


def score_of(columns, **options):
    return GaussianProcessScore(TableStatistics(continuous_table(columns)), **options)


@pytest.fixture(scope="module")
def columns():
    return wavy_columns(40)


@pytest.fixture(scope="module")
def score(columns):
    """One score, whose families are known after the first test that asks for them."""
    return score_of(columns)


@pytest.mark.full
def test_scores_do_not_depend_on_order_shift_or_scale(columns, score):
    plain = score.families(FAMILIES)
    scaled = score_of(columns * [1e-6, 3.0, 1e5, -2.0, 7.0] + [1e3, 0.0, 5.0, -1.0, 2.0]).families(FAMILIES)
    assert scaled == pytest.approx(plain, abs=2e-3)
    turned = score.families([(child, parents[::-1]) for child, parents in FAMILIES])
    assert np.array_equal(turned, plain)
    order = [3, 0, 4, 2, 1]
    moved = score_of(columns[:, order]).families(
        [(order.index(child), [order.index(k) for k in parents]) for child, parents in FAMILIES]
    )
    # The importance points fall on other axes: equal up to the error of the integration.
    assert moved == pytest.approx(plain, abs=0.06)


@pytest.mark.full
def test_the_same_family_gives_the_same_number(columns, score):
    one, other = score, score_of(columns)
    assert np.array_equal(one.families(FAMILIES), other.families(FAMILIES))
    assert np.array_equal(one.families(FAMILIES[::-1])[::-1], other.families(FAMILIES))
    # Alone, in a block or among others: the same up to rounding.
    alone = score_of(columns)
    for family, value in zip(FAMILIES, one.families(FAMILIES), strict=True):
        assert alone.details(family).log_score == pytest.approx(value, abs=1e-6)
    heard = []
    block = score_of(columns).block(
        np.array([4, 3]), np.array([[0, 1], [0, 4]]), lambda done, total: heard.append((done, total))
    )
    assert block == pytest.approx(one.families([(4, (0, 1)), (3, (0, 4))]), abs=1e-6)
    assert heard[-1] == (2, 2)


@pytest.mark.full
@pytest.mark.parametrize("options", [{"estimator": "laplace"}, {"points": 32}])
def test_any_number_of_threads_gives_the_same_numbers(columns, options):
    nodes = range(columns.shape[1])
    families = [(x, some) for x in nodes for k in (0, 1, 2) for some in combinations(set(nodes) - {x}, k)]
    table = continuous_table(columns)
    found = [
        GaussianProcessScore(TableStatistics(table, jobs), **options).families(families)
        for jobs in (1, 2, 16)
    ]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_threads_that_nobody_waits_for_any_more_leave_the_rest(columns):
    score = GaussianProcessScore(TableStatistics(continuous_table(columns), 2), estimator="laplace")
    families = [(x, (y,)) for x in range(5) for y in range(5) if x != y]
    heard = []

    def watch(done, total):
        heard.append(done)
        if done:
            raise OutOfTimeError

    with pytest.raises(OutOfTimeError):
        score.block(np.array([x for x, _ in families]), np.array([y for _, y in families]), watch)
    assert heard[-1] == len(score._known) == 8
    assert len(score.families(families)) == 20


def test_true_causes_beat_none_and_noise_does_not():
    score = score_of(wavy_columns(150))
    none, cause, noise = score.families([(4, ()), (4, (0,)), (0, (1,))])
    assert cause > none + 10
    assert noise < score.families([(0, ())])[0]


@pytest.mark.full
def test_near_score_equivalence_on_linear_data():
    """Linear-Gaussian data (section 3.2): both directions of an edge score nearly alike; non-linear data: not."""
    rng = np.random.default_rng(8)
    gaps = []
    for _ in range(4):
        x = rng.normal(size=100)
        linear = score_of(np.column_stack([x, rng.choice([-1, 1]) * x + rng.normal(size=100)]))
        forward, backward = linear.families([(1, (0,)), (0, (1,))])
        gaps.append(abs(forward - backward))
    assert max(gaps) < 2.0
    curved = score_of(np.column_stack([x, x**2 + 0.5 * rng.normal(size=100)]))
    forward, backward = curved.families([(1, (0,)), (0, (1,))])
    assert forward > backward + 20


def test_odd_but_legal_columns_get_finite_scores():
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    columns = np.column_stack([x, 2 * x + 1, rng.integers(0, 2, 40), np.where(np.arange(40) == 7, 1e6, x)])
    for estimator in ("laplace", "qmc"):
        score = score_of(columns, estimator=estimator)
        values = score.families([(1, (0,)), (2, (0, 1)), (0, (2,)), (3, (0,)), (0, (3, 2, 1))])
        assert np.isfinite(values).all()
        # A copy explains everything.
        assert values[0] > score.families([(1, ())])[0] + 20
    three = score_of(np.eye(3)[:, :2])
    assert np.isfinite(three.families([(0, ()), (0, (1,))])).all()


def test_bad_input_is_one_clear_line():
    with pytest.raises(DataError, match="the score gp needs at least 3 rows, but there are 2"):
        score_of(np.array([[0.0, 1.0], [1.0, 3.0]]))
    with pytest.raises(DataError, match="'x1' is constant"):
        score_of(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]))
    for options in ({"estimator": "magic"}, {"kernel": "linear"}, {"points": 3}):
        with pytest.raises(OptionError, match=next(reversed(options))):
            score_of(wavy_columns(20), **options)

    class Secret(TableStatistics):
        def rows(self):
            raise RowsUnavailableError("the rows stay with their owners")

    with pytest.raises(RowsUnavailableError, match="stay with their owners"):
        GaussianProcessScore(Secret(continuous_table(wavy_columns(20))))


def test_the_registry_makes_both():
    statistics = TableStatistics(continuous_table(wavy_columns(30)))
    one = score_named("gp").make(statistics, estimator="laplace")
    two = score_named("gp2").make(statistics, estimator="laplace", published=True)
    assert (one.capabilities.messages(), two.capabilities.messages()) == ([], [PUBLISHED_KERNEL])
    assert one.families([(4, ())]) == two.families([(4, ())])
    assert one.families([(4, (0,))]) != two.families([(4, (0,))])


@pytest.mark.full
def test_the_cost_does_not_grow_with_the_rows():
    """What a family's evaluation touches has the same size for 300 and for 3 000 rows, nearly."""
    ranks = []
    for rows in (200, 2_000):
        columns = wavy_columns(rows)
        score = score_of(columns, estimator="laplace")
        assert score.details((4, (0, 1))).mode[0] > 0.3
        ranks.append(score._fitter.model.level(6).rank)
    assert ranks[1] < 1.6 * ranks[0]


def test_a_mode_that_the_climbs_missed_is_found_by_the_points(columns, score, monkeypatch):
    """The fit is moved off its mode; the points of the importance sampling see a higher density and climb again."""
    family = (4, (0, 1))
    expected = score.details(family)
    fit = Fitter.fit

    def off_the_mode(self, children, parents):
        found = fit(self, children, parents)
        points = [each.modes.points[:1] + 0.6 for each in found]
        values = [self.model.log_density(children, parents, point) for point in points]
        return [
            GPFit(Modes(point, value, each.modes.precisions[:1]), each.log_evidences[:1])
            for each, point, value in zip(found, points, values, strict=True)
        ]

    monkeypatch.setattr(Fitter, "fit", off_the_mode)
    found = score_of(columns).details(family)
    assert found.mode == pytest.approx(expected.mode, rel=1e-2)
    assert found.log_score == pytest.approx(expected.log_score, abs=0.06)


def test_loaded_results_are_all_that_were_exported(columns, score):
    score.families(FAMILIES)
    exported = score.capabilities.storage.export()
    assert len(exported["pairs"]) >= 4, "the modes of pairs, from which larger families climb"
    again = score_of(columns).capabilities.storage
    assert again.load(exported) == len(exported["children"])
    for name, array in again.export().items():
        np.testing.assert_array_equal(array, exported[name])
