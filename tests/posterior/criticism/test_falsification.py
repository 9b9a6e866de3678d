"""Falsification: the level is kept on the true graph, wrong graphs are found out, relabelings are relabelings."""

import math
from itertools import permutations

import numpy as np
import pytest

import dagora
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.independences import Independence, implied_independences
from dagora.learners.constraint.named_tests import TESTS
from dagora.posterior.criticism.falsification import MOST_PAIRS, default_test, falsify, holm, p_values
from dagora.posterior.criticism.strength import partial_correlation, strength_of
from dagora.stats.table import TableStatistics


def discrete_rows(dag, rows, seed):
    """Rows of a network of three levels, whose tables are drawn."""
    rng = np.random.default_rng(seed)
    columns = {}
    for node in dag.order:
        at = sum((columns[p] * 3**k for k, p in enumerate(dag.parents(node))), np.zeros(rows, dtype=int))
        shares = rng.dirichlet([0.7] * 3, size=3 ** len(dag.parents(node))).cumsum(axis=1)
        columns[node] = (rng.random(rows)[:, None] > shares[at]).sum(axis=1).clip(max=2)
    names = list(dag.nodes)
    return dagora.Table.from_numpy(np.column_stack([columns[n] for n in names]), names=names, discrete=names)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["gaussian", "discrete"])
def test_on_rows_of_the_graph_itself_about_alpha_is_violated_and_relabelings_are_worse(kind):
    tested = violated = better = 0
    for seed in range(40):
        dag = dagora.random_dag("er", 8, 1.5, seed)
        rows = (
            dagora.simulate(dag, "gaussian", 500, seed=seed).table
            if kind == "gaussian"
            else discrete_rows(dag, 500, seed)
        )
        found = falsify(dag, rows, permutations=60, seed=seed)
        tested, violated = tested + found.tested, violated + found.violated
        better += found.p_value is not None and found.p_value < 0.05
    assert 0.03 < violated / tested < 0.07
    assert better >= 34


def test_a_missing_edge_is_the_worst_violation():
    for seed in range(10):
        dag = dagora.random_dag("er", 7, 1.3, seed)
        rows = dagora.simulate(dag, "gaussian", 2000, seed=seed).table
        strong = max(dag.edges, key=lambda edge: falsify_one(dag, edge, rows))
        less = DAG(dag.nodes, [edge for edge in dag.edges if edge != strong])
        found = falsify(less, rows, permutations=20)
        pairs = [{one.independence.a, one.independence.b} for one in found.worst if one.p_value < 1e-6]
        assert set(strong) in pairs
        assert all(one.adjusted >= one.p_value for one in found.worst)


def falsify_one(dag, edge, rows):
    """How strong the claim that one edge is missing is violated."""
    less = DAG(dag.nodes, [other for other in dag.edges if other != edge])
    claim = next(one for one in implied_independences(less) if {one.a, one.b} == set(edge))
    return strength_of(rows, claim, 0.0)


def test_a_wrong_graph_is_no_better_than_relabelings():
    rows = dagora.simulate(dagora.random_dag("er", 8, 1.5, 1), "gaussian", 1000, seed=1).table
    high = [falsify(dagora.random_dag("er", 8, 1.5, seed), rows).p_value > 0.05 for seed in range(20, 30)]
    assert sum(high) >= 8


def test_relabelings_are_tested_as_graphs_of_their_own():
    dag = dagora.random_dag("er", 6, 1.2, 3)
    rows = dagora.simulate(dag, "gaussian", 200, seed=1).table
    test = TESTS["fisher-z"](TableStatistics(rows), "the test")
    orders = np.array([np.random.default_rng(k).permutation(6) for k in range(5)])
    found = p_values(test, dag, implied_independences(dag), orders)
    for order, p in zip(orders, found, strict=True):
        renamed = {dag.nodes[k]: dag.nodes[order[k]] for k in range(6)}
        other = DAG(dag.nodes, [(renamed[a], renamed[b]) for a, b in dag.edges])
        own = p_values(test, other, implied_independences(other), np.arange(6)[None])[0]
        # Of several separating sets with none to spare, another may be taken: all pairs are the same.
        assert len(own) == len(p)
        claims = [
            Independence(renamed[one.a], renamed[one.b], tuple(renamed[g] for g in one.given))
            for one in implied_independences(dag)
        ]
        assert np.allclose(p, p_values(test, other, claims, np.arange(6)[None])[0], rtol=1e-9)
        assert all(dagora.separated(other, one.a, one.b, one.given) for one in claims)


