"""Columns of 2 to 5 levels: counts, scores and both searches against the central ones, in the clear and garbled."""

import time
from collections.abc import Sequence
from math import comb, factorial, log, prod
from typing import Literal

import numpy as np
import pytest

from dagora.base.errors import DataError, DisagreementError
from dagora.data.table import Table
from dagora.learners.search.k2 import run_k2
from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.vertical.agreement import AgreedTerms, TermsProposal, combine_proposals
from dagora.parties.vertical.circuit_plan import count_ands
from dagora.parties.vertical.columns import indicator_columns, indicators, number_of_sets
from dagora.parties.vertical.costs import (
    MORE_KEY_BYTES,
    adaptive_gates,
    bound_costs,
    check_gates,
    count_gates,
    hidden_gates,
    sum_gates,
    widths_for,
)
from dagora.parties.vertical.counts import (
    counts_from_moments,
    from_bits,
    known_scores,
    score_circuit,
    to_bits,
)
from dagora.parties.vertical.k2_schedule import adaptive_plan, hidden_plan
from dagora.parties.vertical.private_k2 import PartyData
from dagora.parties.vertical.score_circuits import family_counts, step
from dagora.parties.vertical.widths import BitWidths, most_rows
from tests.parties.crypto.integers import run_on
from tests.parties.pairs import deal_seeds, traffic, wires
from tests.parties.vertical.leveled import (
    central_edges,
    leveled_data,
    leveled_owners,
    leveled_table,
    random_levels,
)
from tests.parties.vertical.owners import LONG, edges, errors, learn, pair, written
from tests.parties.vertical.test_counts import in_nats
from tests.parties.vertical.test_k2_schedule import run_plain, split


def moments_of(data: np.ndarray, levels: Sequence[int], family: Sequence[int]) -> list[int]:
    """Moments of a family by counting rows."""
    found = []
    for word in range(prod(levels[member] for member in family)):
        rows = np.ones(len(data), dtype=bool)
        rest = word
        for member in family:
            rest, level = divmod(rest, levels[member])
            rows &= (data[:, member] == level) | (level == 0)
        found.append(int(rows.sum()))
    return found


def counts_of(data: np.ndarray, levels: Sequence[int], family: Sequence[int]) -> list[int]:
    """Counts of a family by counting rows, then the sums of configurations plus r − 1."""
    strides = np.cumprod([1, *(levels[member] for member in family)])
    cells = np.bincount((data[:, list(family)] * strides[:-1]).sum(axis=1), minlength=strides[-1])
    return [*cells, *(cells.reshape(levels[family[-1]], -1).sum(axis=0) + levels[family[-1]] - 1)]


@pytest.mark.parametrize("family", [(0,), (1, 0), (2, 3, 1), (0, 1, 2, 3)])
def test_counts_are_those_of_the_rows(family: tuple[int, ...]) -> None:
    levels = (2, 3, 5, 4)
    data = leveled_data(np.random.default_rng(1), 90, levels)
    moments = np.array([moments_of(data, levels, family)], dtype=np.uint64).T
    of_family = tuple(levels[member] for member in family)
    expected = counts_of(data, levels, family)
    assert counts_from_moments(moments, 7, of_family)[:, 0].tolist() == expected
    inputs = to_bits(moments, 7).swapaxes(0, 1).reshape(-1, 1)
    words = evaluate_plain(family_counts(7, of_family), inputs).reshape(-1, 7).T
    assert from_bits(words).tolist() == expected


def exact_score(cells: np.ndarray) -> float:
    """K2's score of counts[level of the child, configuration], by its formula, in whole numbers."""
    total, levels = 0.0, len(cells)
    for column in cells.T.tolist():
        n = sum(column)
        total -= log(comb(n + levels - 1, levels - 1)) + log(
            factorial(n) // prod(factorial(count) for count in column)
        )
    return total


