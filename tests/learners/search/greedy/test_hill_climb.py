"""Hill climbing and tabu search against brute force and full enumeration."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.budget import Budget
from dagora.base.errors import GraphError, KnowledgeError
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_parent_sets
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.learners.search.greedy.climber import Climber
from dagora.learners.search.greedy.hill_climb import hill_climb, tabu_search
from dagora.scores.local_score import TIE, ScoreCapabilities, graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.learners.search.search_oracles import improvements, random_score
from tests.random_tables import discrete_table, random_dag

NAMES = [f"x{i}" for i in range(5)]
SCORES = ["bic", "bdeu", "k2", "bic-gaussian", "bge"]
KNOWLEDGE = [
    Knowledge(),
    Knowledge(max_parents=1),
    Knowledge(required=[("x3", "x0")], forbidden=[("x1", "x2"), ("x2", "x1")]),
    Knowledge(tiers=[["x4"], ["x0", "x1"], ["x2"]]),
]


@pytest.mark.full
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SCORES), st.sampled_from(KNOWLEDGE), st.integers(0, 1000), st.booleans())
def test_the_end_is_a_local_optimum_that_obeys(name, knowledge, seed, tabu):
    score = random_score(name, seed)
    method = tabu_search if tabu else hill_climb
    outcome = method(score, Run(knowledge, seed=seed), restarts=seed % 3)
    assert outcome.status == "local-optimum"
    assert knowledge.violations(outcome.graph) == []
    assert improvements(score, outcome.graph, knowledge) == {}
    assert outcome.score == pytest.approx(graph_score(score, outcome.graph), rel=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("name", SCORES)
def test_tabu_is_never_worse_and_sometimes_better(name):
    better = 0
    for seed in range(12):
        score = random_score(name, seed, columns=6, rows=80)
        climbed, tabu = hill_climb(score, Run()), tabu_search(score, Run())
        assert tabu.score >= climbed.score - TIE * abs(climbed.score)
        assert tabu.stats["steps"] > climbed.stats["steps"]
        better += tabu.score > climbed.score + 1e-6
    assert better > 0


def test_restarts_never_lose():
    for seed in range(5):
        score = random_score("bic", seed, columns=6)
        assert hill_climb(score, Run(), restarts=10).score >= hill_climb(score, Run()).score


@pytest.mark.parametrize("method", [hill_climb, tabu_search])
def test_the_same_seed_gives_the_same_run(method):
    score = random_score("bdeu", 3, columns=7)

    def run(seed):
        events = []
        outcome = method(score, Run(seed=seed, on_event=events.append), restarts=4)
        return outcome.graph, outcome.score, dict(outcome.stats), events

    assert run(5) == run(5)
    assert len({run(seed)[2]["evaluations"] for seed in range(5)}) > 1


@cache
def optimum(seed):
    """Best total over all 543 graphs of four nodes."""
    score = random_score("bdeu", seed, columns=4, rows=60)
    families = [
        (child, tuple(i for i in range(4) if mask >> i & 1)) for child in range(4) for mask in range(16)
    ]
    sound = [family for family in families if family[0] not in family[1]]
    value = dict(zip(sound, score.families(sound).tolist(), strict=True))
    graphs = list(all_parent_sets(4))
    assert len(graphs) == 543
    return max(
        sum(value[child, tuple(i for i in range(4) if mask >> i & 1)] for child, mask in enumerate(masks))
        for masks in graphs
    )


@pytest.mark.full
def test_restarts_find_the_optimum_of_four_variables():
    found = {"once": 0, "restarts": 0, "tabu": 0}
    for seed in range(40):
        score = random_score("bdeu", seed, columns=4, rows=60)
        best = optimum(seed)
        outcomes = {
            "once": hill_climb(score, Run(seed=seed)),
            "restarts": hill_climb(score, Run(seed=seed), restarts=20),
            "tabu": tabu_search(score, Run(seed=seed)),
        }
        for way, outcome in outcomes.items():
            assert outcome.score <= best + 1e-9 * abs(best)
            found[way] += outcome.score >= best - 1e-9 * abs(best)
    assert found["restarts"] >= 38, found
    assert found["tabu"] >= 38, found
    assert found["once"] < 40, "too easy to say anything"


def test_a_start_graph_is_where_the_search_begins():
    score = random_score("bic", 1)
    start = random_dag(np.random.default_rng(0), 5)
    outcome = hill_climb(score, Run(), start=start, max_steps=0)
    assert (outcome.graph, outcome.status) == (start, "step-limit")
    # Its nodes may stand in another order.
    turned = start.reorder(NAMES[::-1])
    assert hill_climb(score, Run(), start=turned, max_steps=0).graph == start
    # From an optimum there is no way up.
    best = hill_climb(score, Run())
    again = hill_climb(score, Run(), start=best.graph)
    assert (again.graph, again.stats["steps"], again.status) == (best.graph, 0, "local-optimum")


def test_a_start_graph_that_does_not_fit_is_refused():
    score = random_score("bic", 1)
    with pytest.raises(GraphError, match="only the data have 'x1'"):
        hill_climb(score, Run(), start=DAG(["x0"]))
    with pytest.raises(GraphError, match="only the graph has 'y'"):
        tabu_search(score, Run(), start=DAG([*NAMES, "y"]))
    with pytest.raises(KnowledgeError, match="x0 → x1 is forbidden"):
        hill_climb(score, Run(Knowledge(forbidden=[("x0", "x1")])), start=DAG(NAMES, [("x0", "x1")]))


@pytest.mark.parametrize("method", [hill_climb, tabu_search])
def test_a_limit_on_steps(method):
    score = random_score("bic", 4, columns=7)
    full = hill_climb(score, Run()).stats["steps"]
    assert full > 3
    previous = -np.inf
    for limit in range(4):
        outcome = method(score, Run(), max_steps=limit, restarts=3)
        assert outcome.status == "step-limit"
        assert outcome.stats["steps"] == limit
        assert len(outcome.graph.edges) <= limit
        assert outcome.score > previous
        assert str(limit) in outcome.message
        previous = outcome.score


@pytest.mark.parametrize("method", [hill_climb, tabu_search])
def test_a_budget_that_is_spent_returns_the_start(method):
    score = random_score("bic", 4)
    budget = Budget()
    budget.stop("interrupted by hand")
    knowledge = Knowledge(required=[("x1", "x0")])
    outcome = method(score, Run(knowledge, budget=budget), restarts=5)
    assert outcome.status == "time-limit"
    assert outcome.graph.edges == (("x1", "x0"),)
    assert "interrupted by hand" in outcome.message
    assert outcome.score == pytest.approx(graph_score(score, outcome.graph))


@pytest.mark.parametrize("after", [1, 3, 40])
def test_stopping_midway_returns_the_best_so_far(after):
    score = random_score("bic", 4, columns=7)
    budget = Budget()
    events = []

    def observe(event):
        events.append(event)
        if len(events) == after:
            budget.stop("enough")

    outcome = tabu_search(score, Run(budget=budget, on_event=observe), restarts=3)
    assert outcome.status == "time-limit"
    assert outcome.stats["steps"] == len(events) == after
    assert outcome.score == max(event.score for event in events) == events[-1].score
    assert outcome.score == pytest.approx(graph_score(score, outcome.graph), rel=1e-12)


def test_a_time_limit_ends_a_search_that_would_go_on():
    score = random_score("bic", 4, columns=7)
    outcome = tabu_search(score, Run(budget=Budget(0.2)), patience=10**9)
    assert outcome.status == "time-limit"
    assert "0.2 s" in outcome.message
    assert improvements(score, outcome.graph, Knowledge()) == {}


def test_equal_scores_go_to_the_earlier_column():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.9, a, 1 - a)
    for columns in ([a, b], [b, a]):
        score = score_named("bic").make(TableStatistics(discrete_table(columns, [2, 2])))
        assert hill_climb(score, Run()).graph.edges == (("x0", "x1"),)
    # Three copies of one column: the first is taken as the parent of the others.
    score = score_named("bic").make(TableStatistics(discrete_table([a, a, a], [2, 2, 2])))
    assert hill_climb(score, Run()).graph.edges == (("x0", "x1"), ("x0", "x2"))


def test_independent_columns_stay_apart():
    score = score_named("bic").make(TableStatistics(discrete_table([[0, 0, 1, 1], [0, 1, 0, 1]], [2, 2])))
    outcome = hill_climb(score, Run())
    assert outcome.graph.edges == ()
    assert outcome.stats["steps"] == 0


class Pair:
    """A score by which x2 wants both other columns as parents, and neither of them alone."""

    capabilities = ScoreCapabilities()
    n_rows = 10
    schema = random_score("bic", 0, columns=3).schema

    def families(self, families):
        return np.array([self.value(child, set(parents)) for child, parents in families])

    def value(self, child, parents):
        return 10.0 if child == 2 and parents == {0, 1} else -1.0 - len(parents)


def test_a_walk_that_lands_on_something_better_counts():
    """Where a restart's random moves alone reach an optimum, no step follows; it must not be lost."""
    score = Pair()
    assert hill_climb(score, Run()).graph.edges == ()
    landed = 0
    for seed in range(60):
        climber = Climber(score, Knowledge())
        climber.random_walk(2, np.random.default_rng(seed))
        outcome = hill_climb(score, Run(seed=seed), restarts=1, perturb=2)
        assert outcome.score >= climber.score
        landed += climber.graph.edges == (("x0", "x2"), ("x1", "x2"))
    assert landed > 0


