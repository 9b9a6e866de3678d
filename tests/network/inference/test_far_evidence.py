"""Evidence far from all that is expected is improbable, not impossible."""

import numpy as np
import pytest

from dagora import DAG, Lines, MixedNetwork, Softmax
from dagora.base.errors import QueryError


def with_children(chances, children=2):
    """A level and numbers below it: normal with mean 0 or 1."""
    names = [f"x{k}" for k in range(children)]
    line = Lines(intercepts=[0.0, 1.0], slopes=np.zeros((2, 0)), sds=[1.0, 1.0])
    graph = DAG(["d", *names], [("d", name) for name in names])
    return MixedNetwork(graph, {"d": ("a", "b")}, {"d": np.array(chances)}, {}, dict.fromkeys(names, line))


@pytest.mark.parametrize("far", [10.0, 200.0, 1e3, 1e4, 1e6])
def test_two_numbers_that_pull_in_opposite_directions(far):
    """In closed form: ln P(b)/P(a) = Σ (x − ½) + ln of the prior odds."""
    network = with_children([0.3, 0.7])
    for shift in (0.0, 1.0, -2.0):
        given = {"x0": far + 0.5, "x1": -far + 0.5 + shift}
        odds = 0.7 / 0.3 * np.exp(given["x0"] + given["x1"] - 1)
        answer = network.query(of=["d"], given=given).probabilities
        assert answer["b"] == pytest.approx(odds / (1 + odds), rel=1e-6)
    assert network.query("MAP(d | x0=1000.5, x1=-999.5)").most_probable == {"d": "b"}


@pytest.mark.parametrize("far", [10.0, 1e3, 1e6])
def test_a_certain_level_stays_certain(far):
    network = with_children([1.0, 0.0], children=1)
    assert network.query(of=["d"], given={"x0": far}).probabilities == {"a": 1.0, "b": 0.0}
    drawn = network.sample(5, seed=1, evidence={"x0": far}).to_pandas()
    assert drawn["d"].tolist() == ["a"] * 5


def test_a_level_that_a_given_number_makes_very_improbable():
    network = MixedNetwork(
        DAG(["x", "c", "e"], [("x", "c"), ("c", "e")]),
        {"c": ("lo", "hi"), "e": ("no", "yes")},
        {"e": np.array([[1.0, 0.0], [0.4, 0.6]])},
        {"c": Softmax([0.0, 0.0], [[0.0], [1.0]])},
        {"x": Lines(intercepts=np.array(0.0), slopes=np.zeros(0), sds=np.array(1.0))},
    )
    assert network.query(of=["c"], given={"x": -2000.0, "e": "yes"}).probabilities == {"lo": 0.0, "hi": 1.0}
    assert network.query(of=["e"], given={"x": -2000.0, "c": "hi"}).probabilities["yes"] == pytest.approx(0.6)


def test_what_cannot_be_is_still_refused():
    network = MixedNetwork(
        DAG(["d", "e", "x"], [("d", "e"), ("d", "x")]),
        {"d": ("a", "b"), "e": ("a", "b")},
        {"d": np.array([1.0, 0.0]), "e": np.eye(2)},
        {},
        {"x": Lines(intercepts=[0.0, 1.0], slopes=np.zeros((2, 0)), sds=[1.0, 1.0])},
    )
    with pytest.raises(QueryError, match="probability zero"):
        network.query(of=["d"], given={"x": 1e4, "e": "b"})
