"""The effect adjusted for one set: a value with its interval on every scale, draws of it, and its support."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.effects.contrast import EffectContrast
from dagora.effects.sensitivity import HiddenCause

Array = NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], Array]

LEVEL = 0.95  # of all intervals, by custom
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
DRAWS = 4000
"""Draws behind an interval: its ends are quantiles with a standard error of about 0.3 %."""
FEW_ROWS = 10
"""Rows with a value of x below which an answer about it is called an extrapolation."""


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval.

    >>> str(Interval(-0.188, -0.236, -0.14))
    '-0.188 [-0.236, -0.14]'
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (written_number(number) for number in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"

    def to_dict(self) -> dict[str, float | None]:
        """JSON form; None where a number is infinite or unknown."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {name: float(number) if np.isfinite(number) else None for name, number in numbers.items()}


def written_number(number: float) -> str:
    """Three digits that count.

    >>> written_number(1234.5), written_number(-0.00001234), written_number(0.0)
    ('1234', '-1.23e-05', '0')
    """
    return f"{number:.0f}" if 1000 <= abs(number) < 1e6 else f"{number:.3g}"


def shown_number(number: float) -> str:
    """Three digits that count, with the sign of minus that people write.

    >>> shown_number(-0.5)
    '−0.5'
    """
    return written_number(number).replace("-", "−")


@dataclass(frozen=True)
class StratumRows:
    """The rows of one combination of the levels adjusted for, in all and with each value compared.

    >>> print(StratumRows({"sex": "f"}, 12, {"drug=yes": 2, "drug=no": 10}))
    sex=f (drug=yes: 2, drug=no: 10)
    """

    levels: Mapping[str, str]
    rows: int
    rows_at: Mapping[str, int]

    def __str__(self) -> str:
        where = ", ".join(f"{name}={level}" for name, level in self.levels.items())
        return f"{where} ({', '.join(f'{value}: {rows}' for value, rows in self.rows_at.items())})"

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"levels": dict(self.levels), "rows": self.rows, "rows_at": dict(self.rows_at)}


@dataclass(frozen=True)
class Support:
    """The support of an answer in the rows: `share` of them are where all values compared are likely."""

    rows: int
    share: float = 1.0
    strata: int | None = None  # combinations of the adjustment set
    rows_at: Mapping[str, int] = field(default_factory=dict)  # rows with each value compared
    notes: tuple[str, ...] = ()
    thinnest: tuple[StratumRows, ...] = ()  # strata with fewest rows of one of the values compared

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "rows": self.rows,
            "share": self.share,
            "strata": self.strata,
            "rows_at": dict(self.rows_at),
            "notes": list(self.notes),
            "thinnest": [stratum.to_dict() for stratum in self.thinnest],
        }


def notes_on_few(rows_at: Mapping[str, int]) -> list[str]:
    """A note for each value compared that few rows have."""
    return [f"only {rows} rows have {value}" for value, rows in rows_at.items() if rows < FEW_ROWS]


@dataclass(frozen=True)
class SetEstimate:
    """The effect adjusted for one set; `draw(number, generator)` has a row of scales for each draw.

    `summary` makes the intervals, which averages over graphs do not need. `refusal` says why the rows do not
    tell this effect, if so: it is no answer by itself, and its draws are as wide as nothing known makes them.
    """

    summary: Callable[[], Mapping[str, Interval]]
    draw: Draw
    support: Support
    how: str
    assumes: tuple[str, ...] = ()
    hidden_cause: HiddenCause | None = None
    refusal: str = ""

    def refuse_untold(self) -> None:
        """Refuse an effect that the rows do not tell."""
        if self.refusal:
            raise DataError(self.refusal)

    @cached_property
    def estimates(self) -> Mapping[str, Interval]:
        """The effect on each scale, with its interval."""
        return self.summary()


def hold_causes(whole: Interval, values: Array, weights: Array, causes: NDArray[np.bool_]) -> Interval:
    """Widen the interval of all draws to that of the draws in which x is a cause, if 5 % or more are such.

    The draws in which the effect is zero lie within the interval, so that all of the 5 % that are cut off
    would be of the others. Where these have the share p, the interval would hold a part of about 1 − 0.025/p
    of them, and so of the effects that are not zero.
    """
    share = float(weights[causes].sum() / weights.sum())
    if not 1 - LEVEL <= share < 1:
        return whole
    among = summarise(0.0, values[causes], weights[causes])
    return Interval(whole.value, min(whole.low, among.low), max(whole.high, among.high))


def summarise(value: float, draws: Array, weights: Array | None = None) -> Interval:
    """A value with the interval between quantiles of its draws."""
    if weights is None:
        low, high = np.quantile(draws, TAILS, method="inverted_cdf")
    else:
        order = np.argsort(draws)
        reached = np.cumsum(weights[order])
        places = np.searchsorted(reached, np.array(TAILS) * reached[-1])
        low, high = draws[order][np.minimum(places, len(draws) - 1)]
    return Interval(float(value), float(low), float(high))


def summarise_scales(contrast: EffectContrast, values: Array, draws: Array) -> dict[str, Interval]:
    """A value for each scale with the interval between quantiles of its draws, `[draw, scale]`."""
    return {
        scale: summarise(value, drawn)
        for scale, value, drawn in zip(contrast.scales, values.tolist(), draws.T, strict=True)
    }
