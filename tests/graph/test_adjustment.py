"""Adjustment sets: against linear models of every DAG, class and PAG on a few nodes."""

import json
import os
import re
import subprocess
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.graph.adjustment import Adjustment
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.true_pag import true_mag
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.edge_marks import ARROW, TAIL
from dagora.graph.enumerate import all_dags
from dagora.graph.knowledge import Knowledge
from dagora.graph.random_graphs import random_dag
from tests.conftest import ROOT
from tests.graph.ancestral.all_mags import classes
from tests.graph.linear_effects import (
    asymptotic_variances,
    classes_with_knowledge,
    covariance,
    random_weights,
    slopes,
    subsets,
    total_effect,
    weights_of,
)

NEAR = 1e-9
DOWHY = Path(os.environ.get("DAGORA_PEERS", ROOT / ".bench")) / "dowhy" / "bin" / "python"


@cache
def graphs_with_members(size):
    return classes_with_knowledge([dag.to_numpy() for dag in all_dags(size)])


def queries(size):
    for outcome in range(size):
        others = [node for node in range(size) if node != outcome]
        yield from ((list(causes), outcome) for causes in subsets(others) if 0 < len(causes) < 3)


def positions(names):
    return frozenset(int(name[1:]) for name in names)


def judge(graph, models, causes, outcome):
    """Compare all that is said about one effect with models: pairs of weights and observed covariances."""
    size = len(graph)
    said = Adjustment(graph, [graph.nodes[x] for x in causes], graph.nodes[outcome])
    effects = [total_effect(weights, causes, outcome) for weights, _ in models]
    assert (said.verdict == "zero") == all(np.abs(effect).max() < NEAR for effect in effects)
    if said.verdict == "zero":
        return said, effects
    valid = []
    for chosen in subsets([node for node in range(size) if node != outcome and node not in causes]):
        right = all(
            np.abs(slopes(covariances, [*causes, *chosen], outcome)[: len(causes)] - effect).max() < NEAR
            for (_, covariances), effect in zip(models, effects, strict=True)
        )
        assert said.is_valid([graph.nodes[node] for node in chosen]) == right, chosen
        valid += [frozenset(chosen)] if right else []
    assert (said.verdict == "adjustment") == bool(valid)
    if valid:
        minimal = {one for one in valid if not any(other < one for other in valid)}
        assert {positions(one) for one in said.minimal_sets()} == minimal
        assert positions(said.minimal) in minimal
    if said.optimal is not None:
        found = [asymptotic_variances(models[0][1], causes, outcome, sorted(one)) for one in valid]
        best = found[valid.index(positions(said.optimal))]
        assert (best <= np.min(found, axis=0) + NEAR).all()
    return said, effects


def judge_class(matrix, members, rng):
    """All DAGs of a class have one distribution; the effect is identified if it is the same in all."""
    graph = CPDAG.from_numpy(matrix)
    covariances = covariance(random_weights(rng, members[0]))
    models = [(weights_of(covariances, dag), covariances) for dag in members]
    for causes, outcome in queries(len(graph)):
        said, effects = judge(graph, models, causes, outcome)
        assert said.identified == (np.ptp(effects, axis=0).max() < NEAR)


def said_of_four_nodes(what):
    """The graphs and questions that docs/adjustment.md counts."""
    text = (ROOT / "docs" / "adjustment.md").read_text(encoding="utf-8").replace("\n", " ")
    counts = re.search(rf"{what}[^(]*\(([\d,]+) graphs, ([\d,]+) questions\)", text)
    return tuple(int(count.replace(",", "")) for count in counts.groups())


@pytest.mark.parametrize("size", [2, 3])
def test_every_class_of_few_nodes(size):
    rng = np.random.default_rng(size)
    for matrix, members in graphs_with_members(size):
        judge_class(matrix, members, rng)


@pytest.mark.full
@pytest.mark.parametrize("part", range(4))
def test_every_class_of_four_nodes_with_any_knowledge(part):
    rng = np.random.default_rng(part)
    found = graphs_with_members(4)
    assert said_of_four_nodes("any knowledge") == (len(found), len(found) * len(list(queries(4))))
    for matrix, members in found[part::4]:
        judge_class(matrix, members, rng)


def dag_with_hidden(mag, extra):
    """The DAG of a MAG with a hidden cause for each ↔, and for some further pairs."""
    size = len(mag)
    pairs = np.argwhere(np.triu((mag == ARROW) & (mag == ARROW).T)).tolist() + [list(one) for one in extra]
    dag = np.zeros((size + len(pairs),) * 2, dtype=bool)
    dag[:size, :size] = (mag == ARROW) & (mag == TAIL).T
    for hidden, pair in enumerate(pairs, size):
        dag[hidden, pair] = True
    return dag


def has_mag(dag, mag):
    graph = DAG.from_numpy(dag)
    return np.array_equal(true_mag(graph, graph.nodes[len(mag) :]).to_numpy(), mag)


