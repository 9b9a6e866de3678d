"""Scores that are equal as rational numbers, and scores that nearly are: the circuits in the clear."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from dagora.parties.vertical.counts import known_scores
from dagora.parties.vertical.private_k2 import MOST_ROWS
from dagora.parties.vertical.score_circuits import step
from dagora.parties.vertical.widths import BitWidths
from dagora.scores.local_score import TIE
from tests.parties.crypto.integers import run_on
from tests.parties.vertical.exact import log_ratio, whole_number, words_of

Cells = list[tuple[int, int]]
NONE, FIRST, SECOND = 0, 1, 2


def scores(widths: BitWidths, families: Sequence[Cells]) -> list[int]:
    return known_scores(widths, words_of(families)).tolist()


def by_width(lowest: int, highest: int) -> Iterator[tuple[BitWidths, range]]:
    """The circuits that tables with so many rows need, each with its own numbers of rows."""
    for bits in range((lowest + 1).bit_length(), (highest + 1).bit_length() + 1):
        rows = range(max(lowest, (1 << (bits - 1)) - 1), min(highest, (1 << bits) - 2) + 1)
        yield BitWidths(rows[-1], 3), rows


@pytest.mark.full
def test_a_single_one_among_a_square_less_one() -> None:
    # One row of n has the child; a rows have the parent, that row among them: (n + 1) n = (a + 1) a (n − a + 1)
    # where n = a² − 1.
    seen = 0
    for widths, rows in by_width(1023, MOST_ROWS):
        sizes = [a for a in range(32, 1449) if a * a - 1 in rows]
        alone: list[Cells] = [[(a * a - 2, 1)] for a in sizes]
        split: list[Cells] = [[(a * a - 1 - a, 0), (a - 1, 1)] for a in sizes]
        assert all(whole_number(x) == whole_number(y) for x, y in zip(alone, split, strict=True))
        pairs = list(zip(scores(widths, split), scores(widths, alone), strict=True))
        assert run_on(step(widths.width, 1), [widths.width] * 2, pairs) == [NONE] * len(sizes)
        # With one row less the parent is worth more, by about 2/a: a true gain.
        gain: list[Cells] = [[(a * a - a, 0), (a - 2, 1)] for a in sizes]
        assert all(whole_number(x) < whole_number(y) for x, y in zip(gain, alone, strict=True))
        pairs = [(after, before) for after, (_, before) in zip(scores(widths, gain), pairs, strict=True)]
        assert run_on(step(widths.width, 1), [widths.width] * 2, pairs) == [FIRST] * len(sizes)
        seen += len(sizes)
    assert seen == 1417


def winners(widths: BitWidths, pairs: Sequence[tuple[Cells, Cells]]) -> list[tuple[int, int]]:
    """Who wins of two candidates, in either order, against a score that both beat."""
    a, b = (scores(widths, [pair[side] for pair in pairs]) for side in (0, 1))
    low = -(1 << (widths.width - 3))
    circuit, input_widths = step(widths.width, 2), [widths.width] * 3
    return list(
        zip(
            run_on(circuit, input_widths, [[x, y, low] for x, y in zip(a, b, strict=True)]),
            run_on(circuit, input_widths, [[y, x, low] for x, y in zip(a, b, strict=True)]),
            strict=True,
        )
    )


def one_in(size: int, rows: int) -> Cells:
    """A parent with some ones, the child a single one inside of them."""
    return [(rows - size, 0), (size - 1, 1)]


@pytest.mark.full
def test_two_parents_that_are_equal_as_rational_numbers() -> None:
    # a (a + 1) (n − a + 1) is the same for a and b where n (a + b + 1) = a² + ab + b² − 1, which needs that
    # a + b + 1 divides a (a + 1).
    rng = np.random.default_rng(0)
    found: dict[int, tuple[Cells, Cells]] = {}
    for a in np.unique(rng.integers(40, 1_400_000, 3000)).tolist():
        for total in divisors_between(a * (a + 1), 2 * a + 2, MOST_ROWS):
            b = total - a - 1
            top = a * a + a * b + b * b - 1
            rows, rest = divmod(top, total)
            if rest == 0 and b > a and max(a, b, 1023) <= rows <= MOST_ROWS:
                found[rows] = one_in(a, rows), one_in(b, rows)
    assert len(found) > 150
    assert max(found) > 1_000_000
    for widths, rows in by_width(1023, MOST_ROWS):
        pairs = [pair for n, pair in found.items() if n in rows]
        assert all(whole_number(x) == whole_number(y) for x, y in pairs)
        if pairs:
            assert winners(widths, pairs) == [(FIRST, FIRST)] * len(pairs)


def divisors_between(number: int, low: int, high: int) -> list[int]:
    """Divisors of a product of two neighbours, from its small ones."""
    small = [d for d in range(1, 2000) if number % d == 0]
    return sorted({d for s in small for d in (s, number // s) if low <= d <= high})


@pytest.mark.full
@pytest.mark.parametrize("rows", [1_000_000, MOST_ROWS])
def test_near_ties_on_either_side_of_the_tolerance(rows: int) -> None:
    rng = np.random.default_rng(rows)
    below, above = [], []
    for a in np.unique(rng.integers(rows // 100, rows // 2, 4000)).tolist():
        # The other root of a (a + 1) (n − a + 1) = const, to the nearest whole number.
        sum_of_roots = ((rows - a) + np.sqrt((rows - a) ** 2 + 4.0 * a * (rows - a))) / 2
        for b in (int(sum_of_roots), int(sum_of_roots) + 1):
            better, worse = sorted((one_in(a, rows), one_in(b, rows)), key=whole_number)
            size = log_ratio(whole_number(better), 1)
            difference = log_ratio(whole_number(worse), whole_number(better)) / (TIE * size)
            if difference < 0.7:
                below.append((better, worse))
            elif 1.3 < difference < 4.0:
                above.append((better, worse))
    assert len(below) > 15
    assert len(above) > 15
    widths = BitWidths(rows, 3)
    assert winners(widths, below) == [(FIRST, FIRST)] * len(below)
    assert winners(widths, above) == [(FIRST, SECOND)] * len(above)
