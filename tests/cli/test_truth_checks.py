"""A truth that the result cannot be compared with is refused before any work."""

import pytest

import dagora
from dagora import GraphError
from dagora.cli.truth_checks import check_kind_of_truth, check_truth
from dagora.graph.ancestral.true_pag import true_pag

DAG = dagora.DAG(["a", "b"], [("a", "b")])
CPDAG = dagora.CPDAG.from_dag(DAG)
PAG = true_pag(DAG)


def test_variables_must_be_the_same() -> None:
    check_truth("t.bif", DAG, ("b", "a"))
    with pytest.raises(GraphError, match=r"^t.bif: 'b' is a node of the truth but not a column"):
        check_truth("t.bif", DAG, ("a",))
    with pytest.raises(GraphError, match=r"^t.bif: 'c' is a column but not a node of it"):
        check_truth("t.bif", DAG, ("a", "b", "c"))


def test_only_a_dag_may_have_hidden_variables_and_never_too_few() -> None:
    check_truth("t.bif", DAG, ("a",), hidden=True)
    with pytest.raises(GraphError, match="'b' is a node of the truth but not a column"):
        check_truth("t.bif", CPDAG, ("a",), hidden=True)
    with pytest.raises(GraphError, match="'c' is a column but not a node of it"):
        check_truth("t.bif", DAG, ("a", "b", "c"), hidden=True)


def test_kinds_that_can_be_compared() -> None:
    for truth, method in ((DAG, "ges"), (CPDAG, "ges"), (DAG, "fci"), (PAG, "fci")):
        check_kind_of_truth("t", truth, method)
    with pytest.raises(GraphError, match="t is a CPDAG, and fci returns a PAG: name a DAG or a PAG"):
        check_kind_of_truth("t", CPDAG, "fci")
    with pytest.raises(GraphError, match="t is a PAG, and ges returns a CPDAG: name a DAG or a CPDAG"):
        check_kind_of_truth("t", PAG, "ges")
