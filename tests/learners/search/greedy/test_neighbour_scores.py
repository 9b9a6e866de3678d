"""A search that takes over another's scores ends as one that scores everything itself."""

import numpy as np

import dagora
from dagora.base.budget import Budget
from dagora.graph.knowledge import Knowledge
from dagora.learners.search.greedy import neighbour_scores
from dagora.learners.search.greedy.climber import Climber
from dagora.learners.search.greedy.neighbour_scores import NeighbourScores
from dagora.scores.information import bic
from dagora.stats.table import TableStatistics


def table_of_a_chain() -> dagora.Table:
    rng = np.random.default_rng(5)
    rows = np.zeros((400, 6), dtype=np.int64)
    rows[:, 0] = rng.integers(0, 3, 400)
    for k in range(1, 6):
        rows[:, k] = np.where(rng.random(400) < 0.3, rng.integers(0, 3, 400), rows[:, k - 1])
    names = list("fbdace")
    return dagora.Table.from_numpy(rows, names=names, discrete=names)


def climbed(table: dagora.Table, kept: NeighbourScores | None) -> Climber:
    knowledge = Knowledge(forbidden=[("a", "b")], required=[("d", "c")])
    climber = Climber(bic(TableStatistics(table)), knowledge, None, Budget(), kept)
    while climber.step():
        pass
    return climber


def test_scores_taken_over_are_the_same_to_the_last_bit():
    table = table_of_a_chain()
    other = table.select(sorted(table.names))
    kept = NeighbourScores()
    first = climbed(table, kept)
    second, alone = climbed(other, kept), climbed(other, None)
    assert second.graph == alone.graph
    assert second.score == alone.score
    assert second._additions.tobytes() == alone._additions.tobytes()
    assert second._deletions.tobytes() == alone._deletions.tobytes()
    assert second.evaluations < alone.evaluations
    assert first.evaluations > 0


def test_nothing_is_added_to_what_is_full(monkeypatch):
    monkeypatch.setattr(neighbour_scores, "KEPT_NUMBERS", 10)
    kept = NeighbourScores()
    table = table_of_a_chain()
    climbed(table, kept)
    assert 0 < sum(map(len, kept._values.values())) <= 10
    second = climbed(table.select(sorted(table.names)), kept)
    assert second.graph == climbed(table.select(sorted(table.names)), None).graph


def test_a_search_on_columns_in_another_order_keeps_nothing():
    """Else what it kept would be taken for that of other columns."""
    kept = NeighbourScores()
    kept.keep((0, ()), np.array([-5.0, -4.0]), ("a", "b"))
    kept.keep((1, ()), np.array([-9.0, -8.0]), ("b", "a"))
    assert kept.recall((1, ()), [0], ("a", "b")) is None
    assert kept.recall((0, ()), [1], ("b", "a")) is None
    assert kept.recall((1, ()), [0], ("b", "a")).tolist() == [-5.0, -4.0]
