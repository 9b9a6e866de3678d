"""The widths in bits of counts and scores in the circuits of private K2, and the error of a value of ln x!.

They follow from the number of common rows, the limit on parents, the score and the most levels that a column
has, which both parties know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dagora.base.errors import OptionError

ScoreName = Literal["f", "g"]
COMPLETE = 10  # bits of a count up to which all values are in a table
MOST_BITS = 21  # of a count, as for shares of it
PRECISION = 34  # fraction bits of a value by Stirling's series
SEGMENTS = 8  # bits of a mantissa that choose a polynomial
FINEST = 44  # fraction bits of a score, where its word has room for them
WORD = 64  # most bits of a score


@dataclass(frozen=True)
class BitWidths:
    """Widths of counts and scores for a number of rows, a limit on parents, a score and the most levels."""

    rows: int
    max_parents: int
    score: ScoreName = "f"
    levels: int = 2

    def __post_init__(self) -> None:
        if self.score not in ("f", "g"):
            raise OptionError(f"option 'score' must be f or g, not '{self.score}'")
        if not 1 <= self.rows <= most_rows(self.levels):
            raise OptionError(
                f"private K2 takes 1 to {most_rows(self.levels)} common rows, not {self.rows}: take a sample"
            )

    @property
    def bits(self) -> int:
        """Bits of a count: those of rows + levels − 1; shares of counts are modulo 2^bits."""
        return (self.rows + self.levels - 1).bit_length()

    @property
    def complete(self) -> bool:
        """True if every value comes from a table."""
        return self.bits <= COMPLETE

    @property
    def fraction(self) -> int:
        """Fraction bits of a score; of two levels, |score| < 2^bits where not all values are in a table."""
        return min(FINEST, WORD - 2 - max(self.bits, self.whole))

    @property
    def whole(self) -> int:
        """Bits of a score before the point: |score| < 2^whole.

        A configuration of n_j rows has −ln [C(n_j + r − 1, r − 1) n_j! / (α_1! … α_r!)], at most n_j ln r +
        (r − 1) ln(n_j + 1) in size; for g it has two constants of ½ ln 2π more. The sum over configurations
        is largest when all have as many rows.
        """
        configurations = self.levels**self.max_parents
        each = (self.levels - 1) * math.log(self.rows / configurations + 1.0) + 2.0
        return math.ceil(math.log2(self.rows * math.log(self.levels) + configurations * each))

    @property
    def width(self) -> int:
        """Bits of a score: |score| < 2^(width − 2 − fraction), so that sums with a tolerance fit."""
        return self.fraction + self.whole + 2

    @property
    def small(self) -> int:
        """Bits of a count below which its value comes from a table."""
        if self.complete:
            return self.bits
        return 8 if self.score == "f" else 9  # g's series needs larger counts

    @property
    def places(self) -> int:
        """Bits of the number of places by which a count is shifted."""
        return (self.bits - self.small - 1).bit_length()

    @property
    def mantissa(self) -> int:
        """Fraction bits of 2^-e ln x!, for counts from 2^e on."""
        return self.bits - 1 + PRECISION

    @property
    def error(self) -> float:
        """The largest error of a value, in nats, over all counts (`log_factorial`)."""
        return 5.0e-10 if self.score == "f" else 1.7e-7


def most_rows(levels: int) -> int:
    """The most common rows whose counts fit into words of shares.

    >>> most_rows(2) + 2 == most_rows(5) + 5 == 1 << MOST_BITS
    True
    """
    return (1 << MOST_BITS) - levels