def models_of(members, rng):
    """Models of every member, with hidden causes also behind arrows wherever the MAG stays the same."""
    for mag in members:
        arrows = np.argwhere((mag == ARROW) & (mag == TAIL).T).tolist()
        doubtful = [edge for edge in arrows if has_mag(dag_with_hidden(mag, [edge]), mag)]
        for extra in ([], doubtful, *([edge] for edge in doubtful)):
            dag = dag_with_hidden(mag, extra)
            if has_mag(dag, mag):
                weights = random_weights(rng, dag)
                yield weights, covariance(weights)[: len(mag), : len(mag)]


@pytest.mark.parametrize("size", [3, pytest.param(4, marks=pytest.mark.full)])
def test_every_pag_of_few_nodes(size):
    rng = np.random.default_rng(size)
    pags, members = classes(size, selection=False)
    identified = 0
    if size == 4:
        assert said_of_four_nodes("all PAGs") == (len(pags), len(pags) * len(list(queries(4))))
    for said, marks in pags.items():
        models = list(models_of(members[said], rng))
        for causes, outcome in queries(size):
            found, _ = judge(PAG.from_numpy(marks), models, causes, outcome)
            identified += found.verdict == "adjustment"
    assert identified == {3: 0, 4: 132}[size]


def test_larger_graphs_agree_with_a_linear_model():
    rng = np.random.default_rng(5)
    for seed in range(20):
        dag = random_dag("er", 12, 3, seed=seed)
        weights = random_weights(rng, dag.to_numpy())
        covariances = covariance(weights)
        causes, outcome = rng.choice(12, 2, replace=False).tolist()
        said = Adjustment(dag, dag.nodes[causes], dag.nodes[outcome])
        effect = total_effect(weights, [causes], outcome)
        for chosen in [said.optimal, *said.minimal_sets(20)] if said.verdict == "adjustment" else []:
            columns = [causes, *map(dag.index, chosen)]
            assert slopes(covariances, columns, outcome)[0] == pytest.approx(effect[0])
        assert said.verdict == "adjustment" or effect[0] == pytest.approx(0)


def test_words():
    graph = DAG("abcmy", ["ca", "cb", "by", "am", "my"])
    assert dagora.adjustment(graph, "a", "y").to_text() == (
        "the effect of 'a' on 'y' is identified by adjustment\n"
        "adjust for: b (least variance)\n"
        "never adjust for: m"
    )
    assert dagora.adjustment(graph, "y", "a").to_text() == (
        "the effect of 'y' on 'a' is zero: no directed path leads there"
    )
    chain = DAG("xyz", ["xz", "zy"])
    assert "g-formula" in dagora.adjustment(chain, ["x", "y"], "z").to_text()
    pag = PAG("ab", [("a", "o->", "b")])
    said = Adjustment(pag, "a", "b").to_text()
    assert (
        "not identified by adjustment: a hidden cause, or the other direction, is possible at a — b" in said
    )


def test_no_hidden_cause_is_claimed_where_there_is_none():
    """No one set does for two treatments in time: that is no sign of a hidden cause, and a DAG says so."""
    dag = DAG("ijklxmwy", ["ix", "jx", "xm", "mw", "kw", "lw", "my", "wy"])
    pag = dagora.true_pag(dag)
    assert pag.sign("x", "m") == pag.sign("w", "y") == "-->"
    assert Adjustment(dag, ["x", "w"], "y").verdict == "g-formula"
    said = Adjustment(pag, ["x", "w"], "y")
    assert said.open_edges == ()
    assert said.to_text() == (
        "the effect of 'x' and 'w' on 'y' is not identified by adjustment: no set of observed variables "
        "blocks every path that is not causal; other means than adjustment are not tried"
    )


def test_what_cannot_be_asked():
    graph = DAG("ab", ["ab"])
    for x, y, words in (
        ("a", "a", "both set and the outcome"),
        ("q", "b", "no node named 'q'"),
        ([], "b", "at least"),
    ):
        with pytest.raises(dagora.GraphError, match=words):
            Adjustment(graph, x, y)
    with pytest.raises(dagora.GraphError, match="stands for no DAG"):
        Adjustment(CPDAG("abcd", [], ["ab", "bc", "cd", "da"]), "a", "b")
    for nodes in ("abcd", "dcba"):  # pc returns such graphs; no answer may depend on the order of columns
        with pytest.raises(dagora.GraphError, match="stands for no DAG"):
            Adjustment(CPDAG(nodes, ["ab", "dc"], ["bc"]), "b", "c")
    for edges in (["ab", "bc", "ca"], ["ab", "bc"]):
        marks = [(*edge, "-->") for edge in edges] + [("a", "c", "<->")] * (len(edges) == 2)
        with pytest.raises(dagora.GraphError, match="is no PAG"):
            Adjustment(PAG("abc", [(one, sign, other) for one, other, sign in marks]), "a", "b")
    with pytest.raises(dagora.GraphError, match="selected rows"):
        Adjustment(PAG("ab", [("a", "---", "b")]), "a", "b")
    with pytest.raises(dagora.KnowledgeError, match="forbids b → a"):
        dagora.adjustment(DAG("ab", ["ba"]), "a", "b", knowledge=Knowledge(tiers=[["a"], ["b"]]))


