"""`effect`: the table that must come out right, what is said where the graph leaves it open, and bad input."""

import json

import numpy as np
import pytest

import dagora

ARROWS = [("severity", "drug"), ("severity", "death"), ("drug", "death")]


@pytest.fixture(scope="module")
def patients():
    """2000 rows of severity → drug, severity → death, drug → death; the effect of the drug is -0.19."""
    rng = np.random.default_rng(0)
    severe = rng.random(2000) < 0.5
    drug = rng.random(2000) < np.where(severe, 0.3, 0.7)
    death = rng.random(2000) < 0.15 + 0.6 * severe - 0.19 * drug * np.where(severe, 1.6, 0.4)
    columns = {"severity": severe, "drug": drug, "death": death}
    return {name: np.where(column, "yes", "no") for name, column in columns.items()}


def test_adjusted_for_severity(patients):
    graph = dagora.DAG(patients, ARROWS)
    found = dagora.effect(patients, "drug", "death", graph=graph)
    assert (found.verdict, found.adjustment, found.rows) == ("adjustment", ("severity",), 2000)
    assert found.interval[0] < -0.19 < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.1
    assert list(found.estimates) == ["difference", "ratio", "odds ratio"]
    opposite = dagora.effect(patients, "drug", "death", graph=graph, levels=["no", "yes"])
    assert opposite.estimate == pytest.approx(-found.estimate)


def test_not_identified_from_these_data_alone(patients):
    """The graph that is learned has arbitrary arrows: its class is asked, and no one number is given."""
    found = dagora.effect(patients, "drug", "death", method="tabu")
    assert found.verdict == "not identified"
    assert found.estimate is None
    assert found.interval is None
    text = found.to_text()
    assert (
        "not identified from these data alone: the directions of drug — severity, drug — death decide it"
        in text
    )
    first = next(one for one in found.members if ("severity", "drug") in one.edges and one.adjustment)
    known = dagora.effect(patients, "drug", "death", graph=dagora.DAG(patients, ARROWS))
    assert first.estimates["difference"].value == pytest.approx(known.estimate)
    assert first.to_text(found.graphs) in text
    assert found.range[1] == 0
    assert "intervals held about half of the effects" in text


def test_what_came_first_settles_it(patients):
    tiers = {"tiers": [["severity"], ["drug"], ["death"]]}
    for asked in ({"method": "tabu"}, {"graph": dagora.CPDAG.from_dag(dagora.DAG(patients, ARROWS))}):
        found = dagora.effect(patients, "drug", "death", knowledge=tiers, **asked)
        assert (found.verdict, found.adjustment) == ("adjustment", ("severity",))


def test_given_a_level(patients):
    graph = dagora.DAG(patients, ARROWS)
    truth = {"yes": -0.19 * 1.6, "no": -0.19 * 0.4}
    for level, effect in truth.items():
        found = dagora.effect(patients, "drug", "death", graph=graph, given={"severity": level})
        assert found.interval[0] < effect < found.interval[1]
        assert found.contrast.given == {"severity": level}
        assert "given severity" in found.to_text()


def test_json_holds_everything(patients):
    found = dagora.effect(patients, "drug", "death", method="tabu")
    content = json.loads(found.to_json())
    assert content["verdict"] == "not identified"
    assert len(content["members"]) == len(found.members)
    assert content["open_edges"] == [list(edge) for edge in found.open_edges]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"x": "drug", "y": "drug"}, "'drug' cannot be both set and the outcome"),
        ({"x": "rug"}, "there is no column named 'rug'"),
        ({"given": {"death": "yes"}}, "'death' cannot be given: it is set, or the outcome"),
        ({"x": "severity", "given": {"drug": "yes"}}, "'drug' may depend on severity"),
        ({"method": "tabu"}, "a graph is given: leave method out"),
        ({"restarts": 3}, "a graph is given: leave restarts out"),
        ({"graph": dagora.DAG(["drug", "death"], [])}, ""),
        ({"graph": dagora.DAG(["rug", "death"], [])}, "there is no"),
        ({"graph": "nowhere.json"}, ""),
        ({"graph": 3}, ""),
        ({"knowledge": {"required": [["death", "drug"]]}}, "the knowledge forbids drug → death"),
    ],
)
def test_bad_input_gets_one_line(patients, asked, words):
    settings = {"x": "drug", "y": "death", "graph": dagora.DAG(patients, ARROWS), **asked}
    if asked.get("graph") == dagora.DAG(["drug", "death"], []):
        assert dagora.effect(patients, **settings).verdict == "zero"
        return
    with pytest.raises(dagora.DagoraError) as caught:
        dagora.effect(patients, **settings)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


def test_missing_values_are_refused(patients):
    holes = {**patients, "death": [None, *patients["death"][1:]]}
    with pytest.raises(dagora.DataError, match="missing"):
        dagora.effect(holes, "drug", "death", graph=dagora.DAG(patients, ARROWS))


def test_a_column_that_the_graph_has_and_the_table_lacks(patients):
    """Another valid set is taken, and where there is none, one line says what is missing."""
    nodes = [*patients, "age"]
    chain = dagora.DAG(
        nodes, [("age", "severity"), ("severity", "drug"), ("age", "death"), ("drug", "death")]
    )
    found = dagora.effect(patients, "drug", "death", graph=chain)
    assert found.adjustment == ("severity",)
    hidden = dagora.DAG(nodes, [("age", "drug"), ("age", "death"), ("drug", "death")])
    with pytest.raises(dagora.DataError, match="no valid adjustment set is in the table, which lacks age"):
        dagora.effect(patients, "drug", "death", graph=hidden)


@pytest.mark.parametrize("seed", [-1, 0.5])
def test_what_is_no_seed_is_refused_in_the_same_words(seed):
    rows = {"a": [0.1, 1.2, 1.9, 3.3], "b": [0.4, 1.0, 2.2, 2.9]}
    graph = dagora.DAG("ab", [("a", "b")])
    for ask in (
        lambda: dagora.effect(rows, "a", "b", graph=graph, seed=seed),
        lambda: dagora.fit(graph, rows).query("P(b | a=1)", seed=seed),
        lambda: dagora.compare(graph, graph).adjustment_distances(seed=seed),
    ):
        with pytest.raises(dagora.OptionError, match="seed must be a whole number"):
            ask()


@pytest.mark.parametrize(("scale", "words"), [(1e200, "too large"), (1e-200, "too small")])
def test_numbers_that_cannot_be_squared_are_named(scale, words):
    """And are not said never to change."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=50)
    graph = dagora.DAG("abc", [("a", "b"), ("c", "a"), ("c", "b")])
    rows = {"a": a, "b": a + rng.normal(size=50), "c": rng.normal(size=50)}
    for name in rows:
        scaled = {**rows, name: rows[name] * scale}
        with pytest.raises(
            dagora.DataError, match=f"the values of column '{name}' are {words} to be squared"
        ):
            dagora.effect(scaled, "a", "b", graph=graph)
