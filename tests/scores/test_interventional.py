"""Scores where variables were set: their rows, and equality in a class under interventions."""

import math

import numpy as np
import pytest

from dagora.base.errors import DataError, KnowledgeError
from dagora.base.wording import COMMAND
from dagora.data.interventions import Interventions
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.interventions import interventional_cpdag
from dagora.graph.knowledge import Knowledge
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete

NAMES = ("x0", "x1", "x2", "x3")
CHOICES = [None, "x0", ("x1", "x2"), "x3"]


def marked(name, seed=1, rows=80):
    """A table of four columns with interventions in some rows."""
    rng = np.random.default_rng(seed)
    if name in {"bic-gaussian", "bge"}:
        table = random_continuous(rng, rows, 4)
    else:
        table = random_discrete(rng, rows, (2, 3, 2, 2))
    drawn = np.random.default_rng(seed + 1).integers(len(CHOICES), size=rows)
    return InterventionalStatistics(table, Interventions.of_rows([CHOICES[k] for k in drawn], table.names))


@pytest.mark.full
@pytest.mark.parametrize("name", ["bic", "aic", "bdeu", "bic-gaussian", "bge"])
def test_graphs_equivalent_under_interventions_score_the_same(name):
    statistics = marked(name)
    score = score_named(name).make(statistics)
    seen = {}
    for dag in all_dags(4):
        named = DAG.from_numpy(dag.to_numpy(), statistics.schema.names)
        key = interventional_cpdag(named, statistics.interventions.regimes)
        value = graph_score(score, named)
        assert value == pytest.approx(seen.setdefault(key, value), rel=1e-9)
    assert len(seen) > 185  # the classes without interventions


@pytest.mark.parametrize("name", ["bdeu", "bge", "k2"])
def test_a_family_is_scored_on_the_rows_in_which_its_child_was_not_set(name):
    statistics = marked(name)
    score = score_named(name).make(statistics)
    for child in range(4):
        free = statistics.interventions.unset(statistics.schema[child].name)
        plain = score_named(name).make(TableStatistics(statistics.rows().take(free)))
        families = [(child, tuple(p for p in range(4) if p != child)), (child, ())]
        assert np.array_equal(score.families(families), plain.families(families))
        block = score.block(np.array([child]), np.array([families[0][1]]))
        assert block == pytest.approx(plain.families(families[:1]), rel=1e-12)


def test_a_parameter_costs_the_same_in_every_family():
    statistics = marked("bic")
    score, rows = score_named("bic").make(statistics), statistics.rows()
    free = statistics.interventions.unset("x0")
    levels = statistics.schema[0].cardinality
    counts = np.bincount(rows.codes(0)[free], minlength=levels)
    counts = counts[counts > 0]
    likelihood = float((counts * np.log(counts / counts.sum())).sum())
    expected = likelihood - math.log(len(free)) / 2 * (levels - 1)
    assert score.families([(0, ())])[0] == pytest.approx(expected, rel=1e-12)


def test_a_variable_that_was_always_set_is_refused():
    table = random_discrete(np.random.default_rng(0), 10, (2, 2, 2))
    with pytest.raises(DataError, match="'x1' was set in every row"):
        InterventionalStatistics(table, Interventions.of_rows(["x1"] * 10, table.names))
    with pytest.raises(DataError, match="for 9 rows, but there are 10"):
        InterventionalStatistics(table, Interventions.of_rows(["x1"] * 9, table.names))


def set_in_some(table):
    marks = [None if k % 3 else table.names[0] for k in range(table.n_rows)]
    return InterventionalStatistics(table, Interventions.of_rows(marks, table.names))


def test_an_edge_that_the_scores_of_the_groups_cannot_have_is_refused():
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.integers(2, size=60), rng.normal(size=60)])
    statistics = set_in_some(Table.from_numpy(rows, ["d", "x"], discrete=["d"]))
    can = score_named("bayes-mixed").make(statistics).capabilities
    with pytest.raises(KnowledgeError, match="x → d"):
        can.check_knowledge(Knowledge(required=[("x", "d")]))
    can.check_knowledge(Knowledge(required=[("d", "x")]))
    assert (
        can.messages()
        == score_named("bayes-mixed").make(TableStatistics(statistics.rows())).capabilities.messages()
    )
    assert len(can.messages()) == 1
    assert can.interventions is statistics.interventions


def test_errors_and_results_of_all_groups_are_kept():
    statistics = set_in_some(random_continuous(np.random.default_rng(4), 24, 3))
    score, again = (score_named("gp").make(statistics, points=32) for _ in range(2))
    families = [(0, (1,)), (1, (0,)), (2, (0, 1))]
    values = score.families(families)
    can = score.capabilities
    assert set(can.standard_errors()) == set(families)
    assert can.storage.fingerprint() == again.capabilities.storage.fingerprint()
    other = score_named("gp").make(set_in_some(random_continuous(np.random.default_rng(5), 24, 3)), points=32)
    assert can.storage.fingerprint() != other.capabilities.storage.fingerprint()
    assert (
        again.capabilities.storage.load(can.storage.export())
        == sum(len(part._known) for part in score._parts)
        >= 3
    )
    assert again.capabilities.standard_errors() == can.standard_errors()
    assert np.array_equal(again.families(families), values)


def test_scores_without_results_to_keep_have_no_storage():
    assert score_named("bic").make(marked("bic")).capabilities.storage is None


def test_an_error_in_some_rows_keeps_its_parts():
    table = Table.from_numpy(
        [[1.0, 0.5], [2.0, 0.5], [3.0, 1.5], [4.0, 2.5]] * 5, ["a", "b"], continuous="all"
    )
    statistics = InterventionalStatistics(
        table, Interventions.of_rows([None, None, "b", "b"] * 5, table.names)
    )
    with pytest.raises(
        DataError, match=r"^in the 10 rows where 'b' was not set: column 'b' is constant"
    ) as caught:
        score_named("bic-gaussian").make(statistics)
    assert caught.value.column == "b"
    assert caught.value.options == [("drop", "b")]
    assert "--drop b" in caught.value.render(COMMAND)
