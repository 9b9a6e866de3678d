"""The learner, as published and combined with order search."""

import itertools

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.run import Run
from dagora.learners.search.rbnets.agent import Agent
from dagora.learners.search.rbnets.environment import OrderGraph
from dagora.learners.search.rbnets.improved import play_together, transitions_of
from dagora.learners.search.rbnets.null_models import draw_orders
from dagora.learners.search.rbnets.rbnets import rbnets
from tests.learners.search.order.order_oracles import (
    best_of_all,
    best_of_order,
    graph_worth,
    random_candidates,
)

# One size of problem and of network for most tests: every new shape is compiled.
SIZE, HIDDEN = 4, 16
SMALL = {"hidden": HIDDEN, "episodes": 40}


def problem(seed, size=SIZE, **more):
    return random_candidates(np.random.default_rng(seed), size, **more)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_the_greedy_policy_learns_the_optimum(seed):
    """With every transition at hand, double Q-learning finds the best order of all."""
    candidates = problem(seed)
    agent = Agent.new(OrderGraph.of(candidates), seed, "set", HIDDEN, 2000)
    orders = draw_orders(candidates, 100, np.random.default_rng(seed))
    agent.replay.store(transitions_of(agent.graph, orders))
    for _ in range(10):
        agent.learn(500, np.zeros((1, SIZE), dtype=bool))
    optimum = best_of_all(candidates)
    assert best_of_order(candidates, agent.greedy_order()) == pytest.approx(optimum)
    # And it knows what that is worth.
    graph = agent.graph
    value = float(agent.values(np.zeros((1, SIZE), dtype=bool)).max())
    assert value * graph.scale + graph.base.sum() == pytest.approx(optimum, abs=0.1 * graph.scale * SIZE)


@pytest.mark.parametrize("options", [{}, {"reward": "gain"}, {"state": "set", "reward": "gain"}])
def test_as_published(options):
    candidates = problem(1)
    events = []
    outcome = rbnets(candidates, Run(seed=1, on_event=events.append), published=True, **options, **SMALL)
    assert outcome.stats["episodes"] == 40
    assert outcome.stats["gradient_steps"] == 40 * SIZE
    assert outcome.score == max(outcome.stats["best_seen"], outcome.stats["greedy"])
    assert graph_worth(candidates, outcome.graph) == pytest.approx(outcome.score)
    assert outcome.score <= best_of_all(candidates) + 1e-9
    # The trace hears of the best so far; the learning curve has every episode, with its ups and downs.
    best = [event.score for event in events if event.phase == "learning"]
    curve = outcome.curves["episode"]
    assert len(curve) == len(best) == 40
    assert np.maximum.accumulate(curve).tolist() == best
    assert best[-1] == pytest.approx(outcome.stats["best_seen"])
    assert list(curve) != sorted(curve)
    possible = [best_of_order(candidates, order) for order in itertools.permutations(range(SIZE))]
    assert all(min(abs(score - each) for each in possible) < 1e-9 for score in curve)


def test_published_is_what_the_paper_says_unless_told_otherwise():
    """States from walks and raw rewards; the result names the paper and what is not as there."""
    candidates = problem(1)

    def told(**options):
        return rbnets(candidates, Run(seed=1), hidden=HIDDEN, episodes=8, **options)

    plain = told(published=True)
    same = told(published=True, state="walk", reward="raw")
    assert plain.curves == same.curves
    assert plain.stats["published"] == 1
    assert "RBNets of Zheng et al. 2023; not as in the paper: the best order seen" in plain.message
    other = told(published=True, state="set", reward="gain")
    assert other.curves != plain.curves
    assert "not as in the paper: state=set, reward=gain, the best" in other.message
    combined = told()
    assert combined.stats["published"] == 0
    assert "2023" not in combined.message


def test_the_old_spelling_is_refused():
    with pytest.raises(dagora.OptionError, match="improve"):
        dagora.learn(problem(1), "rbnets", improve=False)


@pytest.mark.full
def test_episodes_beside_a_search_have_a_curve_and_the_trace_counts_on():
    candidates = random_candidates(np.random.default_rng(2), 22, most=2)
    result = dagora.learn(candidates, "rbnets", seed=5, **SMALL)
    assert [point.step for point in result.trace] == sorted(point.step for point in result.trace)
    played, polished = result.curves["episode"], result.curves["polished episode"]
    assert len(played) == len(polished) == result.stats["episodes"] > 0
    assert max(played) == result.stats["best_seen"]
    assert max(polished) == result.stats["polished"]
    assert all(after >= before - 1e-9 for before, after in zip(played, polished, strict=True))
    assert dagora.Result.from_json(result.to_json()).curves == result.curves


def test_without_an_episode_there_is_no_curve():
    assert rbnets(problem(1), Run(budget=Budget(1e-9)), published=True, **SMALL).curves == {}
    assert rbnets(problem(1), Run(), **SMALL).curves == {}, "it was proved before the first episode"


@pytest.mark.parametrize("published", [False, True])
def test_same_seed_same_answer(published):
    candidates = problem(2) if published else random_candidates(np.random.default_rng(2), 22, most=2)
    first, again = (rbnets(candidates, Run(seed=5), published=published, **SMALL) for _ in range(2))
    assert first.graph == again.graph
    for outcome in (first, again):
        outcome.stats.pop("compile_seconds")
    assert first.stats == again.stats
    assert first.stats["episodes"] > 0


