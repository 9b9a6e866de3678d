"""Gaussian scores against least squares and against the normal-Wishart predictive distribution."""

import math
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_t

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.partition import split_rows
from dagora.graph.dag import DAG
from dagora.scores import bic_gaussian
from dagora.scores.gaussian import FlatFamilies, family_pivots
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table, random_continuous

NAMES = ["bic-gaussian", "bge"]


def make(name, rows, **options):
    return score_named(name).make(TableStatistics(continuous_table(rows)), **options)


def regression_bic(rows, child, parents, penalty=1.0):
    m = len(rows)
    design = np.column_stack([np.ones(m), *(rows[:, p] for p in parents)])
    coefficients = np.linalg.lstsq(design, rows[:, child], rcond=None)[0]
    variance = np.mean((rows[:, child] - design @ coefficients) ** 2)
    likelihood = sum(
        -0.5 * math.log(2 * math.pi * variance) - residual**2 / (2 * variance)
        for residual in rows[:, child] - design @ coefficients
    )
    return likelihood - penalty * math.log(m) / 2 * (len(parents) + 2)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(10, 80), st.sampled_from([0.0, 5.0, 1e6]))
def test_gaussian_bic_equals_least_squares(seed, d, n, offset):
    rng = np.random.default_rng(seed)
    rows = np.stack(random_continuous(rng, n, d).columns, axis=1) * 10.0 ** rng.integers(-3, 4, d)
    shifted = rows + offset * rows.std(axis=0)
    families = [(int(o[0]), tuple(int(i) for i in o[1:])) for o in (rng.permutation(d) for _ in range(6))]
    families += [(child, parents[:1]) for child, parents in families] + [(0, ())]
    expected = [regression_bic(rows, child, parents) for child, parents in families]
    np.testing.assert_allclose(
        make("bic-gaussian", shifted).families(families), expected, rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("penalty", [0.2, 3.0])
def test_a_penalty_is_a_factor_on_the_price_of_gaussian_bic(penalty):
    rows = np.stack(random_continuous(np.random.default_rng(3), 40, 4).columns, axis=1)
    families = [(0, ()), (1, (0,)), (3, (0, 1, 2))]
    expected = [regression_bic(rows, child, parents, penalty) for child, parents in families]
    np.testing.assert_allclose(
        make("bic-gaussian", rows, penalty=penalty).families(families), expected, rtol=1e-9
    )


def log_marginal(rows, columns, d, alpha_mu, alpha_w, prior_scale="columns"):
    """Marginal likelihood of some columns, row by row: each is t-distributed given those before it.

    Normal-Wishart: mean ν = sample mean with weight alpha_mu, scale matrix t times the variances of the
    columns or times 1; a block of l columns has alpha_w − d + l degrees of freedom.
    """
    size = len(columns)
    block = rows[:, list(columns)]
    t = alpha_mu * (alpha_w - d - 1) / (alpha_mu + 1)
    variances = block.var(axis=0, ddof=1) if prior_scale == "columns" else np.ones(size)
    mean, weight, freedom, scale = block.mean(axis=0), alpha_mu, alpha_w - d + size, t * np.diag(variances)
    total = 0.0
    for row in block:
        dof = freedom - size + 1
        total += multivariate_t.logpdf(row, mean, scale * (weight + 1) / (weight * dof), df=dof)
        scale = scale + weight / (weight + 1) * np.outer(row - mean, row - mean)
        mean = (weight * mean + row) / (weight + 1)
        weight, freedom = weight + 1, freedom + 1
    return float(total)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha_mu": 0.3},
        {"prior_scale": "unit"},
        {"alpha_mu": 2.5, "alpha_w": 11.0, "prior_scale": "unit"},
    ],
)
def test_bge_of_complete_graphs_is_the_marginal_likelihood(d, options):
    rng = np.random.default_rng(d)
    rows = np.stack(random_continuous(rng, 25, d).columns, axis=1) * 3 + 7
    alpha_mu = options.get("alpha_mu", 1.0)
    alpha_w = options.get("alpha_w", d + alpha_mu + 1)
    expected = log_marginal(rows, range(d), d, alpha_mu, alpha_w, options.get("prior_scale", "columns"))
    score = make("bge", rows, **options)
    for order in permutations(range(d)):
        families = [(child, order[:position]) for position, child in enumerate(order)]
        assert score.families(families).sum() == pytest.approx(expected, rel=1e-10)


