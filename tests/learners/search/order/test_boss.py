"""Best order score search: the true class from true moments, greedy growth and shrinkage as by hand."""

from itertools import combinations, permutations

import numpy as np
import pytest

import dagora
from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.data.interventions import Interventions
from dagora.data.schema import Kind, Schema, Variable
from dagora.graph.cpdag import CPDAG
from dagora.learners.run import Run
from dagora.learners.search.ges.operators import ClassLimits
from dagora.learners.search.order import moment_places
from dagora.learners.search.order.best_places import ListedOrders, follow, wanted_nodes
from dagora.learners.search.order.boss import boss
from dagora.learners.search.order.grow_shrink_trees import GrowShrinkTrees
from dagora.learners.search.order.moment_places import MomentOrders
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Moments

ROWS = 10**7


class TrueMoments:
    """The moments of a linear model itself, as if there were very many rows."""

    def __init__(self, weights: np.ndarray, names: tuple[str, ...]) -> None:
        self.schema = Schema(Variable(name, Kind.CONTINUOUS) for name in names)
        self.n_rows = ROWS
        mixing = np.linalg.inv(np.eye(len(names)) - weights)
        self._covariance = mixing.T @ mixing

    def moments(self) -> Moments:
        return Moments(ROWS, np.zeros(len(self.schema)), ROWS * self._covariance)


@pytest.mark.full
def test_finds_the_true_class_from_true_moments() -> None:
    true_classes = 0
    for seed in range(40):
        graph = dagora.random_dag("er", 7, 2, seed=seed)
        random = np.random.default_rng(seed)
        sizes = random.uniform(0.4, 1.0, (7, 7)) * random.choice([-1, 1], (7, 7))
        score = make_score(TrueMoments(graph.to_numpy() * sizes, graph.nodes), "bic-gaussian")
        found = boss(score, Run())
        true_score = graph_score(score, graph)
        assert found.score >= true_score - 1, seed
        true_classes += found.graph == CPDAG.from_dag(graph)
    # Where paths nearly cancel, a graph with an edge less scores as high as the true one, or higher.
    assert true_classes >= 37


SEEN = dagora.simulate(dagora.random_dag("er", 6, 2, seed=4), "gaussian", 100, seed=4).table


def grown_and_shrunk(score: object, child: int, allowed: set[int]) -> tuple[float, set[int]]:
    """Greedy growth and shrinkage, one family at a time."""

    def value(parents: set[int]) -> float:
        return float(score.families([(child, sorted(parents))])[0])

    found: set[int] = set()
    while True:
        gains = [(value(found | {x}), -x) for x in allowed - found]
        if not gains or max(gains)[0] <= value(found) + 1e-7:
            break
        found = found | {-max(gains)[1]}
    while found:
        best = max(found, key=lambda x: value(found - {x}))
        if value(found - {best}) <= value(found) + 1e-7:
            break
        found = found - {best}
    return value(found), found


@pytest.mark.parametrize("seed", range(5))
def test_trees_give_what_growth_and_shrinkage_give(seed: int) -> None:
    table = dagora.simulate(dagora.random_dag("er", 8, 3, seed=seed), "gaussian", 60, seed=seed).table
    score = make_score(table, "bic-gaussian")
    trees = GrowShrinkTrees(score, ClassLimits(np.zeros((8, 8), dtype=bool), 8), Budget())
    order = np.random.default_rng(seed).permutation(8)
    place = np.argsort(order)
    for cut, child in enumerate(order.tolist()):
        while trees.flat.branches[end := follow(trees.flat, child, place, cut)] < 0:
            trees.expand(wanted_nodes(trees.flat, trees.used))
        expected, parents = grown_and_shrunk(score, child, set(order[:cut].tolist()))
        assert trees.flat.value[end] == pytest.approx(expected)
        assert set(trees.parents(end)) == parents


def in_both_ways(score: object, rules: ClassLimits) -> tuple[ListedOrders, MomentOrders]:
    """Four orders improved on listed families, and within one kernel."""
    listed = ListedOrders(GrowShrinkTrees(score, rules, Budget()), Run(seed=3), 4)
    by_kernel = MomentOrders(score.capabilities.pivot_form(), rules, Run(seed=3), 4)
    assert listed.finish()
    assert by_kernel.finish()
    return listed, by_kernel


def assert_same(score: object, listed: ListedOrders, by_kernel: MomentOrders) -> None:
    assert [order.tolist() for order in by_kernel.orders] == [order.tolist() for order in listed.orders]
    (graph, value), (_, expected) = by_kernel.best(), listed.best()
    assert value == pytest.approx(expected, rel=1e-12)
    # Several orders may end in graphs of one class, whose scores differ by rounding alone: any of them is best.
    families = [(child, np.flatnonzero(graph[:, child]).tolist()) for child in range(len(graph))]
    assert float(score.families(families).sum()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["bic-gaussian", "bge"])
