"""A true graph that a result is compared with, checked before any work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagora.graph.any_graph import AnyGraph


def check_kind_of_truth(path: str, truth: AnyGraph, method: str) -> None:
    """Refuse a truth that what a method returns cannot be compared with."""
    from dagora.base.errors import GraphError
    from dagora.graph.ancestral.pag import PAG
    from dagora.graph.cpdag import CPDAG
    from dagora.learners.registry import method_named

    returns = method_named(method).returns
    if returns != "pag" and isinstance(truth, PAG):
        raise GraphError(f"{path} is a PAG, and {method} returns a {returns.upper()}: name a DAG or a CPDAG")
    if returns == "pag" and isinstance(truth, CPDAG):
        raise GraphError(f"{path} is a CPDAG, and {method} returns a PAG: name a DAG or a PAG")


def check_truth(path: str, truth: AnyGraph, names: tuple[str, ...], *, hidden: bool = False) -> None:
    """Refuse a truth whose variables are not those of the data, before any work is done.

    A true DAG may have variables more where they can be `hidden`.
    """
    from dagora.base.errors import GraphError
    from dagora.graph.dag import DAG

    for some, others, where in (
        (truth.nodes, names, "a node of the truth but not a column"),
        (names, truth.nodes, "a column but not a node of it"),
    ):
        known = set(others)
        for name in some:
            if name not in known and not (hidden and some is truth.nodes and isinstance(truth, DAG)):
                raise GraphError(f"{path}: '{name}' is {where}: truth and data must have the same variables")
