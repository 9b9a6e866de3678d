"""The climber that keeps the best changes of each child makes the moves of the one that keeps all gains."""

from collections import deque

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import DataError, KnowledgeError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.learners.search.greedy import hill_climb as hill_climb_module
from dagora.learners.search.greedy.climber import Climber
from dagora.learners.search.greedy.hill_climb import hill_climb
from dagora.learners.search.greedy.moment_climber import MomentClimber
from dagora.learners.search.greedy.moment_gains import LISTED
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics


def simulated_score(name, columns, degree, rows, seed):
    graph = dagora.random_dag("er", columns, degree, seed=seed)
    return score_named(name).make(TableStatistics(dagora.simulate(graph, "gaussian", rows, seed=seed).table))


def knowledge_for(names, seed):
    kinds = (
        Knowledge(),
        Knowledge(max_parents=2),
        Knowledge([(names[1], names[2])], [(names[0], names[1]), (names[2], names[0])]),
    )
    return kinds[seed % len(kinds)]


def both(score, knowledge, start=None):
    form = score.capabilities.pivot_form()
    return Climber(score, knowledge, start), MomentClimber(score, form, knowledge, start, Budget())


def climb_together(score, knowledge, steps, length):
    """Tabu searches side by side, step by step the same; the second climber."""
    one, other = both(score, knowledge)
    recent = deque([one.hash], maxlen=length)
    for _ in range(steps):
        tabu = np.array(recent, dtype=np.uint64)
        moved = one.step(tabu, uphill=False)
        assert other.step(tabu, uphill=False) == moved
        assert (other.hash, other.graph.edges) == (one.hash, one.graph.edges)
        assert other.score == pytest.approx(one.score, rel=1e-12)
        if not moved:
            break
        recent.append(one.hash)
    for walk in (one, other):
        walk.mark()
        walk.random_walk(6, np.random.default_rng(1))
    assert (other.graph.edges, other.marked_graph.edges) == (one.graph.edges, one.marked_graph.edges)
    return other


@pytest.mark.parametrize("name", ["bic-gaussian", "bge"])
@pytest.mark.parametrize("seed", range(6))
def test_the_moves_are_those_of_the_climber_with_all_gains(name, seed):
    score = simulated_score(name, 4 + 3 * seed, 3, (30, 300)[seed % 2], seed)
    climb_together(score, knowledge_for(score.schema.names, seed), steps=60, length=12)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_lists_that_end_before_the_legal_additions_are_made_again(seed):
    score = simulated_score("bic-gaussian", LISTED + 60, 6, 300, seed)
    climber = climb_together(score, Knowledge(), steps=1500, length=12)
    assert climber._graph.parents.shape[1] > 16  # room was made
    fresh = MomentClimber(score, score.capabilities.pivot_form(), Knowledge(), climber.graph, Budget())
    np.testing.assert_array_equal(climber._graph.above, fresh._graph.above)
    np.testing.assert_array_equal(climber._graph.below, fresh._graph.below)
    np.testing.assert_allclose(climber._graph.best_change, fresh._graph.best_change, atol=1e-6)


def test_many_columns_are_climbed_without_all_gains(monkeypatch):
    score = simulated_score("bic-gaussian", 12, 3, 200, 1)
    kept = hill_climb(score, Run(seed=1), restarts=2)
    monkeypatch.setattr(hill_climb_module, "WIDE", 5)
    monkeypatch.setattr(hill_climb_module, "Climber", None)
    found = hill_climb(score, Run(seed=1), restarts=2)
    assert found.graph.edges == kept.graph.edges
    assert found.score == pytest.approx(graph_score(score, found.graph), rel=1e-12)


def test_what_cannot_be_started_from_is_refused():
    score = simulated_score("bic-gaussian", 6, 2, 100, 1)
    form, names = score.capabilities.pivot_form(), score.schema.names
    with pytest.raises(KnowledgeError, match=f"{names[0]} → {names[1]} is forbidden"):
        MomentClimber(score, form, Knowledge((), [names[:2]]), DAG(names, [names[:2]]), Budget())
    few = simulated_score("bic-gaussian", 6, 2, 4, 1)
    full = DAG(names, [(name, names[5]) for name in names[:5]])
    with pytest.raises(DataError, match="cannot be scored"):
        MomentClimber(few, few.capabilities.pivot_form(), Knowledge(), full, Budget())
