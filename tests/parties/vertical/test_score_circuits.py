import itertools

import numpy as np
import pytest

from dagora.parties.vertical.score_circuits import (
    chain,
    family_score,
    insertion,
    removal,
    selection,
    share_sum,
    step,
    union,
)
from dagora.scores.local_score import TIE
from tests.parties.crypto.integers import run_on, signed

WIDTH = 56


def central_step(values: list[int], own: int) -> int | None:
    """The rule of the central search."""
    best = max(values)
    if not best > own + TIE * abs(own):
        return None
    return next(k for k, value in enumerate(values) if value >= best - TIE * abs(best))


@pytest.mark.parametrize("candidates", [1, 2, 3, 7])
def test_step_is_that_of_the_central_search(candidates: int) -> None:
    rng = np.random.default_rng(candidates)
    cases = []
    for scale in (2**20, 2**34, 2**44, 2**53):
        for _ in range(60):
            # Many values near each other: inside the tolerance, outside of it, equal.
            centre = -int(rng.integers(scale // 2, scale)) * int(rng.choice([1, 1, 1, -1]))
            near = [0, 1, -1, int(0.97 * TIE * scale / 2), int(2.1 * TIE * scale), scale // 7, -scale // 9]
            values = [centre + int(rng.choice(near)) for _ in range(candidates + 1)]
            cases.append(values)
    expected = [central_step(values[:-1], values[-1]) for values in cases]
    tolerable = [  # not within 2 units or 1e-5 of the tolerance itself, where rounding decides
        all(
            abs(abs(a - b) - TIE * abs(c)) > 2 + 1e-5 * TIE * abs(c)
            for a, b in itertools.combinations(values, 2)
            for c in (a, b)
        )
        for values in cases
    ]
    widths = [WIDTH] * (candidates + 1)
    opened = run_on(step(WIDTH, candidates), widths, cases)
    for alive in (0, 1):
        secret = run_on(step(WIDTH, candidates, secret=True), [*widths, 1], [[*c, alive] for c in cases])
        for values, winner, sure, plain, hidden in zip(
            cases, expected, tolerable, opened, secret, strict=True
        ):
            if not sure:
                continue
            marks = 0 if winner is None else 1 << winner
            assert plain == marks
            going = marks if alive else 0
            after = values[winner] if going and winner is not None else values[-1]
            assert hidden & ((1 << candidates) - 1) == going
            assert hidden >> candidates & 1 == (going > 0)
            assert signed(hidden >> (candidates + 1), WIDTH) == after
    assert sum(tolerable) > 60
    assert len(set(expected)) == candidates + 1
    assert step(WIDTH, candidates).n_and <= candidates * (3 * WIDTH + 2) + 12 * WIDTH


def test_step_prefers_the_first_of_equals() -> None:
    values = [-900, -500, -500, -400, -400, -700]
    assert run_on(step(WIDTH, 5), [WIDTH] * 6, [values]) == [1 << 3]
    assert run_on(step(WIDTH, 5), [WIDTH] * 6, [[*values[:5], -400]]) == [0]


def test_family_score_adds_and_subtracts() -> None:
    rng = np.random.default_rng(0)
    for parents in range(4):
        words = rng.integers(-(2**20), 2**20, (5, 3 << parents)).tolist()
        got = run_on(family_score(30, 1 << parents), [30] * (3 << parents), words)
        split = 2 << parents
        assert [signed(v, 30) for v in got] == [sum(w[:split]) - sum(w[split:]) for w in words]
        assert family_score(30, 1 << parents).n_and == 29 * ((3 << parents) - 1)


def test_sum_of_shares() -> None:
    pairs = [(a, (12 - a) % 16) for a in range(16)]
    assert run_on(share_sum(4), [4, 4], pairs) == [12] * 16
    assert share_sum(20).n_and == 19


def test_selection_and_chain() -> None:
    words = [3, 9, 12]
    for place in range(3):
        assert run_on(selection(4, 3), [3, 4, 4, 4], [[1 << place, *words]]) == [words[place]]
    assert run_on(selection(4, 3), [3, 4, 4, 4], [[0, *words]]) == [0]
    assert selection(4, 3).n_and == 12
    # Flags rise with the place, so the last is set first.
    for flags, expected in ((0b00, 3), (0b10, 9), (0b11, 12)):
        assert run_on(chain(4, 2), [2, 4, 4, 4], [[flags, *words]]) == [expected]


@pytest.mark.parametrize("places", [2, 3, 6])
def test_insertion_undoes_removal(places: int) -> None:
    for winner, mark in itertools.product(range(places), range(places - 1)):
        (flags,) = run_on(removal(places), [places], [[1 << winner]])
        before = mark + (mark >= winner)
        assert run_on(insertion(places), [places - 1, places - 1], [[1 << mark, flags]]) == [1 << before]
        assert run_on(union(places), [places, places], [[1 << before, 1 << winner]]) == [
            1 << before | 1 << winner
        ]
    assert run_on(removal(places), [places], [[0]]) == [0]
    assert removal(places).n_and == union(places).n_and == 0
