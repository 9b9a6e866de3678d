"""Results go to JSON and back without loss."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import DagoraError, FormatError
from dagora.formats.registry import read_graph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.learners.outcome import STATUSES, Outcome, RankedClass, SeparatingSet
from dagora.learners.result import Result, TracePoint

CHAIN = DAG(["a", "β", "c d"], [("c d", "a"), ("a", "β")])
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def results(draw):
    graph = draw(
        st.sampled_from([CHAIN, DAG(["only"]), CPDAG.from_dag(CHAIN), CPDAG("abc", ["ab", "bc", "ca"])])
    )
    d = len(graph)
    weights = draw(st.none() | st.lists(finite, min_size=d * d, max_size=d * d))
    return Result(
        graph=graph,
        method=draw(st.text(max_size=5)),
        status=draw(st.sampled_from(sorted(STATUSES))),
        message=draw(st.text(max_size=20)),
        score=draw(st.none() | finite),
        score_name=draw(st.none() | st.just("bic")),
        seconds=draw(finite),
        seed=draw(st.integers(0, 2**70)),
        weights=None if weights is None else np.array(weights).reshape(d, d),
        trace=tuple(
            TracePoint(*point)
            for point in draw(st.lists(st.tuples(finite, st.integers(), finite), max_size=3))
        ),
        stats=draw(st.dictionaries(st.text(max_size=3), finite, max_size=3)),
        settings=draw(
            st.dictionaries(st.text(max_size=3), st.none() | st.booleans() | finite | st.text(), max_size=3)
        ),
        versions={"python": "3"},
        warnings=tuple(draw(st.lists(st.text(max_size=5), max_size=2))),
        dropped=draw(st.none() | st.just((("a", "β"), ("c d", "a")))),
        separating_sets=draw(st.sampled_from([(), (SeparatingSet("a", "c d", ("β",), 0.25),)])),
        curves=draw(
            st.dictionaries(st.text(max_size=3), st.lists(finite, max_size=4).map(tuple), max_size=2)
        ),
    )


@pytest.mark.full
@settings(max_examples=60, deadline=None)
@given(results())
def test_there_and_back(result):
    text = result.to_json()
    again = Result.from_json(text)
    assert again.to_json() == text
    assert again.to_dict() == result.to_dict()
    assert type(again.graph) is type(result.graph)
    assert again.graph == result.graph
    assert again.trace == result.trace
    assert again.warnings == result.warnings
    assert again.curves == result.curves
    assert again.dropped == result.dropped
    assert (again.weights is None) == (result.weights is None)
    if result.weights is not None:
        np.testing.assert_array_equal(again.weights, result.weights)
        assert again.weights.dtype == np.float64


def test_the_object_has_the_promised_keys():
    content = json.loads(Result(CHAIN, "hill-climb", "optimal", "done", -1.5, "bic").to_json())
    assert content["nodes"] == ["a", "β", "c d"]
    assert content["edges"] == [["a", "β"], ["c d", "a"]]
    assert content["undirected"] == []
    promised = (
        "method score_name score status message nodes edges undirected seconds stats settings seed versions"
    )
    assert set(promised.split()) <= set(content)
    assert "weights" not in content
    assert "curves" not in content


def test_odds_of_classes_compare_to_the_best():
    graph = CPDAG.from_dag(CHAIN)
    classes = (RankedClass(graph, -10.0), RankedClass(CPDAG("abc"), -12.0))
    result = Result(graph, "ilp", "optimal", "done", -10.0, "bic", classes=classes)
    assert [one["odds"] for one in result.to_dict()["classes"]] == [1.0, pytest.approx(math.exp(-2))]


@pytest.mark.parametrize("graph", [CHAIN, CPDAG.from_dag(CHAIN), CPDAG("abc", ["ac", "bc"])])
def test_a_result_is_a_graph_file(tmp_path, graph):
    path = tmp_path / "result.json"
    text = Result(graph, "m", "finished", "done").to_json()
    path.write_text(text, encoding="utf-8")
    again, found = Result.from_json(text).graph, read_graph(path)
    assert (type(again), again) == (type(graph), graph)
    assert (found.nodes, found.edges, found.undirected) == (graph.nodes, graph.edges, graph.undirected)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"nodes": []}', '"x"', "[" * 10])
def test_text_that_is_no_result(text):
    with pytest.raises(FormatError, match="not a result") as caught:
        Result.from_json(text)
    assert "\n" not in str(caught.value)


def test_a_cyclic_result_is_refused():
    content = Result(CHAIN, "m", "finished", "done").to_dict()
    content["edges"].append(["β", "a"])
    with pytest.raises(DagoraError, match="cycle"):
        Result.from_json(json.dumps(content))


def test_what_json_cannot_hold_is_not_written_wrongly():
    with pytest.raises(ValueError, match="JSON"):
        Result(CHAIN, "m", "finished", "done", score=math.nan).to_json()


def test_outcomes_know_their_statuses():
    for status in STATUSES:
        assert Outcome(CHAIN, status, "").status == status
    with pytest.raises(ValueError, match="unknown status 'done'"):
        Outcome(CHAIN, "done", "")


def test_the_short_form_says_what_matters():
    assert repr(Result(CHAIN, "tabu", "optimal", "", -1.5, "bic")) == (
        "Result(tabu: DAG(3 nodes, 2 edges), bic -1.5000, optimal)"
    )
    assert repr(Result(DAG("a"), "pc", "finished", "")) == "Result(pc: DAG(1 nodes, 0 edges), finished)"
