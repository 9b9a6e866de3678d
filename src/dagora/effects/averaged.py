"""The effect averaged over graphs: the mixture of its posteriors, each under one graph.

Linear columns: the coefficients of each drawn graph are drawn, and the effect runs along all its paths.
Others: each graph says what to adjust for, and the effect adjusted for that set is drawn from its posterior.
Where x is no cause of y in a graph, the effect is zero there. The interval lies between quantiles of all
draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.data.schema import Kind
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import EffectContrast
from dagora.effects.drawn_graphs import DrawnGraphs
from dagora.effects.effect_histogram import EffectHistogram
from dagora.effects.effect_rows import EffectRows
from dagora.effects.g_formula import LINEAR
from dagora.effects.gaussian_draws import GaussianPosterior, propagate, topological_orders
from dagora.effects.one_graph import choose_set, zero
from dagora.effects.one_set import estimate_with
from dagora.effects.result import Effect, OverGraphs
from dagora.effects.set_estimate import Interval, SetEstimate, summarise
from dagora.graph.adjustment import Adjustment, listed
from dagora.posterior.summary.diagnostics import mean_ess
from dagora.stats.statistics import Statistics

Array = NDArray[np.float64]

NO_HIDDEN = "no common cause is missing from the table"
FEW_DRAWS = 100
MOST_TOLD = 3  # sets about whose support something is told


@dataclass(frozen=True)
class EffectDraws:
    """A value of the effect for each draw, [chain, draw, scale], and whether x is a cause there."""

    values: Array
    causes: NDArray[np.bool_]
    weights: Array


class UsedSet(NamedTuple):
    """A set that graphs adjust for, their weight, and what it gives."""

    names: tuple[str, ...]
    weight: float
    estimate: SetEstimate


def average_effect(
    graphs: DrawnGraphs,
    statistics: Statistics,
    rows: EffectRows,
    contrast: EffectContrast,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Effect:
    """The effect averaged over graphs."""
    rng = np.random.default_rng(seed)
    linear = all(variable.kind is Kind.CONTINUOUS for variable in rows.table.schema)
    notes, assumed = list(graphs.notes), [NO_HIDDEN, graphs.assumes]
    if linear:
        values = linear_draws(graphs, GaussianPosterior.of(statistics, settings), contrast, rng)
        assumed.append(LINEAR)
    else:
        values, used = set_draws(graphs, rows, contrast, seed, rng)
        notes += support_notes(used)
        assumed += dict.fromkeys(text for one in used for text in one.estimate.assumes)
    causes = graphs.causes(contrast.x, contrast.y)[graphs.distinct.index]
    draws = EffectDraws(values, causes, graphs.weights)
    effective = effective_draws(draws)
    if effective < FEW_DRAWS:
        notes.append(f"the draws are worth {effective:.0f} independent ones: draw more, or from more chains")
    best = effect_by_graph(graphs.best, rows, contrast, seed=seed)
    probability = float((draws.causes * draws.weights).sum())
    over = OverGraphs(
        graphs.source,
        values.shape[0] * values.shape[1],
        effective,
        probability,
        summarise_draws(draws, contrast, only_causes=True) if probability > 0 else {},
        best,
        graphs.best_probability,
        EffectHistogram.of(draws.values[draws.causes, 0], draws.weights[draws.causes]),
    )
    return Effect(
        contrast,
        "averaged",
        summarise_draws(draws, contrast) if probability > 0 else zero(contrast),
        how="path sums of drawn coefficients" if linear else "adjustment in each graph",
        rows=rows.table.n_rows,
        over_graphs=over,
        assumptions=tuple(assumed),
        notes=tuple(notes),
    )


def linear_draws(
    graphs: DrawnGraphs, posterior: GaussianPosterior, contrast: EffectContrast, rng: np.random.Generator
) -> Array:
    """The effect in linear models, one draw of the coefficients for each draw of a graph."""
    names = graphs.distinct.names
    is_set, steps = np.zeros(len(names), dtype=np.bool_), np.zeros(len(names))
    for name, to, base in zip(contrast.x, contrast.to, contrast.base, strict=True):
        is_set[names.index(name)] = True
        steps[names.index(name)] = float(to) - float(base)
    drawn = graphs.matrices[graphs.distinct.index.ravel()]
    orders = topological_orders(graphs.matrices)[graphs.distinct.index.ravel()]
    changes = propagate(posterior.draw_weights(drawn, rng), orders, is_set, steps)
    return changes[:, names.index(contrast.y)].reshape(*graphs.distinct.index.shape, 1)


def set_draws(
    graphs: DrawnGraphs, rows: EffectRows, contrast: EffectContrast, seed: int, rng: np.random.Generator
) -> tuple[Array, list[UsedSet]]:
    """The effect adjusted for the set that each graph says, one draw for each draw of a graph."""
    nothing = [found.value for found in zero(contrast).values()]
    causes = graphs.causes(contrast.x, contrast.y)
    values = np.tile(np.array(nothing), (*graphs.distinct.index.shape, 1))
    known: dict[tuple[tuple[str, ...], tuple[bool, ...]], tuple[SetEstimate, list[int]]] = {}
    for place in np.flatnonzero(causes).tolist():
        said = Adjustment(graphs.distinct.graph(place), contrast.x, contrast.y)
        if said.verdict == "g-formula":
            raise OptionError(
                f"in some graphs the effect of {' and '.join(contrast.x)} is identified by no one adjustment "
                "set: set one of them at a time"
            )
        chosen = choose_set(said, rows, contrast)
        key = (chosen.names, chosen.regimes)
        if key not in known:
            known[key] = estimate_with(chosen.table, contrast, chosen.names, seed), []
        known[key][1].append(place)
    used = []
    for (names, _), (estimate, places) in known.items():
        there = np.isin(graphs.distinct.index, places)
        values[there] = estimate.draw(int(there.sum()), rng)
        used.append(UsedSet(names, float(graphs.weights[there].sum()), estimate))
    return values, used


def support_notes(used: list[UsedSet]) -> list[str]:
    """Where the rows do not carry the answer, for the sets of most weight."""
    first = sorted(used, key=lambda one: -one.weight)[:MOST_TOLD]
    return [
        f"adjusted for {listed(one.names)} ({one.weight:.0%} of the weight of the graphs): {note}"
        for one in first
        for note in one.estimate.support.notes
    ]


def summarise_draws(
    draws: EffectDraws, contrast: EffectContrast, *, only_causes: bool = False
) -> dict[str, Interval]:
    """The mean of the difference, the medians of ratios, and their intervals."""
    some = draws.causes if only_causes else np.ones_like(draws.causes)
    weights = draws.weights[some]
    found = {}
    for place, scale in enumerate(contrast.scales):
        values = draws.values[some, place]
        whole = summarise(0.0, values, weights)
        if scale == "difference":
            centre = float((values * weights).sum() / weights.sum())
        else:
            order = np.argsort(values)
            middle = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
            centre = float(values[order][min(int(middle), len(values) - 1)])
        found[scale] = replace(whole, value=centre)
    return found


def effective_draws(draws: EffectDraws) -> float:
    """How many independent draws the draws of the effect are worth."""
    weights = draws.weights
    by_weight = float(weights.sum() ** 2 / (weights**2).sum())
    values = draws.values[:, :, 0]
    if np.ptp(values) == 0 or values.shape[1] < 4:
        return by_weight
    found = float(mean_ess(values))
    return min(by_weight, found) if np.isfinite(found) else by_weight
