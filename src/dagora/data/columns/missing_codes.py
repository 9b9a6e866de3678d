"""Numbers that seem to stand for missing: 999 among ages, -9 beside -8, 9 in a scale from 1 to 5.

Only numbers that people use as codes are suspected, and only where they stand apart from all others. The
rules see counts of these numbers and a summary of the others, so that rows in memory, scanned rows and rows
that stay in a database get one answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dagora.data.columns.levels import IS_NUMBER

# Codes that stand alone, each with those that stand beside it only.
COMPANIONS = {
    9.0: (7.0, 8.0),
    99.0: (77.0, 88.0, 66.0, 96.0, 97.0, 98.0),
    999.0: (777.0, 888.0, 996.0, 997.0, 998.0),
    9999.0: (7777.0, 8888.0, 6666.0, 9996.0, 9997.0, 9998.0),
    99999.0: (77777.0, 88888.0, 99997.0, 99998.0),
    **dict.fromkeys((99.9, 999.9, 9999.9, 999999.0, 9999999.0, 99999999.0), ()),
}
TWICE = tuple(code for nine, others in COMPANIONS.items() for code in (nine, *others))
SURELY_BELOW = -55.0  # from here on, a code need not come twice
CODES = np.array([0.0, -1.0, -55.0, -66.0, *TWICE, *(-code for code in TWICE)])
IN_ORDER = np.unique(CODES)
FAR = 3.0  # a code is this many times as large as all other numbers
GAP = 0.1  # or it comes three times, this share of the range of the others above them
WIDE_GAP = 0.25  # the same for 66, 77, 88 and 96 to 98, which are rarer codes
MOST_ZEROS = 0.25  # share of the numbers: more zeros are an amount of nothing
FEW_ZEROS = 0.1  # the same for zeros that may be less far away
MANY = 100  # numbers of which some would lie near zero, if zero was one of them
LITTLE = 0.08  # share of the mean below which a number may be a small amount
FEW_LEVELS = 50  # values up to which each one is counted


@dataclass(frozen=True)
class NumberFacts:
    """Counts of numbers that may be codes, and a summary of all other numbers of a column.

    `levels` are the counts of all values, where they are few.
    """

    codes: Mapping[float, int] = field(default_factory=dict)
    number: int = 0
    low: float = np.inf
    high: float = -np.inf
    total: float = 0.0
    squares: float = 0.0
    levels: Mapping[float, int] | None = None

    def add(self, other: NumberFacts) -> NumberFacts:
        """The facts about the numbers of two parts, without counts of all values."""
        codes = {
            code: self.codes.get(code, 0) + other.codes.get(code, 0) for code in {*self.codes, *other.codes}
        }
        return NumberFacts(
            codes,
            self.number + other.number,
            min(self.low, other.low),
            max(self.high, other.high),
            self.total + other.total,
            self.squares + other.squares,
        )

    @property
    def mean(self) -> float:
        """The mean of the other numbers."""
        return self.total / max(self.number, 1)

    @property
    def sd(self) -> float:
        """The standard deviation of the other numbers."""
        if not np.isfinite(self.squares):
            return np.inf
        return float(np.sqrt(max(self.squares / max(self.number, 1) - self.mean**2, 0.0)))


def facts_of(values: NDArray[np.generic], counts: NDArray[np.generic] | None = None) -> NumberFacts:
    """The facts about numbers, or about distinct ones of which each comes as often as `counts` says."""
    numbers = np.asarray(values, dtype=np.float64)
    weights = np.ones(len(numbers)) if counts is None else np.asarray(counts, dtype=np.float64)
    suspects = np.flatnonzero(are_codes(numbers))
    codes: dict[float, int] = {}
    if len(suspects):
        known, places = np.unique(numbers[suspects] + 0.0, return_inverse=True)
        sums = np.bincount(places, weights[suspects])
        codes = {float(code): int(number) for code, number in zip(known, sums, strict=True) if number}
        numbers, weights = np.delete(numbers, suspects), np.delete(weights, suspects)
    seen = weights > 0
    if not seen.all():
        numbers, weights = numbers[seen], weights[seen]
    if not len(numbers):
        return NumberFacts(codes)
    return NumberFacts(
        codes, int(weights.sum()), float(numbers.min()), float(numbers.max()), *sums_of(numbers, weights)
    )


def are_codes(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell of each number if it is one of the codes.

    >>> are_codes(np.array([-1.0, 5.0, np.nan, np.inf])).tolist()
    [True, False, False, False]
    """
    places = np.searchsorted(IN_ORDER[:-1], numbers)
    return np.asarray(IN_ORDER[places] == numbers)


