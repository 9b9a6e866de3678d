"""Votes, averages and the best site, on weights made by hand and on rows."""

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError, ProtocolError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.metrics import compare
from dagora.learners.optimise.notears import notears
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.baselines import SHOWN_WEIGHTS, average, best, vote
from dagora.parties.horizontal.session.federation import OpenFederation
from dagora.stats.table import TableStatistics
from tests.parties.horizontal.federations import TASKS, Recording, open_federation, simulated, sites_of


def federation_that_learned(*matrices):
    """Sites whose local results are given."""
    rows = np.random.default_rng(0).normal(size=(len(matrices), 5, len(matrices[0])))
    tables = [Table.from_numpy(each, "abc"[: len(matrices[0])]) for each in rows]
    learned = {f"site{k:02d}": np.array(matrix, dtype=float) for k, matrix in enumerate(matrices)}
    return Recording(
        tables, {**TASKS, "local-weights": lambda site, question: {"weights": learned[site.name]}}
    )


A_TO_B = [[0, 2.0, 0], [0, 0, 0], [0, 0, 0]]
B_TO_C = [[0, 0, 0], [0, 0, 1.0], [0, 0, 0]]
CHAIN = [[0, 0.4, 0], [0, 0, 0.6], [0, 0, 0]]
BACK = [[0, 0, 0], [0, 0, 0], [0.9, 0, 0]]


def test_an_edge_needs_more_than_half_of_the_votes():
    outcome = vote(federation_that_learned(A_TO_B, CHAIN, B_TO_C), Run())
    assert outcome.graph.edges == (("a", "b"), ("b", "c"))
    assert outcome.weights[0, 1] == pytest.approx(0.8)
    assert SHOWN_WEIGHTS in outcome.warnings
    half = vote(federation_that_learned(A_TO_B, B_TO_C), Run())
    assert half.graph.edges == ()
    assert vote(federation_that_learned(A_TO_B), Run()).graph.edges == (("a", "b"),)


def test_a_cyclic_vote_is_cut_and_told():
    turns = [
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
        [[0, 1, 0], [0, 0, 0], [1, 0, 0]],
        [[0, 0, 0], [0, 0, 1], [1, 0, 0]],
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0], [1, 0, 0]],
    ]
    outcome = vote(federation_that_learned(*turns), Run())
    assert outcome.stats["raw_edges"] == 3
    assert outcome.stats["dropped_edges"] == 1
    assert outcome.graph.edges == (("a", "b"), ("b", "c"))
    assert any("'c → a' (0.6)" in warning for warning in outcome.warnings)


def test_the_average_is_cut_at_the_threshold():
    outcome = average(federation_that_learned(CHAIN, CHAIN, BACK), Run(), threshold=0.3)
    # Means: a → b 0.267, b → c 0.4, c → a 0.3.
    assert outcome.graph.edges == (("b", "c"), ("c", "a"))
    assert outcome.weights[1, 2] == pytest.approx(0.4)
    assert outcome.stats["raw_edges"] == 2
    low = average(federation_that_learned(CHAIN, CHAIN, BACK), Run(), threshold=0.2)
    assert low.stats["raw_edges"] == 3
    assert low.graph.edges == (("b", "c"), ("c", "a"))


def test_the_best_site_has_the_lowest_distance():
    truth = DAG("abc", [("a", "b"), ("b", "c")])
    outcome = best(federation_that_learned(A_TO_B, BACK, CHAIN, B_TO_C), Run(), truth=truth)
    assert outcome.graph.edges == truth.edges
    assert "site02" in outcome.message
    assert outcome.stats["shd"] == 0
    with pytest.raises(OptionError, match="the method best needs the truth"):
        best(federation_that_learned(A_TO_B), Run())


def test_one_site_is_central_notears():
    truth, table = simulated(7, 300, 3)
    central = notears(TableStatistics(table), Run(), lambda1=0.01)
    alone = open_federation(table, 1)
    for outcome in (vote(alone, Run()), best(alone, Run(), truth=truth)):
        assert compare(outcome.graph, central.graph).shd == 0
        assert np.allclose(outcome.weights, central.weights, atol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("parties", [8, 32])
def test_fewer_rows_than_columns_at_every_site(parties):
    truth, table = simulated(20, 32, 1)
    federation = open_federation(table, parties)
    for outcome in (
        vote(federation, Run()),
        average(federation, Run()),
        best(federation, Run(), truth=truth),
    ):
        assert outcome.status == "finished"
        assert np.isfinite(outcome.weights).all()
        assert set(outcome.graph.edges) == {
            (table.names[i], table.names[j]) for i, j in np.argwhere(outcome.weights)
        }


def test_a_column_that_is_constant_at_one_site():
    _, table = simulated(4, 30, 2)
    rows = np.column_stack(table.columns)
    rows[:10, 1] = 0.5
    parts = [Table.from_numpy(part, "abcd", continuous=list("abcd")) for part in np.split(rows, 3)]
    assert vote(OpenFederation.over(sites_of(parts), TASKS), Run()).status == "finished"


def test_knowledge_is_obeyed():
    truth, table = simulated(6, 120, 4)
    tail, head = truth.edges[0]
    knowledge = Knowledge(required=[(head, tail)])
    for learner in (vote, average):
        outcome = learner(open_federation(table, 4), Run(knowledge=knowledge))
        assert knowledge.violations(outcome.graph) == []
    assert (
        knowledge.violations(best(open_federation(table, 4), Run(knowledge=knowledge), truth=truth).graph)
        == []
    )


def test_limits_and_refusals():
    _, table = simulated(20, 100, 4)
    outcome = vote(open_federation(table, 4), Run(budget=Budget(1e-6)))
    assert outcome.status == "time-limit"
    mixed = Table.from_numpy([[0, 0.5], [1, 1.5], [0, 2.5], [1, 0.1]], "ab", discrete=["a"])
    with pytest.raises(DataError, match="the method vote needs continuous columns, but 'a' is discrete"):
        vote(open_federation(mixed, 2), Run())
    with pytest.raises(ProtocolError, match="'model' must be a method that learns a graph from one table"):
        vote(open_federation(table, 2), Run(), model="cubic")
