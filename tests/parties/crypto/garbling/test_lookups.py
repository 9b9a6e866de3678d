import random
from fractions import Fraction

import pytest

from dagora.parties.crypto.garbling.lookups import lookup, odd_multiples, one_hot
from dagora.parties.crypto.garbling.words import add, constant
from tests.parties.crypto.integers import build_circuit, run_on, signed


@pytest.mark.parametrize("bits", range(1, 9))
def test_one_hot_costs_what_is_known(bits: int) -> None:
    circuit = build_circuit((bits,), one_hot)
    assert run_on(circuit, (bits,), [(a,) for a in range(2**bits)]) == [1 << a for a in range(2**bits)]
    assert circuit.n_and == 2**bits - bits - 1


@pytest.mark.parametrize("entries", [1, 2, 3, 5, 11, 16, 17, 30, 32])
def test_one_hot_of_fewer_entries(entries: int) -> None:
    circuit = build_circuit((5,), lambda g, a: one_hot(g, a, entries))
    numbers = range(entries)
    assert run_on(circuit, (5,), [(a,) for a in numbers]) == [1 << a for a in numbers]
    assert circuit.n_and <= entries


@pytest.mark.parametrize(("bits", "width"), [(1, 5), (3, 1), (6, 40), (9, 61)])
def test_tables(bits: int, width: int) -> None:
    source = random.Random(bits)
    table = [source.randrange(-(2 ** (width - 1)), 2**width) for _ in range(2**bits)]
    circuit = build_circuit((bits,), lambda g, a: lookup(g, one_hot(g, a), table, width))
    numbers = range(2**bits)
    assert run_on(circuit, (bits,), [(a,) for a in numbers]) == [table[a] % 2**width for a in numbers]
    assert circuit.n_and == 2**bits - bits - 1


def test_constant_tables_are_constants() -> None:
    circuit = build_circuit((3,), lambda g, a: lookup(g, one_hot(g, a), [5] * 8, 4))
    assert run_on(circuit, (3,), [(a,) for a in range(8)]) == [5] * 8


@pytest.mark.parametrize("factor", [Fraction(37, 10), Fraction(-2469, 2)])
@pytest.mark.parametrize("bits", [1, 4, 5, 7, 11])
def test_multiples_of_odd_numbers(bits: int, factor: Fraction) -> None:
    def total(g, a):  # type: ignore[no-untyped-def]
        result = constant(0, 40)
        for word in odd_multiples(g, a, factor, 40):
            result = add(g, result, word)
        return result

    blocks = -(-bits // 5)
    circuit = build_circuit((bits,), total)
    results = run_on(circuit, (bits,), [(b,) for b in range(2**bits)])
    for b, got in enumerate(results):
        assert abs(signed(got, 40) - factor * (2 * b + 1 - 2**bits)) <= 1.5 * blocks