def test_patience_counts_from_the_last_improvement():
    renewed = 0
    for seed in range(10):
        events = []
        tabu_search(random_score("bdeu", seed, columns=6, rows=80), Run(on_event=events.append), patience=9)
        scores = [event.score for event in events]
        improved = [k for k in range(1, len(scores)) if scores[k] > scores[k - 1]]
        assert len(scores) - 1 - improved[-1] == 9
        renewed += improved != list(range(1, len(improved) + 1))
    assert renewed > 0


def test_events_carry_the_best_score():
    events = []
    outcome = tabu_search(random_score("bic", 2), Run(on_event=events.append))
    scores = [event.score for event in events]
    assert scores == sorted(scores)
    assert [event.step for event in events] == list(range(1, len(events) + 1))
    assert outcome.score == scores[-1]


@pytest.mark.parametrize("columns", [1, 2])
def test_hardly_any_columns(columns):
    score = random_score("bic", 0, columns=columns)
    assert hill_climb(score, Run(), restarts=2).status == "local-optimum"
    assert tabu_search(score, Run(), restarts=2).status == "local-optimum"


class Watched:
    """A score that ends the time after some calls, and counts what it is asked for."""

    capabilities = ScoreCapabilities()

    def __init__(self, score, budget, calls):
        self.schema, self.n_rows = score.schema, score.n_rows
        self.asked = []
        self._score, self._budget, self._calls = score, budget, calls

    def families(self, families):
        self.asked.append(len(families))
        if len(self.asked) == self._calls:
            self._budget.stop("the time is up")
        return self._score.families(families)


