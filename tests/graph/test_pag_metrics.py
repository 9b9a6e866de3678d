"""Marks of an estimate that are right, left open or wrong, counted by hand."""

import pytest

from dagora.base.errors import GraphError
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.true_pag import true_mag
from dagora.graph.dag import DAG
from dagora.graph.pag_metrics import compare_pags


def test_marks_of_edges_that_both_graphs_have() -> None:
    truth = PAG("abcd", [("a", "o->", "b"), ("c", "-->", "b"), ("c", "<->", "d")])
    estimate = PAG("abcd", [("a", "o-o", "b"), ("b", "-->", "c"), ("a", "-->", "d")])
    found = compare_pags(estimate, truth)
    # a – b: a circle is right, the other is left open; b – c: both marks are wrong; the other edges are not shared.
    assert (found.marks.right, found.marks.open, found.marks.wrong) == (1, 1, 2)
    assert (found.pag.correct, found.pag.reversed, found.pag.extra, found.pag.missing) == (0, 2, 1, 1)
    assert (found.skeleton.correct, found.skeleton.shd, found.shd) == (2, 2, 4)
    same = compare_pags(truth, truth)
    assert (same.marks.right, same.marks.open, same.marks.wrong, same.shd) == (6, 0, 0, 0)


def test_a_variable_is_hidden_or_selects_rows_but_not_both() -> None:
    with pytest.raises(GraphError, match="'a' cannot be both hidden and selected by"):
        true_mag(DAG("ab", [("a", "b")]), hidden=["a"], selected=["a"])
