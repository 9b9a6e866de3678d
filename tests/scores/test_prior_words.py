"""The prior over parameters, as results state it."""

import pytest

from dagora.scores.prior_words import parameter_prior


@pytest.mark.parametrize(
    ("score", "settings", "words"),
    [
        ("k2", {}, "flat Dirichlet"),
        ("bdeu", {"ess": 2.5}, "uniform Dirichlet, equivalent sample size 2.5"),
        ("bdeu", {}, None),
        (None, {}, None),
        (
            "bge",
            {"alpha_mu": 0.5, "alpha_w": 7.0, "prior_scale": "columns"},
            "normal-Wishart, variances like the columns' own (units do not matter), alpha_mu 0.5, alpha_w 7",
        ),
    ],
)
def test_words(score, settings, words) -> None:
    assert parameter_prior(score, settings) == words