@pytest.mark.parametrize("method", [hill_climb, tabu_search])
@pytest.mark.parametrize("calls", [1, 3, 6, 8, 9])
def test_the_clock_is_looked_at_between_blocks_of_families(monkeypatch, method, calls):
    monkeypatch.setattr("dagora.scores.local_score.MOST_FAMILIES", 6)
    whole, budget = random_score("bdeu", 3, columns=6, rows=80), Budget()
    score = Watched(whole, budget, calls)
    knowledge = Knowledge(required=[("x3", "x0")], max_parents=2)
    outcome = method(score, Run(knowledge, budget=budget), restarts=3)
    assert outcome.status == "time-limit"
    assert "the time is up" in outcome.message
    assert len(score.asked) <= calls + 1, "after the time only the graph itself is scored"
    assert max(score.asked) <= 7
    assert knowledge.violations(outcome.graph) == []
    assert outcome.score == pytest.approx(graph_score(whole, outcome.graph), rel=1e-12)


@pytest.mark.parametrize("block", [1, 6, 1 << 15])
def test_blocks_change_nothing(monkeypatch, block):
    score = random_score("bdeu", 5, columns=6, rows=80)
    expected = tabu_search(score, Run(seed=1), restarts=2)
    monkeypatch.setattr("dagora.scores.local_score.MOST_FAMILIES", block)
    found = tabu_search(score, Run(seed=1), restarts=2)
    assert (found.graph, found.score, found.stats) == (expected.graph, expected.score, expected.stats)
