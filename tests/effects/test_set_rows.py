"""Rows in which x was set: alone, beside other answers, and as what directs the lines of a class."""

import numpy as np
import pytest

import dagora
from dagora.data.interventions import Interventions
from dagora.effects.directed_rows import directed_by_rows
from dagora.effects.in_words import effect_in_words
from dagora.graph.cpdag import CPDAG
from dagora.graph.enumerate import all_dags
from dagora.graph.interventions import interventional_cpdag
from dagora.report.effect_sections import effect_page
from dagora.stats.interventional import InterventionalStatistics
from tests.effects.exact_rows import table_of

GRAPH = dagora.DAG("sdy", ["sd", "sy", "dy"])
HALF = np.arange(2000) < 1000
MARKS = [["d"] if was_set else [] for was_set in HALF]


def trial_of(effect):
    """In half the rows a lot decides who gets d, in the others s does; d raises y."""
    rng = np.random.default_rng(0)
    s = rng.random(2000) < 0.5
    d = rng.random(2000) < np.where(HALF, 0.5, np.where(s, 0.15, 0.85))
    y = rng.random(2000) < 0.05 + 0.6 * s + effect * d
    return {"s": s.astype(int), "d": d.astype(int), "y": y.astype(int)}


@pytest.fixture(scope="module")
def trial():
    return trial_of(0.1)


def difference(rows):
    """That of the two shares of y, among the rows in which d was set."""
    d, y = rows["d"][HALF] == 1, rows["y"][HALF]
    return y[d].mean() - y[~d].mean()


def test_rows_in_which_x_was_set_direct_a_class_and_stand_beside_its_answer():
    trial = trial_of(0.3)
    found = dagora.effect(trial, "d", "y", graph=CPDAG.from_dag(GRAPH), interventions=MARKS)
    assert (found.verdict, found.adjustment) == ("adjustment", ("s",))
    assert "the rows in which d was set direct d → y, s → d" in found.notes
    alone = found.where_set
    assert (alone.verdict, alone.adjustment, alone.rows) == ("set", (), 1000)
    assert alone.estimate == pytest.approx(difference(trial), abs=0.005)
    assert alone.interval[0] < 0.3 < alone.interval[1]
    assert "in the rows alone in which d was set, without adjustment (standardisation, 1000 rows)\n" in (
        found.to_text()
    )
    assert found.to_dict()["where_set"]["estimates"]["difference"]["value"] == alone.estimate
    assert dagora.effect(trial, "d", "y", graph=GRAPH).where_set is None


def test_where_rows_direct_no_line_those_in_which_x_was_set_answer_alone():
    trial = trial_of(0)
    found = dagora.effect(trial, "d", "y", graph=CPDAG.from_dag(GRAPH), interventions=MARKS)
    assert found.verdict == "set"
    assert found.estimate == pytest.approx(difference(trial), abs=0.005)
    assert "by the graph it is open: the direction of d — y decides it" in found.to_text()


def test_rows_in_which_x_was_set_answer_where_a_graph_with_hidden_causes_does_not(trial):
    graph = dagora.PAG("dy", [("d", "o-o", "y")])
    found = dagora.effect(trial, "d", "y", graph=graph, interventions=MARKS)
    assert found.verdict == "set"
    assert found.estimate == pytest.approx(difference(trial), abs=0.005)
    assert found.assumptions[0].startswith("who was set to which value was decided by lot")
    assert "by the graph it is open: a hidden cause, or the other direction" in found.to_text()
    assert "would settle it" not in found.to_text()
    assert effect_in_words(found).startswith("If who was set to which value was decided by lot")
    assert "by rows in which it was set" in effect_page(found)


def test_rows_in_which_x_was_set_once_to_one_level_cannot_settle_it(trial):
    marks = [["d"] if was_set and d else [] for was_set, d in zip(HALF, trial["d"], strict=True)]
    graph = dagora.PAG("dy", [("d", "o-o", "y")])
    found = dagora.effect(trial, "d", "y", graph=graph, interventions=marks)
    assert found.verdict == "not identified"
    number = int((HALF & (trial["d"] == 1)).sum())
    assert f"; the {number} rows in which d was set cannot settle it: none was set to d=0" in found.reason


def test_a_hidden_cause_that_an_average_over_graphs_cannot_know_shows_where_x_was_set(trial):
    hidden = {name: trial[name] for name in "dy"}
    found = dagora.effect(hidden, "d", "y", interventions=MARKS, draws=50)
    assert found.interval[1] < 0.05 < difference(trial)
    assert found.where_set.interval[0] < 0.1 < found.where_set.interval[1]
    assert any("the rows in which d was set contradict this" in note for note in found.notes)
    assert "By the 1000 rows alone in which d was set by lot, it raises P(y=1) by 0.1" in (
        effect_in_words(found)
    )
    assert "rows in which it was set" in effect_page(found)


def test_numbers_that_were_set_to_a_few_values():
    rng = np.random.default_rng(0)
    h, x = rng.standard_normal((2, 400))
    was_set = np.arange(400) < 200
    x = np.where(was_set, np.arange(400) % 3, x + h)
    y = 0.5 * x - h + 0.1 * rng.standard_normal(400)
    marks = [["x"] if one else [] for one in was_set]
    asked = {"graph": dagora.PAG("xy", [("x", "o-o", "y")]), "interventions": marks}
    found = dagora.effect({"x": x, "y": y}, "x", "y", curve=True, **asked)
    assert found.interval[0] < 0.5 < found.interval[1]
    slope = np.polyfit(x[was_set], y[was_set], 1)[0]
    assert found.estimate == pytest.approx(slope)
    assert found.curve[-1].x == 2
    few = {"x": np.where(was_set & (x == 1), 2, x), "y": y}
    reason = dagora.effect(few, "x", "y", **asked).reason
    assert reason.endswith("the 200 rows in which x was set cannot settle it: x was set to 2 values only")


@pytest.mark.parametrize("regimes", [["a"], ["b", "c"], ["a+b"]])
def test_rows_direct_what_interventions_show_of_every_class_of_three_nodes(regimes):
    """The oracle has the DAG that the rows were drawn from, which the class and the rows stand for."""
    rng = np.random.default_rng(1)
    number = 400 * (1 + len(regimes))
    given = [None] * 400 + [name for name in regimes for _ in range(400)]
    marks = Interventions.of_rows(given, "abc")
    for dag in all_dags(3):
        graph = dagora.DAG.from_numpy(dag.to_numpy(), "abc")
        columns = {}
        for name in graph.order:
            noise = rng.standard_normal(number)
            mean = sum((columns[parent] for parent in graph.parents(name)), np.zeros(number))
            columns[name] = np.where(marks.unset(name), mean + noise, 2 * noise)
        rows = InterventionalStatistics(table_of(**{name: columns[name] for name in "abc"}), marks)
        found, _ = directed_by_rows(CPDAG.from_dag(graph), rows)
        assert found == interventional_cpdag(graph, marks.regimes), graph
