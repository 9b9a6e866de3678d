"""ROC of edges on probabilities made by hand, and the claim about quartiles."""

import numpy as np
import pytest

from dagora.papers.gpn.claim import holds_in, verdict
from dagora.papers.gpn.roc import THRESHOLDS, mean_rates, rates

TRUTH = np.zeros((4, 4), dtype=bool)
TRUTH[0, 1] = TRUTH[1, 2] = True


def at(threshold: float, probability: np.ndarray) -> tuple[float, float]:
    return rates(probability, TRUTH)[THRESHOLDS.index(threshold)]


def test_rates_by_hand() -> None:
    """Found, reversed and extra edges; a reversed one is half true and half false."""
    probability = np.zeros((4, 4))
    probability[0, 1], probability[1, 0] = 0.55, 0.45
    probability[2, 1], probability[1, 2] = 0.7, 0.2
    probability[3, 0] = 0.35
    assert at(0.98, probability) == (0.0, 0.0)
    assert at(0.7, probability) == (0.25, 0.25)
    assert at(0.5, probability) == (0.75, 0.25)
    assert at(0.3, probability) == (0.75, 0.75)
    assert at(0.02, probability) == (0.75, 0.75)  # the less likely direction of a pair never counts


def test_two_directions_alike_are_one_edge() -> None:
    probability = np.zeros((4, 4))
    probability[0, 1] = probability[1, 0] = 0.5
    assert at(0.5, probability) == (0.5, 0.0)


def test_means_leave_out_graphs_without_edges() -> None:
    assert rates(np.zeros((3, 3)), np.zeros((3, 3), dtype=bool)) == []
    assert mean_rates([[(1.0, 0.0)], [], [(0.5, 1.0)]]) == ((0.75,), (0.5,))


@pytest.mark.parametrize(
    ("gp", "bge", "expected"),
    [([1.0] * 20, [2.0] * 20, "holds"), ([2.0] * 40, [1.0, 3.0] * 20, "fails"),
     ([1.0, 4.0] * 5, [2.0, 3.0] * 5, "cannot be told"), ([1.0] * 4, [2.0] * 4, "cannot be told")],
)  # fmt: skip
def test_the_claim_is_told_from_the_graphs(gp: list[float], bge: list[float], expected: str) -> None:
    middle, quartile, share = holds_in(dict(enumerate(gp)), dict(enumerate(bge)))
    assert (middle, quartile) == (np.median(gp), np.quantile(bge, 0.25))
    assert verdict(share, len(gp)) == expected
