"""Paths that must be there, or may not: all 543 graphs on four nodes say which is best."""

from __future__ import annotations

import numpy as np
import pytest

import dagora
from dagora import DAG, Knowledge, KnowledgeError, OptionError
from dagora.graph.enumerate import all_dags
from dagora.learners.search.path_rules import PathRules, reached
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.accepting import as_statistics

NAMES = ("a", "b", "c", "d")


def table(seed: int, rows: int = 300) -> dagora.Table:
    truth = DAG(NAMES, [("a", "b"), ("b", "c"), ("d", "c")])
    return dagora.simulate(truth, "gaussian", rows=rows, seed=seed).table


KNOWN = [
    {"causes": [["c", "a"]]},
    {"causes": [["a", "d"]]},
    {"not_causes": [["a", "c"]]},
    {"causes": [["c", "d"], ["d", "a"]]},
    {"causes": [["b", "a"]], "not_causes": [["d", "c"], ["c", "d"]]},
    {"causes": [["a", "d"]], "forbidden": [["a", "d"]]},
    {"causes": [["d", "a"]], "required": [["b", "c"]], "max_parents": 2},
]


@pytest.fixture(scope="module")
def graphs() -> list[DAG]:
    found = [
        DAG(NAMES, [(NAMES[int(a[1])], NAMES[int(b[1])]) for a, b in graph.edges]) for graph in all_dags(4)
    ]
    assert len(found) == 543
    return found


def best_of(graphs: list[DAG], rows: dagora.Table, known: Knowledge) -> float:
    local = score_named("bic-gaussian").make(as_statistics(rows))
    return max(graph_score(local, graph) for graph in graphs if not known.violations(graph))


@pytest.mark.parametrize("content", KNOWN)
@pytest.mark.parametrize("seed", [1, 2])
def test_ilp_finds_the_best_of_all_graphs(graphs: list[DAG], content: dict, seed: int) -> None:
    rows, known = table(seed), Knowledge.from_dict(content)
    found = dagora.learn(rows, "ilp", knowledge=known)
    assert found.status == "optimal"
    assert not known.violations(found.graph)
    assert found.score == pytest.approx(best_of(graphs, rows, known), abs=1e-6)
    plain = dagora.learn(rows, "ilp")
    assert known.violations(plain.graph) or plain.score == pytest.approx(found.score)


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "auto", "order-search", "obs", "asobs"])
@pytest.mark.parametrize("content", KNOWN)
def test_searches_obey(graphs: list[DAG], method: str, content: dict) -> None:
    rows, known = table(3), Knowledge.from_dict(content)
    found = dagora.learn(rows, method, knowledge=known, **({"orders": 200} if method == "asobs" else {}))
    assert not known.violations(found.graph)
    best = best_of(graphs, rows, known)
    assert found.score <= best + 1e-6
    if method in {"tabu", "auto"}:
        assert found.score == pytest.approx(best, abs=1e-6)


def test_restarts_obey() -> None:
    known = Knowledge(causes=[("c", "a")], not_causes=[("d", "c")])
    found = dagora.learn(table(4), "hill-climb", knowledge=known, restarts=10, perturb=6)
    assert not known.violations(found.graph)


def test_reached_is_the_closure() -> None:
    graph = DAG(NAMES, [("a", "b"), ("b", "c"), ("d", "c")])
    found = reached(graph.to_numpy())
    for i, one in enumerate(NAMES):
        for j, other in enumerate(NAMES):
            assert found[i, j] == (one in graph.ancestors(other))


def test_completing_takes_a_detour_where_edges_are_forbidden() -> None:
    known = Knowledge(causes=[("a", "d")], forbidden=[("a", "d"), ("b", "d")], not_causes=[("a", "b")])
    rules = PathRules.of(known, NAMES)
    assert rules is not None
    nothing = np.zeros((4, 4), dtype=np.bool_)
    found = DAG.from_numpy(rules.complete(nothing, known.forbidden_matrix(NAMES), 4), NAMES)
    assert found.edges == (("a", "c"), ("c", "d"))


def test_paths_are_found_where_one_of_all_graphs_has_them() -> None:
    random = np.random.default_rng(1)
    graphs = [graph.to_numpy() for graph in all_dags(4)]
    pairs = [(one, other) for one in NAMES for other in NAMES if one != other]
    possible = 0
    for _ in range(200):
        some, fewer = (random.permutation(12)[: random.integers(low, 5)] for low in (1, 0))
        forbidden = Knowledge(forbidden=[pairs[k] for k in fewer]).forbidden_matrix(NAMES)
        most = int(random.integers(1, 3))
        try:
            rules = PathRules.of(Knowledge(causes=[pairs[k] for k in some]), NAMES)
        except KnowledgeError:  # a cycle of causes
            continue
        assert rules is not None
        if any(
            rules.obeyed(one) and not (one & forbidden).any() and one.sum(axis=0).max() <= most
            for one in graphs
        ):
            possible += 1
            found = rules.complete(np.zeros((4, 4), dtype=np.bool_), forbidden, most)
            assert rules.obeyed(found)
            assert not (found & forbidden).any()
            assert found.sum(axis=0).max() <= most
    assert possible > 50


@pytest.mark.parametrize("method", ["k2", "dynamic", "astar", "ges", "boss", "pc", "notears"])
def test_others_refuse_by_name(method: str) -> None:
    with pytest.raises(KnowledgeError, match=rf"the method {method} cannot obey causes \(a, c\): use auto"):
        dagora.learn(table(1), method, knowledge={"causes": [["a", "c"]]})


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(KnowledgeError, match="no edges that are allowed lead from a to c"):
        dagora.learn(
            table(1), knowledge={"causes": [["a", "c"]], "leaves": ["b", "d"], "forbidden": [["a", "c"]]}
        )
    with pytest.raises(KnowledgeError, match="a path that 'causes' asks for is not there"):
        dagora.learn(table(1), "tabu", knowledge={"causes": [["a", "c"]]}, start=DAG(NAMES))


def test_scores_in_files_are_refused(tmp_path) -> None:
    from dagora.learners.candidates.jkl import render_jkl

    file = tmp_path / "s.jkl"
    file.write_text(render_jkl(dagora.candidates(table(1))))
    with pytest.raises(OptionError, match=r"may need parent sets that a \.jkl file leaves out"):
        dagora.learn(file, "ilp", knowledge={"causes": [["a", "c"]]})
