"""Kernels over orders, against plain loops."""

import numpy as np
import pytest

from dagora.kernels.random import random_below, shuffle
from dagora.learners.search.alarm import never_stop
from dagora.learners.search.best_parents import choose_parents
from dagora.learners.search.order.insertions import best_insertion, index_sets, insert, relocate, stand, worth
from dagora.learners.search.order.moves import descend, effort_of, empty_pool, iterate
from dagora.learners.search.order.swap_moves import select_acyclic, swap_search
from tests.learners.search.order.order_oracles import (
    best_of_all,
    best_of_order,
    graph_worth,
    random_candidates,
    tabu_swaps,
)


def moved(order, position, place):
    rest = [x for k, x in enumerate(order) if k != position]
    return [*rest[:place], order[position], *rest[place:]]


def neighbours(order):
    return [moved(order, p, q) for p in range(len(order)) for q in range(len(order)) if p != q]


@pytest.fixture(params=range(8))
def problem(request):
    rng = np.random.default_rng(request.param)
    candidates = random_candidates(rng, int(rng.integers(2, 8)))
    return rng, candidates, candidates.flat


def test_the_network_of_an_order(problem):
    rng, candidates, flat = problem
    order = rng.permutation(len(candidates))
    choice = np.empty(len(candidates), dtype=np.int64)
    total = choose_parents(flat, order, choice)
    assert total == pytest.approx(best_of_order(candidates, order))
    assert graph_worth(candidates, candidates.graph(choice)) == pytest.approx(total)


def test_the_best_insertion(problem):
    rng, candidates, flat = problem
    d = len(candidates)
    order = rng.permutation(d)
    sets = index_sets(flat)
    standing = stand(sets, order)
    start = best_of_order(candidates, order)
    for x in range(d):
        gain, place = best_insertion(sets, standing, x, np.empty(1, dtype=np.uint64))
        gains = [
            best_of_order(candidates, moved(order.tolist(), standing.where[x], q)) - start for q in range(d)
        ]
        assert gain == pytest.approx(max(gains), abs=1e-9)
        assert gains[place] == pytest.approx(gain, abs=1e-9)


def test_one_word_and_two_words_give_the_same_search(problem):
    _, candidates, flat = problem
    wide = flat._replace(masks=np.column_stack([flat.masks[:, 0], np.zeros_like(flat.masks[:, 0])]))
    found = []
    for sets in (flat, wide):
        order = np.arange(len(candidates))
        best_order, state = order.copy(), np.array([7], dtype=np.uint64)
        best = iterate(
            sets, order, best_order, -np.inf, state, 1e-9, 50, np.zeros(1), effort_of(), never_stop()
        )
        found.append((best, order.tolist(), best_order.tolist(), int(state[0])))
    assert found[0] == found[1]


def test_first_rows(problem):
    _, candidates, flat = problem
    sets = index_sets(flat)
    for child in candidates:
        start = flat.offsets[child.child]
        for p in range(len(candidates)):
            holding = [start + row for row, parents in enumerate(child.parents) if p in parents]
            assert sets.first[child.child, p] == min(holding, default=flat.offsets[child.child + 1])


def test_relocating_keeps_the_standing_and_wakes_those_it_changes(problem):
    rng, candidates, flat = problem
    d = len(candidates)
    sets = index_sets(flat)
    standing = stand(sets, rng.permutation(d))
    for _ in range(30):
        position, place = (int(p) for p in rng.integers(0, d, size=2))
        before, old = standing.order.tolist(), standing.choice.copy()
        pool = empty_pool(sets)
        relocate(sets, standing, before[position], place, pool)
        fresh = stand(sets, np.array(moved(before, position, place)))
        for kept, made in zip(standing, fresh, strict=True):
            np.testing.assert_array_equal(kept, made)
        assert worth(sets, standing) == pytest.approx(best_of_order(candidates, standing.order))
        woken = set(pool.members[: pool.size[0]].tolist())
        assert woken == set(np.flatnonzero(pool.waits).tolist())
        rows = candidates.flat.masks
        changed = np.flatnonzero(old != standing.choice)
        expected = {before[position], *changed.tolist()}
        for x in changed:
            for row in (old[x], standing.choice[x]):
                expected |= {p for p in range(d) if int(rows[row, 0]) >> p & 1}
        assert woken == expected


def test_insert_and_shuffle_keep_a_permutation():
    state = np.array([3], dtype=np.uint64)
    order = np.arange(20)
    shuffle(order, state)
    assert sorted(order) == list(range(20))
    before = order.tolist()
    insert(order, 4, 15)
    assert order.tolist() == moved(before, 4, 15)
    insert(order, 15, 4)
    assert order.tolist() == before


def test_random_numbers_are_spread_evenly():
    state = np.array([1], dtype=np.uint64)
    counts = np.bincount([random_below(state, 6) for _ in range(6000)], minlength=6)
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5  # χ² with 5 degrees of freedom, p = 0.001


def test_a_descent_ends_where_no_insertion_gains(problem):
    rng, candidates, flat = problem
    order = rng.permutation(len(candidates))
    start = best_of_order(candidates, order)
    state = np.array([5], dtype=np.uint64)
    end = descend(flat, order, state, 1e-9, never_stop())
    assert end == pytest.approx(best_of_order(candidates, order.tolist()))
    assert end >= start - 1e-9
    assert all(best_of_order(candidates, other) <= end + 1e-6 for other in neighbours(order.tolist()))


