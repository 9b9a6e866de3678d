"""Effects by a graph or its class, against linear models of every DAG, whose truth rows of exact moments have."""

from dataclasses import replace

import numpy as np
import pytest

from dagora.base.errors import DagoraError
from dagora.data.interventions import Interventions
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import EffectContrast, read_contrast
from dagora.effects.effect_rows import EffectRows
from dagora.effects.result import ClassMember, Effect
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.report.effect_sections import effect_page
from tests.effects.exact_rows import rows_with, table_of
from tests.graph.linear_effects import (
    classes_with_knowledge,
    covariance,
    random_weights,
    total_effect,
    weights_of,
)


def ask(graph, table, x, y):
    return effect_by_graph(graph, EffectRows(table), read_contrast(table, x, y))


def judge_dags(size):
    rng = np.random.default_rng(size)
    for dag in all_dags(size):
        weights = random_weights(rng, dag.to_numpy())
        table = rows_with(covariance(weights), rng)
        graph = DAG.from_numpy(dag.to_numpy(), table.names)
        for x in range(size):
            for y in set(range(size)) - {x}:
                found = ask(graph, table, f"x{x}", f"x{y}")
                truth = total_effect(weights, [x], y)[0]
                assert found.estimate == pytest.approx(truth, abs=1e-9)
                assert found.interval[0] <= truth + 1e-9
                assert found.interval[1] >= truth - 1e-9
                assert (found.verdict == "zero") == (f"x{y}" not in graph.descendants(f"x{x}"))


def test_every_effect_in_every_dag_of_three_nodes():
    judge_dags(3)


@pytest.mark.full
def test_every_effect_in_every_dag_of_four_nodes():
    judge_dags(4)


def judge_classes(size, every=1):
    """The effects over a class are those of its members, each told once for a choice of parents."""
    rng = np.random.default_rng(size)
    open_ = 0
    for matrix, dags in classes_with_knowledge([dag.to_numpy() for dag in all_dags(size)])[::every]:
        covariances = covariance(random_weights(rng, dags[0]))
        table = rows_with(covariances, rng)
        graph = CPDAG.from_numpy(matrix, table.names)
        weights = [weights_of(covariances, dag) for dag in dags]
        for x in range(size):
            for y in set(range(size)) - {x}:
                truths = {round(float(total_effect(one, [x], y)[0]), 7) + 0.0 for one in weights}
                found = ask(graph, table, f"x{x}", f"x{y}")
                if found.verdict == "not identified":
                    open_ += 1
                    told = {round(m.estimates["difference"].value, 7) + 0.0 for m in found.members}
                    assert told == truths
                    parents = {frozenset(np.flatnonzero(dag[:, x])) for dag in dags}
                    assert len(found.members) == len(parents)
                    assert found.graphs == len(dags)
                    mean = np.mean([total_effect(one, [x], y)[0] for one in weights])
                    assert found.class_mean == pytest.approx(mean, abs=1e-9)
                    assert found.range[0] <= min(truths)
                    assert max(truths) <= found.range[1]
                else:
                    assert truths == {round(found.estimate, 7) + 0.0}
    return open_


def test_graphs_are_counted_together_only_where_all_are_counted():
    members = tuple(ClassMember((), "zero", {}, graphs=number) for number in (2, 4))
    contrast = EffectContrast(("x",), "y", ("yes",), ("no",), "yes")
    assert Effect(contrast, "not identified", members=members).graphs == 6
    assert (
        Effect(contrast, "not identified", members=(members[0], replace(members[1], graphs=None))).graphs
        is None
    )


def test_effects_over_every_class_of_three_nodes():
    assert judge_classes(3) == 96


@pytest.mark.full
def test_effects_over_classes_of_four_nodes_with_any_knowledge():
    assert judge_classes(4, every=5) > 500


@pytest.mark.full
@pytest.mark.parametrize("size", [3, pytest.param(4, marks=pytest.mark.full)])
def test_joint_effects_over_a_class(size):
    """Of all classes with any names, so that one question is all questions."""
    rng = np.random.default_rng(0)
    verdicts = set()
    for matrix, dags in classes_with_knowledge([dag.to_numpy() for dag in all_dags(size)]):
        covariances = covariance(random_weights(rng, dags[0]))
        table = rows_with(covariances, rng, rows=20_000)
        contrast = EffectContrast(("x0", "x1"), "x2", (1.0, 1.0), (0.0, 0.0), per_unit=True)
        graph = CPDAG.from_numpy(matrix, table.names)
        effects = [total_effect(weights_of(covariances, dag), [0, 1], 2).sum() for dag in dags]
        truths = np.unique(np.round(effects, 7))
        found = effect_by_graph(graph, EffectRows(table), contrast)
        verdicts.add(found.verdict)
        if found.verdict == "not identified":
            told = [member.estimates["difference"].value for member in found.members]
            assert max(np.abs(truths - one).min() for one in told) < 0.02
            assert max(np.abs(np.array(told) - one).min() for one in truths) < 0.02
        else:
            assert found.estimate == pytest.approx(truths[0], abs=0.02)
            assert len(truths) == 1
    assert verdicts == {"zero", "adjustment", "g-formula", "not identified"}


