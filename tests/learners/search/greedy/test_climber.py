"""The climber's bookkeeping against a climber placed afresh, and its steps against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagora.learners.search.greedy.climber as climber_module
from dagora.base.errors import DataError, KnowledgeError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.search.greedy.climber import Climber
from dagora.learners.search.greedy.moves import ADD, REVERSE
from dagora.scores.local_score import TIE, graph_score
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.learners.search.search_oracles import legal_moves, random_score, scored_moves
from tests.random_tables import random_continuous, random_dag

SCORES = {name: random_score(name, 1) for name in ("bic", "k2", "bdeu", "bic-gaussian", "bge")}
NAMES = [f"x{i}" for i in range(5)]
seeds = st.integers(0, 2**32 - 1)


@st.composite
def knowledges(draw):
    """Knowledge that no order contradicts: required edges follow a hidden order."""
    order = draw(st.permutations(NAMES))
    pairs = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    required = draw(st.lists(st.sampled_from(pairs), max_size=2, unique=True))
    others = [(a, b) for a in NAMES for b in NAMES if a != b and (a, b) not in required]
    forbidden = draw(st.lists(st.sampled_from(others), max_size=6, unique=True))
    tiers = draw(st.sampled_from([(), (tuple(order[:2]), tuple(order[2:4]))]))
    most = max((sum(head == name for _, head in required) for name in NAMES), default=0)
    limit = draw(st.sampled_from([None, max(1, most), 2]))
    return Knowledge(required, forbidden, tiers, limit)


def permitted_start(rng, knowledge):
    """A random graph that obeys the knowledge."""
    graph = DAG(NAMES, knowledge.required)
    for _ in range(8):
        moves = list(legal_moves(graph, knowledge).values())
        if moves:
            graph = moves[rng.integers(len(moves))]
    return graph


def assert_like_fresh(climber, score, knowledge):
    fresh = Climber(score, knowledge, climber.graph)
    np.testing.assert_array_equal(climber._present, fresh._present)
    np.testing.assert_array_equal(climber._reach, fresh._reach)
    np.testing.assert_allclose(climber._additions, fresh._additions, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(climber._deletions, fresh._deletions, rtol=1e-9, atol=1e-8)
    assert [sorted(p) for p in climber._parents] == [sorted(p) for p in fresh._parents]
    assert climber.hash == fresh.hash
    assert climber.score == pytest.approx(fresh.score, rel=1e-12)
    assert climber.score == pytest.approx(graph_score(score, climber.graph), rel=1e-12)


@pytest.mark.full
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(SCORES)), knowledges(), seeds)
def test_a_step_is_the_best_legal_change(name, knowledge, seed):
    score = SCORES[name]
    start = permitted_start(np.random.default_rng(seed), knowledge)
    climber = Climber(score, knowledge, start)
    gains = scored_moves(score, start, knowledge)
    moved = climber.step(uphill=False)
    assert moved == bool(gains)
    if not moved:
        return
    tolerance = TIE * abs(graph_score(score, start))
    gain = climber.score - graph_score(score, start)
    assert gain == pytest.approx(max(gains.values()), abs=2 * tolerance)
    assert climber.graph in legal_moves(start, knowledge).values()
    # Uphill alone, the same start moves exactly where something is gained.
    again = Climber(score, knowledge, start)
    if abs(max(gains.values()) - tolerance) > tolerance / 10:
        assert again.step() == (max(gains.values()) > tolerance)


@pytest.mark.full
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(SCORES)), knowledges(), seeds)
def test_bookkeeping_survives_any_sequence_of_changes(name, knowledge, seed):
    score = SCORES[name]
    rng = np.random.default_rng(seed)
    climber = Climber(score, knowledge, permitted_start(rng, knowledge))
    for _ in range(12):
        moves = list(legal_moves(climber.graph, knowledge).items())
        if not moves:
            break
        move, after = moves[rng.integers(len(moves))]
        climber.apply(*move)
        assert climber.graph == after
    assert_like_fresh(climber, score, knowledge)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(SCORES)), knowledges(), seeds, st.integers(1, 30))
def test_random_walks_and_steps_never_break_the_knowledge(name, knowledge, seed, moves):
    climber = Climber(SCORES[name], knowledge)
    rng = np.random.default_rng(seed)
    climber.random_walk(moves, rng)
    assert knowledge.violations(climber.graph) == []
    tabu = np.array([climber.hash], dtype=np.uint64)
    for _ in range(6):
        if not climber.step(tabu, uphill=False):
            break
        assert knowledge.violations(climber.graph) == []
        assert climber.hash not in tabu
        tabu = np.append(tabu, climber.hash)
    assert_like_fresh(climber, SCORES[name], knowledge)


def test_random_walks_reach_every_graph_of_three_nodes():
    score = random_score("bic", 2, columns=3)
    climber = Climber(score, Knowledge())
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(600):
        climber.random_walk(1, rng)
        seen.add(climber.graph)
    assert len(seen) == 25


def test_a_walk_ends_where_no_move_is_legal():
    everything = [(a, b) for a in NAMES for b in NAMES if a != b]
    climber = Climber(SCORES["bic"], Knowledge(forbidden=everything))
    climber.random_walk(10, np.random.default_rng(0))
    assert climber.graph.edges == ()
    assert not climber.step(uphill=False)


def test_hashes_tell_graphs_apart_and_not_paths():
    climber = Climber(SCORES["bic"], Knowledge())
    rng = np.random.default_rng(1)
    hashes, graphs = {}, {}
    for _ in range(300):
        climber.random_walk(1, rng)
        hashes.setdefault(climber.graph, set()).add(int(climber.hash))
        graphs.setdefault(int(climber.hash), set()).add(climber.graph)
    assert all(len(found) == 1 for found in hashes.values())
    assert all(len(found) == 1 for found in graphs.values())
    assert len(hashes) > 100


def test_forgetting_changes_nothing(monkeypatch):
    def walk():
        climber = Climber(SCORES["bdeu"], Knowledge())
        rng = np.random.default_rng(3)
        scores = []
        for _ in range(40):
            climber.random_walk(1, rng)
            scores.append(climber.score)
        return scores, climber.evaluations

    remembered, few = walk()
    monkeypatch.setattr(climber_module, "CACHED_NUMBERS", 0)
    forgotten, many = walk()
    np.testing.assert_allclose(remembered, forgotten, rtol=1e-12)
    assert few < many


def test_coming_back_costs_no_evaluation():
    climber = Climber(SCORES["bic"], Knowledge())
    start = climber.graph
    climber.random_walk(5, np.random.default_rng(0))
    before = climber.evaluations
    climber.place(start)
    assert climber.evaluations == before
    assert_like_fresh(climber, SCORES["bic"], Knowledge())


def test_a_marked_graph_is_found_again():
    climber = Climber(SCORES["bic"], Knowledge())
    climber.apply(ADD, 0, 1)
    climber.mark()
    climber.apply(REVERSE, 0, 1)
    climber.apply(ADD, 2, 1)
    assert climber.marked_graph.edges == (("x0", "x1"),)
    assert climber.graph.edges == (("x1", "x0"), ("x2", "x1"))


@pytest.mark.parametrize(
    ("knowledge", "edges", "word"),
    [
        (Knowledge(forbidden=[("x0", "x1")]), [("x0", "x1")], "x0 → x1 is forbidden"),
        (Knowledge(required=[("x0", "x1")]), [("x1", "x2")], "x0 → x1 is required"),
        (Knowledge(required=[("x0", "x1")]), [("x1", "x0")], "x0"),
        (Knowledge(tiers=[["x0"], ["x1"]]), [("x1", "x0")], "x1 → x0 is forbidden"),
        (Knowledge(max_parents=1), [("x0", "x2"), ("x1", "x2")], "x2 has 2 parents, more than 1"),
    ],
)
def test_a_start_graph_that_breaks_the_knowledge_is_refused(knowledge, edges, word):
    with pytest.raises(KnowledgeError, match=word):
        Climber(SCORES["bic"], knowledge, DAG(NAMES, edges))


def test_a_start_graph_that_has_no_score_is_refused():
    score = score_named("bic-gaussian").make(
        TableStatistics(random_continuous(np.random.default_rng(0), 3, 4))
    )
    edges = [("x0", "x3"), ("x1", "x3")]
    for climb in (
        lambda: Climber(score, Knowledge(), DAG(NAMES[:4], edges)),
        lambda: Climber(score, Knowledge(required=edges)),
    ):
        with pytest.raises(DataError, match="'x3' with 2 parents cannot be scored on 3 rows"):
            climb()
    climber = Climber(score, Knowledge())
    climber.random_walk(50, np.random.default_rng(1))
    assert np.isfinite(climber.score)


def test_random_starts_are_kept_as_they_are():
    rng = np.random.default_rng(4)
    for _ in range(5):
        graph = random_dag(rng, 5)
        assert Climber(SCORES["bge"], Knowledge(), graph).graph == graph