def sums_of(numbers: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """The sum of numbers and that of their squares, which may be infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(numbers @ weights), float((numbers * numbers) @ weights)


def facts_of_levels(counts: Mapping[float, int]) -> NumberFacts:
    """The facts about a few values and how often each occurs."""
    facts = facts_of(np.array(list(counts)), np.array(list(counts.values())))
    return replace(facts, levels=counts) if len(counts) <= FEW_LEVELS else facts


def codes_among_words(counts: Mapping[str, int]) -> dict[str, int]:
    """Codes among levels that are words otherwise.

    >>> codes_among_words({"yes": 5, "no": 5, "9": 1}), codes_among_words({"yes": 5, "no": 5, "2": 1})
    ({'9': 1}, {})
    """
    numbers = {level: count for level, count in counts.items() if IS_NUMBER.fullmatch(level)}
    alone = {*COMPANIONS, *(-code for code in COMPANIONS), -1.0}
    words = len(counts) - len(numbers)
    return numbers if words > 1 and numbers and {float(level) for level in numbers} <= alone else {}


def missing_codes(facts: NumberFacts, *, never_none: bool = False) -> dict[float, int]:
    """The numbers that seem to stand for missing, and how often each occurs.

    `never_none` says that the column is called by an amount of which there is always some.

    >>> missing_codes(facts_of(np.array([30.0, 45.0, -99.0, -999.0, 71.0])))
    {-999.0: 1, -99.0: 1}
    >>> missing_codes(facts_of_levels({1: 50, 2: 60, 3: 40, 8: 3, 9: 5}))
    {8.0: 3, 9.0: 5}
    >>> missing_codes(facts_of_levels({-1: 20, 0: 20, 1: 20}))
    {}
    """
    facts = absorb_neighbours(facts)
    if facts.low >= facts.high:
        return {}
    found = {*negative_codes(facts), *large_codes(facts)}
    if is_far_zero(facts, never_none=never_none):
        found.add(0.0)
    return {code: facts.codes[code] for code in sorted(found)}


def absorb_neighbours(facts: NumberFacts) -> NumberFacts:
    """Facts in which a code next to other whole numbers is one of these: 7 in a scale from 1 to 7."""
    if facts.levels is None:
        return facts
    codes, low, high = dict(facts.codes), facts.low, facts.high
    if low == high and 0 not in codes:  # 1 and 9 alone tell nothing; 0, 1 and 9 are a scale of two
        return facts
    total, squares, number = facts.total, facts.squares, facts.number
    while (next_up := high + 1) in codes or ((next_down := low - 1) in codes and next_down >= 0):
        taken = next_up if next_up in codes else next_down
        count = codes.pop(taken)
        low, high = min(low, taken), max(high, taken)
        number, total, squares = number + count, total + count * taken, squares + count * taken**2
    return NumberFacts(codes, number, low, high, total, squares, facts.levels)


def negative_codes(facts: NumberFacts) -> list[float]:
    """Negative codes where no other number is negative, or far below; small ones must come twice."""
    if facts.low < 0:
        far = FAR * max(abs(facts.low), abs(facts.high))
        return [code for code in facts.codes if code <= SURELY_BELOW and -code >= far]
    negative = [code for code in facts.codes if code < 0]
    few = facts.levels is not None and len(facts.levels) <= 3
    return [
        code
        for code in negative
        if code <= SURELY_BELOW or (facts.codes[code] > 1 and not (code == -1 and few))
    ]


def large_codes(facts: NumberFacts) -> list[float]:
    """Codes above all other numbers, and those that stand beside them."""
    found: list[float] = []
    for code, companions in COMPANIONS.items():
        beside = [one for one in companions if one in facts.codes and one > facts.high]
        lone = {code: GAP}
        if code > 9:  # 777 and 888 too, but not 7 and 8
            lone |= dict.fromkeys(companions[:2], GAP) if code > 100 else dict.fromkeys(companions, WIDE_GAP)
        alone = [one for one, gap in lone.items() if one in facts.codes and stands_apart(facts, one, gap)]
        found += alone + (beside if code in alone or (code > 100 and alone) else [])
    return found


def stands_apart(facts: NumberFacts, code: float, share: float = GAP) -> bool:
    """Return True if a code is far above all other numbers, or comes often beyond a gap.

    The gap is a share of the range of the others.
    """
    count, gap = facts.codes[code], code - facts.high
    if gap <= 1:
        return False
    if code >= FAR * max(abs(facts.low), abs(facts.high)) and (count > 1 or code > 100):
        return True
    if count < 3 or gap <= share * (facts.high - facts.low):
        return False
    return facts.levels is None or ends_a_scale(facts)


def ends_a_scale(facts: NumberFacts) -> bool:
    """Return True if the other values run on, and the largest is no rare one, as in a tail of counts."""
    assert facts.levels is not None
    others = {value: count for value, count in facts.levels.items() if facts.low <= value <= facts.high}
    runs_on = len(others) == facts.high - facts.low + 1
    return runs_on and 3 * others[facts.high] * len(others) >= facts.number


def is_far_zero(facts: NumberFacts, *, never_none: bool = False) -> bool:
    """Return True if zero comes more than once, far less often than others, and far below all of them.

    Numbers up to one may be shares, of which zero is one. A few zeros need not be as far away as more, and in
    a column called by what nobody has none of (`never_none`) only away from the others.
    """
    if never_none and facts.codes.get(0.0, 0) > 1 and facts.low > LITTLE * facts.mean and facts.low > 1:
        return True
    if not 1 < facts.codes.get(0.0, 0) <= MOST_ZEROS * facts.number or facts.low <= 0 or facts.high <= 1:
        return False
    if facts.levels is not None and (facts.low < 5 or facts.low <= 2 * (facts.high - facts.low)):
        return False
    far = 2.5 if facts.codes[0.0] <= FEW_ZEROS * facts.number and facts.number >= MANY else 3.5
    return facts.low > facts.sd and facts.mean > far * facts.sd
