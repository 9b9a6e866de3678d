"""`dagora.check`: all parts together, for each kind of graph and of data, and bad input."""

import json
import math
import re

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, GraphError, OptionError
from dagora.report import write_check
from tests.conftest import ROOT

TRUTH = dagora.DAG("abcde", ["ac", "bc", "cd", "ce"])


@pytest.fixture(scope="module")
def rows():
    return dagora.simulate(TRUTH, "gaussian", rows=500, seed=1).table


def test_the_true_graph(rows):
    found = dagora.check(TRUTH, rows)
    assert (found.rows, found.falsification.violated) == (500, 0)
    assert found.falsification.p_value < 0.05
    assert found.held_out.references[0].difference > 0
    assert found.changes == ()
    assert not found.notes
    assert found._repr_html_().startswith("<pre>independences: ")
    content = json.loads(found.to_json())
    assert content["falsification"]["tested"] == 6
    assert content["held_out"]["folds"] == 5
    assert len(content["predictive"]["curves"]) == 5
    assert content["score"] == "bic-gaussian"


def test_a_wrong_graph(rows):
    found = dagora.check(dagora.DAG("abcde", ["ac", "bc", "cd"]), rows)
    worst = found.falsification.worst[0].independence
    assert {worst.a, worst.b} == {"c", "e"}
    assert {found.changes[0].tail, found.changes[0].head} == {"c", "e"}
    text = found.to_text()
    assert "violated: c ⊥ e" in text
    assert "add c → e: gains" in text


def test_a_class_is_checked_as_its_members(rows):
    own, of_class = dagora.check(TRUTH, rows), dagora.check(dagora.CPDAG.from_dag(TRUTH), rows)
    assert own.falsification == of_class.falsification
    assert own.held_out.log_likelihood == pytest.approx(of_class.held_out.log_likelihood)


def test_of_a_pag_only_independences_are_tested(rows):
    found = dagora.check(dagora.true_pag(TRUTH, []), rows)
    assert found.falsification.violated == 0
    assert found.held_out is found.predictive is found.changes is None
    assert "a PAG allows for hidden causes" in found.to_text()
    assert json.loads(found.to_json())["held_out"] is None


def test_results_networks_and_files(rows, tmp_path):
    result = dagora.learn(rows, "hill-climb")
    network = dagora.fit(result, rows)
    dagora.write_network(network, tmp_path / "network.json")
    texts = {dagora.check(one, rows).to_text() for one in (result, network, tmp_path / "network.json")}
    assert len(texts) == 1


def test_columns_of_another_kind_than_the_network_has_are_refused():
    numbers = np.random.default_rng(1).integers(0, 30, size=(400, 2)) + 0.5
    frame = {"a": numbers[:, 0], "b": numbers[:, 1]}
    graph = dagora.DAG("ab", ["ab"])
    levels = dagora.fit(graph, frame, discrete=["a", "b"], pseudocount=1)
    assert dagora.check(graph, frame).falsification.test == "fisher-z"
    with pytest.raises(
        DataError, match="'a' is discrete in the network but was read as continuous: use discrete"
    ):
        dagora.check(levels, frame)
    assert dagora.check(levels, frame, discrete=["a", "b"]).falsification.test == "x2"
    lines = dagora.fit(graph, frame)
    with pytest.raises(DataError, match="'a' is continuous in the network but was read as discrete"):
        dagora.check(lines, frame, discrete=["a"])


def test_other_columns_are_ignored(rows):
    more = {name: rows.values(k) for k, name in enumerate(rows.names)} | {"word": ["x", "y"] * 250}
    assert dagora.check(TRUTH, more).to_text() == dagora.check(TRUTH, rows).to_text()


def test_what_is_not_possible_is_said(rows):
    few = dagora.check(TRUTH, rows.take(np.arange(20)), folds=6)
    assert few.held_out is None
    assert "note: no rows were held out: 20 rows are too few for 6 folds" in few.to_text()
    with pytest.raises(DataError, match="19 rows are too few to check a graph: 20 or more are needed"):
        dagora.check(TRUTH, rows.take(np.arange(19)))


def test_the_page(rows, tmp_path):
    write_check(dagora.check(TRUTH, rows), tmp_path / "check.html", names=("<b>.json", "rows.csv"))
    page = (tmp_path / "check.html").read_text("utf-8")
    assert "&lt;b&gt;.json" in page
    assert "<b>.json" not in page
    for heading in ("Independences", "Rows held out", "Simulated tables", "Single changes"):
        assert f"<h2>{heading}</h2>" in page
    assert page.count("<svg") == 1 + 1 + 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permutations": 0}, "permutations must be a whole number from 1 to 100,000, not 0"),
        ({"permutations": 10**20}, "permutations must be a whole number from 1 to 100,000, not 1000"),
        ({"permutations": 1e20}, "permutations must be a whole number from 1 to 100,000, not 1e"),
        ({"folds": 1}, "folds must be a whole number, 2 or more, not 1"),
        ({"alpha": 1.5}, "alpha must be a number between 0 and 1, not 1.5"),
        ({"alpha": math.nan}, "alpha must be a number between 0 and 1, not nan"),
        ({"seed": -1}, "seed must be a whole number, 0 or more, not -1"),
        ({"fold": 3}, "fold"),
    ],
)
def test_options_are_checked(rows, options, words):
    with pytest.raises((OptionError, TypeError), match=words):
        dagora.check(TRUTH, rows, **options)


def test_bad_input(rows):
    with pytest.raises(DataError, match="there is no column named 'z': known are a, b, c, d, e"):
        dagora.check(dagora.DAG("abz", ["ab"]), rows)
    with pytest.raises(GraphError, match="must be a DAG"):
        dagora.check(3, rows)
    with pytest.raises(DataError, match="missing"):
        dagora.check(dagora.DAG("ab"), {"a": [1.5, None, 2.5, 7.5], "b": [1.5, 2.5, 3.5, 4.25]})
    square = dagora.CPDAG("abcd", undirected=["ab", "bc", "cd", "da"])
    with pytest.raises(GraphError, match="stands for no DAG"):
        dagora.check(square, rows)


def test_what_the_page_about_checks_prints():
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    printed = re.search(r"```text\n(.*?)\n```", page, re.DOTALL)[1]
    rows = dagora.simulate(TRUTH, "gaussian", rows=500, seed=1).table
    assert dagora.check(dagora.DAG("abcde", ["ac", "bc", "cd"]), rows).to_text() == printed
