"""How graphs of kernel PC, DiBS+ and the empty graph are judged."""

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.papers.gpn.other_methods import evaluate_graphs

TRUTH = DAG("abcd", [("a", "b"), ("c", "b"), ("b", "d")])


def marks(*edges: str) -> np.ndarray:
    found = np.zeros((4, 4), dtype=bool)
    for edge in edges:
        tail, head = ("abcd".index(letter) for letter in edge)
        found[tail, head] = True
    return found


@pytest.mark.parametrize(
    ("edges", "shd", "tp", "fp", "class_shd"),
    [
        ((), 3, 0, 0, 3),
        (("ab", "cb", "bd"), 0, 3, 0, 0),
        (("ab", "ba", "cb", "bd"), 1, 2.5, 0.5, 1),  # a — b counts as reversed
        (("ba", "cb", "bd"), 1, 2.5, 0.5, 3),  # the class of a chain has no direction
        (("ab", "cb", "ad"), 2, 2, 1, 2),  # b → d is missing, a → d too many
    ],
)
def test_graphs_are_judged_as_by_hand(
    edges: tuple[str, ...], shd: float, tp: float, fp: float, class_shd: float
) -> None:
    numbers = evaluate_graphs(marks(*edges)[None], np.ones(1), TRUTH)
    assert (numbers["shd"], numbers["tp"], numbers["fp"]) == (shd, tp, fp)
    assert numbers["class_shd"] == class_shd
    assert numbers["shd"] == len(TRUTH.edges) - numbers["tp"] + numbers["fp"]


def test_shares_weigh_graphs() -> None:
    both = np.array([marks(), marks("ab", "cb", "bd")])
    assert evaluate_graphs(both, np.array([0.25, 0.75]), TRUTH)["shd"] == pytest.approx(0.75)
