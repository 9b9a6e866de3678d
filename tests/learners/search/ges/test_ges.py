"""Greedy equivalence search: step by step against brute force, and against the truth with endless data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.budget import Budget
from dagora.base.errors import DataError, GraphError, KnowledgeError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.random_graphs import random_dag as random_graph
from dagora.learners.run import Run
from dagora.learners.search.ges import operators as ges_operators
from dagora.learners.search.ges.class_graph import DELETE, INSERT, TURN
from dagora.learners.search.ges.ges import PHASES, TOO_MANY_CLIQUES, EquivalenceSearch, ges
from dagora.learners.search.ges.operators import offers
from dagora.learners.search.ges.ranking import Ranking
from dagora.learners.search.greedy.hill_climb import hill_climb
from dagora.network.simulate import simulate
from dagora.scores.local_score import TIE, ScoreCapabilities, graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.learners.search.ges.class_oracles import neighbouring_classes, population_score
from tests.learners.search.search_oracles import random_score
from tests.random_tables import continuous_table, discrete_table, random_dag

NAMES = [f"x{i}" for i in range(5)]
KIND_OF = {phase: kind for kind, phase in PHASES.items()}
SCORES = ["bic", "aic", "bdeu", "bic-gaussian", "bge"]


def steps_of(score, **options):
    """The classes that a search visits, and the kind of each step."""
    kinds = []

    def observe(event):
        if event.phase in KIND_OF:
            kinds.append(KIND_OF[event.phase])

    final = ges(score, Run(on_event=observe), **options)
    visited = [ges(score, Run(), max_steps=k, **options).graph for k in range(len(kinds) + 1)]
    assert visited[-1] == final.graph
    return visited, kinds


@pytest.mark.parametrize("size", [4, 5, 6, 7])
@pytest.mark.parametrize("turning", [True, False])
def test_endless_data_show_the_true_class(size, turning):
    for seed in range(40):
        truth = random_dag(np.random.default_rng([size, seed]), size, density=0.15 + 0.05 * (seed % 10))
        outcome = ges(population_score(truth, seed), Run(), turning=turning)
        assert outcome.graph == CPDAG.from_dag(truth), (seed, truth.edges)
        assert outcome.status == "local-optimum"


@pytest.mark.parametrize("name", SCORES)
def test_each_step_is_the_best_one_and_the_end_is_a_local_optimum(name):
    seen = []
    for seed in range(6):
        score = random_score(name, seed, columns=4, rows=60)
        visited, kinds = steps_of(score)
        seen += kinds
        for graph, after, kind in zip(visited, visited[1:], kinds, strict=False):
            best = max(
                graph_score(score, g.extension()) for g in neighbouring_classes(graph.extension(), kind)
            )
            assert graph_score(score, after.extension()) == pytest.approx(best, rel=1e-10)
        top = graph_score(score, visited[-1].extension())
        for kind in (INSERT, DELETE, TURN):
            for graph in neighbouring_classes(visited[-1].extension(), kind):
                assert graph_score(score, graph.extension()) <= top + 2 * TIE * abs(top)
    assert INSERT in seen


@pytest.mark.full
def test_all_three_phases_are_needed():
    events = []
    better = 0
    for seed in range(30):
        score = random_score("bic-gaussian", seed, columns=8, rows=80)
        whole = ges(score, Run(on_event=events.append))
        better += whole.score > ges(score, Run(), turning=False).score + 1e-6
    assert {event.phase for event in events} == {"scoring", "forward", "backward", "turning"}
    assert better > 0


def strong_score(seed, columns=25):
    """A dense linear model with strong effects, on which many operators are forbidden by paths."""
    truth = random_graph("er", columns, 2, seed=seed)
    return score_named("bic-gaussian").make(
        TableStatistics(simulate(truth, "gaussian", 1000, seed=seed).table)
    )


def gains_of(ranked):
    return {ranked.offers.operator(place): ranked.offers.gains[place] for place in ranked.places.tolist()}


@pytest.mark.full
@pytest.mark.parametrize("make", [lambda seed: random_score("bic", seed, columns=16, rows=300), strong_score])
def test_what_is_kept_between_steps_is_what_would_be_made_anew(make, monkeypatch):
    """The ranking, of which only a part is replaced after a step, finds what a fresh one finds."""
    checked = []
    usual = Ranking.best

    class Watched(EquivalenceSearch):
        def climb(self, kind, max_steps):
            def best(ranking, graph, tolerance):
                found = usual(ranking, graph, tolerance)
                fresh = Ranking(len(graph))
                for table in offers(kind, graph, self.memory, self._limits, range(len(graph))):
                    fresh.place(table)
                assert found == usual(fresh, graph, tolerance)
                for kept, made in zip(ranking._ranked, fresh._ranked, strict=True):
                    assert gains_of(kept) == gains_of(made)
                    sleeping = kept.places[kept.asleep].tolist()
                    assert all(len(graph.path_against(kept.offers.operator(place))) for place in sleeping)
                checked.append(kind)
                return found

            monkeypatch.setattr(Ranking, "best", best)
            return super().climb(kind, max_steps)

    monkeypatch.setattr("dagora.learners.search.ges.ges.EquivalenceSearch", Watched)
    for seed in range(3):
        ges(make(seed), Run())
    assert {INSERT, DELETE, TURN} == set(checked)
    assert len(checked) > 50


@settings(max_examples=25)
@given(st.sampled_from(SCORES), st.integers(0, 1000), st.sampled_from([None, 0, 1, 2]))
def test_the_end_obeys_and_has_the_score_it_claims(name, seed, most):
    apart = [("x0", "x3"), ("x3", "x0"), ("x1", "x2"), ("x2", "x1")]
    score = random_score(name, seed, columns=6)
    outcome = ges(score, Run(Knowledge(forbidden=apart, max_parents=most)))
    assert isinstance(outcome.graph, CPDAG)
    dag = outcome.graph.extension()
    assert CPDAG.from_dag(dag) == outcome.graph
    assert outcome.score == graph_score(score, dag)
    assert Knowledge(forbidden=apart, max_parents=most).violations(dag) == []
    assert outcome.status == "local-optimum"


@pytest.mark.full
def test_rarely_worse_than_hill_climbing():
    worse = better = 0
    for seed in range(40):
        score = random_score("bic-gaussian", seed, columns=8, rows=200)
        climbed, found = hill_climb(score, Run()).score, ges(score, Run()).score
        worse += found < climbed - 1e-6
        better += found > climbed + 1e-6
    assert worse <= 6, (worse, better)
    assert better >= 6, (worse, better)


def test_a_single_tier_asks_for_nothing():
    score = random_score("bic", 1)
    assert ges(score, Run(Knowledge(tiers=[NAMES, []]))).graph == ges(score, Run()).graph


def test_a_start_graph_is_where_the_search_begins():
    score = random_score("bic", 1)
    start = random_dag(np.random.default_rng(0), 5)
    outcome = ges(score, Run(), start=start, max_steps=0)
    assert (outcome.graph, outcome.status) == (CPDAG.from_dag(start), "step-limit")
    assert ges(score, Run(), start=start.reorder(NAMES[::-1]), max_steps=0).graph == outcome.graph
    best = ges(score, Run())
    again = ges(score, Run(), start=best.graph.extension())
    assert (again.graph, again.stats["steps"]) == (best.graph, 0)
    assert ges(score, Run(), start=start).score > outcome.score
    with pytest.raises(GraphError, match="only the data have 'x1'"):
        ges(score, Run(), start=DAG(["x0"]))


def test_a_start_graph_must_obey():
    score = random_score("bic", 1)
    apart = Knowledge(forbidden=[("x0", "x1"), ("x1", "x0")])
    with pytest.raises(KnowledgeError, match="x1 → x0 is forbidden"):
        ges(score, Run(apart), start=DAG(NAMES, [("x1", "x0")]))
    with pytest.raises(KnowledgeError, match="x2 has 2 parents, more than 1"):
        ges(score, Run(Knowledge(max_parents=1)), start=DAG(NAMES, [("x0", "x2"), ("x1", "x2")]))
    few = random_score("bic-gaussian", 1, rows=3)
    with pytest.raises(DataError, match="'x2' with 2 parents cannot be scored on 3 rows"):
        ges(few, Run(), start=DAG(NAMES, [("x0", "x2"), ("x1", "x2")]))


def test_a_limit_on_steps():
    score = random_score("bic", 4, columns=7)
    full = ges(score, Run()).stats["steps"]
    previous = -np.inf
    for limit in range(int(full)):
        outcome = ges(score, Run(), max_steps=limit)
        assert (outcome.status, outcome.stats["steps"]) == ("step-limit", limit)
        assert outcome.score > previous
        assert str(limit) in outcome.message
        previous = outcome.score
    assert ges(score, Run(), max_steps=int(full)).status == "local-optimum"


@pytest.mark.parametrize("after", [0, 1, 3])
def test_stopping_returns_the_class_so_far(after):
    score = random_score("bic", 4, columns=7)
    budget = Budget()
    steps = []

    def observe(event):
        if event.phase == "forward":
            steps.append(event)
            if len(steps) == after:
                budget.stop("enough")

    if after == 0:
        budget.stop("enough")
    outcome = ges(score, Run(budget=budget, on_event=observe))
    assert outcome.status == "time-limit"
    assert outcome.stats["steps"] == len(steps) == after
    assert "enough" in outcome.message
    assert outcome.graph == ges(score, Run(), max_steps=after).graph
    assert outcome.score == graph_score(score, outcome.graph.extension())


def test_events_carry_the_rising_score():
    events = []
    outcome = ges(random_score("bic", 2, columns=7), Run(on_event=events.append))
    scores = [event.score for event in events]
    assert scores == sorted(scores)
    assert scores[-1] == outcome.score
    numbers = [event.step for event in events if event.phase in KIND_OF]
    assert numbers == list(range(1, int(outcome.stats["steps"]) + 1))


def test_equal_pairs_go_to_the_earlier_columns():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    score = score_named("bic").make(TableStatistics(discrete_table([a, a, a], [2, 2, 2])))
    assert ges(score, Run(), max_steps=1).graph.undirected == (("x0", "x1"),)
    assert ges(score, Run()).graph.undirected == (("x0", "x1"), ("x0", "x2"))


def test_columns_that_depend_on_each_other_exactly_do_not_send_it_in_circles():
    rng = np.random.default_rng(3)
    base = rng.normal(size=(30, 4))
    rows = np.column_stack([base, base @ rng.normal(size=(4, 4)), base[:, 0], base[:, 1] + base[:, 2]])
    score = score_named("bic-gaussian").make(TableStatistics(continuous_table(rows)))
    outcome = ges(score, Run(budget=Budget(20)))
    assert outcome.status == "local-optimum"
    assert outcome.score == graph_score(score, outcome.graph.extension())


class OneWay:
    """A score, not equal on equivalent graphs, that likes x0 → x1 and would pay to be rid of x1 → x0."""

    capabilities = ScoreCapabilities()
    n_rows = 10
    schema = random_score("bic", 0, columns=2).schema

    def families(self, families):
        value = {(0, ()): 0.0, (1, ()): 0.0, (1, (0,)): 1.0, (0, (1,)): -5.0}
        return np.array([value[child, tuple(parents)] for child, parents in families])


def test_a_gain_must_be_one_of_the_whole_graph():
    outcome = ges(OneWay(), Run(budget=Budget(5)))
    assert (outcome.status, outcome.stats["steps"], outcome.score) == ("local-optimum", 1, 1.0)
    assert ges(random_score("k2", 5, columns=7), Run(budget=Budget(20))).status == "local-optimum"


def test_says_what_was_not_tried(monkeypatch):
    score = random_score("aic", 2, columns=7, rows=2000)
    assert ges(score, Run()).warnings == ()
    monkeypatch.setattr(ges_operators, "MOST_CLIQUES", 2)
    assert ges(score, Run()).warnings == (TOO_MANY_CLIQUES,)


@pytest.mark.parametrize("columns", [1, 2])
def test_hardly_any_columns(columns):
    assert ges(random_score("bic", 0, columns=columns), Run()).status == "local-optimum"


def test_independent_columns_stay_apart():
    score = score_named("bic").make(TableStatistics(discrete_table([[0, 0, 1, 1], [0, 1, 0, 1]], [2, 2])))
    outcome = ges(score, Run())
    assert (outcome.graph.edges, outcome.graph.undirected, outcome.stats["steps"]) == ((), (), 0)