def test_bge_of_a_family_is_a_ratio_of_marginal_likelihoods():
    d = 4
    rows = np.stack(random_continuous(np.random.default_rng(9), 30, d).columns, axis=1) * [1, 50, 0.2, 7]
    score = make("bge", rows)
    for size in range(d):
        for parents in combinations(range(d), size):
            below = log_marginal(rows, parents, d, 1.0, d + 2.0) if parents else 0.0
            for child in set(range(d)) - set(parents):
                expected = log_marginal(rows, (*parents, child), d, 1.0, d + 2.0) - below
                assert score.families([(child, parents)])[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_order_of_parents_and_of_the_batch_does_not_matter(name):
    rng = np.random.default_rng(3)
    d = 6
    rows = np.stack(random_continuous(rng, 60, d).columns, axis=1)
    score = make(name, rows)
    families = [(5, order) for order in permutations(range(4))]
    np.testing.assert_allclose(score.families(families), score.families(families)[0], rtol=1e-9)
    # A kernel that reuses the factor of the family before must not depend on what that was.
    mixed = []
    for _ in range(60):
        order = [int(i) for i in rng.permutation(d)]
        mixed.append((order[0], tuple(order[1 : rng.integers(1, d + 1)])))
    mixed += [
        (3, (0, 1, 2)),
        (4, (5,)),
        (3, (5, 4, 2)),
        (5, (0, 1, 2)),
        (5, (0, 1)),
        (5, (0, 1, 2, 3)),
        (1, (0, 5)),
        (5, (0, 1)),
        (5, ()),
        (5, (0, 1)),
    ]
    np.testing.assert_array_equal(score.families(mixed), [score.families([f])[0] for f in mixed])


def test_pivots_equal_determinants():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 7))
    matrix = root @ root.T
    for child, parents in ((0, ()), (1, (0,)), (4, (2, 0)), (3, (0, 1, 2, 4))):
        families = FlatFamilies.of([(child, parents)])
        logs, residuals = family_pivots(matrix, families)
        block = matrix[np.ix_(parents, parents)]
        whole = matrix[np.ix_((*parents, child), (*parents, child))]
        assert families.sizes.tolist() == [len(parents)]
        assert logs[0] == pytest.approx(np.linalg.slogdet(block)[1] if parents else 0.0)
        assert residuals[0] == pytest.approx(
            np.linalg.det(whole) / (np.linalg.det(block) if parents else 1.0)
        )


def test_gaussian_bic_says_nothing_where_the_fit_is_perfect():
    rng = np.random.default_rng(2)
    for n in (3, 4, 6):
        score = make("bic-gaussian", rng.normal(size=(n, 7)))
        for size in range(7):
            value = score.families([(6, tuple(range(size)))])[0]
            assert (value == -math.inf) == (n <= size + 1), (n, size)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_collinear_columns_get_finite_scores_that_all_orders_agree_on(name, scale):
    rng = np.random.default_rng(4)
    z = rng.normal(size=200) * scale
    rows = np.column_stack([z, z, z / scale + rng.normal(size=200), 2 * z])
    score = make(name, rows)
    totals = [
        score.families([(child, order[:position]) for position, child in enumerate(order)]).sum()
        for order in permutations(range(4))
    ]
    assert np.isfinite(totals).all()
    np.testing.assert_allclose(totals, totals[0], rtol=1e-9)


