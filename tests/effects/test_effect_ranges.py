"""The effects of all pairs over a class: against a list of its graphs, and against one pair at a time."""

import numpy as np
import pytest

import dagora
from dagora.effects import effect_ranges as module
from dagora.effects.effect_ranges import effect_ranges
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.parent_sets import MOST_CHOICES
from dagora.graph.random_graphs import random_dag
from dagora.stats.table import TableStatistics
from tests.effects.exact_rows import rows_with
from tests.graph.linear_effects import (
    classes_with_knowledge,
    covariance,
    random_weights,
    total_effect,
    weights_of,
)


def judge(size, every=1):
    rng = np.random.default_rng(size)
    pairs = 0
    for matrix, dags in classes_with_knowledge([dag.to_numpy() for dag in all_dags(size)])[::every]:
        covariances = covariance(random_weights(rng, dags[0]))
        table = rows_with(covariances, rng)
        graph = CPDAG.from_numpy(matrix, table.names)
        found = effect_ranges(graph, TableStatistics(table))
        weights = [weights_of(covariances, dag) for dag in dags]
        for x in range(size):
            parents = [tuple(np.flatnonzero(dag[:, x])) for dag in dags]
            for y in set(range(size)) - {x}:
                truth = {own: total_effect(w, [x], y)[0] for own, w in zip(parents, weights, strict=True)}
                told = found.over_choices(f"x{x}", f"x{y}")
                assert len(told) == len(truth) == found.choices[x]
                for choice in told:
                    own = tuple(int(name[1:]) for name in choice.parents)
                    assert choice.effect.value == pytest.approx(truth[own], abs=1e-9)
                values = list(truth.values())
                assert found.least[x, y] == pytest.approx(min(values), abs=1e-9)
                assert found.greatest[x, y] == pytest.approx(max(values), abs=1e-9)
                assert found.zeros[x, y] == sum(abs(value) < 1e-9 for value in values)
                assert found.low[x, y] == pytest.approx(min(one.effect.low for one in told))
                assert found.high[x, y] == pytest.approx(max(one.effect.high for one in told))
                pairs += 1
    return pairs


def test_every_pair_of_every_class_of_three_nodes():
    assert judge(3) == 300


@pytest.mark.full
def test_every_pair_of_every_class_of_four_nodes():
    assert judge(4) == 19212


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    dag = random_dag("er", 8, 1.5, seed=2)
    weights = random_weights(rng, dag.to_numpy())
    values = rng.standard_normal((300, 8)) @ np.linalg.inv(np.eye(8) - weights)
    return dagora.Table.from_numpy(values, dag.nodes, continuous=["all"]), dag


def test_the_choices_and_zeros_of_one_pair_at_a_time(rows):
    table, dag = rows
    class_ = CPDAG.from_dag(dag)
    found = dagora.all_effects(table, graph=class_)
    names = table.names
    for x in range(8):
        for y in set(range(8)) - {x}:
            one = dagora.effect(table, names[x], names[y], graph=class_)
            if one.verdict == "not identified":
                assert found.choices[x] == len(one.members)
                assert found.zeros[x, y] == sum(member.adjustment is None for member in one.members)
                ends = one.range
            else:
                assert (found.zeros[x, y] > 0) == (one.verdict == "zero")
                ends = one.interval
            assert found.low[x, y] <= ends[1]  # the sets that are adjusted for differ, and so do estimates
            assert found.high[x, y] >= ends[0]


def test_units_do_not_matter(rows):
    table, dag = rows
    small = dagora.Table.from_numpy(1e-9 * np.column_stack(table.columns), table.names, continuous=["all"])
    found, other = (dagora.all_effects(each, graph=CPDAG.from_dag(dag)) for each in (table, small))
    assert other.least == pytest.approx(found.least)
    assert other.high == pytest.approx(found.high)


def test_intervals_are_those_of_least_squares(rows):
    table, dag = rows
    found = dagora.all_effects(table, graph=dag)
    columns = {name: table.values(place) for place, name in enumerate(table.names)}
    tried = 0
    for x in dag.nodes:
        for y in dag.descendants(x):
            design = np.column_stack([np.ones(300), *(columns[name] for name in dag.parents(x)), columns[x]])
            fit = usual_slope(design, columns[y])
            i, j = dag.index(x), dag.index(y)
            assert found.least[i, j] == pytest.approx(fit[0])
            assert found.high[i, j] - found.low[i, j] == pytest.approx(2 * fit[1])
            tried += 1
    assert tried > 5
    first = found.to_text().splitlines()[1]
    assert first.endswith("]")


def usual_slope(design, y):
    """The last coefficient, and the half-width of its usual interval."""
    from scipy.stats import t

    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residual = y - design @ coefficients
    freedom = len(y) - design.shape[1]
    error = np.sqrt(residual @ residual / freedom * inverse[-1, -1])
    return coefficients[-1], t.ppf(0.975, freedom) * error


def test_more_choices_than_are_looked_at_are_said(rows, monkeypatch):
    monkeypatch.setattr(module, "MOST_CHOICES", 3)
    assert MOST_CHOICES > 3
    table, _ = rows
    full = CPDAG(table.names[:4], [], [(a, b) for a in table.names[:4] for b in table.names[:4] if a < b])
    found = dagora.all_effects(table, graph=full)
    assert found.choices.tolist() == [3] * 4
    assert "only the first 3 choices of the parents of" in found.to_text()


def test_what_the_graph_lacks_is_not_told_and_what_the_table_lacks_is_refused(rows):
    table, _ = rows
    a, b = table.names[:2]
    assert dagora.all_effects(table, graph=DAG([a, b], [(a, b)])).names == (a, b)
    with pytest.raises(dagora.DagoraError, match="there is no column named 'zz'"):
        dagora.all_effects(table, graph=DAG([a, "zz"], [(a, "zz")]))
    with pytest.raises(dagora.GraphError, match="needs a DAG or CPDAG, not a PAG"):
        dagora.all_effects(table, graph=dagora.PAG([a, b]))
    with pytest.raises(dagora.OptionError, match="a graph is given: leave method out"):
        dagora.all_effects(table, graph=DAG([a, b], []), method="exact")


def test_a_column_that_its_parents_determine():
    a = np.random.default_rng(0).standard_normal(50)
    rows = {"a": a, "b": 2 * a, "c": a + np.random.default_rng(1).standard_normal(50)}
    with pytest.raises(dagora.DataError, match="a determines b"):
        dagora.all_effects(rows, graph=DAG("abc", ["ab", "bc"]))


def test_a_graph_that_stands_for_no_dag(rows):
    table, _ = rows
    square = [(table.names[i], table.names[(i + 1) % 4]) for i in range(4)]
    with pytest.raises(dagora.GraphError, match="stands for no DAG"):
        dagora.all_effects(table, graph=CPDAG(table.names, [], square))
