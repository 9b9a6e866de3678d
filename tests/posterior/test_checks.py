"""Options of a sampler that do not go together are refused."""

from dataclasses import replace

import pytest

from dagora.base.errors import DataError, OptionError
from dagora.base.options import Option
from dagora.data.schema import Kind, Schema, Variable
from dagora.posterior.checks import (
    check_numbers,
    check_on_cluster,
    check_rows,
    choose_sampled_score,
    laplace_options,
)
from dagora.posterior.registry import sampler_named
from dagora.scores.registry import score_named


def test_reweighting_goes_with_laplace() -> None:
    estimator = Option("estimator", "text", "qmc", "how", choices=("laplace", "qmc", "bridge"))
    score = replace(score_named("bge"), name="gp", options=(estimator,))
    assert laplace_options(score, "qmc", {}) == {"estimator": "laplace"}
    assert laplace_options(score, "bridge", {"estimator": "laplace", "a": 1}) == {
        "estimator": "laplace",
        "a": 1,
    }
    with pytest.raises(OptionError, match="one of qmc, bridge, not 'laplace'"):
        laplace_options(score, "laplace", {})
    with pytest.raises(OptionError, match="goes with estimator=laplace, not estimator=qmc"):
        laplace_options(score, "bridge", {"estimator": "qmc"})
    with pytest.raises(OptionError, match=r"gp and gp2.*not bge"):
        laplace_options(score_named("bge"), "qmc", {})


@pytest.mark.parametrize(
    ("draws", "chains", "wrong"), [(0, 1, "draws"), (1, 0, "chains"), (True, 1, "draws"), (1.0, 1, "draws")]
)
def test_numbers_of_draws_and_chains(draws, chains, wrong) -> None:
    check_numbers(1, 1)
    with pytest.raises(OptionError) as caught:
        check_numbers(draws, chains)
    assert caught.value.option == wrong


def test_three_rows_are_the_fewest() -> None:
    check_rows(3)
    with pytest.raises(DataError, match=r"there are 2 rows: .* at least 3"):
        check_rows(2)


def test_the_score_that_is_sampled_unless_told() -> None:
    levels, numbers = Variable("a", Kind.DISCRETE, ("x", "y")), Variable("b", Kind.CONTINUOUS)
    assert choose_sampled_score(None, Schema((levels,))).name == "bdeu"
    assert choose_sampled_score(None, Schema((numbers,))).name == "bge"
    assert choose_sampled_score(None, Schema((levels, numbers))).kind == "mixed"
    assert choose_sampled_score("k2", Schema((levels,))).name == "k2"


def test_samplers_without_chains_do_not_run_on_a_cluster() -> None:
    check_on_cluster(sampler_named("order"))
    with pytest.raises(OptionError, match=r"the sampler exact does not run on a Dask cluster.*order"):
        check_on_cluster(sampler_named("exact"))
