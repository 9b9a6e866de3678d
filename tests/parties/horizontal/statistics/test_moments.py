"""Moments over sites against exact ones, whatever the sizes of means and deviations."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagora
from dagora.data.partition import split_rows
from dagora.federated import learn_federated
from dagora.parties.horizontal.statistics.moments import ask_moments, ask_size_and_orders
from dagora.parties.horizontal.tasks import TASKS
from tests.parties.horizontal.federations import Recording
from tests.random_tables import continuous_table

MEANS = (0.0, 1e-9, -52.5, 1e4, 1e9)
DEVIATIONS = tuple(10.0**exponent for exponent in range(-9, 10, 3))


def related(rows, count, seed=0):
    """Columns of mean 0 and deviation 1 that have something in common."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(rows, count)) + rng.normal(size=(rows, 1))
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


def asked(table, parties):
    """Moments by sums in fixed point, and which sums these were."""
    federation = Recording(split_rows(table, parties, seed=1), TASKS)
    moments = ask_moments(federation, *ask_size_and_orders(federation))
    return moments, [task for task, _ in federation.asked]


def exact(table):
    """Mean and scatter in numbers of 64 bits' precision, centred twice."""
    rows = np.column_stack(table.columns).astype(np.longdouble)
    mean = rows.mean(axis=0)
    centred = rows - mean
    centred -= centred.mean(axis=0)
    return mean, centred.T @ centred


def check(moments, table):
    mean, scatter = exact(table)
    spread = np.sqrt(np.diag(scatter))
    varies = spread > 0
    largest = np.abs(np.column_stack(table.columns)).max(axis=0)
    assert (np.abs(moments.mean - mean) <= 1e-15 * largest).all()
    size = np.where(varies, spread, 1.0)
    ours, truth = (matrix / np.outer(size, size) for matrix in (moments.scatter, scatter))
    assert np.asarray(ours[np.ix_(varies, varies)], dtype=float) == pytest.approx(
        np.asarray(truth[np.ix_(varies, varies)], dtype=float), abs=1e-9
    )
    # What is constant has a deviation of rounding, if any.
    assert (np.sqrt(np.diag(moments.scatter))[~varies] <= 1e-15 * largest[~varies]).all()


@pytest.mark.parametrize("parties", [1, 4, 64])
def test_moments_are_right_over_many_magnitudes(parties):
    pairs = list(itertools.product(MEANS, DEVIATIONS))
    shape = np.array(pairs).T
    table = continuous_table(shape[0] + shape[1] * related(500, len(pairs)))
    moments, _ = asked(table, parties)
    check(moments, table)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-1e12, 1e12), st.floats(-18.0, 12.0), st.sampled_from([-1.0, 1.0])),
        min_size=1,
        max_size=4,
    ),
    st.integers(2, 300),
    st.integers(1, 9),
    st.integers(0, 1 << 20),
)
def test_moments_are_right_wherever_columns_lie(columns, rows, parties, seed):
    means, exponents, signs = np.array(columns).T
    table = continuous_table(means + signs * 10.0**exponents * related(rows, len(columns), seed))
    moments, _ = asked(table, min(parties, rows))
    check(moments, table)


def test_one_value_in_the_last_digit():
    """The least that a column can vary, beside one that does not, and one that the pooled mean rounds."""
    rows = np.tile([52.5, 7.0, 0.1], (1000, 1))
    rows[3, 0] = np.nextafter(52.5, 60)
    table = continuous_table(rows)
    moments, _ = asked(table, 5)
    check(moments, table)
    assert moments.scatter[0, 0] > 0
    assert moments.scatter[1, 1] == 0


def test_only_narrow_columns_cost_another_round():
    rows = related(300, 3)
    usual = ["size-and-orders", "sums", "squares", "products"]
    assert asked(continuous_table(rows + np.array([0.0, 100.0, -5.0])), 4)[1] == usual
    narrow = continuous_table(rows * [1.0, 1e-7, 1.0] + 52.5)
    assert asked(narrow, 4)[1] == [*usual[:2], "squares", *usual[2:]]
    constant = continuous_table(rows * [1.0, 0.0, 1.0] + 52.5)
    assert len(asked(constant, 4)[1]) <= len(usual) + 3


def test_sizes_at_the_ends_of_the_doubles():
    table = continuous_table(related(100, 2) * [1e-150, 1e150] + [1e-145, 1e152])
    moments, _ = asked(table, 3)
    check(moments, table)
    tiny = continuous_table([[0.0, 5e-324], [1e-310, 5e-324], [2e-310, 5e-324]])
    moments, _ = asked(tiny, 3)
    assert np.isfinite(moments.scatter).all()
    assert moments.mean == pytest.approx([1e-310, 5e-324], rel=1e-9)


def test_narrow_columns_give_the_pooled_graph_over_secure_sums():
    """Coordinates of one town: degrees that differ in the sixth digit after the point."""
    common, other, third = np.random.default_rng(0).normal(size=(3, 1000))
    rows = [52.5 + 1e-6 * common, 13.4 + 1e-6 * (common + other), common + other + third]
    table = continuous_table(np.column_stack(rows))
    sites = {f"s{k}": part for k, part in enumerate(split_rows(table, 4, seed=0))}
    pooled = dagora.learn(table)
    over_sites = learn_federated(sites)
    assert over_sites.graph == pooled.graph
    assert over_sites.score == pytest.approx(pooled.score, rel=1e-9)
