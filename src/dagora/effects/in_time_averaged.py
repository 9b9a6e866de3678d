"""Effects in time averaged over graphs: each graph has its regressions, and counts as much as it is probable.

An effect is a mixture of normal distributions, one for each graph. The interval lies between quantiles of its
draws and, where x is a cause in 5 % of the graphs or more, of the draws in which it is one: draws of zero lie
within all others, so that the tails cut off would be theirs alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.data.incomplete import IncompleteTable
from dagora.effects.assumptions import LINEAR_PARENTS, TABLE_IS_WHOLE
from dagora.effects.in_time import (
    SAME_AT_ALL_STEPS,
    EffectInTime,
    RegressionFamily,
    check_question,
    effects_of,
    fit_regressions,
    whole_windows,
)
from dagora.effects.set_estimate import DRAWS, TAILS, Interval
from dagora.graph.lagged_graph import LaggedGraph

Array = NDArray[np.float64]

LEAST_SHARE = 0.05
"""Share of graphs with an effect from which on those have quantiles of their own."""


def average_effect_in_time(
    graphs: Sequence[tuple[LaggedGraph, float]],
    windows: IncompleteTable,
    x: str,
    y: str,
    horizon: int,
    change: float,
    seed: int,
    assumes: str,
) -> EffectInTime:
    """The effect of a change of x on y averaged over graphs with these weights; `assumes` is about them."""
    if not graphs:
        raise OptionError("there are no graphs to average over")
    variables = graphs[0][0].variables
    check_question(variables, x, y, horizon)
    columns, rows, notes = whole_windows(windows, variables)
    families: dict[RegressionFamily, tuple[Array, Array]] = {}
    place = {name: k for k, name in enumerate(variables)}
    found = np.zeros((2, len(graphs), horizon + 1, 2))  # kept or not, graph, steps, value and error
    for g, (graph, _) in enumerate(graphs):
        fitted = fit_regressions(graph, columns, families)
        for kept in (0, 1):
            found[kept, g] = effects_of(fitted, place[x], place[y], horizon, kept=bool(kept))
    weights = np.array([weight for _, weight in graphs])
    weights = weights / weights.sum()
    rng = np.random.default_rng([seed, 71])
    chosen = rng.choice(len(graphs), size=DRAWS, p=weights)
    noise = rng.standard_normal(DRAWS)
    curves = [mixed(part[chosen], noise, weights @ part[:, :, 0], change) for part in found]
    acts = (found[0, :, :, 0] != 0) | (found[0, :, :, 1] != 0)
    return EffectInTime(
        x,
        y,
        curves[0],
        curves[1],
        ((),) * (horizon + 1),
        rows,
        change,
        (TABLE_IS_WHOLE, assumes, LINEAR_PARENTS, SAME_AT_ALL_STEPS),
        tuple(notes),
        tuple((weights @ acts).tolist()),
    )


def mixed(drawn: Array, noise: Array, means: Array, change: float) -> tuple[Interval, ...]:
    """The mean and the interval of each step, from draws of graphs: [draw, steps, value and error]."""
    values = (drawn[:, :, 0] + drawn[:, :, 1] * noise[:, None]) * change
    is_cause = (drawn != 0).any(axis=2)
    intervals = []
    for step, mean in enumerate(means * change):
        low, high = np.quantile(values[:, step], TAILS)
        if is_cause[:, step].mean() >= LEAST_SHARE:
            own = np.quantile(values[is_cause[:, step], step], TAILS)
            low, high = min(low, own[0]), max(high, own[1])
        intervals.append(Interval(float(mean), float(low), float(high)))
    return tuple(intervals)
