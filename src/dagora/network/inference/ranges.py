"""Ranges of numbers in questions, such as `sbp > 140` and `100 < sbp <= 140`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.base.phrases import among
from dagora.network.model import NetworkModel

COMPARISON = re.compile("(<=|>=|<|>|≤|≥)")
INTERVAL = re.compile(r"([(\[])\s*([^\s,]+)\s*,\s*([^\s,]+)\s*([)\]])")


@dataclass(frozen=True)
class Range:
    """The numbers between two ends, each of which belongs to them or not.

    >>> Range(140.0).written("sbp"), Range(-1, 2, with_high=True).written("x"), Range(high=3).holds(3)
    ('sbp > 140', '-1 < x <= 2', False)
    """

    low: float = -inf
    high: float = inf
    with_low: bool = False
    with_high: bool = False

    def holds(self, number: float) -> bool:
        """Return True for a number in the range."""
        above = number >= self.low if self.with_low else number > self.low
        below = number <= self.high if self.with_high else number < self.high
        return above and below

    def written(self, name: str) -> str:
        """The range of a variable, as a question has it."""
        below, above = ("<=" if self.with_high else "<"), (">=" if self.with_low else ">")
        if self.low == -inf:
            return f"{name} {below} {plain_number(self.high)}"
        if self.high == inf:
            return f"{name} {above} {plain_number(self.low)}"
        first = "<=" if self.with_low else "<"
        return f"{plain_number(self.low)} {first} {name} {below} {plain_number(self.high)}"

    def chances(self, means: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of the range under normal distributions; without variance, 0 or 1.

        >>> Range(0.0).chances(np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.0, 0.0])).tolist()
        [0.5, 1.0, 0.0]
        """
        from scipy.special import ndtr

        sds = np.sqrt(np.maximum(variances, 0.0))
        safe = np.where(sds > 0, sds, 1.0)
        low, high = (self.low - means) / safe, (self.high - means) / safe
        # In the upper half, differences of small tails keep their digits.
        spread = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        sure = np.array([float(self.holds(mean)) for mean in means.tolist()])
        return np.where(sds > 0, np.clip(spread, 0.0, 1.0), sure)


def plain_number(number: float) -> str:
    """A number in as few digits as tell it apart.

    >>> plain_number(140.0), plain_number(0.1)
    ('140', '0.1')
    """
    return repr(float(number)).removesuffix(".0")


def codes_within(model: NetworkModel, name: str, range_: Range) -> list[int]:
    """The levels of a discrete variable that lie in a range, where its levels are numbers or intervals.

    >>> from dagora.graph.dag import DAG
    >>> model = NetworkModel(DAG(["age"]), {"age": ("[0, 40)", "[40, 60)", "60", "low")})
    >>> codes_within(model, "age", Range(40.0, with_low=True))
    Traceback (most recent call last):
    dagora.QueryError: 'age' has the level 'low', which is no number: ask for levels, such as age='low'; ...
    """
    found = [code for code, level in enumerate(model.levels[name]) if is_within(name, level, range_)]
    if not found:
        raise QueryError(f"no level of '{name}' lies in {range_.written(name)}: {among(model.levels[name])}")
    return found


def is_within(name: str, level: str, range_: Range) -> bool:
    """Return True if a level, a number or an interval, lies in a range; one that straddles it is refused."""
    number = as_number(level)
    if number is not None:
        return range_.holds(number)
    ends = INTERVAL.fullmatch(level.strip())
    low, high = (as_number(ends[2]), as_number(ends[3])) if ends else (None, None)
    if ends is None or low is None or high is None:
        raise QueryError(
            f"'{name}' has the level '{level}', which is no number: ask for levels, such as "
            f"{name}='{level}'; ranges are for numbers"
        )
    low_in = low > range_.low or (low == range_.low and (range_.with_low or ends[1] == "("))
    high_in = high < range_.high or (high == range_.high and (range_.with_high or ends[4] == ")"))
    below = high < range_.low or (high == range_.low and not (range_.with_low and ends[4] == "]"))
    above = low > range_.high or (low == range_.high and not (range_.with_high and ends[1] == "["))
    if not (low_in and high_in) and not (below or above):
        raise QueryError(
            f"'{name}' was cut into intervals, and {level} lies partly in {range_.written(name)}: choose an "
            "end of an interval"
        )
    return low_in and high_in


def as_number(text: str) -> float | None:
    """The number that a text is, which may be infinite; None where it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if np.isnan(number) else number


def parse_range(operands: list[str], signs: list[str], text: str) -> tuple[str, Range]:
    """The variable of a comparison and its range: `x > 1`, `1 < x`, or `1 < x <= 2`.

    >>> parse_range(["1", "x", "2"], ["<", "<="], "…")
    ('x', Range(low=1.0, high=2.0, with_low=False, with_high=True))
    """
    signs = [{"≤": "<=", "≥": ">="}.get(sign, sign) for sign in signs]
    numbers = [as_number(one) for one in operands]
    names = [place for place, number in enumerate(numbers) if number is None]
    if len(names) > 1 or len(operands) not in {2, 3} or (len(operands) == 3 and names not in ([1], [])):
        raise QueryError(
            f"{text!r} has a range that is not understood: write x > 1, x <= 2, or 1 < x < 2 with numbers"
        )
    # A variable may be called by a number: then it stands first, or in the middle.
    place = names[0] if names else len(operands) - 2
    low, high, with_low, with_high = -inf, inf, False, False
    for k, sign in enumerate(signs):
        other = k + 1 if k == place else k
        rises = (sign[0] == "<") == (other < place)  # the number is the lower end
        end = numbers[other]
        if end is None or (low if rises else high) not in {-inf, inf}:
            raise QueryError(f"{text!r} has a range whose two ends are on one side: write 1 < x < 2")
        if rises:
            low, with_low = end, "=" in sign
        else:
            high, with_high = end, "=" in sign
    if not low < high and not (low == high and with_low and with_high):
        raise QueryError(f"{text!r} has a range without a number in it")
    return operands[place], Range(low, high, with_low, with_high)
