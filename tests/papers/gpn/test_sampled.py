"""How a run is judged: what a reversed edge counts, on draws made by hand."""

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.papers.gpn.cached_score import Cost
from dagora.papers.gpn.sampled import Timed, judged
from tests.posterior.oracle import draws_of


def test_a_reversed_edge_is_half_true_and_half_false() -> None:
    truth = DAG("abcd", [("a", "b"), ("b", "c")])
    right, turned, other = [("a", "b"), ("b", "c")], [("b", "a")], [("a", "b"), ("c", "d")]
    draws = draws_of([[DAG("abcd", edges) for edges in (right, turned, other, other)]])
    found = judged(Timed(draws, Cost(1.0, 1.0), 5), truth)
    assert found["tp"] == pytest.approx(np.mean([2, 0.5, 1, 1]))
    assert found["fp"] == pytest.approx(np.mean([0, 0.5, 1, 1]))
    assert found["shd"] == pytest.approx(np.mean([0, 2, 2, 2]))
    assert found["shd"] == pytest.approx(2 - found["tp"] + found["fp"])
    assert found["edges"] == pytest.approx(found["tp"] + found["fp"])
