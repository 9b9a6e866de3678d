"""Simulated tables: the band holds 95 % on rows of the model, and shows what the model gets wrong."""

import numpy as np
import pytest

import dagora
from dagora.graph.dag import DAG
from dagora.posterior.criticism.predictive import (
    CURVE,
    MOST_PAIRS,
    correlation_ratio,
    judge,
    pairs_apart,
    predict,
    quantiles_of,
)


@pytest.mark.full
def test_on_rows_of_the_model_few_statistics_lie_outside():
    outside = every = 0
    for seed in range(12):
        dag = dagora.random_dag("er", 6, 1, seed)
        for sem in ("gaussian", "mixed"):
            found = predict(dag, dagora.simulate(dag, sem, 300, seed=seed).table, seed=seed)
            outside += sum(one.outside for one in found.pairs)
            every += len(found.pairs)
    assert 0.005 < outside / every < 0.1


def test_another_shape_is_seen_in_the_quantiles():
    rng = np.random.default_rng(1)
    rows = dagora.Table.from_numpy(rng.exponential(size=(400, 2)), names=["a", "b"])
    found = predict(DAG("ab"), rows)
    assert {one.name for one in found.worst()} >= {"5 % quantile", "median"}
    curve = found.curves[0]
    assert len(curve.observed) == len(CURVE)
    assert any(
        not low <= seen <= high for seen, low, high in zip(curve.observed, curve.low, curve.high, strict=True)
    )


def test_a_missing_edge_is_the_farthest_statistic():
    for sem in ("gaussian", "mixed"):
        dag = DAG("abcd", ["ab", "cd"])
        rows = dagora.simulate(dag, sem, 500, seed=3).table
        found = predict(DAG("abcd", ["cd"]), rows)
        assert set(found.worst()[0].columns) == {"a", "b"}
        assert "of a and b is" in found.to_lines()[1] or "of b and a is" in found.to_lines()[1]


def test_shares_of_levels():
    rows = dagora.Table.from_numpy([["u"], ["v"], ["v"], ["v"]] * 30, names=["a"])
    found = predict(DAG(["a"]), rows)
    assert [(one.name, one.observed) for one in found.columns] == [("share of v", 0.75), ("share of u", 0.25)]
    assert not any(one.outside for one in found.columns)


def test_where_an_observed_value_stands():
    simulated = np.arange(99.0)
    assert judge(("a",), "mean", 200.0, simulated).p_value == pytest.approx(2 / 100)
    assert judge(("a",), "mean", 49.0, simulated).p_value == 1
    assert judge(("a",), "mean", -1.0, simulated).z < -1
    constant = judge(("a",), "mean", 1.0, np.ones(50))
    assert (constant.z, constant.outside, constant.p_value) == (0, False, 1)


def test_quantiles_are_those_of_numpy():
    rows = np.sort(np.random.default_rng(1).normal(size=(3, 77)), axis=1)
    assert quantiles_of(rows, CURVE) == pytest.approx(np.quantile(rows, CURVE, axis=1).T)


def test_the_correlation_ratio():
    codes = np.array([0, 0, 1, 1])
    assert correlation_ratio(np.array([1.0, 1.0, 3.0, 3.0]), codes) == pytest.approx(1)
    assert correlation_ratio(np.array([1.0, 3.0, 1.0, 3.0]), codes) == pytest.approx(0)
    assert correlation_ratio(np.ones(4), codes) == 0


def test_of_very_many_pairs_some_are_drawn():
    graph = DAG([f"x{k}" for k in range(40)])
    assert len(pairs_apart(graph, 0)) == len(set(pairs_apart(graph, 0))) == MOST_PAIRS


def test_names_keep_their_hyphens():
    assert judge(("a-b",), "mean", -1.0, np.zeros(3)).to_text() == "mean of a-b is −1, simulated 0 to 0"
