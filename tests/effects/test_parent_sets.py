"""The parent sets of a class: against a list of all its graphs."""

import numpy as np
import pytest

from dagora.effects.parent_sets import parent_sets
from dagora.graph.bit_sets import bit_rows, members
from dagora.graph.enumerate import all_dags
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
