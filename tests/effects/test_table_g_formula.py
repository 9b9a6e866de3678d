"""The g-formula between discrete columns: against sums over all configurations, and against a network's do."""

import itertools

import numpy as np
import pytest

import dagora
from dagora.data.interventions import Interventions
from dagora.effects import table_g_formula as module
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import read_contrast
from dagora.effects.effect_rows import EffectRows
from dagora.effects.g_formula import effect_without_set
from dagora.effects.strata_posterior import add_prior, normalise
from dagora.effects.table_g_formula import count_family, effect_by_tables, families_towards
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from tests.effects.exact_rows import table_of

LEVELS = {"a": ["no", "yes"], "b": ["low", "mid", "top"], "c": ["no", "yes"], "d": ["no", "yes"]}


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 500)
    b = (rng.random(500) * (2 + a)).astype(int)
    c = (rng.random(500) < 0.2 + 0.3 * a + 0.1 * b).astype(int)
    d = (rng.random(500) < 0.2 + 0.3 * c + 0.2 * b / 2).astype(int)
    return table_of(
        **{name: np.array(LEVELS[name])[codes] for name, codes in zip("abcd", (a, b, c, d), strict=True)}
    )


def by_definition(table, dag, set_to, outcome, event):
    """Sum the truncated factorisation over every configuration of all columns."""
    rows = EffectRows(table)
    tables = {node: normalise(add_prior(count_family(rows, node, dag.parents(node)))) for node in dag.nodes}
    total = 0.0
    for levels in itertools.product(*(LEVELS[node] for node in dag.nodes)):
        at = dict(zip(dag.nodes, levels, strict=True))
        if at[outcome] != event or any(at[name] != level for name, level in set_to.items()):
            continue
        chance = 1.0
        for node in dag.nodes:
            if node not in set_to:
                place = tuple(LEVELS[name].index(at[name]) for name in (*dag.parents(node), node))
                chance *= tables[node][place]
        total += chance
    return total


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.full)])
def test_sums_over_every_configuration_of_every_dag_of_four_nodes(words, every, monkeypatch):
    monkeypatch.setattr(module, "DRAWS", 50)
    contrast = read_contrast(words, ["a", "c"], "d", {"a": ["yes", "no"], "c": ["yes", "no"]})
    for dag in list(all_dags(4))[::every]:
        named = DAG.from_numpy(dag.to_numpy(), words.names)
        found = effect_by_tables(EffectRows(words), families_towards(named, "ac", "d"), contrast)
        to, base = (
            by_definition(words, named, {"a": level, "c": level}, "d", "yes") for level in ("yes", "no")
        )
        assert found.estimates["difference"].value == pytest.approx(to - base)
        assert found.estimates["ratio"].value == pytest.approx(to / base)


def test_draws_have_the_mean_and_cover(words):
    graph = DAG("abcd", ["ab", "bc", "cd", "bd"])
    contrast = read_contrast(words, ["a", "c"], "d")
    found = effect_by_graph(graph, EffectRows(words), contrast)
    assert (found.verdict, found.adjustment) == ("g-formula", None)
    one = effect_by_tables(EffectRows(words), families_towards(graph, "ac", "d"), contrast)
    drawn = one.draw(4000, np.random.default_rng(0))
    assert drawn[:, 0].mean() == pytest.approx(one.estimates["difference"].value, abs=0.005)
    low, high = found.interval
    assert low < found.estimate < high
    assert (
        "by the g-formula: no one adjustment set gives it (tables of each column, 500 rows)"
        in found.to_text()
    )


def test_the_same_as_standardisation_where_one_set_will_do(words):
    graph = DAG("abcd", ["bc", "bd", "cd"])
    contrast = read_contrast(words, "c", "d")
    tables = effect_by_tables(EffectRows(words), families_towards(graph, "c", "d"), contrast)
    adjusted = effect_by_graph(graph, EffectRows(words), contrast)
    assert adjusted.adjustment == ("b",)
    assert tables.estimates["difference"].value == pytest.approx(adjusted.estimate, abs=0.01)
    np.testing.assert_allclose(
        [tables.estimates["difference"].low, tables.estimates["difference"].high],
        adjusted.interval,
        atol=0.015,
    )


def test_rows_in_which_a_column_was_set_do_not_count_for_it(words):
    marks = Interventions.of_rows(["c"] * 200 + [None] * 300, words.names)
    counts = count_family(EffectRows(words, marks), "c", ("a",))
    assert counts.sum() == 300
    assert count_family(EffectRows(words, marks), "d", ("c",)).sum() == 500


def test_what_no_row_has_is_said():
    table = table_of(a=["n"] * 30 + ["y"] * 10, b=["n"] * 30 + ["y"] * 10, c=["n", "y"] * 20)
    graph = DAG("abc", ["ac", "bc"])
    contrast = read_contrast(table, ["a", "b"], "c", {"a": ["y", "n"], "b": ["n", "y"]})
    found = effect_by_tables(EffectRows(table), families_towards(graph, "ab", "c"), contrast)
    assert found.support.share == 0
    assert "100% of what would happen meets combinations that no row has" in found.support.notes[0]
    assert "these rows do not tell this effect" in found.refusal
    low, high = found.estimates["difference"].low, found.estimates["difference"].high
    assert low < -0.7  # two chances of which nothing is known
    assert high > 0.7
    with pytest.raises(dagora.DataError, match="100% of what would happen meets combinations that no row"):
        effect_without_set(graph, EffectRows(table), contrast)


def test_tables_that_would_be_too_large_are_refused(words, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 5)
    with pytest.raises(dagora.OptionError, match="needs a table of 12 cells"):
        dagora.effect(words, ["a", "c"], "d", graph=DAG("abcd", ["ab", "bc", "cd", "bd"]))
