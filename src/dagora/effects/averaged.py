"""The effect averaged over graphs: the mixture of its posteriors, each under one graph.

Linear columns: the coefficients of each drawn graph are drawn, and the effect runs along all its paths.
Others: each graph says what to adjust for, and the effect adjusted for that set is drawn from its posterior.
Where x is no cause of y in a graph, the effect is zero there. The interval lies between quantiles of all
draws, and of those in which x is a cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.data.schema import Kind
from dagora.effects.assumptions import LINEAR_PARENTS, TABLE_IS_WHOLE
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import EffectContrast
from dagora.effects.drawn_graphs import DrawnGraphs
from dagora.effects.drawn_processes import ProcessModel, best_by_processes, process_draws
from dagora.effects.drawn_sets import SharedEstimate, draw_effects
from dagora.effects.effect_histogram import EffectHistogram
from dagora.effects.effect_rows import EffectRows
from dagora.effects.gaussian_draws import GaussianPosterior, propagate, topological_orders
from dagora.effects.one_graph import zero
from dagora.effects.process_effects import assumed_of_functions
from dagora.effects.result import Effect, OverGraphs
from dagora.effects.set_estimate import Interval, hold_causes, summarise
from dagora.graph.adjustment import Adjustment, list_names
from dagora.graph.cpdag import CPDAG
from dagora.posterior.summary.diagnostics import mean_ess
from dagora.stats.statistics import Statistics

Array = NDArray[np.float64]

FEW_DRAWS = 100
MOST_TOLD = 3  # sets about whose support something is told


@dataclass(frozen=True)
class EffectDraws:
    """A value of the effect for each draw, [chain, draw, scale], and whether x is a cause there."""

    values: Array
    causes: NDArray[np.bool_]
    weights: Array


def average_effect(
    graphs: DrawnGraphs,
    statistics: Statistics,
    rows: EffectRows,
    contrast: EffectContrast,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    model: ProcessModel | None = None,
) -> Effect:
    """The effect averaged over graphs; `model`, if any, has Gaussian processes for each."""
    rng = np.random.default_rng(seed)
    linear = all(variable.kind is Kind.CONTINUOUS for variable in rows.table.schema)
    graphs = leaving_given(graphs, contrast)
    notes, assumed = list(graphs.notes), [TABLE_IS_WHOLE, graphs.assumes]
    how = "path sums of drawn coefficients" if linear else "adjustment in each graph"
    if model is not None:
        values, beyond = process_draws(graphs, model, rows, contrast, rng)
        notes += beyond
        assumed += assumed_of_functions(model.score)
        how = "functions of Gaussian processes, drawn for each graph"
    elif linear:
        values = linear_draws(graphs, GaussianPosterior.of(statistics, settings), contrast, rng)
        assumed.append(LINEAR_PARENTS)
    else:
        values, used = draw_effects(graphs, rows, contrast, seed, rng)
        notes += support_notes(used)
        assumed += dict.fromkeys(text for one in used for text in one.estimate.assumes)
    causes = graphs.causes(contrast.x, contrast.y)[graphs.distinct.index]
    draws = EffectDraws(values, causes, graphs.weights)
    effective = effective_draws(draws)
    if effective < FEW_DRAWS:
        notes.append(f"the draws are worth {effective:.0f} independent ones: draw more, or from more chains")
    if model is None:
        best, why = effect_of_best(graphs.best, rows, contrast)
        notes += why
    else:
        best = best_by_processes(graphs, model, rows, contrast, seed)
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
        how=how,
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


def leaving_given(graphs: DrawnGraphs, contrast: EffectContrast) -> DrawnGraphs:
    """Only the graphs in which x does not change what the effect is given: else it would be no condition."""
    changed = np.zeros(len(graphs.distinct), dtype=np.bool_)
    for name in contrast.given:
        changed |= graphs.causes(contrast.x, name)
    left = np.where(changed[graphs.distinct.index], 0.0, graphs.weights)
    share, x = float(left.sum()), " and ".join(contrast.x)
    if share == 0:
        given = " or ".join(contrast.given)
        raise OptionError(f"{given} depends on {x} in every graph: an effect given it is none of {x} alone")
    if share > 1 - 1e-9:
        return graphs
    depend = (
        f"{' and '.join(contrast.given)} {'does' if len(contrast.given) == 1 else 'do'} not depend on {x}"
    )
    note = f"averaged over the graphs in which {depend}, {share:.0%} of the weight"
    return replace(graphs, weights=left / share, notes=(*graphs.notes, note))


def effect_of_best(
    graph: CPDAG, rows: EffectRows, contrast: EffectContrast
) -> tuple[Effect | None, list[str]]:
    """The effect by the most probable class alone, or None and a note that says why there is none."""
    if may_change_given(graph, contrast):
        return None, []
    try:
        return effect_by_graph(graph, rows, contrast), []
    except (DataError, OptionError) as error:
        return None, [f"by the most probable class of graphs alone it cannot be computed: {error.text}"]


def may_change_given(graph: CPDAG, contrast: EffectContrast) -> bool:
    """Return True if x may change what the effect is given."""
    return any(Adjustment(graph, contrast.x, name).verdict != "zero" for name in contrast.given)


def support_notes(used: list[SharedEstimate]) -> list[str]:
    """Where the rows do not carry the answer, for the sets of most weight."""
    first = sorted(used, key=lambda one: -one.weight)[:MOST_TOLD]
    return [
        f"adjusted for {list_names(one.names)} ({one.weight:.0%} of the weight of the graphs): {note}"
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
        whole = hold_causes(summarise(0.0, values, weights), values, weights, draws.causes[some])
        if scale == "difference":
            centre = float((values * weights).sum() / weights.sum())
        else:
            order = np.argsort(values)
            middle = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
            centre = float(values[order][min(int(middle), len(values) - 1)])
        found[scale] = replace(whole, value=centre)
    return found


def effective_draws(draws: EffectDraws) -> float:
    """The number of independent draws that the draws of the effect are worth."""
    weights = draws.weights
    by_weight = float(weights.sum() ** 2 / (weights**2).sum())
    values = draws.values[:, :, 0]
    if np.ptp(values) == 0 or values.shape[1] < 4:
        return by_weight
    found = float(mean_ess(values))
    return min(by_weight, found) if np.isfinite(found) else by_weight
