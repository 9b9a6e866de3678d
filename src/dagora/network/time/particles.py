"""Estimates of a network in time with both kinds of variables, by weighted draws (a particle filter).

Draws of the unseen variables go from step to step, causes before effects. A variable that was seen weighs
them by its probability or density given its parents; where few draws carry the weight, they are drawn anew
(systematic resampling). Where the last `lags` steps were seen as a whole, all draws agree on them, and the
forecasts are plain draws from the exact distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.drawing import draw_node
from dagora.network.node_likelihood import node_log_likelihoods
from dagora.network.time.histories import SeriesHistory
from dagora.network.time.step_model import At, StepModel

Array = NDArray[np.float64]

FEWEST = 0.5
"""Share of draws that the weights must be worth; below it, they are drawn anew."""


@dataclass(frozen=True, eq=False)
class StepDraws:
    """Draws of all variables at a step, given it and the earlier ones: `values[i, k]` with `weights[i]`.

    log_density: of what was seen at the step, given the earlier ones; an estimate unless all was seen
    worth:       the number of equal draws that the weights are worth
    """

    values: Array
    weights: Array
    log_density: float
    worth: float

    def means(self) -> Array:
        """The mean of every variable."""
        return np.asarray(self.weights @ self.values)

    def sds(self) -> Array:
        """The standard deviation of every variable."""
        return np.asarray(np.sqrt(self.weights @ (self.values - self.means()) ** 2))

    def quantiles(self, k: int, shares: tuple[float, float]) -> tuple[float, float]:
        """Two quantiles of a variable."""
        order = np.argsort(self.values[:, k], kind="stable")
        total = np.cumsum(self.weights[order])
        at = np.minimum(np.searchsorted(total, shares), len(order) - 1)
        low, high = self.values[order[at], k]
        return float(low), float(high)

    def chances(self, k: int, levels: int) -> Array:
        """The probability of each level of a discrete variable."""
        found = np.bincount(self.values[:, k].astype(np.int64), self.weights, minlength=levels)
        return np.asarray(found, dtype=np.float64)


def follow(
    steps: StepModel, history: SeriesHistory, set_at: Mapping[At, float], draws: int, rng: np.random.Generator
) -> Iterator[StepDraws]:
    """Draws at every step of a history, one step after the other."""
    log_weights = np.zeros(draws)
    past: dict[int, Array] = {}
    for step in range(history.steps):
        total = np.logaddexp.reduce(log_weights)
        past[step] = np.zeros((draws, len(steps.variables)))
        for name in steps.order(step):
            k, node = steps.place(name), steps.node(name, step)
            if (name, step) in set_at:
                past[step][:, k] = set_at[name, step]
                continue
            columns = parent_columns(steps, name, step, past)
            if not history.seen[step, k]:
                past[step][:, k] = draw_node(steps.model, node, columns, draws, rng)
                continue
            value = history.values[step, k]
            past[step][:, k] = value
            if step < steps.lags and all(
                history.seen[s, steps.place(u)] for u, s in steps.parents(name, step)
            ):
                continue  # what was seen at first is taken as given
            own = np.full(draws, int(value) if name in steps.model.levels else value)
            columns[node] = own
            found = node_log_likelihoods(steps.model, node, columns, steps.model.distributions)
            log_weights = log_weights + np.broadcast_to(found, draws)
        now = np.logaddexp.reduce(log_weights)
        if np.isneginf(now):
            raise QueryError(
                f"no draw agrees with what was seen at step {step + 1} of a series: fit the network with a "
                "pseudocount, or take more draws"
            )
        weights = np.exp(log_weights - now)
        weights /= weights.sum()
        worth = 1.0 / float(weights @ weights)
        yield StepDraws(past[step], weights, float(now - total), worth)
        past.pop(step - steps.lags, None)
        if worth < FEWEST * draws:
            chosen = systematic(weights, rng)
            past = {s: values[chosen] for s, values in past.items()}
            log_weights = np.full(draws, -np.log(draws))
        else:
            log_weights = log_weights - now


def parent_columns(
    steps: StepModel, name: str, step: int, past: Mapping[int, Array]
) -> dict[str, NDArray[Any]]:
    """The draws of a variable's parents, by the nodes of the window."""
    nodes = steps.model.parents[steps.node(name, step)]
    columns: dict[str, NDArray[Any]] = {}
    for node, (parent, at) in zip(nodes, steps.parents(name, step), strict=True):
        column = past[at][:, steps.place(parent)]
        columns[node] = column.astype(np.int64) if parent in steps.model.levels else column
    return columns


def systematic(weights: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Positions drawn by weights, with one random number."""
    ends = np.cumsum(weights)
    at = (rng.random() + np.arange(len(weights))) / len(weights)
    return np.minimum(np.searchsorted(ends / ends[-1], at, side="right"), len(weights) - 1)
