"""Distributions of variables over steps of time: the answer of forecasts, filters and smoothers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError, QueryError
from dagora.base.files import json_text
from dagora.base.phrases import among
from dagora.base.wording import render_fields

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

COLUMNS = ("series", "time", "step", "variable", "level", "probability", "mean", "sd", "low", "high")
MOST_LINES = 60
"""Lines that are printed; files have them all."""


@dataclass(frozen=True, eq=False)
class TrajectorySeries:
    """The distributions of one series, a row for each step.

    label:         its name; "" where there is one without a name
    times:         the times of the steps
    steps:         their numbers: of a forecast 1, 2, … after the last row, else counted from the first row
    means, sds, lows, highs: of numbers, by variable
    probabilities: of levels, by variable: a column for each level
    """

    label: str = ""
    times: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()
    means: Mapping[str, Array] = field(default_factory=dict)
    sds: Mapping[str, Array] = field(default_factory=dict)
    lows: Mapping[str, Array] = field(default_factory=dict)
    highs: Mapping[str, Array] = field(default_factory=dict)
    probabilities: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Distributions of variables over steps of time, with what they rest on.

    `kind` is "forecast", "filter" or "smooth". Of numbers there are means, standard deviations and the ends
    of intervals of this `level`; of discrete variables the probabilities of `levels`.

    >>> one = TrajectorySeries("", ("8", "9"), (1, 2), {"x": np.array([0.5, 0.25])}, {"x": np.ones(2)},
    ...                        {"x": np.array([-1.5, -1.7])}, {"x": np.array([2.5, 2.2])})
    >>> found = Trajectory("forecast", ("x",), {}, (one,))
    >>> print(found)
    forecast, 95 % intervals
    8  x 0.5 [-1.5, 2.5]
    9  x 0.25 [-1.7, 2.2]
    >>> found.mean("x").tolist(), len(found.records())
    ([0.5, 0.25], 2)
    """

    kind: str
    variables: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    series: tuple[TrajectorySeries, ...]
    level: float = 0.95
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        render_fields(self, "notes")
        parts = [
            part
            for each in self.series
            for part in (each.means, each.sds, each.lows, each.highs, each.probabilities)
        ]
        for name, numbers in ((name, numbers) for part in parts for name, numbers in part.items()):
            if not np.isfinite(numbers).all():
                raise QueryError(
                    f"the {self.kind} of '{name}' grows beyond all numbers: look at the coefficients of the "
                    "network, or set smaller values, or ask for fewer steps"
                )

    def one(self, series: str | None = None) -> TrajectorySeries:
        """The series of a name; without one, the only one."""
        if series is None and len(self.series) == 1:
            return self.series[0]
        for each in self.series:
            if each.label == series:
                return each
        raise OptionError(f"name one of the series: {among(each.label for each in self.series)}")

    def mean(self, variable: str, series: str | None = None) -> Array:
        """The means of a number, step by step."""
        return self._of(self.one(series).means, variable)

    def sd(self, variable: str, series: str | None = None) -> Array:
        """The standard deviations of a number, step by step."""
        return self._of(self.one(series).sds, variable)

    def interval(self, variable: str, series: str | None = None) -> Array:
        """The two ends of the intervals of a number, a row for each step."""
        one = self.one(series)
        return np.column_stack([self._of(one.lows, variable), self._of(one.highs, variable)])

    def probabilities(self, variable: str, series: str | None = None) -> Array:
        """The probabilities of the levels of a discrete variable, a row for each step."""
        return self._of(self.one(series).probabilities, variable)

    def _of(self, part: Mapping[str, Array], variable: str) -> Array:
        if variable in part:
            return part[variable]
        if variable not in self.variables:
            raise OptionError(f"there is no variable '{variable}': {among(self.variables)}")
        kind = "discrete: it has probabilities" if variable in self.levels else "a number: it has a mean"
        raise OptionError(f"'{variable}' is {kind}")

    def records(self) -> list[dict[str, Any]]:
        """A record for every number and for every level of a discrete variable, at every step."""
        return [dict(zip(COLUMNS, row, strict=True)) for row in self._rows()]

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for one in self.series:
            for place, (time, step) in enumerate(zip(one.times, one.steps, strict=True)):
                for name in self.variables:
                    head = (one.label, time, step, name)
                    if name in self.levels:
                        chances = one.probabilities[name][place].tolist()
                        for level, chance in zip(self.levels[name], chances, strict=True):
                            yield (*head, level, chance, None, None, None, None)
                    else:
                        numbers = (part[name][place] for part in (one.means, one.sds, one.lows, one.highs))
                        yield (*head, None, None, *map(float, numbers))

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "kind": self.kind,
            "level": self.level,
            "variables": list(self.variables),
            "levels": {name: list(levels) for name, levels in self.levels.items()},
            "series": [
                {
                    "series": one.label,
                    "times": list(one.times),
                    "steps": list(one.steps),
                    **{
                        part: {name: values.tolist() for name, values in getattr(one, field_).items()}
                        for part, field_ in (
                            ("mean", "means"),
                            ("sd", "sds"),
                            ("low", "lows"),
                            ("high", "highs"),
                            ("probabilities", "probabilities"),
                        )
                    },
                }
                for one in self.series
            ],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The JSON form as text."""
        return json_text(self.to_dict()) + "\n"

    def to_csv(self) -> str:
        """The records as text with commas."""
        return csv_text(COLUMNS, self._rows())

    def to_pandas(self) -> pd.DataFrame:
        """The records as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.records(), columns=list(COLUMNS))

    def to_text(self, most: int = MOST_LINES) -> str:
        """The distributions in words, a line for each step; not more than so many."""
        numbers = any(name not in self.levels for name in self.variables)
        lines = []
        for one in self.series:
            for place, time in enumerate(one.times):
                parts = [self._in_words(one, name, place) for name in self.variables]
                lines.append(f"{one.label + '  ' if one.label else ''}{time}  {'  '.join(parts)}")
        shown = lines[:most]
        if len(lines) > most:
            shown.append(f"… {len(lines) - most} more lines: -o FILE.csv or to_csv() has them all")
        head = f"{self.kind}, {self.level * 100:g} % intervals" if numbers else self.kind
        return "\n".join([head, *shown, *(f"note: {note}" for note in self.notes)])

    def _in_words(self, one: TrajectorySeries, name: str, place: int) -> str:
        if name in self.levels:
            chances = one.probabilities[name][place]
            order = np.argsort(-chances, kind="stable")[:3]
            listed = " ".join(f"{self.levels[name][k]} {chances[k]:.3f}" for k in order)
            return f"{name} {listed}"
        low, high = one.lows[name][place], one.highs[name][place]
        return f"{name} {one.means[name][place]:.4g} [{low:.4g}, {high:.4g}]"

    def __str__(self) -> str:
        return self.to_text()


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table as text with commas; None is an empty cell, and numbers have ten digits.

    >>> csv_text(["step", "mean"], [[1, 0.1 + 0.2], [2, None]])
    'step,mean\n1,0.3\n2,\n'
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if cell is None else shortly(cell) for cell in row])
    return lines.getvalue()


def shortly(cell: object) -> object:
    """A number to ten digits; anything else as it is."""
    return f"{cell:.10g}" if isinstance(cell, float) else cell
