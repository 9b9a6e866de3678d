"""What an answer says about what it rests on, against tables whose truth is known."""

import json
from itertools import combinations, permutations

import numpy as np
import pytest

import dagora
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import Directions
from dagora.graph.enumerate import all_dags
from dagora.network.inference.answer_notes import extrapolation
from dagora.network.inference.question import Question

RNG = np.random.default_rng(0)


def patients(n=2000):
    """Severity decides the drug and, with the drug, death."""
    severe = RNG.random(n) < 0.5
    drug = np.where(RNG.random(n) < np.where(severe, 0.8, 0.3), "B", "A")
    death = RNG.random(n) < 0.1 + 0.5 * severe + 0.2 * (drug == "A")
    names = np.array(["no", "yes"])
    return {"severe": names[severe.astype(int)], "drug": drug, "death": names[death.astype(int)]}


def adjusted(rows, drug):
    """P(death | do(drug)), adjusted for severity by hand."""
    total = 0.0
    for level in ("no", "yes"):
        own = rows["severe"] == level
        treated = own & (rows["drug"] == drug)
        total += own.mean() * (rows["death"][treated] == "yes").mean()
    return total


def test_a_range_over_the_class_holds_the_adjusted_answer():
    rows = patients()
    result = dagora.learn(rows, "tabu")
    network = dagora.fit(result, rows)
    assert len(result.directions.open) == 3  # a triangle
    for drug in "AB":
        answer = network.query(f"P(death=yes | do(drug={drug}))")
        low, high = (float(table[1]) for table in answer.class_range)
        observed = (rows["death"][rows["drug"] == drug] == "yes").mean()
        expected = (adjusted(rows, drug), observed, (rows["death"] == "yes").mean())
        assert low == pytest.approx(min(expected), abs=1e-6)
        assert high == pytest.approx(max(expected), abs=1e-6)
        said = dagora.adjustment(network, "drug", "death")
        assert f"not identified from these data alone: {said.reason}" in answer.notes
        assert "`dagora effect`" in str(answer)
        assert "over the graphs that fit equally well" in str(answer)


def test_knowledge_settles_it():
    rows = patients()
    known = {"tiers": [["severe"], ["drug"], ["death"]]}
    result = dagora.learn(rows, "tabu", knowledge=known)
    answer = dagora.fit(result, rows).query("P(death=yes | do(drug=A))")
    assert answer.table[1] == pytest.approx(adjusted(rows, "A"), abs=1e-9)
    assert "the data and the knowledge determine the arrows that decide it" in str(answer)
    assert "identified by adjusting for severe" in str(answer)
    assert "over the graphs" not in str(answer)


def network_of(edges, open_):
    """A network over four nodes, of whose edges the data leave some open."""
    rows = {name: RNG.integers(0, 2, 200) for name in "abcd"}
    result = dagora.Result(DAG("abcd", edges), "tabu", "finished", "")
    assert set(result.directions.open) == set(open_)
    return dagora.fit(result, rows)


def test_an_open_edge_that_leads_elsewhere_decides_nothing():
    """a — b is open, a → c ← d is not: what setting a does to c is the same in both graphs."""
    network = network_of([("a", "b"), ("a", "c"), ("d", "c")], [("a", "b")])
    answer = network.query("P(c | do(a=1))")
    assert "not identified" not in str(answer)
    assert "the data determine the arrows that decide it" in str(answer)
    assert "identified by adjusting for d (" in str(answer)
    open_ = network.query("P(b | do(a=1))")
    assert "the direction of a — b decides it" in str(open_)
    assert np.array_equal(*answer.class_range)
    assert not np.allclose(*open_.class_range)


def test_setting_what_leads_nowhere_is_said_to_change_nothing():
    network = network_of([("a", "c"), ("d", "c")], [])
    answer = network.query("P(d | do(c=1))")
    assert "no directed path leads from c to d: nothing changes there" in answer.notes
    assert answer.table == pytest.approx(network.query("P(d)").table)


def test_open_edges_that_evidence_makes_harmless():
    """In a — b — c, setting a says nothing about c once b is seen, whatever the directions."""
    network = network_of([("a", "b"), ("b", "c")], [("a", "b"), ("b", "c")])
    given = network.query("P(c | b=1, do(a=1))")
    assert "all graphs that fit equally well give this answer" in str(given)
    assert "not identified" in str(network.query("P(c | do(a=1))"))


def test_several_that_are_asked_for_are_open_if_one_of_them_is():
    network = network_of([("a", "b"), ("a", "c"), ("d", "c")], [("a", "b")])
    assert "not identified" in str(network.query("P(b, c | do(a=1))"))
    assert "not identified" in str(network.query("MAP(b, c | do(a=1))"))
    assert "was not computed" in str(network.query("MAP(b, c | do(a=1))"))
    assert "not identified" not in str(network.query("P(c, d | do(a=1))"))


