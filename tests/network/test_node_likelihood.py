"""The density of one node given its parents, also where it has no noise."""

import numpy as np
import pytest
from scipy import stats

from dagora.graph.dag import DAG
from dagora.network.model import NetworkModel
from dagora.network.node_likelihood import node_log_likelihoods
from dagora.network.regressions import Lines, Softmax

X = np.array([0.0, 1.0, 2.0])


def test_a_line_has_the_normal_density_around_it() -> None:
    first = Lines(np.array(0.0), np.zeros(0), np.array(1.0))
    model = NetworkModel(
        DAG("xy", [("x", "y")]), lines={"x": first, "y": Lines(np.array(1.0), np.array([2.0]), np.array(0.5))}
    )
    y = np.array([1.0, 2.0, 6.0])
    found = node_log_likelihoods(model, "y", {"x": X, "y": y}, {})
    assert found == pytest.approx(stats.norm.logpdf(y, 1 + 2 * X, 0.5))


def test_a_node_without_noise_is_certain_at_its_mean() -> None:
    model = NetworkModel(DAG("x"), lines={"x": Lines(np.array(1.0), np.zeros(0), np.array(0.0))})
    assert node_log_likelihoods(model, "x", {"x": X}, {}).tolist() == [-np.inf, 0.0, -np.inf]


def test_a_choice_has_the_probability_of_the_level_that_was_taken() -> None:
    choice = Softmax([0.0, 1.0], [[0.0], [2.0]])
    first = Lines(np.array(0.0), np.zeros(0), np.array(1.0))
    model = NetworkModel(
        DAG("xa", [("x", "a")]), {"a": ("n", "y")}, choices={"a": choice}, lines={"x": first}
    )
    yes = 1 / (1 + np.exp(-1 - 2 * X))
    for code, chance in ((1, yes), (0, 1 - yes)):
        found = node_log_likelihoods(model, "a", {"x": X, "a": np.full(3, code)}, {})
        assert found == pytest.approx(np.log(chance))
