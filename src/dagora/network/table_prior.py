"""The prior of probability tables: what is added to the counts before they become probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, prod
from numbers import Real
from typing import Final, Literal

from dagora.base.errors import OptionError

ONE_ROW: Final = "one-row"

PseudoCount = float | Literal["one-row"]


@dataclass(frozen=True)
class TablePrior:
    """Pseudocounts of probability tables: the same for each cell, or an equivalent sample size for all.

    "one-row" spreads one row evenly over the levels, for each combination of the parents' levels.

    >>> TablePrior(0.5).cell((3, 2)), TablePrior("one-row").cell((3, 2)), TablePrior(ess=3).cell((3, 2))
    (0.5, 0.5, 0.5)
    >>> TablePrior(-1.0)
    Traceback (most recent call last):
    dagora.OptionError: pseudocount must be a finite number of at least 0, or 'one-row', not -1.0
    """

    pseudocount: PseudoCount = 0.0
    ess: float | None = None
    copies: int = 1

    def __post_init__(self) -> None:
        added, ess = self.pseudocount, self.ess
        if added != ONE_ROW and not (is_finite(added) and added >= 0):
            raise OptionError(
                option="pseudocount", value=added, must="be a finite number of at least 0, or 'one-row'"
            )
        if ess is not None and not (is_finite(ess) and ess > 0):
            raise OptionError(option="ess", value=ess, must="be a finite number above 0")
        if ess is not None and added:
            raise OptionError("give either pseudocount or ess, not both")

    def cell(self, shape: tuple[int, ...]) -> float:
        """The pseudocount of each cell of a table of some shape, the levels of the child last."""
        if self.ess is not None:
            return self.copies * self.ess / prod(shape)
        return (
            self.copies / shape[-1] if self.pseudocount == ONE_ROW else self.copies * float(self.pseudocount)
        )

    def times(self, copies: int) -> TablePrior:
        """The prior for counts in which every row stands this many times."""
        return replace(self, copies=copies)

    @property
    def is_zero(self) -> bool:
        """Return True if tables have the probabilities of maximum likelihood."""
        return self.ess is None and self.pseudocount == 0

    def describe(self) -> str:
        """The prior in words, for the line under an answer.

        >>> TablePrior("one-row").describe()
        'one row is added to each combination of parents, spread evenly over the levels'
        """
        if self.ess is not None:
            return f"an equivalent sample size of {self.ess:g} is spread over each table"
        if self.pseudocount == ONE_ROW:
            return "one row is added to each combination of parents, spread evenly over the levels"
        return f"{self.pseudocount:g} is added to each cell of a table"


def is_finite(value: object) -> bool:
    """Return True for a number that a float can hold.

    >>> is_finite(0.5), is_finite(10**400)
    (True, False)
    """
    try:
        return isinstance(value, Real) and isfinite(value)
    except OverflowError:
        return False


NO_PRIOR = TablePrior()
"""Tables of maximum likelihood."""
