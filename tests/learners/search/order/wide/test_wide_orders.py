"""Orders of many columns: growth as one family at a time, and no single move that improves the end."""

import numpy as np
import pytest

import dagora
from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.base.events import Event
from dagora.learners.run import Run
from dagora.learners.search.ges.operators import ClassLimits
from dagora.learners.search.order.best_places import follow, wanted_nodes
from dagora.learners.search.order.grow_shrink_trees import GrowShrinkTrees
from dagora.learners.search.order.wide import growth_rows, growth_trees, wide_orders
from dagora.learners.search.order.wide.wide_orders import WideOrders

COLUMNS = 12


class ListedTrees:
    """The score of any order, by trees that score one family after the other."""

    def __init__(self, score: object, rules: ClassLimits) -> None:
        self._trees = GrowShrinkTrees(score, rules, Budget())

    def value(self, order: list[int]) -> float:
        place = np.argsort(order)
        total = 0.0
        for cut, child in enumerate(order):
            while self._trees.flat.branches[end := follow(self._trees.flat, child, place, cut)] < 0:
                self._trees.expand(wanted_nodes(self._trees.flat, self._trees.used))
            total += float(self._trees.flat.value[end])
        return total


def simulated_score(seed: int, degree: int, rows: int) -> object:
    graph = dagora.random_dag("er", COLUMNS, degree, seed=seed)
    values = np.column_stack(dagora.simulate(graph, "gaussian", rows, seed=seed).table.columns)
    values[:, :4] *= [1e9, 1e-9, 1e4, 1]
    return make_score(dagora.Table.from_numpy(values), "bic-gaussian")


def apart(*pairs: tuple[int, int]) -> np.ndarray:
    matrix = np.zeros((COLUMNS, COLUMNS), dtype=bool)
    for i, j in pairs:
        matrix[i, j] = matrix[j, i] = True
    return matrix


def moved(order: list[int]) -> list[list[int]]:
    """All orders in which one variable stands elsewhere."""
    found = []
    for column in order:
        others = [x for x in order if x != column]
        found += [[*others[:k], column, *others[k:]] for k in range(len(order))]
    return found


@pytest.mark.parametrize(("seed", "degree", "rows"), [(0, 2, 500), (1, 4, 30), (2, 6, 200), (3, 6, 13)])
@pytest.mark.parametrize("most", [COLUMNS, 2])
def test_no_single_move_improves_the_order(seed: int, degree: int, rows: int, most: int) -> None:
    score = simulated_score(seed, degree, rows)
    rules = ClassLimits(apart((2, 5)), most)
    search = WideOrders(score.capabilities.pivot_form(), rules, Run(seed=seed), 3)
    assert search.finish()
    oracle = ListedTrees(score, rules)
    values = []
    for each in search.orders:
        order = each.order.tolist()
        values.append(oracle.value(order))
        assert max(oracle.value(other) for other in moved(order)) <= values[-1] + 1e-6
    dag, value = search.best()
    assert value == pytest.approx(max(values), rel=1e-12)
    families = [(child, tuple(np.flatnonzero(dag[:, child]).tolist())) for child in range(COLUMNS)]
    assert score.families(families).sum() == pytest.approx(value)
    assert not (dag & rules.forbidden).any()
    assert dag.sum(axis=0).max() <= most


@pytest.mark.parametrize("seed", range(3))
def test_threads_and_room_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    score = simulated_score(seed, 6, 200)
    rules = ClassLimits(apart(), COLUMNS)
    alone = WideOrders(score.capabilities.pivot_form(), rules, Run(seed=3), 2)
    monkeypatch.setattr(wide_orders, "FIRST_ROOM", 1)
    # Nodes that list one or two columns only, and trees that are soon full, are no other trees.
    for module in (growth_rows, growth_trees):
        monkeypatch.setattr(module, "LISTED", 1 + seed % 2)
    monkeypatch.setattr(growth_trees, "NODES", 2)
    monkeypatch.setattr(growth_trees, "ENTRIES", 2)
    monkeypatch.setattr(growth_trees, "LEAST_ENTRIES", 2)
    threaded = WideOrders(score.capabilities.pivot_form(), rules, Run(seed=3, jobs=3), 2)
    assert alone.finish()
    assert threaded.finish()
    assert [each.order.tolist() for each in alone.orders] == [each.order.tolist() for each in threaded.orders]
    assert alone.best()[1] == threaded.best()[1]
    assert (alone.best()[0] == threaded.best()[0]).all()


def test_without_time_there_is_a_graph_without_edges() -> None:
    score = simulated_score(0, 2, 100)
    search = WideOrders(
        score.capabilities.pivot_form(), ClassLimits(apart(), COLUMNS), Run(budget=Budget(0)), 1
    )
    assert not search.finish()
    dag, value = search.best()
    assert not dag.any()
    assert value == pytest.approx(score.families([(child, ()) for child in range(COLUMNS)]).sum())


def test_events_bring_the_best_graph_so_far() -> None:
    score = simulated_score(1, 4, 200)
    told = []

    def observe(event: Event) -> None:
        dag = dagora.DAG(score.schema.names, event.edges())
        told.append((event.score, score.families([(k, dag.parent_indices(k)) for k in range(COLUMNS)]).sum()))

    run = Run(seed=2, on_event=observe)
    rules = ClassLimits(apart(), COLUMNS)
    watched = WideOrders(score.capabilities.pivot_form(), rules, run, 3, score.schema.names)
    alone = WideOrders(score.capabilities.pivot_form(), rules, Run(seed=2), 3)
    assert watched.finish()
    assert alone.finish()
    values = [value for value, _ in told]
    assert values == sorted(values)
    assert values == pytest.approx([graph for _, graph in told])
    assert watched.best()[1] == alone.best()[1] == values[-1]
    assert watched.evaluations == alone.evaluations
