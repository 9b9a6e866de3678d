"""Levels of the lattice of sets against plain Python sets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.scores.lattice import find_from, grow, keys_of, largest_size, unique_families, unique_sets


def rows(sets, size):
    chosen = sorted(sets)
    return np.array(chosen, dtype=np.int64).reshape(len(chosen), size)


@pytest.mark.parametrize("d", [1, 2, 3, 37, 441, 1041, 10_000])
def test_the_largest_key_fits(d):
    size = largest_size(d)
    assert size >= 4
    assert d**size < 2**63
    top = np.full((1, size), d - 1, dtype=np.int64)
    assert keys_of(top, d)[0] == d**size - 1


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_keys_sort_like_rows(size):
    sets = rows(combinations(range(7), size), size)
    keys = keys_of(sets, 7).tolist()
    assert keys == sorted(set(keys))
    for position, key in enumerate(keys):
        for low in {0, position // 2, position}:
            assert find_from(np.array(keys), key, low) == position
    for absent in set(range(-1, 7**size + 1)) - set(keys):
        assert find_from(np.array(keys), absent, 0) == np.searchsorted(keys, absent)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sets(st.integers(0, 8), min_size=3, max_size=3), max_size=20))
def test_unique_sets_and_their_places(sets):
    given_rows = np.array([sorted(s) for s in sets], dtype=np.int64).reshape(-1, 3)
    unique, place = unique_sets(given_rows, 9)
    assert unique.tolist() == sorted(map(list, {tuple(sorted(s)) for s in sets}))
    np.testing.assert_array_equal(unique[place], given_rows)


def test_children_are_put_in_their_place():
    children, parents = np.array([2, 5, 3, 0]), np.array([[1, 3], [0, 2], [1, 2], [2, 5]])
    found, place = unique_families(children, parents, 9)
    assert found.tolist() == [[0, 2, 5], [1, 2, 3]]
    assert place.tolist() == [1, 0, 1, 0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.sampled_from([0.2, 0.6, 1.0]))
def test_growing_equals_brute_force(seed, size, share):
    rng = np.random.default_rng(seed)
    d = 7
    allowed = rng.random(d) < 0.8
    columns = np.flatnonzero(allowed).tolist()
    alive = rows([s for s in combinations(columns, size) if rng.random() < share], size)
    best = rng.normal(size=len(alive))
    value = dict(zip(map(tuple, alive.tolist()), best.tolist(), strict=True))
    grown, subsets, below, _ = grow(alive, keys_of(alive, d), best, allowed)
    expected = [
        s for s in combinations(columns, size + 1) if all(sub in value for sub in combinations(s, size))
    ]
    assert list(map(tuple, grown.tolist())) == expected
    for s, places, top in zip(expected, subsets.tolist(), below.tolist(), strict=True):
        for skipped, place in enumerate(places):
            assert tuple(alive[place]) == s[:skipped] + s[skipped + 1 :]
        assert top == max(value[sub] for sub in combinations(s, size))


def test_growing_beyond_the_first_buffer():
    d = 60
    singles = rows(combinations(range(d), 1), 1)
    pairs, _, _, _ = grow(singles, keys_of(singles, d), np.zeros(d), np.ones(d, dtype=bool))
    assert len(pairs) == d * (d - 1) // 2 > 1024
    assert list(map(tuple, pairs.tolist())) == list(combinations(range(d), 2))
