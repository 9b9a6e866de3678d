import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.base.errors import GraphError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.metrics import Metrics, classify_edges, compare
from tests.graph.graph_strategies import dags, mixed_matrices


def mark(graph, a, b):
    """The edge between a and b as seen from a."""
    if (a, b) in graph.edges:
        return ">"
    if (b, a) in graph.edges:
        return "<"
    return "-" if (a, b) in graph.undirected or (b, a) in graph.undirected else ""


def by_hand(estimate, truth, agree):
    """Metrics pair by pair, straight from the definitions."""
    counts = dict.fromkeys(("correct", "reversed", "extra", "missing"), 0)
    pairs = list(itertools.combinations(sorted(truth.nodes), 2))
    for a, b in pairs:
        seen, true = mark(estimate, a, b), mark(truth, a, b)
        if seen and true:
            counts["correct" if agree(seen, true) else "reversed"] += 1
        elif seen or true:
            counts["extra" if seen else "missing"] += 1
    predicted = len(estimate.edges) + len(estimate.undirected)
    actual = len(truth.edges) + len(truth.undirected)
    absent = len(pairs) - actual
    wrong = counts["reversed"] + counts["extra"]
    tpr = counts["correct"] / actual if actual else 0.0
    fdr = wrong / predicted if predicted else 0.0
    precision = counts["correct"] / predicted if predicted else 0.0
    return Metrics(
        shd=counts["extra"] + counts["missing"] + counts["reversed"],
        tpr=tpr,
        fdr=fdr,
        fpr=wrong / absent if absent else 0.0,
        f1=pytest.approx(2 * precision * tpr / (precision + tpr) if precision + tpr else 0.0),
        wrong=wrong,
        **counts,
    )


def same(seen, true):
    return seen == true


@pytest.mark.full
def test_all_pairs_of_dags_on_three_nodes():
    graphs = list(all_dags(3))
    for estimate, truth in itertools.product(graphs, graphs):
        found = compare(estimate, truth)
        assert found.dag == by_hand(estimate, truth, same)
        assert found.skeleton == by_hand(estimate, truth, lambda seen, true: True)
        assert found.cpdag == by_hand(CPDAG.from_dag(estimate), CPDAG.from_dag(truth), same)


@pytest.mark.full
@given(mixed_matrices(max_nodes=5), st.data())
def test_partially_directed_against_a_dag(matrix, data):
    size = len(matrix)
    truth = data.draw(dags(min_nodes=size, max_nodes=size))
    estimate = CPDAG.from_numpy(matrix)
    found = compare(estimate, truth)
    assert found.dag == by_hand(estimate, truth, lambda seen, true: seen in ("-", true))
    assert found.cpdag == by_hand(estimate, CPDAG.from_dag(truth), same)


@pytest.mark.full
@given(mixed_matrices(max_nodes=5), st.data())
def test_against_a_partially_directed_truth_marks_must_agree(matrix, data):
    size = len(matrix)
    estimate, truth = data.draw(dags(min_nodes=size, max_nodes=size)), CPDAG.from_numpy(matrix)
    for guess in (estimate, CPDAG.from_dag(estimate)):
        assert compare(guess, truth).dag == by_hand(guess, truth, same)


def notears_count_accuracy(estimate, truth):
    """The published evaluation in terms of flat index sets; -1 marks an undirected edge (once per pair)."""
    d = len(truth)
    und = set(np.flatnonzero(estimate == -1))
    pred = set(np.flatnonzero(estimate == 1))
    cond, back = set(np.flatnonzero(truth)), set(np.flatnonzero(truth.T))
    skeleton = cond | back
    true_pos = (pred & cond) | (und & skeleton)
    false_pos = (pred - skeleton) | (und - skeleton)
    reverse = (pred - cond) & back
    low = set(np.flatnonzero(np.tril(estimate + estimate.T)))
    true_low = set(np.flatnonzero(np.tril(truth + truth.T)))
    return {
        "fdr": (len(reverse) + len(false_pos)) / max(len(pred) + len(und), 1),
        "tpr": len(true_pos) / max(len(cond), 1),
        "fpr": (len(reverse) + len(false_pos)) / max(d * (d - 1) / 2 - len(cond), 1),
        "shd": len(low - true_low) + len(true_low - low) + len(reverse),
    }


@pytest.mark.full
@given(mixed_matrices(max_nodes=6), st.data())
def test_the_notears_evaluation(matrix, data):
    size = len(matrix)
    truth = data.draw(dags(min_nodes=size, max_nodes=size))
    coded = matrix.astype(int)
    both = matrix & matrix.T
    coded[both] = 0
    coded[np.triu(both)] = -1
    expected = notears_count_accuracy(coded, truth.to_numpy().astype(int))
    if 2 * len(truth.edges) == size * (size - 1):
        expected["fpr"] = 0.0  # ours where there is no pair without an edge
    found = compare(CPDAG.from_numpy(matrix), truth).dag
    assert {key: getattr(found, key) for key in expected} == pytest.approx(expected)


def test_hand_made():
    truth = DAG("abcde", [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    estimate = DAG("edcba", [("a", "b"), ("c", "b"), ("a", "e"), ("c", "d")])
    found = compare(estimate, truth)
    assert found.dag == Metrics(
        shd=3, tpr=0.5, fdr=0.5, fpr=2 / 6, f1=0.5, correct=2, wrong=2, reversed=1, extra=1, missing=1
    )
    assert (found.skeleton.shd, found.skeleton.tpr, found.shd) == (2, 0.75, 3)


def test_json_contract():
    found = compare(DAG("ab", [("b", "a")]), DAG("ab", [("a", "b")])).to_dict()
    assert json.loads(json.dumps(found)) == found
    for level in (found, found["cpdag"], found["skeleton"]):
        assert {"shd", "tpr", "fdr", "fpr", "f1"} <= set(level)
    assert (found["shd"], found["cpdag"]["shd"], found["skeleton"]["shd"]) == (1, 0, 0)


def test_nothing_divided_by_nothing_is_zero():
    for graph in (DAG("a"), DAG("abc"), DAG([])):
        found = compare(graph, graph).dag
        assert (found.shd, found.tpr, found.fdr, found.fpr, found.f1) == (0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.full
@given(dags(max_nodes=7), st.randoms(use_true_random=False))
def test_node_order_does_not_matter(dag, random):
    names = list(dag.nodes)
    random.shuffle(names)
    found = compare(dag.reorder(names), dag)
    assert (found.dag.shd, found.skeleton.shd, found.cpdag.shd) == (0, 0, 0)
    assert found.dag.tpr == float(bool(dag.edges))


def test_verdicts_follow_the_truths_nodes():
    verdicts = classify_edges(DAG("cba", [("b", "a"), ("a", "c")]), DAG("abc", [("a", "b"), ("b", "c")]))
    assert [np.argwhere(np.triu(verdict)).tolist() for verdict in verdicts] == [
        [],
        [[0, 1]],
        [[0, 2]],
        [[1, 2]],
    ]


def test_refuses_other_names():
    with pytest.raises(GraphError, match="'c' is a node of the truth but not of the estimate"):
        compare(DAG("ab"), DAG("abc"))
    with pytest.raises(GraphError, match="'z' is a node of the estimate but not of the truth"):
        compare(DAG("abz"), DAG("ab"))


def test_a_line_is_right_against_an_arrow_of_a_dag_only():
    line = CPDAG("ab", [], [("a", "b")])
    assert compare(line, DAG("ab", [("a", "b")])).dag.correct == 1
    assert compare(line, CPDAG("ab", [("a", "b")], [])).dag.reversed == 1
