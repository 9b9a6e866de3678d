"""Forecasts from many origins against what came: the skill of a graph in time, beside simple rivals.

At each origin, the parameters are fitted to the rows before it alone, and the steps after it are forecast.
The graph stays the same: where it was learned from the rows that are forecast, it has seen them, which is
said. Errors are root mean squares of forecast means, over origins and series; of discrete variables the Brier
score, Σ (probability − what came)² over levels, which is 0 at best and 2 at worst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import amount
from dagora.base.wording import option, render_fields
from dagora.network.networks import Network
from dagora.network.time.estimates import forecast_series
from dagora.network.time.histories import Histories, SeriesHistory
from dagora.network.time.rivals import (
    follow_regression,
    last_values,
    least_squares,
    mean_values,
    shares_of_levels,
)
from dagora.network.time.settings import ForecastSettings
from dagora.network.time.step_model import StepModel
from dagora.network.time.trajectory import csv_text

Array = NDArray[np.float64]

RIVALS = ("network", "last", "mean", "var")
WIDTHS = dict.fromkeys(RIVALS, 10)  # 1.23e-100 has nine characters
COLUMNS = ("variable", "ahead", "measure", *RIVALS, "coverage", "forecasts")
GRAPH_SAW = "the graph is the same at all origins; one learned from these rows has seen what it forecasts"


@dataclass(frozen=True, slots=True)
class SkillRow:
    """The errors of forecasts of a variable so many steps ahead, and the share of values in the intervals.

    A measure is "rmse" of a number or "brier" of a discrete variable; NaN where a rival has no forecast.
    """

    variable: str
    ahead: int
    measure: str
    errors: dict[str, float]
    coverage: float | None
    forecasts: int


@dataclass(frozen=True, eq=False)
class Backtest:
    """The skill of forecasts, for every variable and number of steps ahead.

    >>> row = SkillRow("x", 1, "rmse", {"network": 0.5, "last": 0.8, "mean": 1.0, "var": 0.51}, 0.95, 30)
    >>> print(Backtest((row,), 30))
    errors of forecasts from 30 origins (rmse of numbers, Brier score of levels)
    variable  ahead   network      last      mean       var  in 95 % intervals  forecasts
    x             1       0.5       0.8         1      0.51              0.950         30
    >>> Backtest((row,), 30).skill("x", 1)
    0.375
    """

    rows: tuple[SkillRow, ...]
    origins: int
    level: float = 0.95
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        render_fields(self, "notes")

    def error(self, variable: str, ahead: int, of: str = "network") -> float:
        """The error of the forecasts of a variable, by the network or a rival."""
        for row in self.rows:
            if (row.variable, row.ahead) == (variable, ahead) and of in row.errors:
                return row.errors[of]
        raise OptionError(f"there are no forecasts of '{variable}' {ahead} steps ahead by '{of}'")

    def skill(self, variable: str, ahead: int, against: str = "last") -> float:
        """The share of a rival's error that the network saves: 1 − error / error of the rival."""
        return 1 - self.error(variable, ahead) / self.error(variable, ahead, against)

    def to_dict(self) -> dict[str, Any]:
        """JSON form; None where there is no number."""
        return {
            "origins": self.origins,
            "level": self.level,
            "rows": [dict(zip(COLUMNS, cells_of(row), strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }

    def to_csv(self) -> str:
        """The table as text with commas."""
        return csv_text(COLUMNS, map(cells_of, self.rows))

    def to_text(self) -> str:
        """The table in words."""
        wide = max(len("variable"), *(len(row.variable) for row in self.rows))
        held = f"in {self.level * 100:g} % intervals"
        heads = "".join(f"{name:>{WIDTHS[name]}}" for name in RIVALS)
        lines = [
            (
                f"errors of forecasts from {amount(self.origins, 'origin')} "
                "(rmse of numbers, Brier score of levels)"
            ),
            f"{'variable':<{wide}}  ahead{heads}  {held}  forecasts",
        ]
        for row in self.rows:
            errors = "".join(f"{in_short(row.errors.get(name)):>{WIDTHS[name]}}" for name in RIVALS)
            covered = "–" if row.coverage is None else f"{row.coverage:.3f}"
            lines.append(
                f"{row.variable:<{wide}}  {row.ahead:>5}{errors}  {covered:>{len(held)}}  {row.forecasts:>9}"
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def __str__(self) -> str:
        return self.to_text()


def in_short(error: float | None) -> str:
    """An error to three digits; a dash where there is none."""
    return "–" if error is None or np.isnan(error) else f"{error:.3g}"


def cells_of(row: SkillRow) -> tuple[Any, ...]:
    """The cells of a row, in the order of `COLUMNS`."""
    errors = [row.errors.get(name, float("nan")) for name in RIVALS]
    known = [float(error) if np.isfinite(error) else None for error in errors]
    return (row.variable, row.ahead, row.measure, *known, row.coverage, row.forecasts)


@dataclass(eq=False)
class Tally:
    """Squared errors, and what fell into intervals, of one variable so many steps ahead."""

    errors: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in RIVALS})
    inside: list[bool] = field(default_factory=list)


def run_backtest(
    histories: Histories,
    fitted: Callable[[Histories], Network],
    lags: int,
    origins: int,
    settings: ForecastSettings,
) -> Backtest:
    """Forecast from the last origins of the series; `fitted` gives a network for the rows before one."""
    last = max(history.begin + history.steps for history in histories.series)
    starts = range(last - settings.steps - origins + 1, last - settings.steps + 1)
    tallies: dict[tuple[str, int], Tally] = {}
    used, refused = 0, None
    for origin in starts:
        before = cut(histories, origin)
        if before is None or max(one.steps for one in before.series) <= lags + 1:
            continue
        try:
            model = StepModel(fitted(before).model)
        except DataError as error:  # the first origins may have too few rows before them
            refused = error
            continue
        forecast = forecast_series(model, before, settings)
        rivals = rival_forecasts(before, model, lags, settings.steps)
        used += 1
        for one, each, others in zip(before.series, forecast.series, rivals, strict=True):
            came = coming(histories, one, origin)
            if came is not None and one.begin + one.steps == origin:
                count_errors(tallies, model, came, each, others, settings.steps)
    if not used:
        raise refused or DataError(
            f"the series are too short for a forecast of {amount(settings.steps, 'step')} from {origins} "
            f"origins: choose fewer steps ({option('steps')}) or origins"
        )
    rows = tuple(skill_row(key, tally, model) for key, tally in tallies.items() if tally.errors["network"])
    notes = [*histories.notes, GRAPH_SAW]
    if used < origins:
        notes.append(f"{origins} origins were asked for: the rows before the others are too few")
    return Backtest(rows, used, settings.level, tuple(notes))


def cut(histories: Histories, origin: int) -> Histories | None:
    """The series with their steps before an origin; None where there are none."""
    kept = [one.until(origin - one.begin) for one in histories.series if one.begin < origin]
    return replace(histories, series=tuple(kept)) if kept else None


def coming(histories: Histories, known: SeriesHistory, origin: int) -> SeriesHistory | None:
    """The steps of a series from an origin on."""
    for one in histories.series:
        if one.label == known.label and origin < one.begin + one.steps:
            return one.since(origin - one.begin)
    return None


def rival_forecasts(
    before: Histories, model: StepModel, lags: int, steps: int
) -> list[dict[str, Array | list[Array]]]:
    """The forecasts of the rivals for every series: numbers, or shares of levels in the place of the mean."""
    numbers = not model.is_discrete.any()
    coefficients = least_squares(before.series, lags) if numbers else None
    means = mean_values(before.series, steps)
    shares: list[Array] = [
        shares_of_levels(before.series, k, len(model.model.levels[name]))
        if name in model.model.levels
        else np.zeros(0)
        for k, name in enumerate(model.variables)
    ]
    return [
        {
            "last": last_values(one, steps),
            "mean": means,
            "var": follow_regression(coefficients, one, lags, steps),
            "shares": shares,
        }
        for one in before.series
    ]


def count_errors(
    tallies: dict[tuple[str, int], Tally],
    model: StepModel,
    came: SeriesHistory,
    forecast: Any,  # noqa: ANN401 - a series of a trajectory
    rivals: dict[str, Array | list[Array]],
    steps: int,
) -> None:
    """Add the errors of the forecasts of one series from one origin."""
    for k, name in enumerate(model.variables):
        for ahead in range(1, min(steps, came.steps) + 1):
            if not came.seen[ahead - 1, k]:
                continue
            tally = tallies.setdefault((name, ahead), Tally())
            value = came.values[ahead - 1, k]
            if name in model.model.levels:
                truth = np.eye(len(model.model.levels[name]))[int(value)]
                last = np.asarray(rivals["last"])[ahead - 1, k]
                tally.errors["network"].append(brier(forecast.probabilities[name][ahead - 1], truth))
                tally.errors["mean"].append(brier(rivals["shares"][k], truth))
                if not np.isnan(last):
                    tally.errors["last"].append(brier(np.eye(len(truth))[int(last)], truth))
                continue
            tally.errors["network"].append(float(forecast.means[name][ahead - 1] - value) ** 2)
            low, high = forecast.lows[name][ahead - 1], forecast.highs[name][ahead - 1]
            tally.inside.append(bool(low <= value <= high))
            for rival in ("last", "mean", "var"):
                found = float(np.asarray(rivals[rival])[ahead - 1, k])
                if not np.isnan(found):
                    tally.errors[rival].append((found - value) ** 2)


def brier(chances: Array, truth: Array) -> float:
    """The Brier score of a forecast of levels."""
    return float(((chances - truth) ** 2).sum())


def skill_row(key: tuple[str, int], tally: Tally, model: StepModel) -> SkillRow:
    """The errors of one variable so many steps ahead; a rival without a forecast somewhere has none."""
    discrete = key[0] in model.model.levels
    number = len(tally.errors["network"])

    def total(errors: Sequence[float]) -> float:
        if len(errors) < number:
            return float("nan")
        mean = float(np.mean(errors))
        return mean if discrete else float(np.sqrt(mean))

    found = {name: total(errors) for name, errors in tally.errors.items()}
    covered = float(np.mean(tally.inside)) if tally.inside else None
    return SkillRow(*key, "brier" if discrete else "rmse", found, covered, number)
