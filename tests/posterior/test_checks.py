"""Options of a sampler that do not go together are refused."""

from dataclasses import replace

import pytest

from dagora.base.errors import OptionError
from dagora.base.options import Option
from dagora.posterior.checks import laplace_options
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
