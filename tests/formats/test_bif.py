"""BIF: what the repository's files do not show, and what must be refused."""

import numpy as np
import pytest

from dagora.formats import bif, read_network
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork

TRICKY = """
// A file that uses the format's freedoms.
network "Dog Problem" { property "author: a } b"; property version 1.0 ; }
/* the child comes
   before its parents, with quotes and "half a quote */
probability("light on" "family-out", "x//y") { // no bar, one comma
  property "credal-set constant" ;
  ("no", high) 1e-3 .999;
  ( no low ) 0.25,0.75 ;
  default 5.0E-1, .5;
}
variable "light on" { type discrete[2] { "true" "false" }; property pos = (10, 20) ; }
variable "x//y" {
  property before;
  type discrete [ 3 ] { low, high, 7.5 };
}
variable family-out { type discrete { yes, "no" }; };
probability ( "x//y" ) { table 0.25 0.25 0.5; }
probability(family-out){table 1,0;}
"""


def test_freedoms_of_the_format():
    network = bif.parse(TRICKY)
    assert network.name == "Dog Problem"
    assert network.graph.nodes == ("light on", "x//y", "family-out")
    assert network.graph.edges == (("x//y", "light on"), ("family-out", "light on"))
    assert network.levels["light on"] == ("true", "false")
    assert network.levels["x//y"] == ("low", "high", "7.5")
    # The file lists family-out first; our axes follow the order of the variables: x//y, family-out, light on.
    expected = [[[0.5, 0.5], [0.25, 0.75]], [[0.5, 0.5], [0.001, 0.999]], [[0.5, 0.5], [0.5, 0.5]]]
    np.testing.assert_array_equal(network.tables["light on"], expected)


def test_a_whole_table_runs_over_the_variable_slowest():
    # The example of the format's own description: P(light-on = true | family-out = true) is 0.6.
    network = bif.parse("""
    variable "light-on" { type discrete[2] { "true" "false" }; }
    variable "family-out" { type discrete[2] { "true" "false" }; }
    probability ( "light-on" "family-out" ) { table 0.6 0.05 0.4 0.95 ; }
    probability ( "family-out" ) { table 0.15 0.85 ; }
    """)
    np.testing.assert_array_equal(network.tables["light-on"], [[0.6, 0.4], [0.05, 0.95]])


def test_a_whole_table_with_two_parents_out_of_order():
    numbers = np.random.default_rng(0).dirichlet([1, 1], size=(3, 2))  # b, a, then the levels of c
    listed = " ".join(map(repr, np.moveaxis(numbers, -1, 0).ravel().tolist()))
    network = bif.parse(
        "variable a { type discrete [2] { 0, 1 }; } variable b { type discrete [3] { 0, 1, 2 }; }"
        "variable c { type discrete [2] { 0, 1 }; } probability (a) { table .5 .5; }"
        f"probability (b) {{ table .5 .25 .25; }} probability (c | b, a) {{ table {listed}; }}"
    )
    np.testing.assert_array_equal(network.tables["c"], numbers.transpose(1, 0, 2))


def test_names_with_blanks_but_without_quotes():
    network = bif.parse("""
    variable wet grass { type discrete [ 2 ] { not at all, very }; }
    variable rain { type discrete [ 1 ] { it   does }; }
    probability ( wet grass | rain ) { (it does) 0.5, 0.5; }
    probability ( rain ) { table 1; }
    """)
    assert network.graph.edges == (("rain", "wet grass"),)
    assert network.levels == {"wet grass": ("not at all", "very"), "rain": ("it does",)}


def test_numbers_are_written_to_the_last_bit():
    third = np.array([1 / 3, 2 / 3, 0.0])
    network = DiscreteNetwork(DAG("a"), {"a": ("x", "y", "z")}, {"a": third})
    assert bif.parse(bif.render(network)).tables["a"].tobytes() == third.tobytes()


def test_large_and_small_networks_are_written_alike():
    # A node with many parents: 2^10 rows in the writer's order must come back in ours.
    nodes = [f"p{i}" for i in range(10)] + ["child"]
    graph = DAG(nodes, [(parent, "child") for parent in nodes[:-1]])
    first = np.random.default_rng(1).uniform(size=(2,) * 10)
    tables = {node: np.array([0.5, 0.5]) for node in nodes[:-1]} | {"child": np.stack([first, 1 - first], -1)}
    network = DiscreteNetwork(graph, dict.fromkeys(nodes, ("n", "y")), tables)
    np.testing.assert_array_equal(bif.parse(bif.render(network)).tables["child"], tables["child"])