@pytest.mark.parametrize(
    ("graph", "knowledge", "words"),
    [
        (CPDAG("abc", [], ["ab", "bc"]), Knowledge(tiers=[["a", "c"], ["b"]]), "contradicts the graph"),
        (CPDAG("abc", ["ac", "bc"]), Knowledge(forbidden=[("a", "c")]), "forbids"),
        (
            CPDAG("abc", [], ["ab", "bc", "ca"]),
            Knowledge(forbidden=[("b", "a"), ("c", "b"), ("a", "c")]),
            "contradicts",
        ),
        (DAG("ab"), Knowledge(required=[("a", "b")]), "requires a → b, which the graph does not have"),
    ],
)
def test_knowledge_that_contradicts_the_graph(graph, knowledge, words):
    """Else the answer is that of a graph that the data exclude."""
    with pytest.raises(dagora.KnowledgeError, match=words):
        dagora.adjustment(graph, "a", "b", knowledge=knowledge)


def test_the_first_sets_of_very_many_come_at_once():
    """Of 200 confounders with a choice of three variables each; it took a minute and a half."""
    ways = [(f"b{i}", f"a{i}") for i in range(200)] + [(f"a{i}", "x") for i in range(200)]
    ways += [(f"b{i}", f"c{i}") for i in range(200)] + [(f"c{i}", "y") for i in range(200)]
    names = ["x", "y", *(f"{kind}{i}" for kind in "abc" for i in range(200))]
    found = Adjustment(DAG(names, [("x", "y"), *ways]), "x", "y")
    started = time.process_time()
    assert len(set(found.minimal_sets(1000))) == 1000
    assert time.process_time() - started < 10


def test_the_outcome_is_no_adjustment_set():
    chain = Adjustment(DAG("xyz", [("z", "x"), ("x", "y")]), "x", "y")
    assert chain.is_valid([])
    assert chain.is_valid("z")
    assert not chain.is_valid("y")
    assert not chain.is_valid("x")
    assert not Adjustment(DAG("xy"), "x", "y").is_valid("y")


def test_what_leaves_an_effect_open_is_told_in_words():
    one = Adjustment(CPDAG("xy", [], [("x", "y")]), "x", "y")
    assert "the direction of x — y decides it; knowing which comes first" in one.to_text()
    both = Adjustment(CPDAG("xvwy", [("v", "y"), ("w", "y")], [("x", "v"), ("x", "w")]), "x", "y")
    assert "the directions of x — v, x — w decide it" in both.to_text()
    hidden = Adjustment(PAG("xy", [("x", "o->", "y")]), "x", "y").to_text()
    assert (
        "on 'y' is not identified by adjustment: a hidden cause, or the other direction, is possible at x — y"
        in hidden
    )
    assert "rows in which 'x' was set at random would settle it" in hidden


def test_nothing_is_forbidden_but_the_outcome():
    """A sentence on what never to adjust for stands only where there is such a variable."""
    assert "never" not in Adjustment(DAG("xy", [("x", "y")]), "x", "y").to_text()
    between = Adjustment(DAG("xmy", [("x", "m"), ("m", "y")]), "x", "y").to_text()
    assert "never adjust for: m" in between


@pytest.mark.peer
@pytest.mark.skipif(not DOWHY.exists(), reason="DoWhy is not installed: make bench")
def test_sets_of_dowhy_are_valid_and_it_has_one_where_there_is_one(tmp_path):
    """In random DAGs of 4 to 8 nodes, some of them hidden, which DoWhy may not adjust for."""
    rng = np.random.default_rng(0)
    asked = []
    for seed in range(60):
        dag = random_dag("er", 4 + seed % 5, 1.5, seed=seed)
        x = dag.nodes[rng.integers(len(dag))]
        for y in sorted(set(dag.descendants(x)) - {x}):
            seen = [node for node in dag.nodes if node not in {x, y} and rng.random() < 0.7]
            asked.append((dag, x, y, seen))
    job = tmp_path / "job.json"
    questions = [
        {"nodes": dag.nodes, "edges": dag.edges, "pairs": [[x, y]], "seen": seen} for dag, x, y, seen in asked
    ]
    job.write_text(json.dumps(questions))
    worker = ROOT / "benchmarks/workers/identify_dowhy.py"
    done = subprocess.run([DOWHY, worker, job], capture_output=True, text=True, check=True)
    none = 0
    for (dag, x, y, seen), (theirs,) in zip(
        asked, json.loads(done.stdout.splitlines()[-1])["sets"], strict=True
    ):
        said = Adjustment(dag, x, y)
        assert all(said.is_valid(one) for one in theirs)
        assert bool(theirs) == any(said.is_valid(one) for one in subsets(seen))
        none += not theirs
    assert len(asked) > 60
    assert 5 < none < len(asked) / 2
