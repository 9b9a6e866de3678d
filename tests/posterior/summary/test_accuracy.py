"""Distances of many graphs at once, against the comparison of one pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import OptionError
from dagora.graph.metrics import compare
from dagora.posterior.summary.accuracy import COUNTS, METRICS, expected_count, metric, read_as
from tests.random_tables import random_dag


@pytest.mark.full
@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 7))
def test_as_one_comparison_says(seed: int, nodes: int) -> None:
    generator = np.random.default_rng(seed)
    truth, *graphs = (random_dag(generator, nodes) for _ in range(5))
    stack = np.array([graph.to_numpy() for graph in graphs])
    for on in ("dag", "skeleton", "cpdag"):
        marks, true_marks = read_as(on, stack), read_as(on, truth.to_numpy()[None])[0]
        for name in set(METRICS) - {"hamming"}:
            expected = [getattr(getattr(compare(graph, truth), on), name) for graph in graphs]
            assert metric(name, marks, true_marks).tolist() == pytest.approx(expected)
    hamming = metric("hamming", stack, truth.to_numpy())
    assert hamming.tolist() == [(graph != truth.to_numpy()).sum() for graph in stack]
    for name in COUNTS:
        mean = metric(name, stack, truth.to_numpy()).mean()
        assert expected_count(name, stack.mean(axis=0), truth.to_numpy()) == pytest.approx(mean)


def test_names_are_checked() -> None:
    stack = np.zeros((1, 2, 2), dtype=bool)
    with pytest.raises(OptionError, match="did you mean 'shd'"):
        metric("sdh", stack, stack[0])
    with pytest.raises(OptionError, match="known are dag, skeleton, cpdag"):
        read_as("pattern", stack)
