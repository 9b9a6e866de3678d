"""The PAG as a value, in files, in pictures and against a truth."""

import pickle

import numpy as np
import pytest

import dagora
from dagora.base.errors import FormatError, GraphError
from dagora.formats.registry import read_graph, write_graph
from dagora.graph.ancestral.end_marks import contradictions
from dagora.graph.ancestral.pag import PAG, SIGNS
from dagora.graph.compare import compare
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.drawing import draw_svg
from dagora.learners.result import Result
from dagora.report.learned import result_page

NAMES = ["a b", 'say "hi"', "o->", "d", "e", "f", "g", "lonely", "<i>"]
ALL = PAG(NAMES, [(NAMES[k], sign, NAMES[k + 1 if k < 6 else 8]) for k, sign in enumerate(list(SIGNS)[:7])])
OTHERS = PAG("abc", [("a", list(SIGNS)[7], "b"), ("b", list(SIGNS)[8], "c")])


def test_equality_order_and_copies():
    graph = PAG("abc", [("a", "o->", "b"), ("c", "<--", "b")])
    assert graph == PAG("abc", [("b", "<-o", "a"), ("b", "-->", "c")])
    assert hash(graph) == hash(pickle.loads(pickle.dumps(graph)))
    assert graph != graph.reorder("cba")
    assert graph.reorder("cba").reorder("abc") == graph
    assert PAG.from_numpy(ALL.to_numpy(), NAMES) == ALL
    assert PAG.from_text(graph.to_text(), "abc") == graph
    with pytest.raises(ValueError, match="read-only"):
        graph._matrix[0, 1] = 0


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PAG("ab", [("a", "o->", "a")]), "edge to itself"),
        (lambda: PAG("ab", [("a", "o->", "b"), ("b", "o->", "a")]), "two edges between"),
        (lambda: PAG("ab", [("a", "o->", "z")]), "no node named 'z'"),
        (lambda: PAG("aa"), "two nodes are named 'a'"),
        (lambda: PAG.from_numpy([[0, 1], [0, 0]]), "at one end only"),
        (lambda: PAG.from_numpy([[0, 7], [1, 0]]), "1 \\(circle\\)"),
        (lambda: PAG.from_numpy([[0, 1]]), "square"),
        (lambda: PAG.from_text("a b"), "line 1: an edge is written a o-> b"),
        (lambda: PAG("ab").reorder("a"), "exactly the graph's own nodes"),
        (lambda: compare(DAG("ab"), PAG("ab")), "the estimate is a DAG"),
        (lambda: compare(PAG("ab"), CPDAG("ab")), "the truth is a CPDAG"),
        (lambda: compare(PAG("ab"), DAG("ac")), "'b' is a node of the estimate but not of the truth"),
        (lambda: dagora.score({"a": [0, 1], "b": [1, 0]}, PAG("ab")), "must be a DAG or CPDAG, not a PAG"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(GraphError, match=words):
        make()


@pytest.mark.parametrize("extension", ["json", "dot", "dagitty", "json.gz"])
def test_files(extension, tmp_path):
    for graph in (ALL, OTHERS, PAG("ab", [("a", "o-o", "b")]), PAG("ab")):
        file = tmp_path / f"graph.{extension}"
        write_graph(graph, file)
        assert read_graph(file) == graph


@pytest.mark.parametrize("extension", ["csv", "graphml", "bif"])
def test_formats_without_marks_refuse(extension, tmp_path):
    file = tmp_path / f"graph.{extension}"
    with pytest.raises(FormatError, match=r"cannot hold the marks of a PAG: write \.json, \.dot"):
        write_graph(ALL, file)
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("g.json", '{"nodes": ["a"], "edges": [], "marked_edges": [["a", "b"]]}', "triples like"),
        (
            "g.json",
            '{"nodes": ["a", "b"], "edges": [["b", "a"]], "marked_edges": [["a", "-->", "b"]]}',
            '"edges" must have the edges a --> b of "marked_edges"',
        ),
        ("g.json", '{"nodes": ["a", "b"], "edges": [], "marked_edges": [["a", "~", "b"]]}', "'~' is no edge"),
        ("g.dot", "digraph { a -> b [dir=both, arrowtail=crow, arrowhead=none] }", "ends in 'crow'"),
        ("g.dagitty", "pag { a @-> b  b -> a }", "two edges between"),
    ],
)
def test_malformed_files(name, text, words, tmp_path):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises((FormatError, GraphError), match=words):
        read_graph(file)


def test_a_picture_has_a_circle_for_every_circle():
    graph = PAG("abcd", [("a", "o->", "b"), ("b", "<->", "c"), ("c", "o-o", "d")])
    drawing = draw_svg(graph)
    assert drawing.count("<circle") == 3
    assert drawing.count("<title>b ↔ c</title>") == 1
    truth = PAG("abcd", [("a", "o->", "b"), ("b", "-->", "c"), ("a", "o-o", "d")])
    judged = draw_svg(graph, truth=truth)
    for words in ("correct 1", "other marks 1", "extra 1", "missing 1", "b ↔ c (other marks)"):
        assert words in judged
    assert judged.count("<circle") == 5, "those of the missing edge too"


def test_marks_against_the_truth():
    truth = DAG("abch", ["ac", "bc", "ha", "hb"])
    assert compare(PAG("abc", [("a", "o-o", "b"), ("a", "o-o", "c"), ("b", "o-o", "c")]), truth).shd == 0
    found = compare(PAG("abc", [("a", "-->", "c"), ("b", "o->", "c")]), DAG("abch", ["ac", "bc", "hc"]))
    assert found.marks.to_dict() == {"right": 3, "open": 0, "wrong": 1}
    assert (found.pag.correct, found.pag.reversed, found.skeleton.shd) == (1, 1, 0)
    assert found.to_dict()["marks"]["wrong"] == 1


def test_contradictions():
    assert (
        contradictions(PAG("abc", [("a", "-->", "b"), ("b", "-->", "c"), ("a", "o->", "c")]).to_numpy()) == 0
    )
    almost = PAG("abc", [("a", "-->", "b"), ("b", "-->", "c"), ("a", "<->", "c")])
    assert contradictions(almost.to_numpy()) == 1


def test_a_report_says_what_marks_mean():
    graph = PAG(["<smoke>", "cough", "age"], [("<smoke>", "o->", "cough"), ("age", "<->", "cough")])
    result = Result(graph, "rfci", "finished", "done", settings={"selection": True})
    assert Result.from_json(result.to_json()).graph == graph
    page = result_page(result, truth=DAG(["<smoke>", "cough", "age", "h"]))
    for words in (
        "cough does not cause &lt;smoke&gt;: &lt;smoke&gt; causes cough, something hidden causes both",
        "neither causes the other: something hidden causes both",
        "decided which rows are in the data",
        "Marks of shared edges: 0 right",
        "extra",
    ):
        assert words in page
    assert "class of equivalent" not in page
    assert np.array_equal(graph.to_numpy(), Result.from_dict(result.to_dict()).graph.to_numpy())


def test_json_needs_no_edges_beside_marked_ones(tmp_path):
    file = tmp_path / "g.json"
    file.write_text('{"nodes": ["a", "b"], "marked_edges": [["a", "o->", "b"]]}')
    assert read_graph(file) == PAG("ab", [("a", "o->", "b")])
