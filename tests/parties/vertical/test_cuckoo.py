"""Placing against maximum matchings, and the bound on failure against what happens."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.stats import chisquare

from dagora.parties.vertical.cuckoo import log2_failure, number_of_bins, place, three_bins


def random_bins(rng, items, bins):
    return three_bins(rng.integers(0, 2**64, (items, 3), dtype=np.uint64), bins)


def can_be_placed(candidates, bins):
    items = len(candidates)
    rows = np.repeat(np.arange(items), 3)
    graph = csr_array((np.ones(3 * items), (rows, candidates.ravel())), shape=(items, bins))
    return (maximum_bipartite_matching(graph, perm_type="column") >= 0).all()


def check(table, candidates):
    placed = table[table >= 0]
    assert sorted(placed.tolist()) == list(range(len(candidates)))
    assert all(bin_ in candidates[item] for bin_, item in enumerate(table) if item >= 0)


@pytest.mark.parametrize(("items", "bins"), [(5, 5), (12, 13), (40, 44), (300, 326)])
def test_items_are_placed_whenever_they_can_be(items, bins):
    rng = np.random.default_rng(items)
    outcomes = []
    for _ in range(60):
        candidates = random_bins(rng, items, bins)
        table = place(candidates, bins)
        assert (len(table) > 0) == can_be_placed(candidates, bins)
        if len(table):
            assert len(table) == bins
            check(table, candidates)
        outcomes.append(len(table) > 0)
    # Loads at which both happen.
    assert 0 < sum(outcomes) < 60


@pytest.mark.parametrize("items", [0, 1, 2, 3, 10, 1000, 20_000])
def test_with_our_number_of_bins_there_is_always_room(items):
    rng = np.random.default_rng(items)
    bins = number_of_bins(items)
    candidates = random_bins(rng, items, bins)
    check(place(candidates, bins), candidates)


def test_four_items_cannot_share_three_bins():
    assert len(place(np.array([[0, 1, 2]] * 4), 10)) == 0
    check(place(np.array([[0, 1, 2]] * 3), 10), np.array([[0, 1, 2]] * 3))


def test_every_triple_of_bins_is_equally_likely():
    bins = 5
    triples = random_bins(np.random.default_rng(0), 60_000, bins)
    assert triples.min() == 0
    assert triples.max() == bins - 1
    numbers = triples @ [25, 5, 1]
    values, counts = np.unique(numbers, return_counts=True)
    assert len(values) == 60
    assert chisquare(counts).pvalue > 1e-6


@pytest.mark.full
def test_failure_is_rarer_than_two_to_the_minus_forty():
    sizes = [*range(1, 200), *range(200, 3000, 97), 4096, 10_000, 30_000, 100_000]
    worst = max(log2_failure(n, number_of_bins(n)) for n in sizes)
    assert -43 < worst < -40
    # Fewer bins would not do, so the bound says something.
    assert log2_failure(100, 150) > -40
    assert log2_failure(10_000, 11_500) > 0


@pytest.mark.full
@pytest.mark.parametrize(("items", "bins"), [(4, 5), (6, 9), (8, 12)])
def test_the_bound_holds_where_failures_can_be_counted(items, bins):
    rng = np.random.default_rng(bins)
    runs = 20_000
    failures = sum(len(place(random_bins(rng, items, bins), bins)) == 0 for _ in range(runs))
    bound = 2 ** log2_failure(items, bins)
    assert failures > 0
    assert failures / runs < bound + 4 * np.sqrt(bound / runs)
    if items == 4:
        # Four items in the same of ten triples: here the bound is exact.
        assert bound == pytest.approx(10**-3)
        assert failures / runs == pytest.approx(bound, abs=4 * np.sqrt(bound / runs))