@pytest.mark.full
def test_the_range_where_both_kinds_of_columns_are_there_but_levels_alone_bear_on_it():
    """The table of the README, against adjusting in rows that are drawn from the network."""
    rows = dagora.example()
    result = dagora.learn(rows, "tabu")
    assert ("drug", "death") in {*result.directions.open, *((b, a) for a, b in result.directions.open)}
    network = dagora.fit(result, rows)
    drawn = network.sample(400_000, seed=3).to_pandas()
    adjusted = sum(
        part["death"][part["drug"] == "B"].eq("yes").mean() * len(part) / len(drawn)
        for _, part in drawn.groupby("severity", observed=True)
    )
    expected = sorted([adjusted, drawn["death"].eq("yes").mean()])
    answer = network.query("P(death=yes | do(drug=B))")
    low, high = (float(table[1]) for table in answer.class_range)
    assert [low, high] == pytest.approx(expected, abs=0.006)
    assert "over the graphs that fit equally well" in str(answer)


@pytest.mark.full
def test_the_range_of_a_gaussian_class_is_that_of_its_members():
    n = 4000
    x = RNG.normal(size=n)
    y = 0.8 * x + RNG.normal(size=n)
    z = 0.5 * y - 0.7 * x + RNG.normal(size=n)
    rows = {"x": x, "y": y, "z": z}
    result = dagora.learn(rows, "tabu")
    assert len(result.directions.open) == 3
    answer = dagora.fit(result, rows).query("P(z | do(y=2))")
    means = []
    for order in permutations("xyz"):
        member = DAG("xyz", combinations(order, 2))
        means.append(dagora.fit(member, rows).query("P(z | do(y=2))").mean["z"])
    assert answer.class_range[0][0] == pytest.approx(min(means), abs=1e-9)
    assert answer.class_range[1][0] == pytest.approx(max(means), abs=1e-9)


@pytest.mark.full
def test_ranges_of_all_classes_over_four_nodes():
    """Every answer of every member of the class is in the range, and the ends are reached."""
    rng = np.random.default_rng(3)
    dags = [DAG.from_numpy(dag.to_numpy(), "abcd") for dag in all_dags(4)]
    classes = {}
    for dag in dags:
        classes.setdefault(CPDAG.from_dag(dag), []).append(dag)
    rows = {name: rng.integers(0, 2, 300) for name in "abcd"}
    rows["b"] = np.where(rng.random(300) < 0.7, rows["a"], rows["b"])
    rows["c"] = np.where(rng.random(300) < 0.6, rows["b"], rows["c"])
    rows["d"] = np.where(rng.random(300) < 0.5, rows["a"] ^ rows["c"], rows["d"])
    for position, (cpdag, members) in enumerate(classes.items()):
        if position % 9:
            continue
        result = dagora.Result(members[0], "tabu", "finished", "")
        assert set(map(frozenset, result.directions.open)) == set(map(frozenset, cpdag.undirected))
        question = "P(d | b=1, do(a=1))" if position % 2 else "P(b, d | do(a=1, c=0))"
        answer = dagora.fit(result, rows).query(question)
        found = [dagora.fit(member, rows).query(question).table for member in members]
        np.testing.assert_allclose(answer.class_range[0], np.min(found, axis=0), atol=1e-9)
        np.testing.assert_allclose(answer.class_range[1], np.max(found, axis=0), atol=1e-9)


def test_few_rows_are_said():
    rows = {"drug": ["A"] * 300 + ["C"] * 2, "death": ["no", "yes"] * 150 + ["yes", "yes"]}
    network = dagora.fit(DAG(["drug", "death"], [("drug", "death")]), rows)
    answer = network.query("P(death=yes | drug=C)")
    assert "about 2 of 302 rows have drug=C: too few to rely on" in str(answer)
    assert answer.row_errors[1] > 0.1
    assert "too few" not in str(network.query("P(death=yes | drug=A)"))
    smoothed = dagora.fit(DAG(["drug", "death"], [("drug", "death")]), rows, pseudocount="one-row")
    assert smoothed.query("P(death=yes | drug=C)").table[1] == pytest.approx(2.5 / 3)
    assert "one row is added" in str(smoothed.query("P(death=yes | drug=C)"))


