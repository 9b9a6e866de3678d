"""Plain forms of kernels: the same answers as compiled ones to the last bit, and when which is used."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.graph.random_graphs import random_dag
from dagora.kernels import decorators
from dagora.kernels.compilation import compilation
from dagora.kernels.decorators import kernel, patient
from dagora.learners.candidates import pruning
from dagora.learners.search import components
from dagora.learners.search.greedy import moves
from dagora.scores import lattice
from dagora.scores.lattice import Cutting, Larger
from dagora.stats import row_labels
from dagora.stats.coded_columns import coded_columns
from dagora.stats.counting import count_along, count_along_plainly, new_prefixes
from dagora.stats.rare_levels import count_around, count_around_plainly, places_aside, rare_levels

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(compilation, "patient", False)


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def test_a_kernel_is_compiled_when_its_plain_form_has_taken_as_long(monkeypatch):
    monkeypatch.setattr(decorators, "can_cache", lambda _: False)  # nothing is kept
    monkeypatch.setattr(compilation, "patient", True)
    asked = []

    def plainly(numbers):
        asked.append(len(numbers))
        return sum(numbers)

    def kernel_here():
        @patient(plainly, lambda numbers: len(numbers) / 10, 0.75)
        @kernel
        def total_of(numbers):
            total = 0
            for number in numbers:
                total += number
            return total

        return total_of

    total_of, few = kernel_here(), np.arange(4)
    assert [total_of(few) for _ in range(3)] == [6, 6, 6]
    assert asked == [4]  # the second call would be too long, and is compiled
    assert not total_of(few[:0])
    monkeypatch.setattr(compilation, "patient", False)
    assert kernel_here()(few) == 6
    assert asked == [4]


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([1, 63, 300]), st.booleans())
def test_counts(seed, rows, many_levels):
    rng = np.random.default_rng(seed)
    levels = rng.integers(1, 400 if many_levels else 5, 6)
    codes = (rng.random((6, rows)) ** 2 * levels[:, None]).astype(np.uint16)
    sets = [rng.permutation(6)[:size] for size in rng.integers(0, 7, 12)]
    sets += [np.array([*sets[-1], 1]), sets[-1]]
    columns = np.concatenate(sets).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in sets])])
    found = []
    for count in (count_along, count_along_plainly):
        out, sizes = np.zeros(rows * len(sets), dtype=np.int64), np.zeros(len(sets), dtype=np.int64)
        data = coded_columns(codes, levels)
        written = count(data, new_prefixes(rows, 8), columns, offsets, out, sizes)
        found.append((written, out, sizes))
    same(*found)
    found = []
    for extend in (row_labels.extend_labels, row_labels.extend_labels_plainly):
        out = np.empty(rows, dtype=np.int32)
        found.append((extend(codes[0].astype(np.int32), levels[0], codes[1], levels[1], out), out))
    same(*found)
    if many_levels:
        return
    triples, rare = rng.integers(0, 6, (9, 3)), rare_levels(codes, levels)
    aside, found = places_aside(rare, triples), []
    for count in (count_around, count_around_plainly):
        out, sizes = np.zeros(9 * rows + 1, dtype=np.int64), np.zeros(9, dtype=np.int64)
        labels = np.zeros((3, rows), dtype=np.uint16)
        work = np.zeros((2, 64), dtype=np.uint32)
        written = count(codes, levels, rare, triples, aside, labels, *work, out, sizes)
        found.append((written, out[:written], sizes))
    same(*found)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 3), st.booleans(), st.sampled_from([12, 2000]))
def test_growing_sets(seed, size, ruled, room):
    rng = np.random.default_rng(seed)
    d = 12
    sets = np.array(sorted({tuple(sorted(rng.permutation(d)[:size])) for _ in range(150)}))
    keys, allowed = lattice.keys_of(sets, d), rng.random(d) < 0.8
    best, entropy = -rng.exponential(6, len(sets)), rng.exponential(9, len(sets))
    levels = rng.integers(2, 4, d).astype(np.float64)
    cutting = Cutting(entropy, levels, 0.3, 1.0, 30.0) if ruled else lattice.NOTHING_CUT
    found = []
    for grow in (lattice.grow_from, lattice.grow_from_plainly):
        larger = Larger(*np.empty((2, room, size + 1), dtype=np.int64), *np.empty((2, room)))
        work = np.empty((3, size + 1), dtype=np.int64)
        count, done = grow(3, len(sets), sets, keys, best, allowed, cutting, larger, work)
        found.append((count, done, *larger.first(count)))
    same(*found)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_keys_sets_and_rules(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 40, 60)
    same(lattice.number_keys(keys), lattice.number_keys_plainly(keys))
    same([lattice.rows_of(keys, 3, 5)], [lattice.rows_of_plainly(keys, 3, 5)])
    parents = np.array([sorted(rng.permutation(8)[:3]) for _ in range(20)])
    children = rng.integers(8, 10, 20)
    same([lattice.family_keys(children, parents, 10)], [lattice.family_keys_plainly(children, parents, 10)])
    same(
        [lattice.family_keys(children % 2, parents + 2, 10)],
        [lattice.family_keys_plainly(children % 2, parents + 2, 10)],
    )
    masks = rng.integers(0, 2**6, (30, 2)).astype(np.uint64) & rng.integers(0, 2**6, (30, 2)).astype(
        np.uint64
    )
    same([components.undominated_by_pairs(masks)], [components.undominated_plainly(masks)])
    arrays = (parents, rng.integers(0, 9, (20, 3)), rng.random(20), rng.random(20), rng.random(9) + 1)
    found = []
    for uncut in (pruning.uncut_by_parents, pruning.uncut_by_parents_plainly):
        rows = np.zeros(20, dtype=np.int64)
        found.append((uncut(*arrays, np.full(8, 3.0), rows), rows))
    same(*found)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 9), st.sampled_from([0.0, 0.3, 2.0]))
def test_moves(seed, d, tolerance):
    rng = np.random.default_rng(seed)
    dag = random_dag("er", d, min(1.5, (d - 1) / 2), seed=seed)
    present = dag.to_numpy().astype(np.bool_)
    order = moves.topological_sort(present)
    same([order], [moves.topological_sort_plainly(present)])
    reach = moves.reachability(present, order)
    same([reach], [moves.reachability_plainly(present, order)])
    tails, heads = np.nonzero(~present & ~reach.T & ~np.eye(d, dtype=np.bool_))
    if len(tails):
        both = reach.copy(), reach.copy()
        moves.extend_reach(both[0], tails[0], heads[0])
        moves.extend_reach_plainly(both[1], tails[0], heads[0])
        same([both[0]], [both[1]])
    additions, deletions = rng.normal(size=(2, d, d)).round(1)
    additions[rng.random((d, d)) < 0.2] = deletions[rng.random((d, d)) < 0.2] = -np.inf
    hashes = [moves.edge_hash(i, j) for i in range(d) for j in range(d)]
    places = np.divmod(np.arange(d * d), d)
    same([np.array(hashes, dtype=np.uint64)], [moves.hashes_of(*places)])
    for tabu in (0, d * d // 2):
        given = additions, deletions, present, reach, tolerance, np.uint64(0), np.array(hashes)[:tabu]
        assert moves.best_move(*given) == moves.best_move_plainly(*given)
