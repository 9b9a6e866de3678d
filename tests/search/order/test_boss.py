"""Best order score search: the true class from true moments, greedy growth and shrinkage as by hand."""

import numpy as np
import pytest

import dagora
from dagora.data.schema import Kind, Schema, Variable
from dagora.errors import OptionError
from dagora.events import Budget
from dagora.graph.cpdag import CPDAG
from dagora.learning import make_score
from dagora.run import Run
from dagora.scores.local_score import graph_score
from dagora.search.order.best_places import follow, wanted
from dagora.search.order.boss import boss
from dagora.search.order.grow_shrink_trees import GrowShrinkTrees, Rules
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
    trees = GrowShrinkTrees(score, Rules(np.zeros((8, 8), dtype=bool), 8), Budget())
    order = np.random.default_rng(seed).permutation(8)
    place = np.argsort(order)
    for cut, child in enumerate(order.tolist()):
        while trees.flat.branches[end := follow(trees.flat, child, place, cut)] < 0:
            trees.expand(wanted(trees.flat, trees.used))
        expected, parents = grown_and_shrunk(score, child, set(order[:cut].tolist()))
        assert trees.flat.value[end] == pytest.approx(expected)
        assert set(trees.parents(end)) == parents


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