def test_extrapolation_is_said():
    age = RNG.uniform(20, 80, 200)
    network = dagora.fit(
        DAG(["age", "sbp"], [("age", "sbp")]), {"age": age, "sbp": age + RNG.normal(size=200)}
    )
    assert "age=500 lies outside of the data (2" in str(network.query("P(sbp | age=500)"))
    assert "age=500 lies outside of the data (2" in str(network.query("P(sbp | do(age=500))"))
    assert "80.5 < age < 90 lies outside" in str(network.query("P(sbp | 80.5 < age < 90)"))
    assert "measurement age=95 lies outside" in str(network.query("P(sbp | likelihood(age, value=95, sd=5))"))
    for question in ("age=50", "age > 70", "likelihood(age, value=95, sd=20)"):
        assert "outside" not in str(network.query(f"P(sbp | {question})"))
    for seen in (age.min(), age.max()):
        assert not list(extrapolation(network, Question("P", ("sbp",), given={"age": float(seen)})))


def test_the_uncertainty_from_the_rows_is_that_of_the_posterior():
    rows = {"a": [0] * 30 + [1] * 10, "b": ([0] * 20 + [1] * 10) + [1] * 6 + [0] * 4}
    network = dagora.fit(DAG("ab", [("a", "b")]), rows, pseudocount=1.0)
    sd = network.query("P(b=1 | a=1)").row_errors[1]
    first, second = 6 + 1, 4 + 1
    exact = np.sqrt(first * second / (first + second) ** 2 / (first + second + 1))
    assert sd == pytest.approx(exact, rel=0.25)
    x = RNG.normal(size=50)
    lines = dagora.fit(DAG("xy", [("x", "y")]), {"x": x, "y": 2 * x + RNG.normal(size=50)})
    answer = lines.query("P(y | x=1.5)")
    design = np.column_stack([np.ones(50), x])
    variance = lines.sds["y"] ** 2 * 50 / 48
    at = np.array([1.0, 1.5])
    assert answer.row_errors[0] == pytest.approx(
        np.sqrt(variance * at @ np.linalg.inv(design.T @ design) @ at), rel=0.25
    )


@pytest.mark.parametrize("file", ["network.bif", "network.json"])
def test_files_keep_what_a_network_rests_on(tmp_path, file):
    rows = patients()
    network = dagora.fit(dagora.learn(rows, "tabu"), rows, pseudocount="one-row")
    dagora.write_network(network, tmp_path / file)
    again = dagora.read_network(tmp_path / file)
    assert again.origin.to_dict() == network.origin.to_dict()
    question = "P(death | do(drug=A))"
    assert str(again.query(question)) == str(network.query(question))


def test_damaged_origins_are_refused(tmp_path):
    network = dagora.fit(DAG("ab", [("a", "b")]), {"a": [0, 1] * 9, "b": [1, 0] * 9})
    file = tmp_path / "network.json"
    dagora.write_network(network, file)
    good = json.loads(file.read_text())
    for key, value in [
        ("n_rows", "x"),
        ("rows", {"a": "x"}),
        ("rows", {"z": 3}),
        ("rows", {"b": [1, 2, 3]}),
        ("ranges", {"a": [1]}),
        ("pseudocount", -1),
        ("directions", {"open": [["b", "a"]]}),
    ]:
        file.write_text(json.dumps({**good, "origin": {**good["origin"], key: value}}))
        with pytest.raises(dagora.DagoraError):
            dagora.read_network(file)


def test_assumed_directions_are_said():
    rows = {"x": RNG.uniform(size=300), "y": RNG.uniform(size=300)}
    rows["y"] = rows["y"] + rows["x"]
    result = dagora.learn(rows, "lingam")
    assert result.directions.assumed_by == "lingam"
    answer = dagora.fit(result, rows).query("P(y | do(x=0.5))")
    assert "the directions rest on what lingam assumes" in str(answer)
    plain = dagora.fit(result.graph, rows).query("P(y | do(x=0.5))")
    assert "the arrows are taken as the graph has them" in str(plain)
    assert Directions.from_dict(result.directions.to_dict(), result.graph) == result.directions


def test_a_network_without_rows_says_whose_arrows_are_taken():
    network = dagora.fit(DAG("ab", [("a", "b")]), {"a": [0, 1] * 9, "b": [1, 0] * 9})
    plain = dagora.DiscreteNetwork(network.graph, network.levels, network.tables)
    note = "the arrows are taken as the network has them"
    assert note in str(plain.query("P(b | do(a=1))"))
    assert note not in str(plain.query("P(b | a=1)"))


def test_an_answer_about_cases_and_controls_is_of_the_table():
    rows = {"status": ["case", "control"] * 100, "smoker": ["yes", "no", "no", "no"] * 50}
    rows["sex"] = ["f", "f", "m", "m"] * 50
    network = dagora.fit(DAG(["status", "smoker", "sex"], [("status", "smoker")]), rows)
    told = "rows seem to be chosen by 'status' (case and control)"
    assert told in str(network.query("P(status)"))
    assert told in str(network.query("P(smoker)"))
    assert told not in str(network.query("P(smoker | status=case)"))
    assert told not in str(network.query("P(sex)"))
