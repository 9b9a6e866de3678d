"""Dual PC, judged by d-separation: exact covariances leave no error, so the true class must come out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.graph.cpdag import CPDAG
from dagora.graph.equivalence import consistent_extension, cpdag_matrix
from dagora.graph.knowledge import Knowledge
from dagora.learners.constraint.dual_pc import dual_pc, dual_pc_skeleton, find_skeleton
from dagora.learners.constraint.orientation import orient
from dagora.learners.constraint.partial_correlations import (
    GIVEN_REST,
    GIVEN_SET,
    NONE,
    UNDEFINED,
    eliminate,
    inverse_correlations,
    next_subset,
    search_sets,
    significance_limits,
)
from dagora.learners.run import Run
from dagora.stats.statistics import Moments
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, random_continuous, random_dag


def exact_moments(rng, dag, rows):
    """Moments of a linear model over the graph, without sampling error."""
    matrix = dag.to_numpy()
    size = len(matrix)
    weights = matrix * rng.uniform(0.5, 1.2, size=(size, size)) * rng.choice([-1, 1], size=(size, size))
    inverse = np.linalg.inv(np.eye(size) - weights)
    covariance = inverse.T @ inverse
    return Moments(rows, np.zeros(size), covariance * rows)


class OnlyMoments:
    """Statistics that know moments and nothing else."""

    def __init__(self, moments, schema):
        self._moments, self.schema, self.n_rows = moments, schema, moments.n

    def moments(self):
        return self._moments


@pytest.mark.parametrize("seed", range(12))
def test_exact_covariances_give_the_true_class(seed):
    rng = np.random.default_rng(seed)
    truth = random_dag(rng, 9, 0.3)
    moments = exact_moments(rng, truth, 10**9)
    statistics = OnlyMoments(moments, random_continuous(rng, 5, 9).schema)
    outcome = dual_pc(statistics, Run(), alpha=1e-6)
    assert outcome.graph == CPDAG.from_dag(truth)
    assert outcome.status == "finished"
    assert not outcome.warnings
    skeleton = truth.to_numpy() | truth.to_numpy().T
    np.testing.assert_array_equal(dual_pc_skeleton(moments, 1e-6), skeleton)


def partial_correlation(correlations, x, y, given):
    inverse = np.linalg.inv(correlations[np.ix_([x, y, *given], [x, y, *given])])
    return -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])


def is_chance(correlations, x, y, given, rows, alpha):
    z = np.arctanh(partial_correlation(correlations, x, y, given)) * np.sqrt(rows - len(given) - 3)
    return 2 * stats.norm.sf(abs(z)) >= alpha


# With more rows and columns, neighbourhoods shrink between rounds: sets of an earlier one must be tested anew.
@pytest.mark.parametrize(
    ("rows", "columns", "seed"), [*((80, 8, 100 + k) for k in range(6)), (300, 10, 0), (1000, 10, 0)]
)
def test_on_sampled_rows_removed_pairs_are_separated_and_others_are_not(rows, columns, seed):
    """The defining property, checked with every subset of the final neighbourhoods."""
    table = random_continuous(np.random.default_rng(seed), rows, columns)
    moments = TableStatistics(table).moments()
    alpha = 0.05
    found = find_skeleton(moments, alpha, Run(), np.zeros((columns, columns), dtype=bool))
    spread = np.sqrt(np.diag(moments.scatter))
    correlations = moments.scatter / np.outer(spread, spread)
    for x, y in itertools.combinations(range(columns), 2):
        if not found.adjacent[x, y]:
            given = found.separating[x, y]
            given = set(range(columns)) - {x, y} if given is None else given
            assert is_chance(correlations, x, y, sorted(given), rows, alpha)
            continue
        for near, far in ((x, y), (y, x)):
            around = [node for node in range(columns) if found.adjacent[near, node] and node != far]
            for size in range(len(around) + 1):
                for given in itertools.combinations(around, size):
                    assert not is_chance(correlations, x, y, given, rows, alpha)


@pytest.mark.full
def test_the_class_does_not_depend_on_the_order_of_columns():
    rng = np.random.default_rng(5)
    for _ in range(40):
        table = random_continuous(rng, 80, 6)
        found = dual_pc(TableStatistics(table), Run()).graph
        names = [table.names[place] for place in rng.permutation(6)]
        moved = dual_pc(TableStatistics(table.select(names)), Run()).graph
        assert moved.reorder(table.names) == found


def test_the_skeleton_does_not_depend_on_the_order_of_columns():
    rng = np.random.default_rng(1)
    for _ in range(5):
        moments = TableStatistics(random_continuous(rng, 60, 10)).moments()
        order = rng.permutation(10)
        moved = Moments(moments.n, moments.mean[order], moments.scatter[np.ix_(order, order)])
        skeleton = dual_pc_skeleton(moments)
        np.testing.assert_array_equal(dual_pc_skeleton(moved), skeleton[np.ix_(order, order)])


@pytest.mark.parametrize(("size", "ended", "tests"), [(1, GIVEN_SET, 1), (2, GIVEN_REST, 2), (None, NONE, 6)])
def test_a_set_and_its_complement_have_the_limits_of_their_own_sizes(size, ended, tests):
    """Three nodes to choose from, sets of one and complements of two; only sets of one size may separate."""
    moments = TableStatistics(random_continuous(np.random.default_rng(4), 40, 5)).moments()
    spread = np.sqrt(np.diag(moments.scatter))
    correlations = np.ascontiguousarray(moments.scatter / np.outer(spread, spread))
    limits = np.full(4, -1.0)
    if size is not None:
        limits[size] = 1.0
    subset = np.array([2], dtype=np.int64)
    inverse = inverse_correlations(correlations)
    assert search_sets(correlations, inverse, True, 1, limits, subset, 100) == (ended, tests)
    assert subset[0] == (4 if size is None else 2)


def test_correlations_given_sets_and_their_complements():
    rng = np.random.default_rng(2)
    moments = TableStatistics(random_continuous(rng, 40, 7)).moments()
    spread = np.sqrt(np.diag(moments.scatter))
    correlations = moments.scatter / np.outer(spread, spread)
    inverse = inverse_correlations(correlations)
    block = np.empty((7, 7))
    for size in range(6):
        for members in itertools.combinations(range(2, 7), size):
            chosen = np.array(members, dtype=np.int64)
            rest = [node for node in range(2, 7) if node not in members]
            given_set = partial_correlation(correlations, 0, 1, members)
            given_rest = partial_correlation(correlations, 0, 1, rest)
            assert eliminate(correlations, chosen, size, block) == pytest.approx(given_set, abs=1e-12)
            assert eliminate(inverse, chosen, size, block) == pytest.approx(-given_rest, abs=1e-12)


def test_limits_are_those_of_fishers_z():
    limits = significance_limits(20, 19, 0.01)
    for size, limit in enumerate(limits):
        if size < 17:
            z = np.arctanh(limit) * np.sqrt(20 - size - 3)
            assert 2 * stats.norm.sf(z) == pytest.approx(0.01)
        else:
            assert limit == -1


def test_all_subsets_are_visited_once():
    for total, size in ((5, 2), (4, 4), (6, 3), (3, 0)):
        subset = np.arange(2, 2 + size)
        seen = [tuple(subset)]
        while next_subset(subset, size, total):
            seen.append(tuple(subset))
        assert seen == list(itertools.combinations(range(2, total + 2), size))


@pytest.mark.full
@given(st.integers(2, 7), st.data())
def test_any_skeleton_with_any_separating_sets_gets_a_valid_class(size, data):
    skeleton = np.zeros((size, size), dtype=bool)
    for i, j in itertools.combinations(range(size), 2):
        skeleton[i, j] = skeleton[j, i] = data.draw(st.booleans())
    answers = {}

    def separates(a, c, b):
        return answers.setdefault((a, c, b), data.draw(st.booleans()))

    matrix, given_up, new = orient(skeleton, separates)
    np.testing.assert_array_equal(matrix | matrix.T, skeleton)
    dag = consistent_extension(matrix)
    assert dag is not None
    np.testing.assert_array_equal(cpdag_matrix(dag), matrix)
    if not given_up and not new:
        for (a, c, b), separated in answers.items():
            if not separated:
                assert matrix[[a, b], c].all()
                assert not matrix[c, [a, b]].any()


def test_a_square_without_colliders_is_given_one():
    square = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=bool)
    matrix, given_up, new = orient(square, lambda a, c, b: True)
    assert new
    assert given_up == 0
    assert consistent_extension(matrix) is not None


def test_contradicting_v_structures_are_said():
    """0 — 1 — 2 — 3 with colliders at 1 and at 2: the edge 1 — 2 would point both ways."""
    path = np.zeros((4, 4), dtype=bool)
    for i in range(3):
        path[i, i + 1] = path[i + 1, i] = True
    matrix, given_up, _ = orient(path, lambda a, c, b: False)
    assert given_up == 1
    np.testing.assert_array_equal(cpdag_matrix(consistent_extension(matrix)), matrix)


def test_pairs_forbidden_both_ways_stay_apart():
    table = random_continuous(np.random.default_rng(3), 500, 5)
    free = dual_pc(TableStatistics(table), Run()).graph
    a, b = (*free.edges, *free.undirected)[0]
    knowledge = Knowledge(forbidden=[(a, b), (b, a)])
    kept = dual_pc(TableStatistics(table), Run(knowledge)).graph
    assert not {(a, b), (b, a)} & {*kept.edges, *kept.undirected}


@pytest.mark.parametrize(
    ("knowledge", "named"),
    [
        (Knowledge(required=[("x0", "x1")]), "required"),
        (Knowledge(forbidden=[("x0", "x1")]), "forbidden"),
        (Knowledge(tiers=[["x0"], ["x1"]]), "tiers"),
        (Knowledge(max_parents=1), "max_parents"),
    ],
)
def test_knowledge_about_directions_is_refused(knowledge, named):
    table = random_continuous(np.random.default_rng(3), 50, 4)
    with pytest.raises(KnowledgeError, match=f"the method dual-pc cannot obey {named}"):
        dagora.learn(table, "dual-pc", knowledge=knowledge)


def test_few_rows_and_dependent_columns():
    rng = np.random.default_rng(4)
    few = dual_pc(TableStatistics(random_continuous(rng, 6, 8)), Run())
    assert any("too few rows" in warning for warning in few.warnings)
    rows = rng.normal(size=(200, 4))
    rows[:, 3] = rows[:, 0] + rows[:, 1]
    outcome = dual_pc(TableStatistics(continuous_table(rows)), Run())
    assert {("x0", "x3"), ("x1", "x3")} <= {*outcome.graph.edges}
    with pytest.raises(DataError, match="equal up to scale and shift"):
        dual_pc(TableStatistics(continuous_table(rows[:, [0, 1, 0]])), Run())
    with pytest.raises(OptionError, match="alpha"):
        dual_pc(TableStatistics(continuous_table(rows[:, :3])), Run(), alpha=1.5)


def test_what_has_no_variance_left_has_no_correlation():
    correlations = np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]])
    assert eliminate(correlations, np.array([2]), 1, np.empty((3, 3))) == UNDEFINED
    assert inverse_correlations(correlations) is None


def test_a_spent_budget_leaves_what_is_not_yet_tested():
    rng = np.random.default_rng(5)
    truth = random_dag(rng, 12, 0.5)
    statistics = OnlyMoments(exact_moments(rng, truth, 10**7), random_continuous(rng, 5, 12).schema)
    budget = Budget()
    budget.stop("interrupted")
    early = dual_pc(statistics, Run(budget=budget), alpha=1e-6)
    whole = dual_pc(statistics, Run(), alpha=1e-6)
    assert early.status == "time-limit"
    assert "interrupted" in early.message
    kept = early.graph.to_numpy() | early.graph.to_numpy().T
    final = whole.graph.to_numpy() | whole.graph.to_numpy().T
    assert (kept | ~final).all()
    assert kept.sum() > final.sum()


def test_too_few_rows_for_any_test():
    rows = np.random.default_rng(6).normal(size=(4, 5))
    with pytest.raises(DataError, match="dual-pc cannot make a single test: there are too few rows"):
        dual_pc(TableStatistics(continuous_table(rows[:3])), Run())
    assert dual_pc(TableStatistics(continuous_table(rows)), Run()).stats["tests"] == 10
