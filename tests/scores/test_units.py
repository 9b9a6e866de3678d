"""Posteriors do not depend on the units of the columns, for every score that they can be sampled with."""

import numpy as np
import pytest

from dagora.api.learn import learn
from dagora.api.learn_federated import learn_federated
from dagora.api.sample import sample
from tests.random_tables import continuous_table


def rows_of(seed, n=60, columns=4):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, columns))
    rows[:, 1] += np.sin(2 * rows[:, 0])
    rows[:, 3] += 0.6 * rows[:, 1] - 0.4 * rows[:, 2]
    return rows


# The mode at which Laplace's approximation is taken is found to a tolerance only.
CASES = [
    ("bge", {}, 1e-9),
    ("bic-gaussian", {}, 1e-9),
    ("gp", {}, 1e-9),
    ("gp2", {}, 1e-9),
    ("gp", {"estimator": "laplace"}, 1e-8),
]


@pytest.mark.full
@pytest.mark.parametrize(("score", "options", "within"), CASES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_edge_probabilities_are_the_same_in_any_units(score, options, within, seed):
    rng = np.random.default_rng(seed)
    columns = 3 if score in {"gp", "gp2"} else 4
    rows = rows_of(seed, 40)[:, :columns]
    units, shift = 10.0 ** rng.uniform(-12, 12, columns), rng.normal(size=columns)
    one, other = (
        sample(continuous_table(some), "exact", score=score, draws=1, **options).edge_probability
        for some in (rows, (rows + shift) * units)
    )
    assert 0.05 < one.max() < 1
    np.testing.assert_allclose(one, other, rtol=0, atol=within)


def test_bge_over_sites_is_bge_of_all_rows_in_any_units():
    rows = rows_of(3, 300) * [1e-6, 1.0, 1e6, 3.0]
    sites = {
        name: continuous_table(part) for name, part in zip("abc", np.split(rows, [50, 120]), strict=True)
    }
    together = learn(continuous_table(rows), "dynamic", score="bge")
    apart = learn_federated(sites, "dynamic", score="bge")
    assert apart.graph == together.graph
    assert len(together.graph.edges) > 1
    assert apart.score == pytest.approx(together.score, rel=1e-9)


@pytest.mark.parametrize("prior_scale", ["columns", "unit"])
def test_the_scale_of_the_prior_is_in_the_settings(prior_scale):
    found = sample(continuous_table(rows_of(0)), "exact", draws=1, prior_scale=prior_scale)
    assert found.settings["prior_scale"] == prior_scale