def test_relabelings_of_the_same_class_are_counted():
    rows = dagora.simulate(DAG("abc", ["ab", "bc"]), "gaussian", 300, seed=1).table
    chain = DAG(rows.names, [(rows.names[0], rows.names[1]), (rows.names[1], rows.names[2])])
    found = falsify(chain, rows, permutations=600)
    same = [
        order
        for order in permutations(range(3))
        if CPDAG.from_dag(DAG(chain.nodes, [(chain.nodes[order[0]], chain.nodes[order[1]]),
                                            (chain.nodes[order[1]], chain.nodes[order[2]])]))
        == CPDAG.from_dag(chain)
    ]  # fmt: skip
    assert len(same) == 2
    assert found.same_class / 600 == pytest.approx(1 / 3, abs=0.07)
    assert found.as_good >= found.same_class
    assert "gave a graph of the same class" in "\n".join(found.to_lines())


def test_a_graph_without_claims_cannot_be_contradicted():
    rows = dagora.simulate(DAG("abc", ["ab", "bc"]), "gaussian", 100, seed=1).table
    a, b, c = rows.names
    found = falsify(DAG(rows.names, [(a, b), (a, c), (b, c)]), rows)
    assert (found.tested, found.p_value) == (0, None)
    assert found.to_lines() == [
        "independences: every pair has an edge, so that no data could contradict the graph"
    ]


def test_of_very_many_pairs_some_are_drawn():
    graph = DAG([f"x{k}" for k in range(80)])
    rows = dagora.Table.from_numpy(np.random.default_rng(1).normal(size=(60, 80)), names=list(graph.nodes))
    found = falsify(graph, rows, permutations=2)
    assert (found.claimed, found.tested) == (80 * 79 // 2, MOST_PAIRS)
    assert 0.03 < found.share < 0.07
    assert "2000 (of 3160)" in found.to_lines()[0]


def test_columns_of_both_kinds():
    dag = dagora.random_dag("er", 7, 1.2, 2)
    rows = dagora.simulate(dag, "mixed", 600, seed=1).table
    found = falsify(dag, rows, permutations=100)
    assert found.test == default_test(rows) == "mixed"
    assert found.p_value < 0.05
    assert found.p_value == (1 + found.as_good) / (1 + len(found.permuted_shares))


def test_the_same_seed_gives_the_same_answer():
    dag = dagora.random_dag("er", 6, 1, 1)
    rows = dagora.simulate(dag, "gaussian", 100, seed=1).table
    assert falsify(dag, rows, seed=1) == falsify(dag, rows, seed=1)
    assert falsify(dag, rows, seed=1).permuted_shares != falsify(dag, rows, seed=2).permuted_shares


def test_holm():
    p = np.array([0.001, 0.2, 0.01, np.nan, 0.02])
    assert holm(p)[[0, 1, 2, 4]] == pytest.approx([0.004, 0.2, 0.03, 0.04])
    assert np.isnan(holm(p)[3])


def test_strength_is_the_partial_correlation_and_its_counterpart_of_discrete_columns():
    rng = np.random.default_rng(1)
    z, a, b = rng.normal(size=(3, 4000))
    x, y = z + a, z + 0.5 * a + b
    inverse = np.linalg.inv(np.corrcoef([x, y, z]))
    expected = -inverse[0, 1] / math.sqrt(inverse[0, 0] * inverse[1, 1])
    assert partial_correlation(x, y, [z]) == pytest.approx(expected)
    # A correlation of two normal columns, cut into many levels, keeps its strength.
    rho = 0.6
    u = rng.normal(size=200_000)
    v = rho * u + math.sqrt(1 - rho * rho) * rng.normal(size=200_000)
    cut = [np.digitize(column, np.linspace(-2.5, 2.5, 15)) for column in (u, v)]
    table = dagora.Table.from_numpy(np.column_stack(cut), names=["u", "v"], discrete=["u", "v"])
    assert strength_of(table, Independence("u", "v"), 0.0) == pytest.approx(rho, abs=0.02)
    assert strength_of(table, Independence("u", "v", ()), 0.0) <= 1
