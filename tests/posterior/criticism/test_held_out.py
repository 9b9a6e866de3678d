"""Rows held out: the gain over the empty graph is the mutual information, and equal graphs are equal."""

import math

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.graph.dag import DAG
from dagora.posterior.criticism.held_out import hold_out


def pair(rows, weight=1.0):
    x, noise = np.random.default_rng(1).normal(size=(2, rows))
    return dagora.Table.from_numpy(np.column_stack([x, weight * x + noise]), names=["a", "b"])


def test_the_gain_over_the_empty_graph_is_the_mutual_information():
    found = hold_out(DAG("ab", ["ab"]), pair(8000))
    empty, tabu, _ = found.references
    assert empty.difference == pytest.approx(0.5 * math.log(2), abs=3 * empty.error)
    assert 0 < empty.error < 0.02
    assert tabu.difference == pytest.approx(0, abs=1e-12)
    assert found.log_likelihood == pytest.approx(-1 - math.log(2 * math.pi), abs=0.05)


def test_a_graph_beside_itself():
    found = hold_out(DAG("ab"), pair(200))
    assert found.references[0].difference == found.references[0].error == 0
    assert found.references[1].difference < -5 * found.references[1].error


def test_the_true_graph_beats_random_ones():
    truth = dagora.random_dag("er", 8, 1.5, 1)
    found = hold_out(truth, dagora.simulate(truth, "gaussian", 500, seed=1).table)
    assert found.beaten == found.random_graphs == 10
    assert f"more than {found.beaten} of 10 of them" in found.to_lines()[-1]


def test_an_overfitted_graph_loses_on_rows_held_out():
    rows = dagora.Table.from_numpy(np.random.default_rng(1).normal(size=(40, 8)))
    full = DAG(rows.names, [(a, b) for k, a in enumerate(rows.names) for b in rows.names[k + 1 :]])
    empty = hold_out(full, rows).references[0]
    assert empty.difference < -2 * empty.error


def test_discrete_rows_never_have_probability_zero():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 6, size=(60, 3))
    rows = dagora.Table.from_numpy(codes, names=list("abc"), discrete=list("abc"))
    assert math.isfinite(hold_out(DAG("abc", ["ab", "bc", "ac"]), rows).log_likelihood)


def test_a_column_that_another_determines_is_refused():
    x = np.arange(50.0)
    with pytest.raises(DataError, match="standard deviation of 0"):
        hold_out(
            DAG("ab", ["ab"]), dagora.Table.from_numpy(np.column_stack([x, 0 * x + 1]), names=["a", "b"])
        )


def test_graphs_of_one_class_do_not_beat_each_other_by_rounding():
    rows = dagora.simulate(DAG("abcde", ["ac", "bc", "cd", "ce"]), "gaussian", rows=300, seed=1).table
    full = DAG("abcde", [a + b for a in "abcde" for b in "abcde" if a < b])
    assert hold_out(full, rows).beaten == 0
