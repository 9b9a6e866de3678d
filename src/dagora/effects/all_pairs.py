"""The total effects of all pairs of continuous columns, averaged over graphs.

One draw of the coefficients of each drawn graph serves all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.files import json_text
from dagora.effects.assumptions import LINEAR_PARENTS, TABLE_IS_WHOLE
from dagora.effects.contrast import EffectContrast
from dagora.effects.drawn_graphs import DrawnGraphs
from dagora.effects.gaussian_draws import GaussianPosterior, propagate, topological_orders
from dagora.effects.set_estimate import TAILS, Interval, hold_causes
from dagora.stats.statistics import Statistics

Array = NDArray[np.float64]

SHOWN = 20  # pairs in a text


@dataclass(frozen=True)
class AllEffects:
    """The effect of each column on each other: [i, j] is that of i on j.

    It is that of one unit more on the mean, unless `contrasts` says what was compared.

    >>> import dagora
    >>> found = dagora.all_effects({"a": [1.2, 2.1, 2.9, 4.2, 5.1], "b": [2.1, 3.9, 6.2, 8.1, 9.8]}, draws=50)
    >>> found.names, found.mean.shape
    (('a', 'b'), (2, 2))
    """

    names: tuple[str, ...]
    mean: Array
    low: Array
    high: Array
    cause_probability: Array
    spread: Array  # standard deviations of the columns, which make effects comparable
    source: str
    notes: tuple[str, ...] = ()
    contrasts: Mapping[tuple[str, str], EffectContrast] = field(default_factory=dict)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions that all pairs share."""
        return (TABLE_IS_WHOLE,) if self.contrasts else (TABLE_IS_WHOLE, LINEAR_PARENTS)

    @property
    def standardised(self) -> Array:
        """The mean effects of one standard deviation more, in standard deviations."""
        found = self.mean * self.spread[:, None] / self.spread
        for (x, y), contrast in self.contrasts.items():
            if not isinstance(contrast.to[0], str):
                step = float(contrast.to[0]) - float(contrast.base[0])
                found[self.names.index(x), self.names.index(y)] /= step
        return np.asarray(found)

    def pairs(self) -> Iterator[tuple[str, str, Interval, float]]:
        """Cause, outcome, effect and probability that it is one, what matters most first.

        What matters is the mean effect in standard deviations of both columns.
        """
        size = np.nan_to_num(np.abs(self.standardised))
        size[np.diag_indices(len(self.names))] = -1
        for place in np.argsort(-size, axis=None, kind="stable")[: len(self.names) * (len(self.names) - 1)]:
            i, j = divmod(int(place), len(self.names))
            found = Interval(float(self.mean[i, j]), float(self.low[i, j]), float(self.high[i, j]))
            yield self.names[i], self.names[j], found, float(self.cause_probability[i, j])

    def to_text(self) -> str:
        """The pairs that matter most, a line each."""
        what = "effects" if self.contrasts else "effects of one unit more on the mean"
        lines = [f"{what}, by their size in standard deviations"]
        shown = list(islice(self.pairs(), SHOWN))
        for x, y, found, chance in shown:
            contrast = self.contrasts.get((x, y))
            told = f"{x} on {y}" if contrast is None else contrast.to_text()
            lines.append(f"{told}: {found}, a cause with probability {chance:.2f}")
        hidden = len(self.names) * (len(self.names) - 1) - len(shown)
        lines += [f"and {hidden} more pairs"] if hidden else []
        lines.append(f"averaged over {self.source}")
        lines += [f"assumed: {text}" for text in self.assumptions]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "names": list(self.names),
            "effects": [
                {"x": x, "y": y, **found.to_dict(), "cause_probability": chance, **self._levels(x, y)}
                for x, y, found, chance in self.pairs()
            ],
            "source": self.source,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
        }

    def _levels(self, x: str, y: str) -> dict[str, Any]:
        contrast = self.contrasts.get((x, y))
        if contrast is None:
            return {}
        return {"to": contrast.to[0], "base": contrast.base[0], "event": contrast.event}

    def to_json(self) -> str:
        """JSON text, one object."""
        return json_text(self.to_dict())


def average_all(
    graphs: DrawnGraphs, statistics: Statistics, settings: Mapping[str, Any] | None = None, seed: int = 0
) -> AllEffects:
    """The effects of all pairs of continuous columns, averaged over graphs."""
    rng = np.random.default_rng(seed)
    names, index = graphs.distinct.names, graphs.distinct.index.ravel()
    weights = graphs.weights.ravel()
    coefficients = GaussianPosterior.of(statistics, settings).draw_weights(graphs.matrices[index], rng)
    orders = topological_orders(graphs.matrices)[index]
    size = len(names)
    mean, low, high = (np.zeros((size, size)) for _ in range(3))
    even = graphs.weights.size > 0 and float(np.ptp(weights)) < 1e-12
    for x in range(size):
        is_set = np.arange(size) == x
        changes = propagate(coefficients, orders, is_set, is_set.astype(np.float64))
        mean[x] = weights @ changes
        low[x], high[x] = column_quantiles(changes, None if even else weights)
        for y in set(range(size)) - {x}:
            whole = Interval(0.0, low[x, y], high[x, y])
            found = hold_causes(whole, changes[:, y], weights, graphs.reach[index, x, y])
            low[x, y], high[x, y] = found.low, found.high
    for matrix in (mean, low, high):
        np.fill_diagonal(matrix, 0.0)
    moments = statistics.moments()
    spread = np.sqrt(np.diag(moments.scatter) / moments.n)
    causes = cause_probabilities(graphs)
    return AllEffects(names, mean, low, high, causes, spread, graphs.source, graphs.notes)


def cause_probabilities(graphs: DrawnGraphs) -> Array:
    """[i, j]: the weight of the graphs in which i is a cause of j."""
    index = graphs.distinct.index.ravel()
    mass = np.bincount(index, graphs.weights.ravel(), minlength=len(graphs.matrices)).astype(np.float64)
    causes: Array = np.tensordot(mass, graphs.reach.astype(np.float64), axes=1)
    np.fill_diagonal(causes, 0.0)
    return causes


def column_quantiles(values: Array, weights: Array | None) -> tuple[Array, Array]:
    """The ends of the 95 % interval of each column."""
    if weights is None:
        low, high = np.quantile(values, TAILS, axis=0, method="inverted_cdf")
        return low, high
    order = np.argsort(values, axis=0)
    reached = np.cumsum(weights[order], axis=0)
    places = [np.minimum((reached < tail * reached[-1]).sum(axis=0), len(values) - 1) for tail in TAILS]
    low, high = (np.take_along_axis(values, order, axis=0)[place, range(values.shape[1])] for place in places)
    return low, high
