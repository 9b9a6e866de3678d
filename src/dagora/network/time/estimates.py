"""Filtered, smoothed and forecast distributions of all series, by the kind of network.

Discrete and linear Gaussian networks are exact given their parameters. Intervals of forecasts of Gaussian
networks that know their rows hold what these leave open of the parameters, too. Networks with both kinds of
variables forecast and filter by draws, and say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dagora.base.errors import QueryError
from dagora.base.phrases import some_of
from dagora.network.parameter_posterior import parameter_posteriors
from dagora.network.time.discrete import discrete_history, filtered_levels, smoothed_levels
from dagora.network.time.histories import Histories, SeriesHistory
from dagora.network.time.kalman import run_filter, run_smoother
from dagora.network.time.open_parameters import (
    FEWEST_DRAWS,
    MOST_STEPS,
    PARAMETER_DRAWS,
    drawn_models,
    with_open_parameters,
)
from dagora.network.time.particles import StepDraws, follow
from dagora.network.time.settings import ForecastSettings
from dagora.network.time.step_model import At, StepModel
from dagora.network.time.trajectory import Trajectory, TrajectorySeries

Array = NDArray[np.float64]


@np.errstate(over="ignore", invalid="ignore")
def filter_or_smooth(
    steps: StepModel, histories: Histories, kind: str, level: float, draws: int, seed: int
) -> Trajectory:
    """The distributions of all variables at all steps of all series."""
    notes = list(histories.notes)
    if steps.model.kind not in ("discrete", "gaussian"):
        if kind == "smooth":
            raise QueryError(
                "smoothing is exact for networks of discrete variables and for linear Gaussian ones; this "
                "one has both kinds: filter it, or cut its numbers into levels"
            )
        notes.append(simulation_note(draws))
    found = []
    for place, history in enumerate(histories.series):
        times = tuple(histories.written(history.begin + k) for k in range(history.steps))
        numbers = tuple(range(1, history.steps + 1))
        one = estimate(steps, history, {}, kind == "smooth", level, draws, (seed, place))
        found.append(replace(one, label=history.label, times=times, steps=numbers))
    levels = {name: tuple(steps.model.levels[name]) for name in steps.variables if name in steps.model.levels}
    return Trajectory(kind, steps.variables, levels, tuple(found), level, tuple(notes))


@np.errstate(over="ignore", invalid="ignore")  # a trajectory refuses what is not finite
def forecast_series(steps: StepModel, histories: Histories, settings: ForecastSettings) -> Trajectory:
    """The distributions of all variables at the steps after the last row of each series."""
    kind = steps.model.kind
    notes = [*histories.notes, *setting_notes(steps, settings)]
    if kind not in ("discrete", "gaussian"):
        notes.append(simulation_note(settings.draws))
    posteriors = None
    if kind == "gaussian" and steps.model.origin is not None and steps.model.origin.rows:
        posteriors = parameter_posteriors(steps.model, steps.model.origin, steps.variables)
    if posteriors is None:
        alone = "" if kind == "discrete" else ": an interval holds the noise of the steps alone"
        notes.append(f"the parameters are taken as known{alone}")
    found, fewest = [], PARAMETER_DRAWS
    for place, history in enumerate(histories.series):
        recent = history.since(last_known(history, steps.lags))
        ahead = recent.extended(settings.steps)
        set_at = {(name, recent.steps - 1 + k): value for (name, k), value in settings.set_ahead.items()}
        first = history.begin + history.steps
        times = tuple(histories.written(first + k) for k in range(settings.steps))
        numbers = tuple(range(1, settings.steps + 1))
        if posteriors is not None:
            rng = np.random.default_rng([settings.seed, 47, place])
            number = max(FEWEST_DRAWS, min(PARAMETER_DRAWS, MOST_STEPS // ahead.steps))
            fewest = min(fewest, number)
            drawn = drawn_models(steps, posteriors, number, rng)
            one = with_open_parameters(steps, drawn, ahead, set_at, settings.level)
        else:
            one = estimate(
                steps, ahead, set_at, False, settings.level, settings.draws, (settings.seed, place)
            )
        found.append(last_steps(one, history.label, times, numbers))
    if fewest < PARAMETER_DRAWS:
        notes.append(
            f"of so many steps, intervals rest on {fewest} draws of the parameters and are rough: forecast "
            "fewer steps for closer ones"
        )
    levels = {name: tuple(steps.model.levels[name]) for name in steps.variables if name in steps.model.levels}
    return Trajectory("forecast", steps.variables, levels, tuple(found), settings.level, tuple(notes))


def last_known(history: SeriesHistory, lags: int) -> int:
    """The step from which on rows matter: that of the last `lags` whole rows in a row, else the first."""
    whole = np.asarray(history.seen.all(axis=1))
    for step in range(history.steps - lags, -1, -1):
        if whole[step : step + lags].all():
            return step
    return 0


def estimate(
    steps: StepModel,
    history: SeriesHistory,
    set_at: dict[At, float],
    smooth: bool,
    level: float,
    draws: int,
    seed: tuple[int, int],
) -> TrajectorySeries:
    """The distributions at all steps of a history, given the steps before or all."""
    if steps.model.kind == "discrete":
        rows = discrete_history(steps, history, set_at)
        chances = smoothed_levels(rows) if smooth else filtered_levels(rows)[0]
        return TrajectorySeries(probabilities=chances)
    if steps.model.kind == "gaussian":
        if smooth:
            means, covariances = run_smoother(steps, history, set_at)
        else:
            found = run_filter(steps, history, set_at)
            means, covariances = found.means, found.covariances
        variances = np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0)
        return numbers_of(steps, means, np.sqrt(variances), level)
    rng = np.random.default_rng([seed[0], 53, seed[1]])
    return summed_up(steps, follow(steps, history, set_at, draws, rng), level)


def numbers_of(steps: StepModel, means: Array, sds: Array, level: float) -> TrajectorySeries:
    """Normal distributions, a row for each step and a column for each variable."""
    reach = float(ndtri((1 + level) / 2)) * sds
    parts = [
        {name: np.ascontiguousarray(part[:, k]) for k, name in enumerate(steps.variables)}
        for part in (means, sds, means - reach, means + reach)
    ]
    return TrajectorySeries("", (), (), parts[0], parts[1], parts[2], parts[3])


def summed_up(steps: StepModel, found: Iterable[StepDraws], level: float) -> TrajectorySeries:
    """Means, standard deviations, quantiles and probabilities of weighted draws, step by step."""
    ends = ((1 - level) / 2, (1 + level) / 2)
    numbers: dict[str, list[tuple[float, ...]]] = {}
    chances: dict[str, list[Array]] = {}
    for one in found:
        means, sds = one.means(), one.sds()
        for k, name in enumerate(steps.variables):
            if name in steps.model.levels:
                chances.setdefault(name, []).append(one.chances(k, len(steps.model.levels[name])))
            else:
                numbers.setdefault(name, []).append((means[k], sds[k], *one.quantiles(k, ends)))
    parts = [
        {name: np.array([row[part] for row in rows]) for name, rows in numbers.items()} for part in range(4)
    ]
    shares = {name: np.array(rows) for name, rows in chances.items()}
    return TrajectorySeries("", (), (), parts[0], parts[1], parts[2], parts[3], shares)


def last_steps(
    one: TrajectorySeries, label: str, times: tuple[str, ...], numbers: tuple[int, ...]
) -> TrajectorySeries:
    """The last steps of a series, with their times and numbers."""
    parts = (
        {name: values[-len(times) :] for name, values in part.items()}
        for part in (one.means, one.sds, one.lows, one.highs, one.probabilities)
    )
    return TrajectorySeries(label, times, numbers, *parts)


def simulation_note(draws: int) -> str:
    """The error of the simulation, in words."""
    return (
        f"by simulation ({draws:,} draws): where all is seen up to the last row, a mean is known to "
        f"{100 / np.sqrt(draws):.2g} % of its standard deviation, a probability to "
        f"{50 / np.sqrt(draws):.2g} points"
    )


def setting_notes(steps: StepModel, settings: ForecastSettings) -> list[str]:
    """Notes on what settings rest on, and on values that no row has."""
    if not settings.set_ahead:
        return []
    notes = ["what is set depends on nothing then; its effects are those of the arrows, taken as causes"]
    origin = steps.model.origin
    if origin is not None and origin.directions is not None and origin.directions.undetermined:
        named = some_of([f"{tail} — {head}" for tail, head in origin.directions.undetermined])
        notes.append(f"the data do not determine the direction of {named}: what is set may act otherwise")
    if origin is not None and origin.directions is not None and origin.directions.unsure:
        named = some_of([f"{tail} → {head}" for tail, head in origin.directions.unsure])
        notes.append(f"the direction of {named} rests on weak edges: what is set may act otherwise")
    ranges = {} if origin is None else origin.ranges
    outside = dict.fromkeys(
        f"{name} = {value:g} (seen: {ranges[name][0]:g} to {ranges[name][1]:g})"
        for (name, _), value in settings.set_ahead.items()
        if name in ranges and not ranges[name][0] <= value <= ranges[name][1]
    )
    if outside:
        notes.append(f"outside of the rows: {some_of(outside)}")
    return notes