@pytest.mark.parametrize("rows", [7, 800, 3000])
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_scores_are_those_of_the_formula(rows: int, levels: int) -> None:
    rng = np.random.default_rng(rows + levels)
    widths = BitWidths(rows, 2, levels=5)
    for configurations in (1, 6):
        spread = [
            rng.dirichlet(np.full(levels * configurations, c)) for c in (0.05, 0.5, 5) for _ in range(4)
        ]
        cells = np.array([rng.multinomial(rows, share).reshape(levels, -1) for share in spread])
        sums = cells.sum(axis=1, keepdims=True) + levels - 1
        words = np.concatenate([cells, sums], axis=1).reshape(len(cells), -1).T.astype(np.uint64)
        got = in_nats(widths, known_scores(widths, words, levels))
        exact = [exact_score(each) for each in cells]
        assert np.abs(got - exact).max() <= (levels + 1) * configurations * widths.error + 1e-12 * rows


@pytest.mark.parametrize("rows", [100, 5000])
def test_a_configuration_without_rows_adds_nothing(rows: int) -> None:
    widths = BitWidths(rows, 2, levels=4)
    for levels in (3, 4):
        empty = np.array([[0]] * levels + [[levels - 1]], dtype=np.uint64)
        assert known_scores(widths, empty, levels).tolist() == [0]


