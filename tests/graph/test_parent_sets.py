"""The parent sets of a class: against a list of all its graphs."""

import numpy as np
import pytest

from dagora.graph.bit_sets import bit_rows, members
from dagora.graph.cpdag import CPDAG
from dagora.graph.enumerate import all_dags
from dagora.graph.parent_sets import parent_choices, parent_sets
from tests.graph.linear_effects import classes_with_knowledge


@pytest.mark.parametrize("size", [2, 3, pytest.param(4, marks=pytest.mark.full)])
def test_parent_sets_of_every_class_with_any_knowledge(size):
    nodes = 0
    for matrix, dags in classes_with_knowledge([dag.to_numpy() for dag in all_dags(size)]):
        onward, back = bit_rows(matrix), bit_rows(matrix.T)
        for x in range(size):
            fixed = back[x] & ~onward[x]
            found = [frozenset(members(before | fixed)) for before, _ in parent_sets(onward, back, x)]
            truth = {frozenset(np.flatnonzero(dag[:, x]).tolist()) for dag in dags}
            assert set(found) == truth
            assert len(found) == len(truth)
            nodes += 1
    assert nodes == {2: 8, 3: 150, 4: 6404}[size]


@pytest.mark.parametrize("size", [3, pytest.param(4, marks=pytest.mark.full)])
def test_joint_choices_of_every_class_with_any_knowledge(size):
    """Each choice of all parents that some graph has, once, and the class of exactly those graphs."""
    for matrix, dags in classes_with_knowledge([dag.to_numpy() for dag in all_dags(size)]):
        graph = CPDAG.from_numpy(matrix)
        for nodes in ([0, 2], [2, 0, 1]):
            found = {}
            for edges, class_ in parent_choices(graph, [graph.nodes[node] for node in nodes]):
                chosen = tuple(frozenset(class_.parents(graph.nodes[node])) for node in nodes)
                assert chosen not in found
                assert set(edges) <= set(class_.edges)
                found[chosen] = class_
            truth = {}
            for dag in dags:
                parents = (np.flatnonzero(dag[:, node]).tolist() for node in nodes)
                chosen = tuple(frozenset(graph.nodes[one] for one in some) for some in parents)
                truth.setdefault(chosen, []).append(dag)
            assert found.keys() == truth.keys()
            for chosen, class_ in found.items():
                assert np.array_equal(class_.to_numpy(), np.any(truth[chosen], axis=0))
