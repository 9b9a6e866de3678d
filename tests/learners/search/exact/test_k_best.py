"""The k best classes, against all 543 DAGs of four nodes, and the 29,281 of five."""

import math
from collections import defaultdict

import numpy as np
import pytest

import dagora
from dagora.base.errors import OptionError
from dagora.graph.cpdag import CPDAG
from dagora.graph.enumerate import all_dags
from dagora.learners.candidates.k_best_sets import find_k_best_sets, is_acyclic, neighbours_of
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.learners.search.exact.class_key import ClassKey, dag_of
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete


@pytest.fixture(params=["dynamic", "ilp"])
def method(request):
    if request.param == "ilp":
        pytest.importorskip("pyscipopt")
    return request.param


def ranked_by_force(table, score, knowledge=None, **options):
    """Every class that has a member which knowledge permits, with its best score, best first."""
    local = score_named(score).make(TableStatistics(table), **options)
    names = table.names
    families, totals = {}, {}
    for graph in all_dags(len(names)):
        dag = dagora.DAG.from_numpy(graph.to_numpy(), names)
        if knowledge is not None and not knowledge(dag):
            continue
        total = 0.0
        for child in range(len(names)):
            key = (child, dag.parent_indices(child))
            if key not in families:
                families[key] = float(local.families([key])[0])
            total += families[key]
        class_ = CPDAG.from_dag(dag)
        totals[class_] = max(totals.get(class_, -math.inf), total)
    return sorted(totals.items(), key=lambda pair: -pair[1])


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("score", "options"), [("bdeu", {"ess": 1.0}), ("bic-gaussian", {}), ("bge", {})])
def test_the_best_of_all_185_classes(method, seed, score, options):
    rng = np.random.default_rng(seed)
    table = random_discrete(rng, 80, [2, 3, 2, 2]) if score == "bdeu" else random_continuous(rng, 60, 4)
    truth = ranked_by_force(table, score, **options)
    assert len(truth) == 185
    k = 185 if method == "dynamic" else 30
    result = dagora.learn(table, method, score=score, best=k, **options)
    assert result.status == "optimal"
    assert len(result.classes) == k
    found = [one.score for one in result.classes]
    assert found == pytest.approx([total for _, total in truth[:k]], rel=1e-9)
    assert len({one.graph for one in result.classes}) == k
    totals = dict(truth)
    for one in result.classes:
        assert totals[one.graph] == pytest.approx(one.score, rel=1e-9)
    assert result.cpdag == result.classes[0].graph
    assert f"proved by {'dynamic' if method == 'dynamic' else 'integer'} programming" in result.message


def test_there_are_no_more_than_there_are(method):
    table = random_discrete(np.random.default_rng(3), 60, [2, 2, 2])
    result = dagora.learn(table, method, score="bdeu", best=50)
    assert len(result.classes) == 11
    assert result.status == "optimal"
    assert "there are no more" in result.message


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_five_nodes(method, seed):
    table = random_continuous(np.random.default_rng(seed), 80, 5)
    truth = ranked_by_force(table, "bge")
    result = dagora.learn(table, method, score="bge", best=12)
    assert [one.score for one in result.classes] == pytest.approx([t for _, t in truth[:12]], rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_knowledge_is_obeyed(method, seed):
    table = random_discrete(np.random.default_rng(seed), 80, [2, 3, 2, 2])
    a, b, c, d = table.names

    def obeys(dag):
        return (a, b) in dag.edges and (c, d) not in dag.edges and dag.to_numpy().sum(axis=0).max() <= 2

    truth = ranked_by_force(table, "bdeu", obeys)
    result = dagora.learn(
        table,
        method,
        score="bdeu",
        best=15,
        max_parents=2,
        knowledge={"required": [[a, b]], "forbidden": [[c, d]]},
    )
    assert [one.score for one in result.classes] == pytest.approx([t for _, t in truth[:15]], rel=1e-9)
    assert obeys(result.graph)


def test_classes_count_their_dags_and_compare_by_odds(tmp_path):
    table = random_discrete(np.random.default_rng(5), 100, [2, 2, 2, 2])
    sizes = defaultdict(int)
    for graph in all_dags(4):
        sizes[CPDAG.from_dag(dagora.DAG.from_numpy(graph.to_numpy(), table.names))] += 1
    result = dagora.learn(table, "dynamic", score="bdeu", best=40)
    assert [one.dags for one in result.classes] == [sizes[one.graph] for one in result.classes]
    content = result.to_dict()["classes"]
    assert content[0]["odds"] == 1.0
    best = result.classes[0].score
    assert content[7]["odds"] == pytest.approx(math.exp(result.classes[7].score - best))
    again = Result.from_json(result.to_json())
    assert again.classes == result.classes
    assert Result.from_json(dagora.learn(table, "dynamic").to_json()).classes == ()


def test_sets_that_k_of_their_subsets_beat_are_left_out():
    table = random_discrete(np.random.default_rng(1), 60, [2, 3, 2, 2, 2])
    score = score_named("bdeu").make(TableStatistics(table), ess=1.0)
    for k in (1, 2, 5):
        for child in find_k_best_sets(score, Run(), k):
            by_set = dict(zip(child.parents, child.scores.tolist(), strict=True))
            everything = find_k_best_sets(score, Run(), 1000).sets[child.child]
            values = dict(zip(everything.parents, everything.scores.tolist(), strict=True))
            assert len(values) == 16
            for parents, value in values.items():
                better = sum(
                    values[other] > value + 1e-9 * abs(value) for other in values if set(other) < set(parents)
                )
                assert (parents in by_set) == (better < k)


def test_keys_tell_classes_apart():
    keys = defaultdict(set)
    for graph in all_dags(4):
        parents = tuple(int(row[0]) for row in graph.parent_rows)
        keys[ClassKey.of(parents)].add(CPDAG.from_dag(graph))
        assert dag_of(parents, graph.nodes) == graph
        assert is_acyclic(parents)
    assert len(keys) == 185
    assert all(len(classes) == 1 for classes in keys.values())
    assert not is_acyclic((0b010, 0b100, 0b001))


def test_refusals():
    table = random_discrete(np.random.default_rng(1), 60, [2, 2, 2])
    with pytest.raises(OptionError, match="best ranks classes"):
        dagora.learn(table, "dynamic", score="k2", best=2)
    wide = random_continuous(np.random.default_rng(1), 60, 16)
    with pytest.raises(OptionError, match=r"up to 15 columns, not of 16"):
        dagora.learn(wide, "dynamic", best=2, max_parents=2)
    wide = random_continuous(np.random.default_rng(1), 80, 30)
    with pytest.raises(OptionError, match="set max_parents lower"):
        dagora.learn(wide, "dynamic", best=2)


def test_a_time_limit_leaves_the_best_network(method):
    table = random_discrete(np.random.default_rng(2), 100, [2] * 8)
    result = dagora.learn(table, method, score="bdeu", best=500, time_limit=0.05)
    assert result.status in {"time-limit", "optimal", "finished"}
    assert isinstance(result.graph, dagora.DAG)


def test_neighbours_differ_in_one_set():
    table = random_discrete(np.random.default_rng(1), 60, [2, 2, 2])
    candidates = find_k_best_sets(score_named("bdeu").make(TableStatistics(table), ess=1.0), Run(), 100)
    near = list(neighbours_of((0, 1, 2), candidates))
    assert all(sum(a != b for a, b in zip(one, (0, 1, 2), strict=True)) == 1 for one in near)
    assert all(is_acyclic(one) for one in near)