@pytest.mark.parametrize("seed", range(6))
def test_improved_small_problems_are_proved(seed):
    candidates = problem(seed, size=3 + seed % 4)
    outcome = rbnets(candidates, Run(seed=seed))
    assert outcome.status == "optimal"
    assert outcome.score == pytest.approx(best_of_all(candidates))
    assert graph_worth(candidates, outcome.graph) == pytest.approx(outcome.score)


def test_parallel_episodes_spread_out():
    candidates = problem(3)
    agent = Agent.new(OrderGraph.of(candidates), 0, "set", HIDDEN, 2000)
    orders = play_together(agent, 2 * SIZE, Run())
    assert sorted(orders[:SIZE, 0]) == list(range(SIZE)), "everyone comes first once"
    assert (np.sort(orders, axis=1) == np.arange(SIZE)).all()
    assert agent.visits.visits(agent.graph.start(1).tobytes()) == 2 * SIZE


@pytest.mark.parametrize("published", [False, True])
def test_knowledge_that_leaves_one_order(published):
    knowledge = Knowledge(required=[("x3", "x1"), ("x1", "x0"), ("x0", "x2")])
    candidates = problem(4, density=1.0).obeying(knowledge)
    outcome = rbnets(candidates, Run(knowledge, seed=0), published=published, **SMALL)
    assert not knowledge.violations(outcome.graph)
    assert outcome.score == pytest.approx(best_of_order(candidates, (3, 1, 0, 2)))
    if published:
        assert outcome.stats["best_seen"] == outcome.stats["greedy"] == outcome.score
        assert outcome.stats["states"] == SIZE


@pytest.mark.full
@pytest.mark.parametrize("published", [False, True])
def test_odd_problems(published):
    alone = rbnets(Candidates.of("a", [[((), -2.0)]]), Run(), published=published, **SMALL)
    assert (alone.score, alone.graph) == (-2.0, DAG("a"))
    pair = Candidates.of("ab", [[((1,), -1.0)], [((), -2.0)]])
    only = rbnets(pair, Run(), published=published, **SMALL)
    assert (only.score, only.status, only.graph.edges) == (-3.0, "optimal", (("b", "a"),))
    cyclic = Candidates.of("ab", [[((1,), -1.0)], [((0,), -1.0)]])
    none = rbnets(cyclic, Run(), published=published, **SMALL)
    assert (none.status, none.score) == ("failed", None)
    assert "'a', 'b'" in none.message


@pytest.mark.full
@pytest.mark.parametrize("published", [False, True])
def test_more_than_64_variables(published):
    size = 70
    listed = [[((), -5.0), (((x + 1) % size,), -1.0)] for x in range(size)]
    ring = Candidates.of([f"x{x}" for x in range(size)], listed)
    outcome = rbnets(ring, Run(), published=published, episodes=2, hidden=HIDDEN)
    assert graph_worth(ring, outcome.graph) == pytest.approx(outcome.score)
    # One of the ring must do without its parent; the bound does not know.
    assert outcome.status == "finished"
    assert outcome.score <= -74.0
    assert outcome.score >= max(
        outcome.stats[key] for key in ("best_seen", "greedy", "seeded") if key in outcome.stats
    )


def test_many_small_components_are_proved():
    pairs = [[((), -3.0), ((x ^ 1,), -1.0)] for x in range(100)]
    outcome = rbnets(Candidates.of([f"x{x}" for x in range(100)], pairs), Run())
    assert (outcome.score, outcome.status, outcome.stats["episodes"]) == (-200.0, "optimal", 0)


@pytest.mark.parametrize("published", [False, True])
def test_no_time_still_gives_a_network(published):
    knowledge = Knowledge(required=[("x3", "x0")])
    candidates = problem(5, density=1.0).obeying(knowledge)
    budget = Budget()
    budget.stop("it was interrupted")
    outcome = rbnets(candidates, Run(knowledge, budget=budget), published=published)
    assert outcome.status == "time-limit"
    assert "interrupted" in outcome.message
    assert not knowledge.violations(outcome.graph)
    assert outcome.score == pytest.approx(graph_worth(candidates, outcome.graph))


def test_an_interruption_ends_learning():
    budget = Budget()

    def observe(event):
        if event.step == 7:
            budget.stop("it was interrupted")

    run = Run(seed=0, budget=budget, on_event=observe)
    outcome = rbnets(problem(0), run, published=True, **SMALL)
    assert outcome.status == "time-limit"
    assert outcome.stats["episodes"] == 7


@pytest.mark.full
@pytest.mark.parametrize(("name", "optimum"), [("alarm_1000", -11537.6593), ("water_500c", -6785.3185)])
def test_proven_optima_are_reached(data_dir, name, optimum):
    result = dagora.learn(data_dir / "scores" / f"{name}.jkl", "rbnets", seed=1)
    assert result.score == pytest.approx(optimum, abs=1e-4)
    assert result.stats["seeded"] <= result.score + 1e-9


@pytest.mark.full
def test_as_published_on_real_scores(data_dir):
    candidates = read_jkl(data_dir / "scores" / "alarm_1000.jkl")
    outcome = rbnets(candidates, Run(seed=0), published=True, episodes=10)
    assert outcome.stats["gradient_steps"] == 370
    assert outcome.stats["published"] == 1
    assert graph_worth(candidates, outcome.graph) == pytest.approx(outcome.score)
    assert -13000 < outcome.score < -11537.6
