"""Settings of questions about series: variables set at a step ahead, the level of intervals, steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from dagora.base.errors import OptionError
from dagora.base.options import alike
from dagora.base.wording import option
from dagora.network.drawing import seed_sequence
from dagora.network.time.step_model import StepModel

Ahead = tuple[str, int]
"""A variable so many steps after the last row of a series."""

SETTING = re.compile(r"(?P<name>.+)@t\+(?P<ahead>[1-9][0-9]*)", re.DOTALL)

DRAWS = 10_000
"""Draws of forecasts by simulation: a mean is then known to 1 % of its standard deviation."""
MOST_AHEAD, MOST_DRAWS = 10_000, 10_000_000
"""Steps that take seconds, and draws that still fit into the memory of a machine, for a few variables."""


@dataclass(frozen=True)
class ForecastSettings:
    """Checked settings of a forecast."""

    steps: int = 12
    level: float = 0.95
    draws: int = DRAWS
    seed: int = 0
    set_ahead: Mapping[Ahead, float] = field(default_factory=dict)


def check_forecast(
    model: StepModel,
    steps: int,
    do: Mapping[str, object] | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> ForecastSettings:
    """Check the settings of a forecast.

    A key of `do` is a variable, which is then set at all steps, or a variable and a step such as `x@t+2`.
    """
    for name, value, most in (("steps", steps, MOST_AHEAD), ("draws", draws, MOST_DRAWS)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise OptionError(option=name, value=value, must=f"be a whole number from 1 to {most:,}")
    seed_sequence(seed)
    check_level(level)
    return ForecastSettings(steps, level, draws, seed, read_settings(model, do or {}, steps))


def check_level(level: float) -> None:
    """Refuse a level of intervals that is no share."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(option="level", value=level, must="be a number between 0 and 1, such as 0.95")


def read_settings(model: StepModel, do: Mapping[str, object], steps: int) -> dict[Ahead, float]:
    """The variables that are set from outside, step by step, as codes or numbers."""
    found: dict[Ahead, float] = {}
    for key, value in sorted(do.items(), key=lambda pair: "@t+" in pair[0]):
        at = SETTING.fullmatch(key)
        name = key if at is None or key in model.variables else at["name"]
        if name not in model.variables:
            raise OptionError(
                f"{option('do')} sets '{name}', which is no variable{alike(name, model.variables)}"
            )
        number = as_setting(model, name, value)
        if at is None or key in model.variables:
            found |= {(name, ahead): number for ahead in range(1, steps + 1)}
            continue
        ahead = int(at["ahead"])
        if ahead > steps:
            raise OptionError(
                f"'{name}' is set {ahead} steps after the last row, and {steps} are forecast: ask for more "
                f"({option('steps', ahead)})"
            )
        found[name, ahead] = number
    return found


def as_setting(model: StepModel, name: str, value: object) -> float:
    """A value that a variable is set to: a code or a number."""
    levels = model.model.levels.get(name)
    if levels is not None:
        if str(value) not in levels:
            raise OptionError(f"'{name}' has no level '{value}': its levels are {', '.join(levels[:10])}")
        return float(levels.index(str(value)))
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise OptionError(f"'{name}' is set to a number, not to '{value}'")
    return number
