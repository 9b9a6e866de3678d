"""DAGitty's text against a parser of its grammar that shares nothing with ours; questions for DoWhy."""

import re

import pytest

from dagora import CPDAG, DAG, PAG, GraphError
from dagora.formats import dagitty
from dagora.formats.hand_over import dowhy_question
from dagora.graph.adjustment import Adjustment
from dagora.graph.enumerate import all_dags

TOKEN = re.compile(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|(<->|<-@|@->|@-@|@--|--@|->|<-|--)|([{}\[\],=])|([A-Za-z_0-9.]+))"""
)
MARKS = {"-": "-", ">": ">", "<": ">", "@": "o"}


def read(text):
    """Kind, roles by node, and the marks at both ends of each edge."""
    text = text.strip()
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found, text[at:]
        at = found.end()
        quoted, arrow, mark, word = found.groups()
        tokens.append(("name", quoted or word) if arrow is None and mark is None else ("sign", arrow or mark))
    (_, kind), opened, *inside, closed = tokens
    assert (opened, closed) == (("sign", "{"), ("sign", "}"))
    roles, edges, place = {}, [], 0
    while place < len(inside):
        sort, name = inside[place]
        assert sort == "name"
        place += 1
        following = inside[place] if place < len(inside) else ("end", "")
        if following == ("sign", "["):
            end = inside.index(("sign", "]"), place)
            roles[name] = [word for _, word in inside[place + 1 : end]]
            place = end + 1
        elif following[0] == "sign":
            sign, other = following[1], inside[place + 1][1]
            edges.append((name, MARKS[sign[0]], MARKS[sign[-1]], other))
            place += 2
        else:
            roles.setdefault(name, [])
    return kind, roles, {frozenset([(one, left), (other, right)]) for one, left, right, other in edges}


def ends(graph):
    """The same of a graph of ours."""
    if isinstance(graph, PAG):
        marks = {"<": ">", "o": "o", "-": "-", ">": ">"}
        return {frozenset([(a, marks[sign[0]]), (b, marks[sign[-1]])]) for a, sign, b in graph.marked_edges}
    found = {frozenset([(a, "-"), (b, ">")]) for a, b in graph.edges}
    return found | {frozenset([(a, "-"), (b, "-")]) for a, b in graph.undirected}


PAGS = [
    PAG("abcd", [("a", "o->", "c"), ("b", "o->", "c"), ("c", "-->", "d")]),
    PAG("abcd", [("a", "<->", "b"), ("b", "o-o", "c"), ("c", "---", "d"), ("a", "--o", "d")]),
    PAG(["too much", "pag", "größe"], [("too much", "o-o", "pag"), ("pag", "<->", "größe")]),
]


def test_dags_and_classes_as_dagitty_reads_them():
    for dag in all_dags(3):
        for graph in (dag, CPDAG.from_dag(dag)):
            text = dagitty.render_graph(graph)
            kind, roles, edges = read(text)
            assert kind == ("pdag" if graph.undirected else "dag")
            assert tuple(roles) == graph.nodes
            assert edges == ends(graph)
            again = dagitty.parse_graph(text)
            assert ends(again) == ends(graph)


@pytest.mark.parametrize("graph", PAGS)
def test_pags_as_dagitty_reads_them(graph):
    text = dagitty.render_pag(graph)
    kind, roles, edges = read(text)
    assert (kind, tuple(roles)) == ("pag", graph.nodes)
    assert edges == ends(graph)
    assert dagitty.parse_graph(text) == graph


def question_graphs():
    dag = DAG(["age", "daily dose", "effect", "mood"], [("age", "daily dose"), ("age", "effect"), ("daily dose", "effect"), ("effect", "mood")])  # fmt: skip
    yield dag, ["age"]
    yield CPDAG(dag.nodes, dag.edges[2:], dag.edges[:2]), None  # open
    signs = [("mood", "o->", "daily dose"), ("age", "o->", "daily dose"), ("daily dose", "-->", "effect")]
    yield PAG(dag.nodes, signs), []


@pytest.mark.parametrize(("graph", "adjusted"), [*question_graphs()])
def test_a_question_names_its_roles(graph, adjusted):
    found = Adjustment(graph, "daily dose", "effect")
    text = dagitty.render_question(found)
    _, roles, edges = read(text)
    assert roles["daily dose"] == ["exposure"]
    assert roles["effect"] == ["outcome"]
    assert [node for node, role in roles.items() if role == ["adjusted"]] == (adjusted or [])
    assert edges == ends(graph)
    assert ends(dagitty.parse_graph(text)) == ends(graph)


def test_a_question_for_dowhy():
    """The text is read by networkx, as DoWhy does; the adjustment set is a back-door set of it."""
    networkx = pytest.importorskip("networkx")
    names = ['"odd" & größe', "dose", "effect"]
    dag = DAG(names, [(names[0], "dose"), (names[0], "effect"), ("dose", "effect")])
    found = dowhy_question(Adjustment(dag, "dose", "effect"))
    assert re.match(r".*graph\s*\[.*", found["graph"])  # how DoWhy tells GML
    read_back = networkx.DiGraph(networkx.parse_gml(found["graph"]))
    assert set(read_back.edges) == set(dag.edges)
    assert found["adjustment"] == [names[0]]
    known = CPDAG("abxy", [("a", "x"), ("b", "x"), ("x", "y"), ("a", "y")])
    told = Adjustment(known, "x", "y")
    class_question = dowhy_question(told)
    small = networkx.DiGraph(networkx.parse_gml(class_question["graph"]))
    assert Adjustment(DAG(small.nodes, small.edges), "x", "y").is_valid(class_question["adjustment"])
    assert class_question["adjustment"] == ["a"]


def test_nothing_is_handed_over_where_there_is_no_set():
    with pytest.raises(GraphError, match="the verdict is 'not identified'"):
        dowhy_question(Adjustment(CPDAG("xy", [], [("x", "y")]), "x", "y"))
