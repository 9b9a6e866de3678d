"""Searches over orders, as learners."""

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.graph.dag import DAG
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.run import Run
from dagora.learners.search.order.asobs import asobs
from dagora.learners.search.order.obs import obs
from dagora.learners.search.order.order_search import order_search
from tests.learners.search.order.order_oracles import best_of_all, graph_worth, random_candidates

LEARNERS = [order_search, obs, asobs]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(6))
def test_small_problems(learner, seed):
    rng = np.random.default_rng(seed)
    candidates = random_candidates(rng, int(rng.integers(2, 7)))
    outcome = learner(candidates, Run(seed=seed))
    optimum = best_of_all(candidates)
    assert graph_worth(candidates, outcome.graph) == pytest.approx(outcome.score)
    assert outcome.score <= optimum + 1e-9
    assert outcome.score == pytest.approx(optimum)


@pytest.mark.parametrize("limit", [None, 1e-9])
@pytest.mark.parametrize("learner", LEARNERS)
def test_orders_that_few_permit(learner, limit):
    """Every variable requires the next: of all orders one leaves each of them a set."""
    size = 20
    chain = [*([((k + 1,), -1.0)] for k in range(size - 1)), [((), -1.0)]]
    told = []
    outcome = learner(
        Candidates.of([f"v{k}" for k in range(size)], chain), Run(budget=Budget(limit), on_event=told.append)
    )
    assert outcome.score == -size
    assert len(outcome.graph.edges) == size - 1
    assert all(event.score in {None, -size} for event in told)


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_network_is_possible(learner):
    cyclic = Candidates.of(["a", "b"], [[((1,), -1.0)], [((0,), -1.0)]])
    outcome = learner(cyclic, Run())
    assert outcome.status == "failed"
    assert outcome.graph == DAG("ab")
    assert outcome.score is None


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_time_still_gives_a_network(learner):
    candidates = random_candidates(np.random.default_rng(1), 8)
    budget = Budget()
    budget.stop("it was interrupted")
    outcome = learner(candidates, Run(budget=budget))
    assert outcome.status == "time-limit"
    assert "interrupted" in outcome.message
    assert graph_worth(candidates, outcome.graph) == pytest.approx(outcome.score)


@pytest.mark.parametrize("learner", LEARNERS)
def test_best_parents_for_everyone_is_a_proof(learner):
    easy = Candidates.of(["a", "b"], [[((), -1.0)], [((0,), -1.0), ((), -2.0)]])
    outcome = learner(easy, Run())
    assert (outcome.status, outcome.score) == ("optimal", -2.0)


def test_the_hint_is_where_the_search_starts():
    """A search of one chain and no disturbance ends at least as good as the hinted network."""
    rng = np.random.default_rng(2)
    candidates = random_candidates(rng, 12, most=2)
    good = order_search(candidates, Run())
    families = [(child, good.graph.parent_indices(child)) for child in range(12)]
    worth = [
        dict(zip(candidates.sets[c].parents, candidates.sets[c].scores, strict=True))[p] for c, p in families
    ]
    hinted = candidates.adding(good.graph, np.array(worth))
    assert order_search(hinted, Run(seed=99), chains=1, patience=0).score >= good.score - 1e-9


def test_a_limit_that_is_not_reached_does_not_change_the_answer():
    """A limit cuts rounds into pieces; what is reported after each round stays the same."""
    candidates = random_candidates(np.random.default_rng(5), 12, most=2)

    def told(**limited):
        events = []
        order_search(candidates, Run(on_event=events.append, **limited), patience=600)
        return events

    assert told() == told(budget=Budget(1000.0))


def test_jobs_do_not_change_the_answer():
    candidates = random_candidates(np.random.default_rng(3), 15, most=2)
    one, two = (order_search(candidates, Run(seed=4, jobs=jobs)) for jobs in (1, 2))
    assert one.graph == two.graph
    assert one.score == two.score


@pytest.mark.full
@pytest.mark.parametrize(("name", "optimum"), [("alarm_1000", -11537.6593), ("water_500c", -6785.3185)])
def test_proven_optima_are_reached(data_dir, name, optimum):
    candidates = read_jkl(data_dir / "scores" / f"{name}.jkl")
    reached = [order_search(candidates, Run(seed=seed)).score for seed in range(3)]
    assert max(reached) <= optimum + 1e-3
    assert sorted(reached)[1] == pytest.approx(optimum, abs=1e-3)
