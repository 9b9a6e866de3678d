"""Rows with holes: their log-likelihood is that of what was seen, whatever would stand in the holes."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from dagora.base.errors import DagoraError
from dagora.data.incomplete import IncompleteTable
from dagora.network.likelihood import log_likelihood, log_likelihoods
from dagora.network.sample import sample_network
from tests.network.inference.random_networks import (
    given,
    joint_array,
    random_discrete,
    random_gaussian,
    random_mixed,
)
from tests.network.inference.test_exact_answers import enumerated
from tests.network.network_oracles import implied_normal


@dataclass
class WithHoles:
    """A table whose cells were seen or not."""

    schema: object
    columns: tuple
    seen: np.ndarray


def with_holes(network, seed, rows=30):
    table = sample_network(network, rows, seed)
    rng = np.random.default_rng(seed)
    seen = rng.random((len(table.columns), rows)) < 0.6
    seen[:, 0], seen[:, 1] = True, False
    return WithHoles(table.schema, table.columns, seen)


def seen_in(network, table, row):
    return {name: table.columns[i][row].item() for i, name in enumerate(network.graph) if table.seen[i, row]}


@pytest.mark.parametrize("seed", range(10))
def test_discrete_rows(seed):
    network = random_discrete(6, seed)
    table = with_holes(network, seed)
    joint = joint_array(network)
    expected = [np.log(given(network, joint, seen_in(network, table, row)).sum()) for row in range(30)]
    np.testing.assert_allclose(log_likelihoods(network, table), expected, atol=1e-10)
    assert log_likelihood(network, table) == pytest.approx(sum(expected))


@pytest.mark.parametrize("seed", range(10))
def test_gaussian_rows(seed):
    network = random_gaussian(6, seed)
    table = with_holes(network, seed)
    mean, covariance = implied_normal(network)
    for row, found in enumerate(log_likelihoods(network, table)):
        by = np.flatnonzero(table.seen[:, row])
        values = [table.columns[i][row] for i in by]
        expected = (
            stats.multivariate_normal(mean[by], covariance[np.ix_(by, by)]).logpdf(values) if len(by) else 0
        )
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(6))
def test_mixed_rows(seed):
    network = random_mixed(6, seed)
    table = with_holes(network, seed, rows=12)
    for row, found in enumerate(log_likelihoods(network, table)):
        total = sum(weight for _, weight, *_ in enumerated(network, seen_in(network, table, row)))
        assert found == pytest.approx(np.log(total), abs=1e-9)


def test_what_stands_in_a_hole_means_nothing(clinic):
    table = with_holes(clinic, 1)
    filled = [
        np.where(seen, column, 0).astype(np.uint16)
        for column, seen in zip(table.columns, table.seen, strict=True)
    ]
    other = WithHoles(table.schema, tuple(filled), table.seen)
    np.testing.assert_array_equal(log_likelihoods(clinic, other), log_likelihoods(clinic, table))


def test_a_choice_without_its_parent_has_no_exact_likelihood():
    network = next(
        network for network in (random_mixed(6, seed, choices=True) for seed in range(9)) if network.choices
    )
    table = with_holes(network, 0, rows=200)
    with pytest.raises(
        DagoraError, match=r"no exact answer; leave out rows in which '.*' is missing"
    ) as refused:
        log_likelihoods(network, table)
    assert "sampling" not in str(refused.value)
    known = IncompleteTable(table.schema, table.columns, table.seen)
    assert np.isfinite(log_likelihoods(network, known.complete)).all()
