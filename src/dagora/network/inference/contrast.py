"""Two answers compared: P(death=yes | do(drug=A)) - P(death=yes | do(drug=B)), or their ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.inference.answer import MOST_LINES, Answer, Interval, SampleEstimate, uncertainty
from dagora.network.inference.question import Question

Array = NDArray[np.float64]

NAMES = {"-": "difference", "/": "ratio"}


@dataclass(frozen=True, eq=False, repr=False)
class AnswerContrast(Answer):
    """The difference or ratio of two answers: of each level's probability, or of means."""

    sign: str
    """`-` or `/`."""
    first: Answer
    second: Answer
    labels: tuple[str, ...]
    """The levels, or means of variables; empty for the probability of an event."""
    values: Array
    standard_errors: Array | None = None
    """Standard errors of the simulation, where an answer was estimated."""
    row_errors: Array | None = field(default=None, kw_only=True)
    """Posterior standard deviations: what comes from the rows, given the graph."""
    row_interval: Interval | None = field(default=None, kw_only=True)
    """The ends of an interval that has a posterior probability of 95 %, given the graph."""

    def lines(self) -> list[str]:
        """A line for each number, with the two that are compared."""
        shown = []
        pairs = zip(self.first.listed(), self.second.listed(), strict=True)
        for place, ((_, one, _), (_, other, _)) in enumerate(pairs):
            ends = (
                None if self.row_interval is None else tuple(float(end[place]) for end in self.row_interval)
            )
            error = None if self.standard_errors is None else float(self.standard_errors[place])
            label = f"{self.labels[place]}  " if self.labels[place] else ""
            rows = None if ends is None else (ends[0], ends[1])
            value = f"{NAMES[self.sign]} {self.values[place]:.6g}{uncertainty(rows, error, None)}"
            shown.append(f"{label}{value}  ({one:.6g} {self.sign} {other:.6g})")
        return shown[:MOST_LINES] + ([f"… {len(shown) - MOST_LINES} more"] if len(shown) > MOST_LINES else [])

    def content(self) -> dict[str, Any]:
        """Each number with its uncertainty, and both answers."""
        columns = {"standard_error": self.standard_errors, "row_error": self.row_errors}
        if self.row_interval is not None:
            columns |= {"row_low": self.row_interval[0], "row_high": self.row_interval[1]}
        return {
            "contrast": NAMES[self.sign],
            "values": [
                {
                    "label": label,
                    "value": float(self.values[place]),
                    **{name: float(column[place]) for name, column in columns.items() if column is not None},
                }
                for place, label in enumerate(self.labels)
            ],
            "answers": [self.first.to_dict(), self.second.to_dict()],
        }

    def numbers(self) -> Array:
        """The differences or ratios."""
        return self.values

    def listed(self) -> list[tuple[str, float, float | None]]:
        """The differences or ratios, with their labels."""
        errors: Sequence[float | None] = (
            [None] * len(self.values) if self.standard_errors is None else self.standard_errors.tolist()
        )
        return list(zip(self.labels, self.values.tolist(), errors, strict=True))

    def with_row_uncertainty(self, errors: Array, interval: Interval) -> AnswerContrast:
        """The same answer with what comes from the rows."""
        return replace(self, row_errors=errors, row_interval=interval)


def contrast_of(question: Question, sign: str, first: Answer, second: Answer) -> AnswerContrast:
    """Compare two answers, number by number."""
    ones, others = first.listed(), second.listed()
    labels = tuple(label for label, _, _ in ones)
    if len(ones) != len(others) or (len(ones) > 1 and labels != tuple(label for label, _, _ in others)):
        raise QueryError(
            f"{first.question} and {second.question} have different numbers: ask both for the same event or "
            "levels"
        )
    a, b = (np.array([value for _, value, _ in listed]) for listed in (ones, others))
    if sign == "/" and (b == 0).any():
        raise QueryError(f"{second.question} is 0, which divides nothing: take the difference, P(…) - P(…)")
    values = a - b if sign == "-" else a / b
    errors = None
    if first.estimated is not None or second.estimated is not None:
        pairs = zip(ones, others, strict=True)
        spreads = [combined(sign, one, other) for one, other in pairs]
        errors = None if any(one is None for one in spreads) else np.array(spreads, dtype=np.float64)
    variables = tuple(dict.fromkeys([*first.variables, *second.variables]))
    return AnswerContrast(
        question, variables, weaker(first, second), sign, first, second, labels, values, errors
    )


def combined(
    sign: str, one: tuple[str, float, float | None], other: tuple[str, float, float | None]
) -> float | None:
    """The standard error of a difference or ratio of two numbers that were estimated apart, or are exact."""
    (_, a, s), (_, b, t) = one, other
    if s is None and t is None:
        return None
    s, t = s or 0.0, t or 0.0
    return hypot(s, t) if sign == "-" else hypot(s / b, a * t / b**2)


def weaker(first: Answer, second: Answer) -> SampleEstimate | None:
    """Of two estimates, the one that rests on fewer samples; None where both answers are exact."""
    found = [one.estimated for one in (first, second) if one.estimated is not None]
    return min(found, key=lambda one: one.effective) if found else None
