"""K2 against a plain one written from the paper, with exact factorials."""

from collections import Counter
from itertools import permutations
from math import factorial, log

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.learners.search.k2 import k2, permitted_order, run_k2
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.learners.search.search_oracles import random_score
from tests.random_tables import discrete_table, random_discrete

NAMES = [f"x{i}" for i in range(5)]


def plain_k2(columns, cardinalities, order, most):
    """Cooper and Herskovits' procedure, with their g(i, π) as a ratio of whole numbers."""
    rows = list(zip(*columns, strict=True))

    def g(child, parents):
        cells = Counter((tuple(row[p] for p in parents), row[child]) for row in rows)
        totals = Counter(tuple(row[p] for p in parents) for row in rows)
        r = cardinalities[child]
        value = 0.0
        for configuration, total in totals.items():
            value += log(factorial(r - 1)) - log(factorial(total + r - 1))
            value += sum(log(factorial(cells[configuration, level])) for level in range(r))
        return value

    edges = set()
    for position, child in enumerate(order):
        parents, old = [], g(child, [])
        while len(parents) < most:
            scored = [(g(child, [*parents, z]), z) for z in order[:position] if z not in parents]
            if not scored or max(scored)[0] <= old:
                break
            old, winner = max(scored)
            parents.append(winner)
        edges |= {(f"x{parent}", f"x{child}") for parent in parents}
    return edges


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_papers_procedure(most):
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        cardinalities = [int(c) for c in rng.integers(2, 4, 5)]
        table = random_discrete(rng, 80, cardinalities)
        declared = [variable.cardinality for variable in table.schema]
        order = rng.permutation(5).tolist()
        score = score_named("k2").make(TableStatistics(table))
        text = ",".join(f"x{i}" for i in order)
        outcome = k2(score, Run(Knowledge(max_parents=most)), order=text)
        columns = [column.tolist() for column in table.columns]
        assert set(outcome.graph.edges) == plain_k2(columns, declared, order, most)
        assert outcome.score == pytest.approx(graph_score(score, outcome.graph), rel=1e-12)
        assert outcome.status == "finished"
        found += len(outcome.graph.edges)
    assert found > 15


def test_the_true_order_gives_the_true_network():
    network = greenhouse()
    table = sample_network(network, 60_000, seed=1)
    score = score_named("k2").make(TableStatistics(table))
    outcome = k2(score, Run(), order=",".join(network.graph.order))
    assert set(outcome.graph.edges) == set(network.graph.edges)
    # Which no other order finds as well.
    backwards = k2(score, Run(), order=",".join(network.graph.order[::-1]))
    assert len(backwards.graph.edges) > len(outcome.graph.edges)
    assert backwards.score < outcome.score


@pytest.mark.parametrize("name", ["bic", "bdeu", "k2", "bic-gaussian", "bge"])
def test_no_single_parent_helps_at_the_end(name):
    for seed in range(5):
        score = random_score(name, seed)
        graph = k2(score, Run()).graph
        for child in range(5):
            parents = graph.parent_indices(child)
            families = [(child, (*parents, other)) for other in range(child) if other not in parents]
            own, *others = score.families([(child, parents), *families])
            assert all(other <= own + 2e-9 * abs(own) for other in others)


def test_the_search_sees_no_number():
    """What is asked, in which sequence, and what the answers lead to."""
    asked = []
    answers = iter([3, 0, 1, None])

    def choose(child, parents, candidates):
        asked.append((child, parents, candidates))
        return next(answers)

    forbidden = np.zeros((4, 4), dtype=bool)
    forbidden[3, 2] = True
    parents = run_k2([3, 0, 1, 2], 2, choose, start=[[], [3], [], []], forbidden=forbidden)
    # 3 is first and has no candidates; 1 has 3 from the start and is full with 0; 2 is not offered 3.
    assert asked == [(0, (), (3,)), (1, (3,), (0,)), (2, (), (0, 1)), (2, (1,), (0,))]
    assert parents == [[3], [3, 0], [1], []]


def test_equal_candidates_go_to_the_earlier_in_the_order():
    a = np.random.default_rng(0).integers(0, 2, 100)
    score = score_named("k2").make(TableStatistics(discrete_table([a, a, a], [2, 2, 2])))
    assert k2(score, Run()).graph.edges == (("x0", "x1"), ("x0", "x2"))
    assert k2(score, Run(), order="x1,x0,x2").graph.edges == (("x1", "x0"), ("x1", "x2"))
    assert k2(score, Run(), order="x2, x1, x0").graph.edges == (("x2", "x0"), ("x2", "x1"))


