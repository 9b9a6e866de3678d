"""Curves that linear scores do not see."""

import numpy as np
import pytest

import dagora
from dagora.learners.curved_pairs import curved_pairs

RNG = np.random.default_rng(0)


@pytest.mark.full
def test_a_parabola_is_named():
    x = RNG.normal(size=400)
    rows = {"x": x, "y": x**2 + 0.3 * RNG.normal(size=400), "z": RNG.normal(size=400)}
    result = dagora.learn(rows, "hill-climb")
    assert result.graph.edges == ()
    assert sum("y depends on the square of x" in line for line in result.warnings) == 1
    assert not any("square" in line for line in dagora.learn(rows, "hill-climb", score="gp").warnings)


def test_lines_outliers_tails_and_noise_are_not_named():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=300)
        table = dagora.Table.from_numpy(
            np.column_stack(
                [x, x + rng.normal(size=300), rng.standard_cauchy(300), rng.exponential(size=300) ** 3]
            ),
            names=list("abcd"),
        )
        assert curved_pairs(table, dagora.DAG("abcd")) == []


def test_many_pairs_share_a_line():
    x = RNG.normal(size=300)
    columns = np.column_stack([x, *(x**2 + 0.1 * RNG.normal(size=300) for _ in range(5))])
    table = dagora.Table.from_numpy(columns, names=[f"v{i}" for i in range(6)])
    (line,) = curved_pairs(table, dagora.DAG([f"v{i}" for i in range(6)]))
    assert "more such pairs" in line
    assert line.count("depends on") == 3
