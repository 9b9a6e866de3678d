"""Tetrad's text: as Tetrad writes it, there and back for all kinds of graphs, and what must be refused."""

import itertools

import pytest

from dagora import CPDAG, DAG, PAG, FormatError, GraphError, read_graph, write_graph
from dagora.formats import tetrad

SAVED = """Graph Nodes:
X1;X2;X3;X4

Graph Edges:
1. X1 --> X2 dd nl
2. X3 <-- X2
3. X3 --- X4

Graph Attributes:
BIC: -103.25
"""


def test_as_tetrad_saves_it():
    assert tetrad.parse_graph(SAVED) == CPDAG(
        ["X1", "X2", "X3", "X4"], [("X1", "X2"), ("X2", "X3")], [("X3", "X4")]
    )


def test_older_files_have_commas():
    assert tetrad.parse_graph("Graph Nodes:\na,b\n\nGraph Edges:\n1. b --> a\n") == DAG("ab", [("b", "a")])


@pytest.mark.parametrize(
    "graph",
    [
        DAG(["wet grass", "rain", "x-1"], [("rain", "wet grass")]),
        DAG("abc", [("a", "b"), ("c", "b")]),
        DAG("ab"),
        CPDAG("abcd", [("a", "c"), ("b", "c")], [("c", "d")]),
        PAG("abcd", [("a", "o->", "c"), ("b", "<->", "c"), ("c", "-->", "d")]),
        *(PAG("ab", [("a", sign, "b")]) for sign in ("<->", "o->", "<-o", "o-o", "--o")),
    ],
    ids=repr,
)
def test_there_and_back(graph, tmp_path):
    write_graph(graph, tmp_path / "g.tetrad")
    assert read_graph(tmp_path / "g.tetrad") == graph


def test_all_dags_of_three_nodes_come_back():
    pairs = list(itertools.combinations("abc", 2))
    for ways in itertools.product((None, 0, 1), repeat=3):
        edges = [pair[:: 1 - 2 * way] for pair, way in zip(pairs, ways, strict=True) if way is not None]
        try:
            graph = DAG("abc", edges)
        except GraphError:  # one of the two cycles
            continue
        assert tetrad.parse_graph(tetrad.render_graph(graph)) == graph


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "no line 'Graph Nodes:'"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a => b\n", "line 5: '1. a => b' is no edge"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> c\n", "line 5: 'c' is not among the nodes"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\na --> b\n", "line 5"),
    ],
)  # fmt: skip
def test_what_is_refused(text, said):
    with pytest.raises(FormatError, match=said):
        tetrad.parse_graph(text)


@pytest.mark.parametrize("name", ["a;b", "a,b", "a\nb", " a", "a --> b"])
def test_names_that_cannot_be_written(name):
    with pytest.raises(FormatError, match="cannot hold the name"):
        tetrad.render_graph(DAG([name, "z"]))


def test_a_pag_that_looks_like_a_dag_is_refused():
    with pytest.raises(FormatError, match=r"write \.json"):
        tetrad.render_pag(PAG("ab", [("a", "-->", "b")]))


def test_odd_letters_of_names_come_back():
    graph = DAG(["a\x1cb", "c\x0bd"], [("a\x1cb", "c\x0bd")])
    assert tetrad.parse_graph(tetrad.render_graph(graph)) == graph
