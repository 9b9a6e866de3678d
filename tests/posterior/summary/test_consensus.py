"""The consensus graph against brute force over all DAGs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import OptionError
from dagora.graph.enumerate import all_parent_sets
from dagora.posterior.summary.consensus import best_order, components, consensus, strongest_first
from tests.posterior.oracle import matrices

ALL = matrices(np.array(list(all_parent_sets(4)), dtype=np.uint64))


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2, 0.5, 0.6]))
def test_no_graph_gains_more(seed: int, threshold: float) -> None:
    probability = np.random.default_rng(seed).random((4, 4))
    graph = consensus("abcd", probability, threshold)
    gain = probability - threshold
    assert (gain[graph.to_numpy()] > 0).all()
    assert gain[graph.to_numpy()].sum() == pytest.approx(np.max(np.where(ALL, gain, 0).sum(axis=(1, 2))))


@pytest.mark.full
@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_of_a_distribution_it_is_the_best_guess(seed: int) -> None:
    """No DAG has fewer expected wrong directed edges."""
    generator = np.random.default_rng(seed)
    share = generator.dirichlet(np.full(len(ALL), 0.01))
    probability = np.tensordot(share, ALL.astype(float), axes=1)
    loss = [(share * (guess != ALL).sum(axis=(1, 2))).sum() for guess in ALL]
    chosen = consensus("abcd", probability).to_numpy()
    assert (share * (chosen != ALL).sum(axis=(1, 2))).sum() == pytest.approx(min(loss))


def test_cycles_are_cut_where_they_are_weakest() -> None:
    probability = np.zeros((5, 5))
    for tail, head, value in (
        (0, 1, 0.66),
        (1, 2, 0.65),
        (2, 0, 0.64),
        (2, 3, 0.9),
        (4, 3, 0.51),
        (3, 4, 0.4),
    ):
        probability[tail, head] = value
    assert consensus("abcde", probability).edges == (("a", "b"), ("b", "c"), ("c", "d"), ("e", "d"))
    assert components(probability > 0.5).tolist() == [0, 0, 0, 3, 4]


def test_large_components_are_still_acyclic(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    probability = generator.random((30, 30))
    names = [f"v{k}" for k in range(30)]
    graph = consensus(names, probability)
    assert len(graph.edges) > 200
    assert consensus(names, probability) == graph
    small = probability[:8, :8]
    exact = consensus(names[:8], small)
    monkeypatch.setattr("dagora.posterior.summary.consensus.LARGEST_EXACT", 1)
    greedy = consensus(names[:8], small)
    gain = small - 0.5
    assert gain[greedy.to_numpy()].sum() <= gain[exact.to_numpy()].sum() + 1e-12
    assert gain[greedy.to_numpy()].sum() > 0.8 * gain[exact.to_numpy()].sum()


def test_pieces() -> None:
    gain = np.array([[0, 3.0, 0], [0, 0, 2.0], [2.5, 0, 0]])
    assert np.argwhere(strongest_first(gain)).tolist() == [[0, 1], [2, 0]]
    assert (best_order(gain) & (gain > 0)).tolist() == strongest_first(gain).tolist()
    assert best_order(np.zeros((1, 1))).tolist() == [[False]]


@pytest.mark.parametrize("threshold", [-0.1, 1.0, 1.5, float("nan"), "half", True])
def test_thresholds_are_probabilities(threshold: object) -> None:
    with pytest.raises(OptionError, match="threshold"):
        consensus("ab", np.zeros((2, 2)), threshold)


def test_certain_edges_and_none() -> None:
    order = np.triu(np.ones((4, 4)), 1)
    assert len(consensus("abcd", order, 0.99).edges) == 6
    assert consensus("abcd", np.full((4, 4), np.nan)).edges == ()
