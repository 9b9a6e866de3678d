"""Checks of a graph on rows with weights or groups: groups are held out whole, tests take the effective number."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.posterior.criticism.held_out import Units
from tests.posterior.resample.test_row_draws import patients


def test_a_graph_without_false_edges_is_not_contradicted_by_repeated_patients() -> None:
    rows = patients(1)
    graph = dagora.DAG("abcde")
    plain = dagora.check(graph, rows.drop(columns="patient"), permutations=20)
    grouped = dagora.check(graph, rows, group="patient", permutations=20)
    assert plain.falsification.violated >= 3
    assert grouped.falsification.violated <= 2
    assert plain.changes[0].gain > 8
    assert not grouped.changes or grouped.changes[0].gain < 5
    assert any("in 120 groups of 'patient'" in note for note in grouped.notes)
    assert any("no tables were simulated" in note for note in grouped.notes)


def test_groups_are_held_out_whole() -> None:
    rows = patients(2)
    full = dagora.DAG(
        "abcde", [("a", "b"), ("a", "c"), ("b", "c"), ("a", "d"), ("c", "d"), ("d", "e"), ("a", "e")]
    )
    plain = dagora.check(full, rows.drop(columns="patient"), permutations=5).held_out
    grouped = dagora.check(full, rows, group="patient", permutations=5).held_out
    assert plain.references[0].difference > 0
    assert grouped.references[0].difference < 0
    assert grouped.references[0].error > 2 * plain.references[0].error


def test_means_and_errors_of_units_are_their_formulas() -> None:
    random = np.random.default_rng(1)
    values, groups = random.normal(size=12), np.repeat(np.arange(4), 3)
    weights = random.uniform(1, 2, 12)
    units = Units(groups, 4, weights)
    mean = (weights * values).sum() / weights.sum()
    sums = np.array([(weights * (values - mean))[groups == g].sum() for g in range(4)])
    assert units.mean(values) == pytest.approx(mean)
    assert units.error(values) == pytest.approx(np.sqrt(4 / 3 * (sums**2).sum()) / weights.sum())


def test_weights_count_in_tests_and_strengths() -> None:
    random = np.random.default_rng(3)
    a, b = random.integers(0, 2, (2, 400))
    rows = pd.DataFrame({"a": a, "b": b, "c": random.normal(size=400)})
    # Where the two agree, rows count four times as much.
    rows["w"] = np.where(a == b, 4.0, 1.0)
    found = dagora.check(dagora.DAG("abc"), rows, weights="w", permutations=5)
    (violated,) = [one for one in found.falsification.worst if one.adjusted < 0.01]
    assert {violated.independence.a, violated.independence.b} == {"a", "b"}
    share = 0.8
    nats = share * np.log(2 * share) + (1 - share) * np.log(2 * (1 - share))
    assert violated.strength == pytest.approx(np.sqrt(1 - np.exp(-2 * nats)), abs=0.05)