def test_iterating_finds_the_optimum_of_small_problems(problem):
    rng, candidates, flat = problem
    order = rng.permutation(len(candidates))
    best_order = order.copy()
    state = np.array([7], dtype=np.uint64)
    best = iterate(flat, order, best_order, -np.inf, state, 1e-9, 200, np.zeros(1), effort_of(), never_stop())
    assert best == pytest.approx(best_of_order(candidates, best_order))
    assert best == pytest.approx(best_of_all(candidates))


def test_swaps_end_at_least_where_no_swap_gains(problem):
    rng, candidates, flat = problem
    d = len(candidates)
    order, found = rng.permutation(d), np.empty(d, dtype=np.int64)
    start = best_of_order(candidates, order)
    best = swap_search(flat, order, found, 3, 20, 1e-9, never_stop())
    assert best == pytest.approx(best_of_order(candidates, found))
    assert best >= start - 1e-9
    for p in range(d - 1):
        assert best_of_order(candidates, moved(found.tolist(), p, p + 1)) <= best + 1e-6


@pytest.mark.parametrize("length", [0, 2, 6])
def test_swaps_and_their_tabu_list_step_by_step(problem, length):
    rng, candidates, flat = problem
    start = rng.permutation(len(candidates))
    score, best_order, last = tabu_swaps(candidates, start.tolist(), length, 15)
    order, found = start.copy(), np.empty_like(start)
    assert swap_search(flat, order, found, length, 15, 1e-9, never_stop()) == pytest.approx(score)
    assert found.tolist() == best_order
    assert order.tolist() == last


def test_worse_orders_are_accepted_now_and_then():
    """The current order is sometimes, but not always, below the best one seen."""
    below = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        candidates = random_candidates(rng, 7)
        order = rng.permutation(7)
        best_order, state = order.copy(), np.array([seed], dtype=np.uint64)
        start = descend(candidates.flat, order, state, 1e-9, never_stop())
        best = iterate(
            candidates.flat, order, best_order, start, state, 1e-9, 20, np.zeros(1), effort_of(), never_stop()
        )
        assert best == pytest.approx(max(start, best_of_order(candidates, best_order)))
        below.append(best_of_order(candidates, order) < best - 1e-6)
    assert 0 < sum(below) < 30


def test_acyclic_selection_is_at_least_as_good_as_the_order(problem):
    rng, candidates, flat = problem
    better = 0
    for _ in range(20):
        order = rng.permutation(len(candidates))
        choice = np.empty(len(candidates), dtype=np.int64)
        total = select_acyclic(flat, order, choice)
        graph = candidates.graph(choice)  # refuses a cycle
        assert graph_worth(candidates, graph) == pytest.approx(total)
        assert total >= best_of_order(candidates, order) - 1e-9
        better += total > best_of_order(candidates, order) + 1e-9
    assert better or len(candidates) < 4


def test_many_words():
    """Beyond 64 variables the masks have several words."""
    rng = np.random.default_rng(1)
    candidates = random_candidates(rng, 70, most=1, density=0.1)
    flat = candidates.flat
    assert flat.masks.shape[1] == 2
    order = rng.permutation(70)
    choice = np.empty(70, dtype=np.int64)
    state = np.array([9], dtype=np.uint64)
    end = descend(flat, order, state, 1e-9, never_stop())
    assert end == pytest.approx(best_of_order(candidates, order.tolist()))
    assert end >= best_of_order(candidates, range(70))
    total = select_acyclic(flat, order, choice)
    assert graph_worth(candidates, candidates.graph(choice)) == pytest.approx(total)


def test_kernels_end_where_they_are_when_the_flag_is_up():
    """The searches hold an order at any moment, so they may end at any moment."""
    rng = np.random.default_rng(3)
    candidates = random_candidates(rng, 7)
    up = np.ones(1, dtype=np.bool_)
    start = rng.permutation(7)
    worth_of_start = best_of_order(candidates, start)
    order, state = start.copy(), np.array([5], dtype=np.uint64)
    assert descend(candidates.flat, order, state, 1e-9, up) == pytest.approx(worth_of_start)
    best_order = start.copy()
    best = iterate(candidates.flat, order, best_order, -1e9, state, 1e-9, 50, np.zeros(1), effort_of(), up)
    assert (best, order.tolist(), best_order.tolist()) == (-1e9, start.tolist(), start.tolist())
    found = np.empty_like(start)
    assert swap_search(candidates.flat, order, found, 3, 20, 1e-9, up) == pytest.approx(worth_of_start)
    assert found.tolist() == order.tolist() == start.tolist()
    assert descend(candidates.flat, order, state, 1e-9, never_stop()) > worth_of_start + 1e-6


def test_pieces_of_a_search_are_the_search():
    """A search that is cut into pieces, as a time limit cuts it, ends in the same orders."""
    candidates = random_candidates(np.random.default_rng(4), 9)

    def ends(trials, *pieces):
        order, best_order = np.arange(9), np.arange(9)
        state, losses, best = np.array([5], dtype=np.uint64), np.zeros(1), -1e9
        effort = effort_of(trials)
        for kicks in pieces:
            best = iterate(
                candidates.flat, order, best_order, best, state, 1e-9, kicks, losses, effort, never_stop()
            )
        return best, order.tolist(), best_order.tolist(), state.tolist(), losses.tolist(), effort.tolist()

    assert ends(1 << 62, 300) == ends(1 << 62, 10, 20, 40, 80, 150)
    assert ends(1 << 62, 300)[-1][1] == 300
    limited = ends(500, 300)
    assert limited == ends(500, 10, 20, 40, 80, 150)
    left, kicks = limited[-1]
    assert 10 < kicks < 290, "the trials end the search"
    assert -500 < left < 0
