"""Priors over graphs, against their definitions on all graphs of four nodes."""

import math
from collections import defaultdict

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.posterior.space.priors import PRIORS, prior_named

SIZES = np.arange(6)


def test_each_prior_is_its_formula() -> None:
    expected = {
        "uniform": [0.0] * 6,
        "fair": [-math.log(math.comb(5, k)) for k in range(6)],
        "sparse": [-k * math.log(6) for k in range(6)],
        "gpn": [0.0] + [-3.93 - 0.69 * (k - 1) for k in range(1, 6)],
    }
    assert set(expected) == set(PRIORS)
    for name, values in expected.items():
        assert np.allclose(prior_named(name).log_factor(SIZES, 6), values)


@pytest.mark.parametrize("name", PRIORS)
def test_a_price_per_edge_is_paid_on_top(name: str) -> None:
    plain, priced = prior_named(name), prior_named(name, edge_penalty=math.log(100))
    assert np.allclose(plain.log_factor(SIZES, 6) - priced.log_factor(SIZES, 6), SIZES * math.log(100))
    assert priced.sentence == plain.sentence + ", times exp(−4.60517) for each edge"


def test_under_the_fair_prior_all_numbers_of_parents_of_a_last_node_are_equally_likely() -> None:
    mass: dict[int, float] = defaultdict(float)
    factors = np.exp(prior_named("fair").log_factor(np.arange(4), 4))
    for mask in range(8):
        mass[mask.bit_count()] += factors[mask.bit_count()]
    assert np.allclose(list(mass.values()), 1.0)


def test_what_is_no_prior_is_refused() -> None:
    with pytest.raises(OptionError, match="no prior named 'unform': did you mean 'uniform'"):
        prior_named("unform")
    with pytest.raises(OptionError, match="edge_penalty"):
        prior_named("uniform", edge_penalty=math.inf)