@pytest.mark.full
def test_scores_that_are_equal_as_rational_numbers_are_ties() -> None:
    # One row of three levels in n: C(n + 2, 2) n; in a configuration of its own beside n − 1: 3 C(n + 1, 2).
    for rows in (5, 900, 1500, most_rows(3)):
        widths = BitWidths(rows, 1, levels=3)
        one = np.array([[rows - 1, 1, 0, rows + 2]], dtype=np.uint64).T
        other = np.array([[0, rows - 1, 1, rows + 2]], dtype=np.uint64).T
        a, b = (known_scores(widths, words, 3)[0] for words in (one, other))
        assert run_on(step(widths.width, 1), [widths.width] * 2, [[int(a), int(b)], [int(b), int(a)]]) == [
            0,
            0,
        ]
        better = np.array([[rows, 0, 0, rows + 2]], dtype=np.uint64).T
        c = known_scores(widths, better, 3)[0]
        assert run_on(step(widths.width, 1), [widths.width] * 2, [[int(c), int(b)]]) == [1]


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_the_largest_score_fits_into_its_word(levels: int) -> None:
    for rows in (3, 60, 1022 - levels, 4000, most_rows(levels)):
        for limit in (1, 3):
            widths = BitWidths(rows, limit, levels=levels)
            assert widths.width <= 64
            configurations = min(levels**limit, rows)
            share = rows // configurations
            cells = np.full((levels, configurations), share // levels)
            cells[0] += share - levels * (share // levels)
            if rows < 10_000:
                assert -exact_score(cells) < 2.0 ** (widths.width - 2 - widths.fraction)


def hidden_edges(
    data: np.ndarray, levels: Sequence[int], order: Sequence[int], limit: int
) -> set[tuple[int, int]]:
    widths = BitWidths(len(data), limit, levels=max(levels))
    plan = hidden_plan(widths, order, levels)
    columns = indicator_columns(leveled_table(data, levels))
    moments = np.array([columns[list(chosen)].all(axis=0).sum() for chosen in plan.sets], dtype=np.uint64)
    memory = np.full(plan.n_slots, 7, dtype=np.uint8)
    for slots, share in zip(plan.shares, split(np.random.default_rng(0), moments, widths.bits), strict=True):
        memory[slots] = to_bits(share, widths.bits)
    memory[plan.public] = plan.public_bits
    run_plain(plan.stages, memory)
    return {edge for edge, mark in zip(plan.edges, memory[plan.marks], strict=True) if mark}


def adaptive_edges(
    data: np.ndarray, levels: Sequence[int], order: Sequence[int], limit: int
) -> set[tuple[int, int]]:
    """All families are scored by the circuits, but those with the first variable."""
    widths = BitWidths(len(data), limit, levels=max(levels))
    rng = np.random.default_rng(0)
    own: dict[int, np.ndarray] = {}

    def score(family: Sequence[int]) -> np.ndarray:
        words = np.array([counts_of(data, levels, family)], dtype=np.uint64).T
        return to_bits(known_scores(widths, words, levels[family[-1]]), widths.width)

    def choose(child: int, parents: Sequence[int], candidates: Sequence[int]) -> int | None:
        alone = [k for k, other in enumerate(candidates) if other == 0]
        families = [(*parents, other, child) for other in candidates]
        of_all = [levels[v] for v in (*parents, *candidates, child)]
        plan = adaptive_plan(widths, len(parents), len(candidates), alone, of_all)
        words = [
            np.array([counts_of(data, levels, families[k]) for k in group]).T.ravel() for group in plan.groups
        ]
        joint = np.concatenate([np.empty(0), *words]).astype(np.uint64)
        memory = np.full(plan.n_slots, 7, dtype=np.uint8)
        for slots, share in zip(plan.shares, split(rng, joint, widths.bits), strict=True):
            memory[slots] = to_bits(share, widths.bits)
        for place, k in enumerate(alone):
            memory[plan.known[:, place]] = score(families[k])[:, 0]
        memory[plan.own] = own.setdefault(child, score((child,))[:, 0])
        run_plain(plan.stages, memory)
        marks = memory[plan.winner].tolist()
        if not any(marks):
            return None
        own[child] = memory[plan.scores[:, marks.index(1)]]
        return candidates[marks.index(1)]

    found = run_k2(order, limit, choose)
    return {(parent, child) for child, parents in enumerate(found) for parent in parents}


@pytest.mark.full
@pytest.mark.parametrize("rows", [4, 90, 400])
def test_both_plans_learn_what_the_central_search_learns(rows: int) -> None:
    rng = np.random.default_rng(rows)
    found = several = 0
    for trial in range(5):
        columns, limit = [(2, 1), (5, 2), (4, 3), (4, 2), (5, 2)][trial]
        levels = random_levels(rng, columns, 5 if trial < 2 else 3)
        data = leveled_data(rng, rows, levels)
        order = rng.permutation(columns).tolist()
        expected = central_edges(data, levels, order, limit)
        assert hidden_edges(data, levels, order, limit) == expected
        assert adaptive_edges(data, levels, order, limit) == expected
        found += len(expected)
        several += len(expected) > len({child for _, child in expected})
    assert found > 0 or rows < 10
    assert several > 0 or rows < 100


def terms_of(levels: Sequence[int], limit: int, mode: str = "hidden", crypto: str = "rlwe") -> AgreedTerms:
    names = tuple(f"x{k}" for k in range(len(levels)))
    order = tuple(np.random.default_rng(len(levels)).permutation(len(levels)).tolist())
    return AgreedTerms(names[:1], names[1:], order, limit, "f", mode, crypto, tuple(levels))


@pytest.mark.parametrize(
    ("levels", "limit"),
    [
        ((2, 2, 2, 2), 2),
        *[
            pytest.param(*case, marks=pytest.mark.full)
            for case in (((2, 2, 2, 2, 2), 3), ((3, 2, 5, 4), 3), ((3, 4, 2, 2, 3), 2), ((4, 3), 1))
        ],
    ],
)
def test_the_stated_gates_are_those_of_the_plan(levels: tuple[int, ...], limit: int) -> None:
    terms = terms_of(levels, limit)
    widths = widths_for(terms, 60)
    plan = hidden_plan(widths, terms.order, levels)
    assert hidden_gates(widths, terms) == (count_ands(plan.stages), len(plan.sets))
    assert len(plan.sets) == terms.n_moments == number_of_sets(levels, limit + 1)


@pytest.mark.full
@pytest.mark.parametrize("mode", ["hidden", "adaptive"])
def test_the_costs_of_a_run_are_at_most_those_stated(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deal_seeds(monkeypatch)
    levels = (3, 2, 4, 3)
    data = leveled_data(np.random.default_rng(5), 300, levels)
    host, _ = learn(pair(), leveled_owners(data, levels, 2, extra=0), TermsProposal(max_parents=2, mode=mode))
    stated = bound_costs(host.terms, len(data))
    stats = host.outcome.stats
    spent = sum(value for key, value in stats.items() if "_bytes_" in key)
    assert stats["ands"] <= stated.gates
    assert spent <= stated.size
    assert stated.size <= 1.1 * spent or mode == "adaptive"
    if mode == "hidden":
        assert stats["ands"] == stated.gates
        monkeypatch.setattr("dagora.parties.vertical.costs.MOST_GATES", 1000)
        with pytest.raises(DisagreementError, match="billion AND gates"):
            check_gates(host.terms, len(data))
    else:
        assert adaptive_gates(widths_for(host.terms, 300), host.terms)[0] == stated.gates


@pytest.mark.parametrize("own", [0, 1])
def test_who_has_few_keys_states_what_more_keys_of_the_other_cost(
    own: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    deal_seeds(monkeypatch)
    holdings = leveled_owners(np.array([[0, 0], [1, 1]] * 8), (2, 2), 1, extra=0)
    few = holdings[own].table.n_rows
    codes = np.arange(3000)[:, None] % 2
    name = holdings[1 - own].table.names[0]
    keys = [f"row-{k}" for k in range(3000)]
    holdings[1 - own] = PartyData(Table.from_numpy(codes, names=[name], discrete=[name]), keys)
    host, _ = learn(pair(), holdings, TermsProposal(max_parents=1))
    spent = sum(value for key, value in host.outcome.stats.items() if "_bytes_" in key)
    each = MORE_KEY_BYTES["guest" if own else "host"]
    stated = bound_costs(host.terms, few).size
    assert stated < spent <= stated + each * (3000 - few) < 1.4 * spent


@pytest.mark.parametrize("levels", [(2, 2, 3), (5, 2, 3, 3), (4, 5), (2,), (3,)])
@pytest.mark.parametrize("score", ["f", "g"])
def test_gates_by_formulas_are_those_of_the_circuits(
    levels: tuple[int, ...], score: Literal["f", "g"]
) -> None:
    for rows in (7, 60, 5000):
        widths = BitWidths(rows, 3, score, 5 if score == "f" else 2)
        assert count_gates(widths, levels) == family_counts(widths.bits, levels).n_and
        own, configurations = (levels[-1] if score == "f" else 2), prod(levels[:-1])
        circuit = score_circuit(widths, configurations * (own + 1), own)
        assert sum_gates(widths, configurations, own) == circuit.n_and


@pytest.mark.full
def test_tables_of_too_many_cells_are_refused_and_large_ones_are_stated_at_once() -> None:
    def combine(limit: int) -> AgreedTerms:
        proposal = TermsProposal(max_parents=limit, parameters="open")
        return combine_proposals(("a", "b", "c"), ("d", "e", "f"), proposal, proposal, (5,) * 6)

    with pytest.raises(DisagreementError, match="6 columns could have a table of 15625 cells, at most 4096"):
        combine(5)
    started = time.process_time()
    assert bound_costs(combine(4), 1000).gates > 1e6
    assert time.process_time() - started < 5


@pytest.mark.full
def test_the_design_s_gates_of_three_levels() -> None:
    terms = terms_of((3,) * 12, 2)
    assert 5.0e6 < bound_costs(terms, 10_000).gates < 5.8e6
    assert bound_costs(terms_of((2,) * 12, 3), 10_000).gates < 4.5e6
    assert "million AND gates and" in bound_costs(terms, 10_000).describe()


@pytest.mark.full
@pytest.mark.parametrize("mode", ["hidden", "adaptive"])
def test_sessions_of_random_tables(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deal_seeds(monkeypatch)
    rng = np.random.default_rng(len(mode))
    found = 0
    for rows in (3, 40, 130):
        columns = int(rng.integers(3, 5))
        levels = random_levels(rng, columns)
        n_host, limit = int(rng.integers(1, columns)), int(rng.integers(1, 3))
        data = leveled_data(rng, rows, levels)
        order = rng.permutation(columns).tolist()
        proposal = TermsProposal(order=written(order), max_parents=limit, mode=mode)
        host, guest = learn(pair(), leveled_owners(data, levels, n_host), proposal)
        assert edges(host) == edges(guest) == central_edges(data, levels, order, limit)
        assert host.terms.levels == levels
        found += len(edges(host))
    assert found > 0


def test_over_every_network_with_real_transfers(network: object) -> None:
    levels = (3, 2, 4)
    data = leveled_data(np.random.default_rng(8), 60, levels)
    parties = wires(network.open("host", "b", timeout=LONG))  # type: ignore[attr-defined]
    host, guest = learn(parties, leveled_owners(data, levels, 2), TermsProposal(max_parents=2))
    assert edges(host) == edges(guest) == central_edges(data, levels, range(3), 2)


@pytest.mark.usefixtures("dealt")
def test_messages_have_the_same_sizes_whatever_the_levels_of_the_rows() -> None:
    levels, seen = (3, 2, 4), []
    for kind in range(3):
        data = np.full((40, 3), kind // 2) if kind else leveled_data(np.random.default_rng(2), 40, levels)
        parties = pair()
        learn(parties, leveled_owners(data, levels, 1), TermsProposal(max_parents=2))
        seen.append([traffic(wire) for wire in parties])
    assert seen[0] == seen[1] == seen[2]


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    deal_seeds(monkeypatch)


@pytest.mark.usefixtures("dealt")
def test_no_name_of_a_level_is_on_the_wire() -> None:
    levels = (3, 2, 4)
    data = leveled_data(np.random.default_rng(3), 40, levels)
    parties = pair()
    learn(parties, leveled_owners(data, levels, 1), TermsProposal(max_parents=1))
    assert not any(b"level " in bytes(payload) for wire in parties for _, _, payload in wire.sent)


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("faulty", [0, 1])
@pytest.mark.parametrize(("count", "line"), [(1, "has 1 level,"), (6, "has 6 levels, but private K2 takes")])
def test_a_column_that_cannot_be_used_ends_both_before_a_word_of_rows(
    faulty: int, count: int, line: str
) -> None:
    levels = (3, 3)
    holdings = leveled_owners(leveled_data(np.random.default_rng(4), 30, levels), levels, 1)
    keys = holdings[faulty].keys
    codes = (np.arange(len(keys)) % count)[:, None]
    table = Table.from_numpy(codes, names=["bad"], discrete=["bad"])
    holdings[faulty] = PartyData(table, keys)
    parties = pair()
    ended = errors(parties, holdings, TermsProposal())
    assert isinstance(ended[faulty], DataError)
    assert line in str(ended[faulty])
    assert "its own data or options were refused" in str(ended[1 - faulty])
    assert {tag for wire in parties for _, tag, _ in wire.sent} <= {"agreement/wishes"}


@pytest.mark.usefixtures("dealt")
def test_fewer_common_keys_than_a_party_wants_end_both_with_the_same_line() -> None:
    levels = (3, 3)
    holdings = leveled_owners(leveled_data(np.random.default_rng(4), 30, levels), levels, 1)
    parties = pair()
    for error in errors(parties, holdings, TermsProposal(), TermsProposal(min_rows=31)):
        assert "the two parties have 30 keys in common: at least 31 are needed" in str(error)
    assert not any("dot" in tag or "yao" in tag for wire in parties for _, tag, _ in wire.sent)


def test_numbers_of_indicators() -> None:
    assert [list(some) for some in indicators((2, 3, 2, 5))] == [[0], [1, 2], [3], [4, 5, 6, 7]]
