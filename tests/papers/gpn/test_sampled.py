"""How a run is judged: what a reversed edge counts, on draws made by hand."""

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.papers.gpn.cached_score import Cost
from dagora.papers.gpn.sampled import TimedDraws, evaluate_draws, without_prior
from dagora.posterior.space.priors import prior_named
from tests.posterior.oracle import draws_of


def test_a_reversed_edge_is_half_true_and_half_false() -> None:
    truth = DAG("abcd", [("a", "b"), ("b", "c")])
    right, turned, other = [("a", "b"), ("b", "c")], [("b", "a")], [("a", "b"), ("c", "d")]
    draws = draws_of([[DAG("abcd", edges) for edges in (right, turned, other, other)]])
    found = evaluate_draws(TimedDraws(draws, Cost(1.0, 1.0), 5), truth)
    assert found["tp"] == pytest.approx(np.mean([2, 0.5, 1, 1]))
    assert found["fp"] == pytest.approx(np.mean([0, 0.5, 1, 1]))
    assert found["shd"] == pytest.approx(np.mean([0, 2, 2, 2]))
    assert found["shd"] == pytest.approx(2 - found["tp"] + found["fp"])
    assert found["edges"] == pytest.approx(found["tp"] + found["fp"])


def test_weights_can_take_the_prior_out_again() -> None:
    """Graphs drawn in proportion to a prior become, weighted, a uniform sample."""
    prior = prior_named("gpn", edge_penalty=0.5)
    empty, one, two = [], [("a", "c")], [("a", "c"), ("b", "c")]
    draws = without_prior(draws_of([[DAG("abc", edges) for edges in (empty, one, two)]]), prior)
    assert draws.log_weights == pytest.approx(np.array([[0, 3.93 + 0.5, 3.93 + 0.69 + 1.0]]))
    again = without_prior(draws, prior)
    assert again.log_weights == pytest.approx(2 * draws.log_weights)
