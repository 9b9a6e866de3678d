"""Adjustment distances: against the validity of each set on graphs of 4 nodes, and against gadjid."""

import json
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.base.errors import GraphError
from dagora.graph.adjustment import Adjustment
from dagora.graph.adjustment_distances import CONTROLS, FEW_CONTROLS, RULES, adjustment_distance
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.random_graphs import random_dag

PEER = Path(__file__).resolve().parents[2] / ".bench" / "gadjid" / "bin" / "python"
SCRIPT = """
import json, sys
import gadjid, numpy as np
distances = gadjid.parent_aid, gadjid.ancestor_aid, gadjid.oset_aid
for line in sys.stdin:
    guess, truth = (np.array(one, dtype=np.int8) for one in json.loads(line))
    print(json.dumps([f(truth, guess, edge_direction="from row to column")[1] for f in distances]))
"""


@cache
def graphs():
    """All DAGs on 4 nodes and all their classes."""
    dags = list(all_dags(4))
    return dags, sorted({CPDAG.from_dag(dag) for dag in dags}, key=lambda graph: graph.to_numpy().tobytes())


def above(graph, node):
    """The nodes from which arrows lead to one."""
    found, fresh = set(), {node}
    while fresh:
        fresh = {tail for tail, head in graph.edges if head in fresh} - found
        found |= fresh
    return found


def brute_force(guess, truth, rule):
    """Count wrong pairs by the definition, with what `Adjustment` says about each pair."""
    wrong = 0
    for t in truth.nodes:
        parents = {tail for tail, head in guess.edges if head == t}
        for y in truth.nodes:
            if t == y:
                continue
            said, true = Adjustment(guess, t, y), Adjustment(truth, t, y)
            is_open, truly_open = bool(said.open_edges), bool(true.open_edges)
            if y in parents if rule == "parent" else said.verdict == "zero":
                wrong += true.verdict != "zero"
            elif is_open or truly_open:
                wrong += is_open != truly_open
            else:
                sets = {"parent": parents, "ancestor": above(guess, t), "optimal": said.optimal or ()}
                wrong += not true.is_valid(sets[rule])
    return wrong


def test_distances_are_those_of_the_definition():
    dags, classes = graphs()
    rng = np.random.default_rng(1)
    for guesses in (dags, classes):
        for truths in (dags, classes):
            for _ in range(12):
                guess, truth = guesses[rng.integers(len(guesses))], truths[rng.integers(len(truths))]
                for rule in RULES:
                    assert adjustment_distance(guess, truth, rule) == brute_force(guess, truth, rule)


@pytest.mark.full
def test_distances_are_those_of_the_definition_on_many_pairs_of_graphs():
    everything = [graph for kind in graphs() for graph in kind]
    rng = np.random.default_rng(2)
    for a, b in rng.integers(len(everything), size=(600, 2)):
        for rule in RULES:
            assert adjustment_distance(everything[a], everything[b], rule) == brute_force(
                everything[a], everything[b], rule
            )


def test_a_graph_has_no_distance_to_itself():
    for kind in graphs():
        for graph in kind[::7]:
            assert not any(adjustment_distance(graph, graph, rule) for rule in RULES)


def test_the_example_of_the_paper_on_sid():
    # Peters & Bühlmann 2015, figure 1: X1, X2 above Y1, Y2, Y3; one edge more costs nothing, one turned costs 8.
    truth = DAG("abxyz", ["ab", "ax", "ay", "az", "bx", "by", "bz"])
    more = DAG("abxyz", ["ab", "ax", "ay", "az", "bx", "by", "bz", "xy"])
    turned = DAG("abxyz", ["ba", "ax", "ay", "az", "bx", "by", "bz"])
    assert dagora.compare(more, truth).adjustment_distances().sid == 0
    assert dagora.compare(turned, truth).adjustment_distances().sid == 8


def test_random_graphs_are_the_control():
    truth = random_dag("er", 20, 2, 1)
    found = dagora.compare(truth, truth).adjustment_distances()
    assert found.dag.parent == found.cpdag.optimal == 0
    assert found.controls == CONTROLS
    assert 0.2 < found.dag.share("parent", random=True) < 0.9
    assert found == dagora.compare(truth, truth).adjustment_distances(seed=0)
    assert found != dagora.compare(truth, truth).adjustment_distances(seed=1)
    wide = random_dag("er", 301, 1, 1)
    assert dagora.compare(wide, wide).adjustment_distances().controls == FEW_CONTROLS


def test_sid_is_of_dags_only():
    dag = DAG("abc", ["ab", "bc"])
    assert dagora.compare(CPDAG.from_dag(dag), dag).adjustment_distances().sid is None


def test_graphs_that_are_no_class_have_no_distance():
    knowing = CPDAG("abc", [("a", "b")], [("b", "c")])  # b → c is compelled
    dag = DAG("abc", ["ab", "bc"])
    assert dagora.compare(knowing, dag).adjustment_distances() is None
    with pytest.raises(GraphError, match="the estimate is neither a DAG nor the CPDAG of one"):
        adjustment_distance(knowing, dag)
    with pytest.raises(GraphError, match="unknown rule 'child'"):
        adjustment_distance(dag, dag, "child")


def test_one_node():
    assert dagora.compare(DAG("a"), DAG("a")).adjustment_distances().dag.share("parent") == 0


@pytest.mark.peer
@pytest.mark.skipif(not PEER.exists(), reason="gadjid is not installed: make bench")
def test_distances_are_those_of_gadjid():
    dags, classes = graphs()
    rng = np.random.default_rng(3)
    large = [random_dag("er", 60, degree, seed) for degree in (1, 2, 4) for seed in range(4)]
    large += [CPDAG.from_dag(dag) for dag in large]
    pairs = [(one, other) for one in large for other in large]
    small = [*dags, *classes]
    pairs += [(small[a], small[b]) for a, b in rng.integers(len(small), size=(3000, 2))]
    lines = [json.dumps([coded(guess), coded(truth)]) for guess, truth in pairs]
    done = subprocess.run(
        [PEER, "-c", SCRIPT], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [[adjustment_distance(*pair, rule) for rule in RULES] for pair in pairs] == theirs


def coded(graph):
    """As gadjid reads a graph: 1 is an arrow from row to column, 2 a line."""
    matrix = graph.to_numpy()
    return ((matrix & ~matrix.T) + 2 * np.triu(matrix & matrix.T)).astype(int).tolist()
