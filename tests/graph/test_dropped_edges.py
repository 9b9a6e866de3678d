"""A graph judged as it was before edges were dropped to make it acyclic."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.graph.dag import DAG
from dagora.graph.metrics import compare

NAMES = "abcde"
supports = st.lists(st.booleans(), min_size=25, max_size=25).map(
    lambda cells: np.array(cells).reshape(5, 5) & ~np.eye(5, dtype=bool)
)
orders = st.permutations(range(5))


def acyclic(support: np.ndarray, order: list[int]) -> np.ndarray:
    """The edges that lead forward in an order."""
    rank = np.argsort(order)
    return support & (rank[:, None] < rank[None, :])


def by_hand(raw: np.ndarray, true: np.ndarray) -> tuple[int, int, int, int]:
    """Correct, reversed, extra and missing pairs, one after the other."""
    counts = [0, 0, 0, 0]
    for i, j in combinations(range(5), 2):
        ours, theirs = (raw[i, j], raw[j, i]), (true[i, j], true[j, i])
        if any(ours) and any(theirs):
            counts[0 if ours == theirs else 1] += 1
        elif any(ours):
            counts[2] += 1
        elif any(theirs):
            counts[3] += 1
    return tuple(counts)


@pytest.mark.full
@given(supports, supports, orders, orders)
def test_raw_is_the_whole_support_against_the_truth(
    raw: np.ndarray, other: np.ndarray, order: list[int], true_order: list[int]
) -> None:
    kept, true = acyclic(raw, order), acyclic(other, true_order)
    dropped = [(NAMES[i], NAMES[j]) for i, j in np.argwhere(raw & ~kept)]
    # The truth's nodes stand in another order; names decide.
    turned = DAG.from_numpy(true[::-1, ::-1], NAMES[::-1])
    found = compare(DAG.from_numpy(kept, NAMES), turned, dropped)
    correct, swapped, extra, missing = by_hand(raw, true)
    assert (found.raw.correct, found.raw.reversed, found.raw.extra, found.raw.missing) == (
        correct,
        swapped,
        extra,
        missing,
    )
    assert found.raw.shd == swapped + extra + missing
    assert found.dag == compare(DAG.from_numpy(kept, NAMES), turned).dag


def test_raw_is_there_where_something_could_have_been_dropped() -> None:
    truth = DAG("ab", [("a", "b")])
    assert compare(truth, truth).raw is None
    assert "raw" not in compare(truth, truth).to_dict()
    nothing = compare(truth, truth, [])
    assert nothing.raw == nothing.dag
    both_ways = compare(truth, truth, [("b", "a")])
    assert both_ways.to_dict()["raw"]["reversed"] == 1
    assert [label for label, _ in both_ways.rows()] == ["DAG", "uncut", "CPDAG", "skeleton"]