def test_the_g_formula_where_no_one_set_will_do():
    rng = np.random.default_rng(0)
    dag = np.zeros((3, 3), dtype=bool)
    dag[0, 2] = dag[2, 1] = True
    weights = random_weights(rng, dag)
    table = rows_with(covariance(weights), rng, rows=5000)
    contrast = EffectContrast(("x0", "x1"), "x2", (1.0, 1.0), (0.0, 0.0), per_unit=True)
    found = effect_by_graph(DAG.from_numpy(dag, table.names), EffectRows(table), contrast)
    assert found.verdict == "g-formula"
    assert found.estimate == pytest.approx(weights[0, 2], abs=0.02)
    assert found.interval[0] < weights[0, 2] < found.interval[1]
    assert "by the g-formula" in found.to_text()
    mixed = table_of(x0=["a", "b"] * 20, x1=["a", "b", "b", "a"] * 10, x2=rng.standard_normal(40))
    with pytest.raises(DagoraError, match="by no one adjustment set"):
        effect_by_graph(
            DAG.from_numpy(dag, mixed.names), EffectRows(mixed), read_contrast(mixed, ["x0", "x1"], "x2")
        )


def test_a_choice_of_a_class_that_no_one_set_identifies_says_so():
    """The directions of a0 and a1 are open; if a0 → y → a1, the g-formula alone gives the effect of both."""
    names = ["a0", "a1", "y"]
    rows = dict(zip(names, np.random.default_rng(0).standard_normal((3, 60)), strict=True))
    contrast = read_contrast(table_of(**rows), names[:2], "y")
    graph = CPDAG(names, [], [("a0", "y"), ("a1", "y")])
    found = effect_by_graph(graph, EffectRows(table_of(**rows)), contrast)
    members = {member.edges: member for member in found.members}
    by_formula = members[("a0", "y"), ("y", "a1")]
    assert (by_formula.verdict, by_formula.adjustment) == ("g-formula", None)
    assert by_formula.to_text().endswith("], by the g-formula")
    told = {one["verdict"]: one["adjustment"] for one in found.to_dict()["members"]}
    assert told == {"g-formula": None, "zero": None}
    assert "by the g-formula" in effect_page(found)
    assert "adjusted for nothing" not in effect_page(found)


def test_a_smaller_set_where_strata_lack_rows():
    rng = np.random.default_rng(0)
    n = 400
    z = rng.integers(0, 2, n)
    x = (rng.random(n) < 0.3 + 0.4 * z).astype(int)
    w = rng.integers(0, 100, n)  # a cause of y alone: the set of least variance has it
    y = (rng.random(n) < 0.2 + 0.3 * x + 0.3 * z).astype(int)
    table = table_of(z=z.astype(str), x=x.astype(str), w=w.astype(str), y=y.astype(str))
    graph = DAG(table.names, [("z", "x"), ("z", "y"), ("x", "y"), ("w", "y")])
    found = ask(graph, table, "x", "y")
    assert found.adjustment == ("z",)
    assert found.support.share == 1
    assert found.interval[0] < 0.3 < found.interval[1]


def test_rows_in_which_variables_were_set():
    """Where x was set, rows count; where what y or x depends on was set, they do not."""
    rng = np.random.default_rng(0)
    n = 300
    z = rng.standard_normal(n)
    x = z + rng.standard_normal(n)
    set_x = np.arange(n) < 100
    x[set_x] = rng.standard_normal(100) * 3
    y = 2 * x + z + 0.1 * rng.standard_normal(n)
    set_y = (np.arange(n) >= 100) & (np.arange(n) < 150)
    y[set_y] = 50
    v = y + rng.standard_normal(n)
    set_v = np.arange(n) >= 280
    v[set_v] = 0
    table = table_of(z=z, x=x, y=y, v=v)
    graph = DAG(table.names, [("z", "x"), ("z", "y"), ("x", "y"), ("y", "v")])
    marks = np.where(set_x, "x", np.where(set_y, "y", np.where(set_v, "v", "")))
    rows = EffectRows(table, Interventions.of_rows([m or None for m in marks], table.names))
    found = effect_by_graph(graph, rows, read_contrast(table, "x", "y"))
    assert found.rows == 250
    assert found.estimate == pytest.approx(2, abs=0.02)
    assert "50 rows are not used" in found.notes[0]
    assert "in 100 of the rows x was set" in found.notes[1]
