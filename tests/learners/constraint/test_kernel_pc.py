"""Kernel PC: directions of curved relations, classes of linear ones; its graphs hold what they promise."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.graph.cpdag import CPDAG
from dagora.graph.equivalence import cpdag_matrix, v_structures
from dagora.learners.constraint.kernel_pc import direct_by_residuals, with_parents
from dagora.learners.run import Run

METHODS = ("kpc-hsic", "kpc-dc")


@pytest.mark.parametrize("method", METHODS)
def test_a_curved_chain_is_directed(method):
    rng = np.random.default_rng(0)
    a = rng.uniform(-2, 2, size=250)
    b = a**3 / 2 + a + rng.uniform(-1, 1, size=250)
    c = np.tanh(b) * 3 + rng.uniform(-1, 1, size=250)
    result = dagora.learn({"z": a, "b": b, "c": c}, method)
    assert set(result.graph.edges) == {("z", "b"), ("b", "c")}
    assert result.stats["by_residuals"] == 2
    assert result.stats["tests"] > 6
    assert result.separating_sets[0][:3] == ("c", "z", ("b",))


@pytest.mark.parametrize("method", METHODS)
def test_normal_lines_stay_undirected(method):
    a, b = np.random.default_rng(1).normal(size=(2, 200))
    result = dagora.learn({"a": a, "b": a + b}, method)
    assert result.graph.undirected == (("a", "b"),)
    assert "0 of them directed by residuals" in result.message


@pytest.mark.parametrize("method", METHODS)
def test_independent_columns_have_no_edges(method):
    assert not dagora.learn(np.random.default_rng(2).normal(size=(80, 4)), method, alpha=0.001).graph.edges


class Guess:
    """Says at random whether residuals are independent."""

    max_given = 20

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def between(self, one, other):
        return self._rng.choice([0.0, 1.0], p=[0.4, 0.6])


@pytest.mark.parametrize("seed", range(20))
def test_whatever_tests_say_the_class_only_becomes_smaller(seed):
    truth = dagora.random_dag("er", 7, 2.5, seed=seed).to_numpy()
    before = cpdag_matrix(truth)
    after, tests = direct_by_residuals(before, Guess(seed), 0.05, Run())
    assert not (after & ~before).any()
    dag = CPDAG.from_numpy(after, [f"v{k}" for k in range(7)]).extension().to_numpy()
    assert v_structures(dag) == v_structures(truth)
    assert (cpdag_matrix(dag) == before).all()
    assert tests or not (before & before.T).any()


def test_no_parents_that_make_a_v_structure():
    star = np.zeros((3, 3), dtype=np.bool_)
    star[0, 1:] = star[1:, 0] = True
    assert with_parents(star, 0, (1, 2)) is None
    triangle = ~np.eye(3, dtype=np.bool_)
    assert with_parents(triangle, 0, (1, 2)).astype(int).tolist() == [[0, 0, 0], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize("method", METHODS)
def test_bad_input(method):
    rows = np.random.default_rng(3).normal(size=(30, 2))
    with pytest.raises(DataError, match=f"{method} cannot tell"):
        dagora.learn(np.column_stack([rows, 3 * rows[:, 0]]), method)
    with pytest.raises(DataError, match=f"the method {method} cannot make a single test"):
        dagora.learn(rows[:4], method)
    with pytest.raises(DataError, match="at most 4096 rows"):
        dagora.learn(np.random.default_rng(3).normal(size=(4100, 2)), method)
