from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.parties.crypto.garbling.circuit import evaluate_plain
from dagora.parties.vertical.counts import from_bits, to_bits
from dagora.parties.vertical.private_k2 import MOST_ROWS
from dagora.parties.vertical.score_circuits import log_factorial_circuit
from dagora.parties.vertical.stirling_tables import slope, table_values
from dagora.parties.vertical.widths import BitWidths
from tests.parties.crypto.integers import signed
from tests.parties.vertical.exact import in_units


def errors(widths: BitWidths, counts: np.ndarray) -> np.ndarray:
    """Nats between the circuit's values, without their c (x + 1), and the exact ones."""
    circuit = log_factorial_circuit(widths)
    words = [  # in pieces: the plain run keeps all wires
        from_bits(evaluate_plain(circuit, to_bits(piece.astype(np.uint64), widths.bits)))
        for piece in np.array_split(counts, len(counts) // 1000 + 1)
    ]
    exact = in_units(counts.tolist(), widths.score, widths.fraction)
    differences = [
        signed(got - slope(widths) * (x + 1) - expected, widths.width)
        for x, got, expected in zip(counts.tolist(), np.concatenate(words).tolist(), exact, strict=True)
    ]
    return np.array(differences) / 2.0**widths.fraction


@pytest.mark.parametrize("score", ["f", "g"])
@pytest.mark.parametrize("rows", [1, 2, 6, 7, 100, 1022, 1023, 3000])
def test_all_counts(rows: int, score: str) -> None:
    widths = BitWidths(rows, 3, score)
    worst = np.abs(errors(widths, np.arange(rows + 2))).max()
    assert worst <= widths.error
    assert widths.complete == (rows <= 1022)


@pytest.mark.full
@pytest.mark.parametrize("rows", [10**5, 10**6, MOST_ROWS])
def test_large_counts(rows: int) -> None:
    widths = BitWidths(rows, 3)
    edges = [2**k + step for k in range(7, widths.bits) for step in range(-2, 3)]
    random = np.random.default_rng(rows).integers(0, rows + 2, 2000)
    digits = 8192 + np.arange(500)  # where the correction's slope is coarsest
    counts = np.unique(np.concatenate([np.arange(1000), digits, edges, random, rows + 1 - np.arange(50)]))
    counts = counts[counts <= rows + 1]
    found = np.abs(errors(widths, counts))
    assert found.max() <= widths.error
    assert (found[counts >= 2] <= 5.2e-11 * np.log(counts[counts >= 2] + 2)).all()


@pytest.mark.full
def test_errors_do_not_lean_one_way() -> None:
    counts = np.random.default_rng(0).integers(1 << 19, 10**6, 4000)
    found = errors(BitWidths(10**6, 3), counts)
    assert abs(found.mean()) < 1e-10


@pytest.mark.parametrize(
    ("rows", "score", "ceiling"),
    [
        (100, "f", 94),
        (1000, "f", 991),
        (5000, "f", 1771),
        (10**5, "f", 2513),
        (10**6, "f", 3005),
        (10**6, "g", 3270),
    ],
)
def test_ands_do_not_grow(rows: int, score: str, ceiling: int) -> None:
    assert log_factorial_circuit(BitWidths(rows, 3, score)).n_and <= ceiling


@pytest.mark.full
def test_values_follow_from_the_bits_of_a_count_alone() -> None:
    # So that a bound for all counts of a width is one for all numbers of rows and limits on parents.
    counts = np.arange(0, 60_000, 97)
    few, many = BitWidths(1 << 16, 1), BitWidths((1 << 17) - 2, 6)
    assert np.array_equal(errors(few, counts), errors(many, counts))
    assert slope(few) == slope(many)


@pytest.mark.full
@pytest.mark.parametrize("rows", [60, 10**6])
def test_equal_rationals_are_equal_to_the_last_bit(rows: int) -> None:
    # Of all sets of three configurations with few rows, in tables: equal as fractions, equal as words.
    table = table_values(BitWidths(rows, 3))
    factorial = [1]
    for x in range(1, 30):
        factorial.append(factorial[-1] * x)
    terms = {
        (a, b): (
            Fraction(factorial[a] * factorial[b], factorial[a + b + 1]),
            table[a] + table[b] - table[a + b + 1],
        )
        for a in range(9)
        for b in range(a + 1)
    }
    words: dict[Fraction, int] = {}
    ties = 0
    for chosen in combinations_with_replacement(terms, 3):
        exact = terms[chosen[0]][0] * terms[chosen[1]][0] * terms[chosen[2]][0]
        word = sum(terms[cell][1] for cell in chosen)
        ties += exact in words
        assert words.setdefault(exact, word) == word
    assert ties > 500
    ordered = [words[exact] for exact in sorted(words)]
    assert all(a < b for a, b in pairwise(ordered))


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(OptionError, match="1 to 2097150 common rows, not 0"):
        BitWidths(0, 3)
    with pytest.raises(OptionError, match="not 2097151: take a sample"):
        BitWidths(MOST_ROWS + 1, 3)
    with pytest.raises(OptionError, match="must be f or g"):
        BitWidths(10, 3, "h")  # type: ignore[arg-type]