@pytest.mark.parametrize(("seed", "degree", "rows"), [(0, 2, 500), (1, 4, 30), (2, 6, 200), (3, 6, 13)])
def test_the_kernel_finds_what_listed_families_give(name: str, seed: int, degree: int, rows: int) -> None:
    graph = dagora.random_dag("er", 12, degree, seed=seed)
    values = np.column_stack(dagora.simulate(graph, "gaussian", rows, seed=seed).table.columns)
    values[:, :4] *= [1e9, 1e-9, 1e4, 1]
    score = make_score(dagora.Table.from_numpy(values), name)
    apart = np.zeros((12, 12), dtype=bool)
    apart[2, 5] = apart[5, 2] = True
    assert_same(score, *in_both_ways(score, ClassLimits(apart, 12)))
    assert_same(score, *in_both_ways(score, ClassLimits(apart, 2)))


def test_the_kernel_knows_rows_in_which_columns_were_set() -> None:
    table = dagora.simulate(dagora.random_dag("er", 8, 4, seed=5), "gaussian", 120, seed=5).table
    names = table.names
    interventions = Interventions.of_rows([None] * 60 + [names[2]] * 30 + [(names[2], names[6])] * 30, names)
    score = score_named("bic-gaussian").make(InterventionalStatistics(table, interventions))
    assert_same(score, *in_both_ways(score, ClassLimits(np.zeros((8, 8), dtype=bool), 8)))


def test_trees_that_were_forgotten_grow_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = dagora.simulate(dagora.random_dag("er", 12, 6, seed=1), "gaussian", 200, seed=1).table
    score = make_score(table, "bic-gaussian")
    rules = ClassLimits(np.zeros((12, 12), dtype=bool), 12)
    expected = in_both_ways(score, rules)[1]
    monkeypatch.setattr(moment_places, "FIRST_ROOM", 50)
    monkeypatch.setattr(moment_places, "MOST_BRANCHES", 400)
    forgetful = MomentOrders(score.capabilities.pivot_form(), rules, Run(seed=3), 4)
    assert forgetful.finish()
    assert forgetful.evaluations > expected.evaluations
    assert forgetful.best()[1] == expected.best()[1]
    assert [order.tolist() for order in forgetful.orders] == [order.tolist() for order in expected.orders]


@pytest.mark.parametrize("seed", range(4))
def test_finds_the_best_of_all_orders(seed: int) -> None:
    table = dagora.simulate(dagora.random_dag("er", 5, 3, seed=seed), "gaussian", 60, seed=seed).table
    score = make_score(table, "bic-gaussian")
    known = {
        (child, before): grown_and_shrunk(score, child, set(before))[0]
        for child in range(5)
        for size in range(5)
        for before in combinations([x for x in range(5) if x != child], size)
    }
    best = max(
        sum(known[child, tuple(sorted(order[:k]))] for k, child in enumerate(order))
        for order in permutations(range(5))
    )
    assert boss(score, Run()).stats["order_score"] == pytest.approx(best, rel=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["gaussian", "mixed"])
def test_not_below_ges(kind: str) -> None:
    for seed in range(3):
        graph = dagora.random_dag("er", 10, 2, seed=seed)
        given = {"relations": "clg"} if kind == "mixed" else {}
        table = dagora.simulate(graph, kind, 300, seed=seed, **given).table
        found, other = (dagora.learn(table, method) for method in ("boss", "ges"))
        assert found.score >= other.score - 1e-6
        assert found.score == pytest.approx(dagora.score(table, found.graph))
        assert found.score >= found.stats["order_score"] - 1e-6


def test_starts_count_and_zero_is_refused() -> None:
    assert dagora.learn(SEEN, "boss", starts=3).stats["orders_finished"] == 3
    with pytest.raises(OptionError, match="starts"):
        dagora.learn(SEEN, "boss", starts=0)


def test_interventions_direct_edges() -> None:
    rows = {"switch": [0, 1] * 60, "lamp": [0, 1] * 40 + [0, 0, 1, 1] * 10}
    rows["set"] = [""] * 80 + ["lamp"] * 40
    assert dagora.learn(rows, "boss", interventions="set").graph.edges == (("switch", "lamp"),)


def test_time_that_is_up_leaves_a_graph() -> None:
    result = dagora.learn(SEEN, "boss", time_limit=1e-9)
    assert result.status == "time-limit"
    assert result.graph.nodes == SEEN.names
