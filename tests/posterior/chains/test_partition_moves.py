"""Partition proposals, enumerated: every random choice is followed, so that the transition matrix is exact."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from dagora.learners.run import Run
from dagora.posterior.chains import partition_moves as moves
from dagora.posterior.space.family_tables import family_tables
from dagora.posterior.space.lookup import lookup_of, sum_in_block
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from tests.posterior.oracle import RandomScore, family_weights, graphs, ordered_partitions, partition_of

PARTS = ("propose", "split", "join", "relocate", "sight", "swap_neighbours", "swap_any", "swap", "member")
Labels = tuple[int, ...]


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Labels], list]:
    """Every outcome of a proposal with its probability: (probability, labels or None, log ratio, changed)."""
    script: list[int] = []
    taken: list[int] = []

    def choose(_: object, bound: int) -> int:
        taken.append(int(bound))
        return script[len(taken) - 1] if len(taken) <= len(script) else 0

    for name in PARTS:
        monkeypatch.setattr(moves, name, getattr(moves, name).py_func)
    monkeypatch.setattr(moves, "random_below", choose)

    def follow(kind: int, labels: Labels) -> Iterator[tuple]:
        script.clear()
        random = np.zeros(1, dtype=np.uint64)
        while True:
            taken.clear()
            proposed = np.zeros(len(labels), dtype=np.int64)
            changed = np.zeros(len(labels), dtype=np.bool_)
            blocks, ratio = moves.propose(kind, np.array(labels), max(labels) + 1, random, proposed, changed)
            new = tuple(proposed.tolist()) if blocks else None
            assert new is None or set(new) == set(range(blocks))
            yield Fraction(1, math.prod(taken)), new, ratio, changed.copy()
            choice = [*script, *[0] * (len(taken) - len(script))]
            while choice and choice[-1] == taken[len(choice) - 1] - 1:
                choice.pop()
            if not choice:
                return
            choice[-1] += 1
            script[:] = choice

    return lambda kind, labels: list(follow(kind, labels))


@pytest.mark.parametrize("nodes", [2, 3, 4])
@pytest.mark.parametrize("kind", range(4))
def test_every_kind_is_reversible_with_the_ratio_it_states(outcomes, nodes: int, kind: int) -> None:
    forward: dict[tuple[Labels, Labels], Fraction] = defaultdict(Fraction)
    stated: dict[tuple[Labels, Labels], float] = {}
    for labels in ordered_partitions(nodes):
        found = outcomes(kind, labels)
        assert sum(probability for probability, *_ in found) == 1
        for probability, new, ratio, _ in found:
            if new is not None:
                assert new != labels
                forward[labels, new] += probability
                assert stated.setdefault((labels, new), ratio) == pytest.approx(ratio)
    for (one, other), probability in forward.items():
        back = forward[other, one]
        assert back > 0
        assert stated[one, other] == pytest.approx(math.log(back / probability), abs=1e-9)


@pytest.mark.parametrize("kind", range(4))
def test_only_nodes_marked_as_changed_have_other_parents_to_choose_from(outcomes, kind: int) -> None:
    def view(labels: Labels, node: int) -> tuple:
        label = labels[node]
        earlier = {j for j in range(4) if labels[j] < label}
        return label > 0, frozenset(earlier), frozenset(j for j in earlier if labels[j] == label - 1)

    for labels in ordered_partitions(4):
        for _, new, _, changed in outcomes(kind, labels):
            for node in range(4):
                assert new is None or changed[node] or view(labels, node) == view(new, node)


@pytest.mark.parametrize(("nodes", "spread"), [(3, 0.0), (3, 3.0), (4, 2.0)])
def test_the_whole_step_leaves_the_posterior_of_partitions_as_it_is(
    outcomes, nodes: int, spread: float
) -> None:
    score = RandomScore(nodes, spread, seed=5)
    lookup = lookup_of(family_tables(score, Space.full(nodes), prior_named("uniform"), Run()))
    states = ordered_partitions(nodes)
    place = {labels: k for k, labels in enumerate(states)}
    log_law = np.array([sum(sum_in_block(lookup, i, np.array(s)) for i in range(nodes)) for s in states])
    law = np.exp(log_law - np.logaddexp.reduce(log_law))
    weights = family_weights(score, nodes)
    exact = np.zeros(len(states))
    for graph in graphs(nodes):
        exact[place[partition_of(graph)]] += math.exp(sum(weights[i, m] for i, m in enumerate(graph)))
    assert np.allclose(law, exact / exact.sum(), rtol=1e-10)

    matrix = np.zeros((len(states), len(states)))
    for k, labels in enumerate(states):
        for kind in moves.KINDS:
            for probability, new, ratio, _ in outcomes(kind, labels):
                share = float(probability) / len(moves.KINDS)
                if new is not None:
                    accepted = min(1.0, math.exp(log_law[place[new]] - log_law[k] + ratio))
                    matrix[k, place[new]] += share * accepted
                    share *= 1 - accepted
                matrix[k, k] += share
    assert np.allclose(matrix.sum(axis=1), 1)
    flow = law[:, None] * matrix
    assert np.allclose(flow, flow.T, atol=1e-13)
    assert np.all(np.linalg.matrix_power(matrix, 60) > 0)
