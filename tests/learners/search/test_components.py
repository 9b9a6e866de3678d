import networkx as nx
import numpy as np
import pytest

from dagora.graph.bits import pack
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.search.components import (
    NO_ROW,
    LocalProblem,
    components,
    feasible_order,
    find_undominated,
)
from tests.learners.search.exact.exact_oracles import best_of_graphs, layered_lists, random_lists
from tests.learners.search.order.order_oracles import best_of_order


def parent_graph(candidates):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(candidates)))
    graph.add_edges_from(
        (p, child.child) for child in candidates for parents in child.parents for p in parents
    )
    return graph


@pytest.mark.parametrize("seed", range(30))
def test_components_are_those_of_networkx_in_topological_order(seed):
    rng = np.random.default_rng(seed)
    if seed % 2:
        candidates = random_lists(rng, 9, most=1, density=0.15)
    else:
        candidates = layered_lists(rng, [3, 1, 2, 4], density=0.2)
    graph = parent_graph(candidates)
    found = components(candidates)
    assert {frozenset(part) for part in found} == {
        frozenset(part) for part in nx.strongly_connected_components(graph)
    }
    assert all(list(part) == sorted(part) for part in found)
    place = {x: k for k, part in enumerate(found) for x in part}
    assert all(place[tail] <= place[head] for tail, head in graph.edges)


def test_components_of_more_than_a_word():
    size = 150
    listed = [[((), 0.0), (((x + 1) % 75 + 75 * (x // 75),), 1.0)] for x in range(size)]
    listed[0].append(((149,), 2.0))
    found = components(Candidates.of([f"x{i}" for i in range(size)], listed))
    assert found == [tuple(range(75, 150)), tuple(range(75))]


@pytest.mark.parametrize("seed", range(10))
def test_components_can_be_ordered_one_by_one(seed):
    rng = np.random.default_rng(seed)
    candidates = layered_lists(rng, [3, 1, 2, 4])
    order, total = [], 0.0
    for part in components(candidates):
        problem = LocalProblem.of(candidates, part)
        own = rng.permutation(len(part))
        total += problem.score(own)
        order += [part[i] for i in own]
        rows = problem.rows[problem.choose(own)]
        assert np.isclose(candidates.flat.scores[rows].sum(), problem.score(own))
    assert np.isclose(total, best_of_order(candidates, order))


@pytest.mark.parametrize("seed", range(10))
def test_a_local_problem_is_the_candidates_without_free_parents(seed):
    rng = np.random.default_rng(seed)
    candidates = random_lists(rng, 6, whole=True)
    members = tuple(sorted(rng.permutation(6)[:3].tolist()))
    problem = LocalProblem.of(candidates, members)
    for position, x in enumerate(members):
        # By set of members: the best of the rows that leave it.
        expected = {}
        for parents, value in zip(candidates.sets[x].parents, candidates.sets[x].scores, strict=True):
            within = frozenset(members.index(p) for p in parents if p in members)
            expected[within] = max(expected.get(within, -np.inf), value)
        best = {s: v for s, v in expected.items() if not any(t < s and expected[t] >= v for t in expected)}
        own = range(problem.offsets[position], problem.offsets[position + 1])
        found = {
            frozenset(i for i in range(3) if int(problem.masks[r, 0]) >> i & 1): problem.scores[r]
            for r in own
        }
        assert found == best
        assert len(found) == len(own)
        assert np.all(np.diff(problem.scores[own.start : own.stop]) <= 0)
        assert np.array_equal(problem.scores[own.start : own.stop], candidates.flat.scores[problem.rows[own]])


def test_a_missing_empty_set_is_hopeless_but_there():
    candidates = Candidates.of(
        "abc", [[((1,), -1.0), ((2,), -50.0)], [((0,), -1.0), ((), -80.0)], [((), 0.0)]]
    )
    problem = LocalProblem.of(candidates, (0, 1, 2))
    assert problem.masks.ravel().tolist() == [2, 4, 0, 1, 0, 0]
    assert problem.rows.tolist() == [0, 1, NO_ROW, 2, 3, 4]
    # Whatever b gains by it, a without parents is worse than any network of the candidates.
    assert problem.score(np.array([0, 1, 2])) < problem.score(np.array([2, 1, 0])) - 1.0


@pytest.mark.parametrize(("sets", "members", "shares"), [(15, 70, (0.03, 0.97)), (60, 6, (0.3, 0.7))])
def test_undominated_keeps_what_no_earlier_subset_beats(sets, members, shares):
    rng = np.random.default_rng(1)
    assert (members << members <= sets**2) is (members == 6), "one case by pairs and one by a table"
    for _ in range(20):
        matrix = rng.random((sets, members)) < rng.choice(shares)
        listed = [frozenset(np.flatnonzero(row)) for row in matrix]
        kept = [not any(listed[j] <= listed[i] for j in range(i)) for i in range(sets)]
        assert find_undominated(pack(matrix), members).tolist() == kept


@pytest.mark.parametrize("seed", range(40))
def test_a_feasible_order_is_found_where_a_graph_exists(seed):
    rng = np.random.default_rng(seed)
    candidates = random_lists(rng, 4, most=2, density=0.3, empty=0.3)
    order, stuck = feasible_order(candidates)
    assert (best_of_graphs(candidates) is None) == bool(stuck)
    assert sorted([*order.tolist(), *stuck]) == [0, 1, 2, 3]
    if not stuck:
        assert np.isfinite(best_of_order(candidates, order.tolist()))


def test_a_hint_is_taken_where_it_will_do():
    good = Candidates.of("abc", [[((1,), 0.0)], [((), 0.0)], [((), 0.0)]])
    for hint, expected in (((2, 1, 0), [2, 1, 0]), ((0, 1, 2), [1, 2, 0])):
        order, stuck = feasible_order(Candidates(good.names, good.sets, hint=hint))
        assert (order.tolist(), stuck) == (expected, ())
