import numpy as np
import pytest

from dagora.learners.search.components import LocalProblem
from dagora.learners.search.exact.astar_kernels import bound_of
from dagora.learners.search.exact.pattern_database import (
    conflicts,
    group_members,
    partition,
    pattern_database,
)
from tests.learners.search.exact.exact_oracles import completed, random_lists


@pytest.mark.parametrize("group", [1, 2, 3, 7])
def test_the_bound_is_never_too_low_and_falls_no_faster_than_scores_are_earned(group):
    candidates = random_lists(np.random.default_rng(group), 7, most=3, density=0.6)
    problem, positions, starts = group_members(LocalProblem.of(candidates, tuple(range(7))), group)
    assert [candidates.names[x] for x in positions] == [candidates.names[x] for x in problem.members]
    database = pattern_database(problem, starts, lambda: False)
    truth = completed(problem)
    best = [problem.scores[problem.offsets[x]] for x in range(7)]
    bounds = np.array([bound_of(database, np.uint64(placed)) for placed in range(2**7)])
    for placed in range(2**7):
        outside = [x for x in range(7) if not placed >> x & 1]
        assert bounds[placed] >= truth[placed] - 1e-9
        assert bounds[placed] <= sum(best[x] for x in outside) + 1e-9
        for x in outside:
            own = range(problem.offsets[x], problem.offsets[x + 1])
            earned = max(problem.scores[r] for r in own if not int(problem.masks[r, 0]) & ~placed)
            assert bounds[placed] >= earned + bounds[placed | 1 << x] - 1e-9
    if group == 1:
        assert bounds[0] == pytest.approx(problem.bound)
    if group == 7:
        assert np.allclose(bounds, truth)


def test_conflicts_are_what_a_pair_must_lose():
    candidates = random_lists(np.random.default_rng(3), 5, most=2, density=0.7)
    problem = LocalProblem.of(candidates, tuple(range(5)))
    found = conflicts(problem)
    assert np.array_equal(found, found.T)

    def loss(x, y):
        child = candidates.sets[x]
        return child.scores[0] - max(
            v for p, v in zip(child.parents, child.scores, strict=True) if y not in p
        )

    for x in range(5):
        for y in range(5):
            if x != y:
                expected = min(loss(x, y), loss(y, x)) + 0.01 * (loss(x, y) + loss(y, x))
                assert found[x, y] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_partition_makes_few_groups_that_no_exchange_improves(seed):
    rng = np.random.default_rng(seed)
    size, limit = int(rng.integers(2, 14)), int(rng.integers(1, 6))
    weights = rng.exponential(size=(size, size)) ** 3
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    groups = partition(weights, limit)
    assert sorted(x for group in groups for x in group) == list(range(size))
    assert len(groups) <= -(-size // limit)
    assert max(len(group) for group in groups) <= limit

    def inside(parts):
        return sum(weights[np.ix_(part, part)].sum() for part in parts)

    for a, one in enumerate(groups):
        for b, other in enumerate(groups):
            if a < b:
                for x in one:
                    for y in other:
                        rest = [part for k, part in enumerate(groups) if k not in {a, b}]
                        swapped = [[*(set(one) - {x}), y], [*(set(other) - {y}), x]]
                        assert inside([*rest, *swapped]) <= inside(groups) + 1e-6 * weights.sum()


def test_strong_pairs_share_a_group():
    weights = np.zeros((6, 6))
    for a, b in ((0, 5), (1, 4), (2, 3)):
        weights[a, b] = weights[b, a] = 1.0
    assert sorted(partition(weights, 2)) == [[0, 5], [1, 4], [2, 3]]


def test_no_database_without_time():
    candidates = random_lists(np.random.default_rng(0), 4)
    problem, _, starts = group_members(LocalProblem.of(candidates, (0, 1, 2, 3)), 2)
    assert pattern_database(problem, starts, lambda: True) is None
