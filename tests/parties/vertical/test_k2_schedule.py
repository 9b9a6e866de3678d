import itertools
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import pytest

from dagora.learners.search.k2 import run_k2
from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.crypto.garbling.half_gates import TWEAKS_PER_AND, evaluate, garble
from dagora.parties.vertical.circuit_plan import CircuitStage, count_ands
from dagora.parties.vertical.counts import counts_from_moments, known_scores, to_bits
from dagora.parties.vertical.k2_schedule import (
    AdaptivePlan,
    HiddenPlan,
    adaptive_plan,
    hidden_plan,
    places_before_removal,
    shift_places,
)
from dagora.parties.vertical.widths import BitWidths
from tests.parties.vertical.central import central_edges, formula_edges, moments_of


def run_plain(stages: Iterable[CircuitStage], memory: np.ndarray) -> None:
    """Run the stages on bits in the clear, in place."""
    for stage in stages:
        memory[stage.outputs] = evaluate_plain(stage.circuit, memory[stage.inputs])


adaptive_cached = lru_cache(maxsize=None)(adaptive_plan)
hidden_cached = lru_cache(maxsize=None)(hidden_plan)


def random_data(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Binary columns that depend on each other, copy each other, are constant, or have nothing to do with any."""
    data = (rng.random((rows, columns)) < rng.random(columns)).astype(np.int64)
    for column in range(1, columns):
        a, b = rng.integers(0, column, 2)
        kind = rng.integers(0, 8)
        if kind < 4:
            noise = rng.random(rows) < rng.choice([0.02, 0.1, 0.3])
            formula = [data[:, a], data[:, a] & data[:, b], data[:, a] ^ data[:, b], data[:, a] | data[:, b]]
            data[:, column] = np.where(noise, data[:, column], formula[kind])
        elif kind == 4:
            data[:, column] = data[:, a] ^ rng.integers(0, 2)
        elif kind == 5:
            data[:, column] = rng.integers(0, 2)
    return data


def split(rng: np.random.Generator, values: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Additive shares modulo 2^bits."""
    mine = rng.integers(0, 1 << bits, values.shape, dtype=np.uint64)
    return mine, (values - mine) & np.uint64((1 << bits) - 1)


def hidden_memory(
    plan: HiddenPlan, widths: BitWidths, data: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    moments = np.array([data[:, list(chosen)].all(axis=1).sum() for chosen in plan.sets], dtype=np.uint64)
    memory = np.full(plan.n_slots, 7, dtype=np.uint8)
    for slots, share in zip(plan.shares, split(rng, moments, widths.bits), strict=True):
        memory[slots] = to_bits(share, widths.bits)
    memory[plan.public] = plan.public_bits
    return memory


def hidden_edges(
    data: np.ndarray, order: Sequence[int], limit: int, score: str = "f"
) -> set[tuple[int, int]]:
    rng = np.random.default_rng(0)
    widths = BitWidths(len(data), limit, score)
    plan = hidden_cached(widths, tuple(order))
    memory = hidden_memory(plan, widths, data, rng)
    run_plain(plan.stages, memory)
    return {edge for edge, mark in zip(plan.edges, memory[plan.marks], strict=True) if mark}


def adaptive_edges(
    data: np.ndarray, order: Sequence[int], limit: int, score: str = "f"
) -> set[tuple[int, int]]:
    """The first half of the columns is one party's: families in it are scored by that party alone."""
    rng = np.random.default_rng(0)
    widths = BitWidths(len(data), limit, score)
    owner = [int(column >= data.shape[1] // 2) for column in range(data.shape[1])]
    own: dict[int, np.ndarray] = {}

    def choose(child: int, parents: Sequence[int], candidates: Sequence[int]) -> int | None:
        alone = [
            k
            for k, candidate in enumerate(candidates)
            if len({owner[v] for v in (child, candidate, *parents)}) == 1
        ]
        plan: AdaptivePlan = adaptive_cached(widths, len(parents), len(candidates), tuple(alone))
        families = [(*parents, candidate, child) for candidate in candidates]
        counts = counts_from_moments(moments_of(data, families), widths.bits)
        memory = np.full(plan.n_slots, 7, dtype=np.uint8)
        joint = np.delete(counts, alone, axis=1)
        for slots, share in zip(plan.shares, split(rng, joint.ravel(), widths.bits), strict=True):
            memory[slots] = to_bits(share, widths.bits)
        if alone:
            memory[plan.known] = to_bits(known_scores(widths, counts[:, alone]), widths.width)
        if not parents:
            start = counts_from_moments(moments_of(data, [[child]]), widths.bits)
            own[child] = to_bits(known_scores(widths, start), widths.width)[:, 0]
        memory[plan.own] = own[child]
        run_plain(plan.stages, memory)
        marks = memory[plan.winner].tolist()
        if not any(marks):
            return None
        winner = marks.index(1)
        assert sum(marks) == 1
        own[child] = memory[plan.scores[:, winner]]
        return candidates[winner]

    found = run_k2(order, limit, choose)
    return {(parent, child) for child, parents in enumerate(found) for parent in parents}


@pytest.mark.full
@pytest.mark.parametrize("rows", [2, 3, 4, 5, 8, 13, 30, 60, 120, 300])
def test_both_modes_learn_what_the_central_search_learns(rows: int) -> None:
    # 120 tables in all, two of each shape and number of rows; small numbers of rows have many ties.
    rng = np.random.default_rng(rows)
    edges = 0
    for trial in range(12):
        columns, limit = [(2, 1), (4, 2), (5, 3), (6, 3), (6, 2), (3, 3)][trial % 6]
        data = random_data(rng, rows, columns)
        order = np.arange(columns)[:: -1 if trial % 2 else 1].tolist()
        expected = central_edges(data, order, limit)
        assert hidden_edges(data, order, limit) == expected
        assert adaptive_edges(data, order, limit) == expected
        edges += len(expected)
    assert edges > 0 or rows < 5


@pytest.mark.full
@pytest.mark.parametrize("rows", [1500, 20_000])
def test_beyond_complete_tables(rows: int) -> None:
    rng = np.random.default_rng(rows)
    for _ in range(6):
        data = random_data(rng, rows, 5)
        order = rng.permutation(5).tolist() if rows > 2000 else list(range(5))
        expected = central_edges(data, order, 3)
        assert adaptive_edges(data, order, 3) == expected
        if rows > 2000:
            continue
        assert hidden_edges(data, order, 3) == expected


@pytest.mark.full
@pytest.mark.parametrize("rows", [4, 25, 150, 1400])
def test_the_score_of_the_paper(rows: int) -> None:
    rng = np.random.default_rng(rows)
    differs = 0
    for _ in range(8):
        data = random_data(rng, rows, 5)
        expected = formula_edges(data, range(5), 2, "g")
        assert hidden_edges(data, range(5), 2, "g") == expected
        assert adaptive_edges(data, range(5), 2, "g") == expected
        differs += expected != formula_edges(data, range(5), 2, "f")
    assert differs > 0


@pytest.mark.full
def test_of_equal_candidates_the_first_in_the_order_wins() -> None:
    rng = np.random.default_rng(5)
    cause = rng.integers(0, 2, 2000)
    effect = cause ^ (rng.random(2000) < 0.1)
    data = np.stack([1 - cause, cause, 1 - cause, effect], axis=1)
    for order in itertools.permutations(range(3)):
        expected = {(order[0], 3), (order[0], order[1]), (order[0], order[2])}
        assert central_edges(data, [*order, 3], 2) == expected
        assert hidden_edges(data, [*order, 3], 2) == expected
        assert adaptive_edges(data, [*order, 3], 2) == expected


def test_a_garbled_plan_reveals_the_same() -> None:
    rng = np.random.default_rng(11)
    data = random_data(rng, 40, 5)
    widths = BitWidths(40, 2)
    plan = hidden_plan(widths, range(5))
    memory = hidden_memory(plan, widths, data, rng)
    filled = memory < 2
    delta = rng.integers(0, 2**63, 2, dtype=np.uint64) | np.array([1, 0], dtype=np.uint64)
    zeros = rng.integers(0, 2**63, (plan.n_slots, 2), dtype=np.uint64)
    labels = np.where(filled[:, None], zeros ^ memory[:, None] * delta, 0)
    tweak = 0
    for stage in plan.stages:
        zeros[stage.outputs], tables = garble(stage.circuit, zeros[stage.inputs], delta, tweak)
        labels[stage.outputs] = evaluate(stage.circuit, labels[stage.inputs], tables, tweak)
        tweak += TWEAKS_PER_AND * stage.n_and
    revealed = (labels[plan.marks] ^ zeros[plan.marks]) == delta
    assert {
        edge for edge, mark in zip(plan.edges, revealed.all(axis=1), strict=True) if mark
    } == central_edges(data, range(5), 2)


@pytest.mark.full
@pytest.mark.parametrize(
    ("rows", "hidden", "adaptive"),
    [(10**5, 19_030_000, 17_900_000), pytest.param(10**6, 22_640_000, 21_400_000, marks=pytest.mark.slow)],
)
def test_ands_of_twenty_variables_do_not_grow(rows: int, hidden: int, adaptive: int) -> None:
    widths = BitWidths(rows, 3)
    assert count_ands(hidden_plan(widths, range(20)).stages) <= hidden
    longest = [
        count_ands(adaptive_plan(widths, chosen, place - chosen).stages)
        for place in range(20)
        for chosen in range(min(3, place))
    ]
    assert sum(longest) <= adaptive


def test_a_plan_writes_each_slot_once_and_before_it_is_read() -> None:
    plan = hidden_plan(BitWidths(50, 3), (3, 1, 0, 2, 4))
    written = np.zeros(plan.n_slots, dtype=np.int64)
    for slots in (*plan.shares, plan.public):
        written[slots] += 1
    for stage in plan.stages:
        assert written[stage.inputs].min() == 1
        written[stage.outputs] += 1
    assert written.max() == 1
    assert written[plan.marks].min() == 1


def test_places_before_a_winner_was_taken_out() -> None:
    left = ["a", "b", "d", "e"]
    before = ["a", "b", "c", "d", "e"]
    assert places_before_removal(((1, 4), (2, 1)), 2, 3) == ((1, 4), (2, 3), (3, 1))
    for places in itertools.combinations(range(4), 2):
        later = sum(place >= 2 for place in places)
        shifted = shift_places(tuple((place, place + 1) for place in places), later)
        assert [before[k] for k, _ in shifted] == [left[k] for k in places]
        assert [level for _, level in shifted] == [place + 1 for place in places]


@pytest.mark.parametrize("order", [(0,), (1, 0)])
def test_tiny_searches(order: tuple[int, ...]) -> None:
    data = np.array([[0, 0], [1, 1]] * 20)[:, : len(order)]
    expected = {(1, 0)} if len(order) == 2 else set()
    assert hidden_edges(data, order, 1) == expected
    assert hidden_edges(data, order, 0) == set()