def test_a_second_copy_of_a_parent_only_costs():
    rng = np.random.default_rng(5)
    z = rng.normal(size=100)
    score = make("bic-gaussian", np.column_stack([z, z, z + rng.normal(size=100)]))
    one, both = score.families([(2, (0,)), (2, (0, 1))])
    # Two copies, each with its own little noise, are better by a hair than one.
    assert one - both == pytest.approx(math.log(100) / 2, abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 + 0.1, -3e-20])
def test_constant_columns_are_refused_by_name(name, value):
    rows = np.column_stack([np.random.default_rng(0).normal(size=1001), np.full(1001, value)])
    with pytest.raises(DataError, match="'x1' is constant"):
        make(name, rows)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_small_and_large_columns_are_not_constant(name, scale):
    rows = np.random.default_rng(0).normal(size=(50, 2)) * scale + scale
    assert np.isfinite(make(name, rows).families([(0, ()), (1, (0,))])).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 200), st.sampled_from(NAMES))
def test_units_add_a_constant_per_child_and_nothing_else(seed, n, name):
    """Column j times u_j: a density of n rows falls by n ln u_j, whatever the parents."""
    rng = np.random.default_rng(seed)
    rows = np.stack(random_continuous(rng, n, 4).columns, axis=1)
    units = 10.0 ** rng.uniform(-12, 12, 4)
    shift = rng.normal(size=4)
    families = [(child, p) for child in range(4) for p in subsets(set(range(4)) - {child}) if len(p) + 1 < n]
    moved = make(name, (rows + shift) * units).families(families)
    moved += n * np.log(units[[child for child, _ in families]])
    np.testing.assert_allclose(moved, make(name, rows).families(families), rtol=1e-8, atol=1e-9 * n)


def subsets(items):
    return [chosen for size in range(len(items) + 1) for chosen in combinations(sorted(items), size)]


def test_the_prior_on_a_unit_scale_depends_on_units():
    rows = np.stack(random_continuous(np.random.default_rng(8), 60, 3).columns, axis=1)
    families = [(2, ()), (2, (0,))]
    gains = [
        np.diff(make("bge", rows * unit, prior_scale="unit").families(families))[0] for unit in (1.0, 1e3)
    ]
    assert abs(gains[0] - gains[1]) > 1


def test_both_scales_of_the_prior_agree_on_standardised_columns():
    rows = np.stack(random_continuous(np.random.default_rng(8), 60, 4).columns, axis=1)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    families = [(0, ()), (2, (0,)), (3, (0, 1, 2))]
    np.testing.assert_allclose(
        make("bge", rows).families(families),
        make("bge", rows, prior_scale="unit").families(families),
        rtol=1e-12,
    )


@pytest.mark.parametrize("name", NAMES)
def test_discrete_columns_are_refused_by_name(name):
    with pytest.raises(DataError, match=f"{name} needs continuous columns, but 'x0' is discrete"):
        score_named(name).make(TableStatistics(discrete_table([[0, 1]], [2])))


@pytest.mark.parametrize("name", NAMES)
def test_no_families(name):
    assert make(name, np.eye(3)).families([]).shape == (0,)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"alpha_mu": 0.0}, "alpha_mu"),
        ({"alpha_mu": math.inf}, "alpha_mu"),
        ({"alpha_w": 4.0}, "alpha_w"),
        ({"alpha_w": math.inf}, "alpha_w"),
        ({"alpha_w": "5"}, "alpha_w"),
        ({"prior_scale": "raw"}, "prior_scale"),
    ],
)
def test_priors_out_of_range(options, word):
    with pytest.raises(OptionError, match=word):
        make("bge", np.eye(3), **options)


