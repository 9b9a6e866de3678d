"""Directions where there is no time to ask the tests."""

import time

import numpy as np
import pytest

import dagora
from dagora.graph.equivalence import consistent_extension, cpdag_matrix
from dagora.learners.constraint.orientation import orient_in_haste


@pytest.mark.parametrize("seed", range(20))
def test_in_haste_the_result_is_a_class_with_this_skeleton_and_what_is_known(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    upper = np.triu(rng.random((size, size)) < rng.random(), 1)
    skeleton = upper | upper.T
    known = upper & (rng.random((size, size)) < 0.3)
    turn = rng.permutation(size)
    skeleton, known = skeleton[np.ix_(turn, turn)], known[np.ix_(turn, turn)]
    found = orient_in_haste(skeleton, known)
    assert ((found | found.T) == skeleton).all()
    assert not (found & known.T).any()
    assert found[known].all()
    dag = consistent_extension(found)
    assert dag is not None
    if not known.any():
        assert (cpdag_matrix(dag) == found).all()


@pytest.mark.full
def test_a_dense_skeleton_is_left_soon_after_the_limit():
    """All columns share five causes, so that nearly all edges are left when the time is over."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 200)) + rng.normal(size=(300, 200))
    table = dagora.Table.from_numpy(rows, continuous=["all"])
    dagora.learn(table.select(table.names[:5]), "pc")
    began = time.process_time()
    found = dagora.learn(table, "pc", time_limit=0.1)
    assert time.process_time() - began < 0.1 + 2.0, "it took 9 s"
    assert found.status == "time-limit"
    assert "no edge was directed by the tests" in found.message