HEAD = "variable a { type discrete [ 2 ] { n, y }; }\nvariable b { type discrete [ 2 ] { n, y }; }\n"
ROOT = "probability ( a ) { table 0.5, 0.5; }\n"


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "declares no variable; is this a BIF file?"),
        ("hello", "line 1: expected network, variable or probability, not 'hello'"),
        ("variable a {\n type discrete [ 2 ] { n, y", "line 2: expected } and not the end of the file"),
        ("variable a { type discrete [ 3 ] { n, y }; }", "line 1: 'a' declares 3 levels and lists 2"),
        (
            "variable a { type discrete [ x ] { n, y }; }",
            "line 1: the number of levels of 'a' is 'x', not a whole",
        ),
        ("variable a { type discrete [ 2 ] { n, n }; }", "line 1: 'a' lists the level 'n' twice"),
        ("variable a { type discrete [ 0 ] { }; }", "line 1: 'a' has no levels"),
        (
            "variable a { type continuous; }",
            "line 1: the variable 'a' is of type 'continuous'; only discrete",
        ),
        ("variable a {\n}", "line 1: the variable 'a' has no type with its levels"),
        (HEAD + HEAD, "line 3: the variable 'a' is declared twice"),
        (HEAD + ROOT, "the variable 'b' has no probability block"),
        (HEAD + ROOT + ROOT, "line 4: the probability of 'a' is given twice"),
        (
            HEAD + ROOT + "probability ( b | a ) { (n) 1, 0;",
            "line 4: the probability block is not closed with }",
        ),
        (HEAD + ROOT + "probability ( b | a ) { (n) 1, 0; }", "line 4: 'b' has no row for (y)"),
        (HEAD + ROOT + "probability ( b | a ) {\n(n) 1, 0;\n(n) 1, 0; }", "line 6: 'b' has two rows for (n)"),
        (
            HEAD + ROOT + "probability ( b | a ) {\n\n(n, y) 1, 0; }",
            "line 6: 'b' has 1 parents, but a row for (n, y)",
        ),
        (HEAD + ROOT + "probability ( b | a ) {\n(maybe) 1, 0; }", "line 5: 'a' has no level named 'maybe'"),
        (HEAD + ROOT + "probability ( b | c ) { (n) 1, 0; }", "line 4: there is no variable named 'c'"),
        (
            HEAD + ROOT + "probability ( b | a, a ) { }",
            "line 4: a variable occurs twice in the probability of 'b'",
        ),
        (HEAD + ROOT + "probability ( ) { }", "line 4: expected the name of a variable"),
        (HEAD + ROOT + "probability ( b ) { }", "line 4: 'b' has no table"),
        (HEAD + ROOT + "probability ( b ) { table 1; }", "line 4: 'b' needs 2 numbers here, not 1"),
        (HEAD + ROOT + "probability ( b ) { table 1, 0 }", "line 4: the numbers of 'b' must end with ;"),
        (
            HEAD + ROOT + "probability ( b ) { table 0.5, 0.49; }",
            "line 4: a distribution of 'b' sums to 0.99, not to 1",
        ),
        (
            HEAD + ROOT + "probability ( b | a ) { default .5 .5;\n(n) .5 .51; }",
            "line 5: a row of 'b' sums to 1.01",
        ),
        (
            HEAD + ROOT + "probability ( b | a ) { table .1 .9 .2 .8; }",
            "line 4: a distribution of 'b' sums to",
        ),
        (HEAD + ROOT + "probability ( b ) { table 1.5, -0.5; }", "line 4: a probability of 'b' is 1.5"),
        (HEAD + ROOT + "probability ( b ) { table nan, 1; }", "line 4: a probability of 'b' is nan"),
        (
            HEAD + ROOT + "probability ( b ) { table half, 1; }",
            "line 4: a probability of 'b' is not a number: 'half'",
        ),
        (HEAD + ROOT + "probability ( b ) { table 1, 0; table 1, 0; }", "line 4: 'b' has a second table"),
        (HEAD + ROOT + "probability ( b ) { table 1, 0; default 1, 0; }", "line 4: 'b' has a table and rows"),
        (
            HEAD + ROOT + "probability ( b ) { row 1, 0; }",
            "line 4: expected a row of the probability of 'b', not 'row'",
        ),
        (HEAD + '/* "', "line 3: a comment /* is not closed"),
        (HEAD + 'variable "c { }', 'line 3: a quote " is not closed'),
        (HEAD + "network x { y }", "line 3: expected property or } and not 'y'"),
        (HEAD + "network x { property y }", "line 3: a property must end with ;"),
    ],
)
def test_malformed(text, line, refused):
    assert refused("n.bif", text, read_network).startswith(line)


def test_a_cycle_is_named(refused):
    text = HEAD + "probability ( a | b ) { default 1, 0; } probability ( b | a ) { default 1, 0; }"
    assert refused("n.bif", text) == "the graph has a cycle: a → b → a"


def test_every_truncation_is_refused_in_one_line(refused):
    text = TRICKY.rstrip()
    for length in range(0, len(text) - 1, 7):
        assert refused("n.bif", text[:length], read_network)


def test_small_rounding_is_accepted():
    network = bif.parse(HEAD + ROOT + "probability ( b ) { table 0.4995, 0.4996; }")
    assert network.tables["b"].tolist() == [0.4995, 0.4996]


def test_a_comment_between_blocks_is_about_none_of_them():
    text = """network x { }
    // original levels: ["no", "x y"]
    variable a { type discrete [ 2 ] { no, x_y }; }
    probability ( a ) { table 0.25, 0.75; }
    """
    assert bif.parse(text).levels["a"] == ("no", "x_y")
    inside = text.replace("variable a {", 'variable a { // original levels: ["no", "x y"]\n')
    assert bif.parse(inside).levels["a"] == ("no", "x y")
