"""Two graphs beside each other."""

import re

from dagora.graph.ancestral.pag import PAG
from dagora.graph.dag import DAG
from dagora.graph.side_by_side import draw_pair


def edges(picture):
    """The ends of the edges of a picture."""
    return set(map(frozenset, re.findall('data-tail="(.)" data-head="(.)"', picture)))


def test_each_picture_has_the_edges_of_its_graph():
    one, other = PAG("abc", [("a", "o-o", "b")]), PAG("cba", [("b", "o-o", "c"), ("a", "o-o", "c")])
    left, right = draw_pair(one, other)
    assert edges(left) == {frozenset("ab")}
    assert edges(right) == {frozenset("bc"), frozenset("ac")}
    left, right = draw_pair(one, DAG("abch", ["hb", "hc"]))
    assert (edges(left), edges(right)) == ({frozenset("ab")}, {frozenset("bc")})
