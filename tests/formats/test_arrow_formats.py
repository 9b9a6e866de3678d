"""DOT and DAGitty: texts as people write them, and what must be refused."""

import pytest

from dagora.formats import dagitty, dot
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG

DOT_TEXT = r"""# made by hand
strict digraph "my graph" {
  rankdir=LR; label="a -> b"
  graph [fontsize=10]; node [shape=box, style="a;b"]
  edge [color="#ff0000"]
  a [label=<<TABLE><TR><TD>x -&gt; y</TD></TR></TABLE>>, pos="1,2!"];
  "b \"quoted\" \\ name" -> c -> d [weight=2] // chain
  subgraph cluster_1 { edge [dir=none]; label=x; e -> f }
  {a c}-> g:port:n [label="z",]
  /* g -> a would close
     a cycle */
  h -> a [dir=back]
  "long " + "name"; -1.5 -> 2e
}
"""


def test_dot_as_people_write_it():
    graph = dot.parse_graph(DOT_TEXT)
    quoted = 'b "quoted" \\ name'
    assert graph.nodes == ("a", quoted, "c", "d", "e", "f", "g", "h", "long name", "-1.5", "2e")
    assert set(graph.edges) == {
        (quoted, "c"), ("c", "d"), ("a", "g"), ("c", "g"), ("a", "h"), ("-1.5", "2e"),
    }  # fmt: skip
    assert graph.undirected == (("e", "f"),)


def test_undirected_dot():
    assert dot.parse_graph("graph { a -- b -- c }") == CPDAG("abc", undirected=[("a", "b"), ("b", "c")])


def test_keywords_in_any_case_and_as_quoted_names():
    graph = dot.parse_graph('DiGraph { Edge [dir=none] "edge" -> "node" }')
    assert graph == CPDAG(["edge", "node"], undirected=[("edge", "node")])


def test_nodes_of_one_letter_are_not_arrows():
    assert dagitty.parse_graph("dag { o->b o--c }").edges == (("o", "b"),)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("dag{a->b<-c}", {("a", "b"), ("c", "b")}),
        ("dag { {x v} -> u; s1 <- u\nv -> w }", {("x", "u"), ("v", "u"), ("u", "s1"), ("v", "w")}),
        ('dag "title" { bb="0,0,1,1"\nx [exposure,pos="0,1"]\nx -> y [beta=".5"] }', {("x", "y")}),
        ("dag { a.1 -> b_2 }", {("a.1", "b_2")}),
        ("dag { a <- {b <- c} }", {("b", "a"), ("c", "a"), ("c", "b")}),
    ],
)  # fmt: skip
def test_dagitty_as_people_write_it(text, edges):
    assert set(dagitty.parse_graph(text).edges) == edges


def test_partly_directed_dagitty():
    graph = CPDAG("abc", [("a", "b")], [("b", "c")])
    assert dagitty.parse_graph("pdag { a -> b -- c }") == graph
    assert dagitty.render_graph(graph).startswith("pdag {")
    assert dagitty.render_graph(DAG("ab")).startswith("dag {")


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1: expected digraph or graph { ... }, not the end of the file"),
        ("{}", "line 1: expected digraph or graph { ... }, not '{'"),
        ("digraph {\n a -> b", "line 2: a brace { is not closed"),
        ("digraph {\n a -> \n}", "line 3: expected the name of a node, not '}'"),
        ('digraph {\n a -> "b }', "line 2: a quote is not closed"),
        ("digraph {\n a [color=red }", "line 2: expected a name or a value, not '}'"),
        ("digraph {\n a [color", "line 2: a bracket [ is not closed"),
        ("digraph { a -> b }\n}", "line 2: expected nothing after the graph's last brace, not '}'"),
        ("digraph { a -- b }", "line 1: edges of a digraph are written ->, not --"),
        ("graph { a -> b }", "line 1: edges of a graph are written --, not ->"),
        (
            "digraph { a -> b [dir=both] }",
            "line 1: the edge between 'a' and 'b' has dir=both; only forward, back",
        ),
        ("digraph { a -> b -> a }", "the graph has a cycle: a → b → a"),
        ("digraph { node -> b }", "line 1: expected the name of a node, not 'node'"),
        ("digraph { a ? b }", "line 1: the character '?' is out of place"),
        ("digraph { a /* b }", "line 1: a comment is not closed or a / is out of place"),
        ("digraph " + "{" * 100_000, "has groups nested too deeply to be read"),
    ],
)
def test_malformed_dot(text, line, refused):
    assert refused("g.dot", text).startswith(line)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1: expected dag or pdag or pag or mag { ... }, not the end of the file"),
        ("digraph { a -> b }", "line 1: expected dag or pdag or pag or mag { ... }, not 'digraph'"),
        ("dag { a -> b", "line 1: a brace { is not closed"),
        ("dag { a <-> b }", "line 1: the edge a <-> b is neither directed nor undirected"),
        ("pdag {\na @-> b }", "line 2: the edge a @-> b is neither directed nor undirected"),
        ("dag { a -> b b -> a }", "the graph has a cycle: a → b → a"),
        ("pdag { a -> b b -- a }", "the edge a — b is both directed and undirected"),
        ("pdag { a -- a }", "the node 'a' has an edge to itself"),
    ],
)
def test_malformed_dagitty(text, line, refused):
    assert refused("g.dagitty", text).startswith(line)
