import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.parties.crypto.garbling import words
from dagora.parties.crypto.garbling.builder import Bit, Builder, Word
from tests.parties.crypto.integers import Outputs, build_circuit, run_on, signed

Reference = Callable[[int, int, int], int]


def bit_of(bit: Bit) -> Word:
    return [bit]


# name: circuit of two words of k bits, the same on integers, ANDs for k bits
BINARY: dict[str, tuple[Callable[[Builder, Word, Word], Outputs], Reference, Callable[[int], int]]] = {
    "add": (words.add, lambda a, b, k: (a + b) % 2**k, lambda k: k - 1),
    "subtract": (words.subtract, lambda a, b, k: (a - b) % 2**k, lambda k: k - 1),
    "less": (lambda g, a, b: bit_of(words.less(g, a, b)), lambda a, b, _: a < b, lambda k: k),
    "signed less": (
        lambda g, a, b: bit_of(words.less(g, a, b, signed=True)),
        lambda a, b, k: signed(a, k) < signed(b, k),
        lambda k: k,
    ),
    "mux": (lambda g, a, b: words.mux(g, a[0], a, b), lambda a, b, _: a if a & 1 else b, lambda k: k),
    "multiply": (words.multiply, lambda a, b, _: a * b, lambda k: 2 * k * k - k),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_two_words_exhaustively(name: str, width: int) -> None:
    function, reference, ands = BINARY[name]
    circuit = build_circuit((width, width), function)
    pairs = list(itertools.product(range(2**width), repeat=2))
    assert run_on(circuit, (width, width), pairs) == [reference(a, b, width) for a, b in pairs]
    assert circuit.n_and <= ands(width)


@pytest.mark.parametrize("name", BINARY)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_two_wide_words(name: str, data: st.DataObject) -> None:
    function, reference, ands = BINARY[name]
    width = data.draw(st.sampled_from([17, 40, 64]))
    circuit = build_circuit((width, width), function)
    number = st.integers(0, 2**width - 1)
    pairs = data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=20))
    pairs += [(a, a) for a, _ in pairs]
    assert run_on(circuit, (width, width), pairs) == [reference(a, b, width) for a, b in pairs]
    assert circuit.n_and <= ands(width)


def test_carry_in_and_out() -> None:
    circuit = build_circuit(
        (3, 3, 1), lambda g, a, b, c: [*(r := words.add_with_carry(g, a, b, c[0]))[0], r[1]]
    )
    triples = list(itertools.product(range(8), range(8), range(2)))
    assert run_on(circuit, (3, 3, 1), triples) == [a + b + c for a, b, c in triples]


@given(st.integers(0, 1000), st.lists(st.integers(0, 2**12 - 1), min_size=1, max_size=10))
@settings(max_examples=30, deadline=None)
def test_products_with_constants(factor: int, numbers: list[int]) -> None:
    places = max(factor.bit_length(), 1)
    for order in (1, -1):
        circuit = build_circuit(
            (12,), lambda g, a, order=order: words.multiply(g, *[a, words.constant(factor, places)][::order])
        )
        assert run_on(circuit, (12,), [(a,) for a in numbers]) == [a * factor for a in numbers]
        assert circuit.n_and <= 12 * max(factor.bit_count() - 1, 0)


@pytest.mark.parametrize("digits", [1, 2, 5])
def test_products_with_signed_digits(digits: int) -> None:
    width = 7
    circuit = build_circuit((width, digits), words.times_digits)
    plain = build_circuit((width, digits), lambda g, a, b: words.times_digits(g, a, b, from_minus_one=True))
    pairs = list(itertools.product(range(-(2 ** (width - 1)) + 1, 2 ** (width - 1)), range(2**digits)))
    scale = 2**digits
    for (a, b), got in zip(pairs, run_on(circuit, (width, digits), pairs), strict=True):
        assert -2 <= signed(got, width) - a * (2 * b + 1 - scale) / scale <= 1
    for (a, b), got in zip(pairs, run_on(plain, (width, digits), pairs), strict=True):
        assert -2 <= signed(got, width) - a * (2 * b - scale) / scale <= 1
    assert circuit.n_and <= (digits - 1) * width


@pytest.mark.parametrize("arithmetic", [False, True])
def test_shifts(arithmetic: bool) -> None:
    circuit = build_circuit((6, 3), lambda g, a, by: words.shift_right(g, a, by, signed=arithmetic))
    pairs = list(itertools.product(range(64), range(8)))
    expected = [((signed(a, 6) if arithmetic else a) >> by) % 64 for a, by in pairs]
    assert run_on(circuit, (6, 3), pairs) == expected


@pytest.mark.parametrize("places", [1, 2, 3, 4])
def test_normalisation(places: int) -> None:
    circuit = build_circuit((9,), lambda g, a: [*(r := words.normalise(g, a, places))[0], *r[1]])
    numbers = range(1, 512)
    expected = []
    for a in numbers:
        by = min(9 - a.bit_length(), 2**places - 1)
        expected.append((a << by) | by << 9)
    assert run_on(circuit, (9,), [(a,) for a in numbers]) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@given(st.data())
@settings(max_examples=10, deadline=None)
def test_maximum_is_the_earliest(count: int, data: st.DataObject) -> None:
    width, places = 4, (count - 1).bit_length()
    circuit = build_circuit((width,) * count, lambda g, *values: [*(r := words.maximum(g, values))[0], *r[1]])
    tuples = data.draw(st.lists(st.tuples(*[st.integers(-8, 7)] * count), min_size=1, max_size=50))
    expected = [(max(values) % 16) | values.index(max(values)) << width for values in tuples]
    assert run_on(circuit, (width,) * count, tuples) == expected
    assert circuit.n_and <= (count - 1) * (2 * width + places)


def test_first_set() -> None:
    circuit = build_circuit((5,), words.first_set)
    assert run_on(circuit, (5,), [(a,) for a in range(32)]) == [a & -a for a in range(32)]
    assert circuit.n_and == 4