def test_knowledge_is_obeyed_in_any_order_that_permits_it():
    knowledge = Knowledge(
        required=[("x3", "x0")], forbidden=[("x1", "x2")], tiers=[["x3", "x1"], ["x2", "x4"]], max_parents=2
    )
    accepted = 0
    for order in permutations(range(5)):
        text = ",".join(f"x{i}" for i in order)
        score = random_score("aic", 2)
        try:
            outcome = k2(score, Run(knowledge), order=text)
        except KnowledgeError as refusal:
            assert "the method k2 cannot obey the" in str(refusal)
            assert "with this order" in str(refusal)
            place = order.index
            assert place(3) > place(0) or max(place(3), place(1)) > min(place(2), place(4))
            continue
        accepted += 1
        assert knowledge.violations(outcome.graph) == []
    assert accepted == 14, "x3 and x1 in front of x2 and x4 in four ways, and x0 behind x3"
    assert knowledge.violations(k2(random_score("aic", 2), Run(knowledge)).graph) == []


@pytest.mark.parametrize(
    ("knowledge", "expected"),
    [
        (Knowledge(), [0, 1, 2, 3, 4]),
        (Knowledge(required=[("x4", "x1")]), [0, 2, 3, 4, 1]),
        (Knowledge(tiers=[["x2"], [], ["x1", "x0"]]), [2, 0, 1, 3, 4]),
        # Tiers forbid edges, not paths: through x4 the required edges lead from the later tier to the earlier.
        (Knowledge(tiers=[["x0"], ["x1"]], required=[("x1", "x4"), ("x4", "x0")]), [1, 2, 3, 4, 0]),
    ],
)
def test_an_order_that_knowledge_permits(knowledge, expected):
    assert permitted_order(knowledge, tuple(NAMES)) == expected
    outcome = k2(random_score("bic", 1), Run(knowledge))
    assert knowledge.violations(outcome.graph) == []
    assert ("columns" in outcome.message) == (expected == sorted(expected))


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("x0,x1,x2,x3,y", "'y', which is not a variable"),
        ("x0,x1,x2,x3", "'x4' is missing"),
        ("x0,x1,x2,x3,x4,x0", "'x0' twice"),
        ("", "'x0' is missing"),
        ("x0,x1,,x2,x3,x4", "names ''"),
    ],
)
def test_orders_that_are_none(order, words):
    with pytest.raises(OptionError) as refusal:
        k2(random_score("bic", 1), Run(), order=order)
    assert "option 'order'" in str(refusal.value)
    assert words in str(refusal.value)


def test_names_that_hold_commas_and_spaces():
    a = np.random.default_rng(0).integers(0, 2, 100)
    table = discrete_table([a, a, a], [2, 2, 2], names=["a, b", " c", "d"])
    score = score_named("k2").make(TableStatistics(table))
    outcome = k2(score, Run(), order='d,"a, b"," c"')
    assert outcome.graph.edges == (("d", "a, b"), ("d", " c"))


def test_stopping_midway_keeps_what_is_required():
    score = random_score("aic", 2)
    budget = Budget()
    events = []

    def observe(event):
        events.append(event)
        if len(events) == 2:
            budget.stop("enough")

    knowledge = Knowledge(required=[("x0", "x4")])
    outcome = k2(score, Run(knowledge, budget=budget, on_event=observe))
    assert outcome.status == "time-limit"
    assert "enough" in outcome.message
    assert outcome.stats["steps"] == 2
    assert len(outcome.graph.edges) == 3
    assert ("x0", "x4") in outcome.graph.edges
    assert outcome.score == events[-1].score == pytest.approx(graph_score(score, outcome.graph))


def test_the_trace_rises():
    events = []
    outcome = k2(random_score("aic", 2), Run(on_event=events.append))
    scores = [event.score for event in events]
    assert scores == sorted(set(scores))
    assert scores[-1] == outcome.score
    assert [event.step for event in events] == list(range(1, len(outcome.graph.edges) + 1))


def test_required_edges_that_cannot_be_scored():
    score = random_score("bic-gaussian", 1, rows=3)
    with pytest.raises(DataError, match="'x2' with 2 parents cannot be scored on 3 rows"):
        k2(score, Run(Knowledge(required=[("x0", "x2"), ("x1", "x2")])))


def test_one_column():
    assert k2(random_score("bic", 0, columns=1), Run()).graph == DAG(["x0"])


def test_directions_follow_from_an_order_that_is_given():
    rows = {"a": [0, 1] * 20, "b": [0, 1] * 20}
    assert not dagora.learn(rows, "k2", order="b,a").class_only
    assert dagora.learn(rows, "hill-climb").class_only