def with_a_total(rows=300, seed=0):
    """Three parts of different sizes, their weighted sum, and a column apart."""
    rng = np.random.default_rng(seed)
    a, b, c, other = rng.normal(size=(4, rows))
    return {"a": a, "b": 30 * b + 5, "other": other, "c": c, "total": a + 30 * b + 5 + 2 * c}


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_a_sum_has_its_parts_as_parents_in_any_order_of_columns():
    """Rounding of residuals made a collider of two of the parts."""
    table = with_a_total()
    for order in list(permutations(table))[::17]:
        found = dagora.learn({name: table[name] for name in order}, "dynamic").cpdag
        assert set(found.edges) == {("a", "total"), ("b", "total"), ("c", "total")}


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.4])
@pytest.mark.parametrize("levels", [False, True])
def test_columns_that_add_up_are_named_with_holes_and_beside_levels(share, levels):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(with_a_total(2000))
    nearly = table.assign(total=table["total"] + rng.normal(size=2000) / 3)
    for data, expected in ((table, 1), (nearly, 0)):
        holed = data.mask(rng.random(data.shape) < share)
        if levels:
            holed["group"] = np.where(data["other"] + rng.normal(size=2000) > 0, "u", "v")
        told = [
            line
            for line in dagora.learn(holed, "hill-climb", em_rounds=0).warnings
            if "linearly dependent" in line
        ]
        assert len(told) == expected
        assert all(f"'{name}'" in line for name in ("a", "b", "c", "total") for line in told)
        assert not any("'other'" in line for line in told)


@pytest.mark.full
def test_columns_that_add_up_are_named_and_bge_is_settled_on_them():
    table = with_a_total()
    for learned in (table, dict(reversed(table.items()))):
        with pytest.warns(match="columns are linearly dependent") as caught:
            dagora.learn(learned, "hill-climb")
        (line,) = [str(w.message) for w in caught if "linearly dependent" in str(w.message)]
        assert all(f"'{name}'" in line for name in ("a", "b", "c", "total"))
        assert "'other'" not in line
    exact = dagora.learn(table, "hill-climb", score="bge")
    assert not [line for line in exact.warnings if "linearly dependent" in line]
    orders = [order for order in permutations(table) if order[0] == "other"]
    full = [DAG(list(table), list(combinations(order, 2))) for order in orders]
    for score in ("bge", "bic-gaussian"):
        totals = [dagora.score(table, graph, score) for graph in full]
        np.testing.assert_allclose(totals, totals[0], rtol=1e-9)
    parts = split_rows(dagora.Table.from_frame(pd.DataFrame(table)), 3, seed=0)
    over = dagora.learn_federated({f"s{k}": part for k, part in enumerate(parts)}, "hill-climb")
    assert any("columns are linearly dependent" in line for line in over.warnings)
    nearly = {**table, "total": table["total"] + np.random.default_rng(1).normal(size=300) / 10}
    assert not any("linearly dependent" in line for line in dagora.learn(nearly, "hill-climb").warnings)


@pytest.mark.parametrize("collinear", [False, True])
def test_bounds_of_many_columns_hold_and_are_as_tight(monkeypatch, collinear):
    """From one inverse, where a regression for each column takes long."""
    rows = np.random.default_rng(3).normal(size=(60, 9)) @ np.random.default_rng(4).normal(size=(9, 9))
    if collinear:
        rows[:, 8] = rows[:, 0] + rows[:, 1]
    made = make("bic-gaussian", rows)
    allowed = ~np.eye(9, dtype=np.bool_)
    exact = made.likelihood_bounds(allowed)
    monkeypatch.setattr(bic_gaussian, "WIDE", 8)
    bounds = made.likelihood_bounds(allowed)
    assert (bounds >= exact).all()
    assert collinear or bounds == pytest.approx(exact, abs=1e-5)
    allowed[:4, 8] = False
    assert made.likelihood_bounds(allowed).tolist() == bounds.tolist(), "more parents fit no worse"
    assert np.isinf(make("bic-gaussian", rows[:9]).likelihood_bounds(allowed)[:8]).all()
