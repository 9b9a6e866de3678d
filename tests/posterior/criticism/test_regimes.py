"""Checks where variables were set in some rows: against tests of each kind of rows, and values that do not matter."""

import numpy as np
import pytest
from scipy import stats

import dagora
from dagora.data.interventions import Interventions
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.posterior.criticism.falsification import falsify
from dagora.posterior.criticism.regimes import WithinKinds

KINDS = [None] * 300 + ["w"] * 300 + ["v"] * 300


@pytest.fixture(scope="module")
def rows():
    """w → x and v → y, where w or v was set to 3 in some rows: x and y then differ between kinds of rows."""
    rng = np.random.default_rng(0)
    w, v, x, y = rng.standard_normal((4, 900))
    w[300:600] += 3
    v[600:] += 3
    return {"w": w, "v": v, "x": x + w, "y": y + v}


def test_rows_of_several_kinds_contradict_no_right_graph(rows):
    graph = DAG("wvxy", ["wx", "vy"])
    table, marks = Table.from_numpy(np.column_stack(list(rows.values())), names="wvxy"), marks_of(KINDS)
    pooled, found = falsify(graph, table), falsify(graph, table, marks)
    assert (pooled.tested, found.tested) == (4, 4)
    assert "x ⊥ y" in [str(one.independence) for one in pooled.worst]
    assert found.violated == 0
    wrong = falsify(DAG("wvxy", ["vy"]), table, marks)
    assert str(wrong.worst[0].independence) == "w ⊥ x"
    assert wrong.worst[0].strength == pytest.approx(np.sqrt(0.5), abs=0.1)


def marks_of(kinds, names="wvxy"):
    return Interventions.of_rows(kinds, names)


def test_joined_p_values_are_those_of_the_kinds_in_which_neither_was_set(rows):
    table = Table.from_numpy(np.column_stack(list(rows.values())), names="wvxy")
    test = WithinKinds("fisher-z", table, marks_of(KINDS))

    def one(a, b, start):
        r = np.corrcoef(rows[a][start : start + 300], rows[b][start : start + 300])[0, 1]
        return 2 * stats.norm.sf(abs(np.arctanh(r)) * np.sqrt(297))

    nothing = np.empty((3, 0), dtype=np.int64)
    found = test.p_values(np.array([0, 0, 2]), np.array([1, 3, 3]), nothing)
    for p, (a, b, kinds) in zip(
        found, [("w", "v", [0]), ("w", "y", [0, 600]), ("x", "y", [0, 300, 600])], strict=True
    ):
        expected = stats.combine_pvalues([one(a, b, start) for start in kinds]).pvalue
        assert p == pytest.approx(expected, rel=1e-6)


def test_what_a_variable_was_set_to_tells_nothing_of_what_it_depends_on():
    rng = np.random.default_rng(0)
    a, b, c = rng.standard_normal((3, 400))
    was_set = np.arange(400) >= 250
    graph, found = dagora.DAG("abc", ["ab"]), []
    for values in (5 * rng.standard_normal(400), rng.standard_normal(400) - 40):
        rows = {"a": a, "b": np.where(was_set, values, a + b), "c": c}
        rows["set"] = np.where(was_set, "b", "").tolist()
        found.append(dagora.check(graph, rows, interventions="set", permutations=5))
    first, second = found
    assert first.held_out.log_likelihood == pytest.approx(second.held_out.log_likelihood)
    assert first.held_out.references[0].difference == pytest.approx(second.held_out.references[0].difference)
    assert first.predictive.columns == second.predictive.columns
    assert [one.p_value for one in first.falsification.worst] == [
        one.p_value for one in second.falsification.worst
    ]
    assert first.held_out.references[1].difference > -0.02  # no better graph is found
    assert "rows in which a variable was set do not count for it (b 150)" in first.to_text()
    assert not [one for one in first.changes if {one.tail, one.head} == {"a", "b"}]
    gain = dagora.check(dagora.DAG("abc"), rows, interventions="set", permutations=5).changes[0]
    assert (gain.kind, gain.tail, gain.head) == ("add", "a", "b")


def test_too_few_rows_in_which_nothing_was_set_are_told(rows):
    kinds = ["w"] * 440 + ["v"] * 445 + [None] * 15
    found = dagora.check(DAG("wvxy", ["wx", "vy"]), rows, interventions=kinds, permutations=5)
    assert (
        "no tables were simulated: in 15 rows nothing was set, and 20 or more are needed" in found.to_text()
    )
