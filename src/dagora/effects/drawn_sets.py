"""The effect under each of many graphs, which say what to adjust for.

Graphs that say the same share an estimate, from whose posterior the effect is drawn once for each draw of a
graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.effects.contrast import EffectContrast
from dagora.effects.drawn_graphs import DrawnGraphs
from dagora.effects.effect_rows import EffectRows
from dagora.effects.one_graph import ENOUGH, choose_set, zero
from dagora.effects.one_set import SetEstimator, all_discrete
from dagora.effects.set_estimate import SetEstimate
from dagora.effects.table_g_formula import Families, effect_by_tables, families_towards
from dagora.graph.adjustment import Adjustment

Array = NDArray[np.float64]
Key = tuple[object, ...]


@dataclass
class SharedEstimate:
    """An estimate, what it adjusts for, and the distinct graphs, by their places, that share it."""

    names: tuple[str, ...]
    estimate: SetEstimate
    graphs: list[int] = field(default_factory=list)
    weight: float = 0.0  # of the draws of these graphs


def draw_effects(
    graphs: DrawnGraphs, rows: EffectRows, contrast: EffectContrast, seed: int, rng: np.random.Generator
) -> tuple[Array, list[SharedEstimate]]:
    """A value of the effect for each draw of a graph, [chain, draw, scale], and the estimates behind them."""
    index = graphs.distinct.index
    values = np.tile([found.value for found in zero(contrast).values()], (*index.shape, 1))
    found = estimates_by_graph(graphs, rows, contrast, seed)
    of_graph = np.full(len(graphs.distinct), len(found))  # those in which there is no effect come last
    for number, one in enumerate(found):
        of_graph[one.graphs] = number
    of_draw = of_graph[index.ravel()]
    order = np.argsort(of_draw, kind="stable")
    ends = np.cumsum(np.bincount(of_draw, minlength=len(found) + 1)).tolist()
    flat, weights = values.reshape(-1, values.shape[-1]), graphs.weights.ravel()
    for one, start, end in zip(found, [0, *ends], ends[:-1], strict=False):
        there = order[start:end]
        flat[there] = one.estimate.draw(len(there), rng)
        one.weight = float(weights[there].sum())
    return values, found


def estimates_by_graph(
    graphs: DrawnGraphs, rows: EffectRows, contrast: EffectContrast, seed: int
) -> list[SharedEstimate]:
    """The estimates under all graphs in which x is a cause of y."""
    causal = graphs.causes(contrast.x, contrast.y) & graphs.has_weight
    found: dict[Key, SharedEstimate] = {}
    if len(contrast.x) == 1 and not contrast.given and rows.interventions is None:
        estimator = SetEstimator(rows.table, contrast, rows.design)
        for names, places in sets_with_support(graphs, estimator, contrast, causal):
            found[names, ()] = SharedEstimate(names, estimator.estimate(names, seed), places)
            causal[places] = False
    for place in np.flatnonzero(causal).tolist():
        graph = graphs.distinct.graph(place)
        said = Adjustment(graph, contrast.x, contrast.y)
        if said.verdict == "g-formula":
            families = families_towards(graph, contrast.x, contrast.y)
            refuse_mixed(rows, contrast, families)
            key: Key = ("g-formula", families)
            if key not in found:
                found[key] = SharedEstimate((), effect_by_tables(rows, families, contrast, seed))
        else:
            chosen = choose_set(said, rows, contrast)
            key = (chosen.names, chosen.regimes)
            if key not in found:
                found[key] = SharedEstimate(chosen.names, chosen.estimate(seed))
        found[key].graphs.append(place)
    return list(found.values())


def sets_with_support(
    graphs: DrawnGraphs, estimator: SetEstimator, contrast: EffectContrast, causal: NDArray[np.bool_]
) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """The sets of least variance that rows support, each with the graphs whose best set it is."""
    places = np.flatnonzero(causal)
    best = graphs.optimal_sets(contrast.x[0], contrast.y, places)
    sets, of_graph = np.unique(best, axis=0, return_inverse=True)
    order = np.argsort(of_graph.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(of_graph.ravel(), minlength=len(sets))).tolist()
    for chosen, start, end in zip(sets, [0, *ends], ends, strict=False):
        names = tuple(graphs.distinct.names[node] for node in np.flatnonzero(chosen))
        if estimator.supported_share(names) >= ENOUGH:
            yield names, places[order[start:end]].tolist()


def refuse_mixed(rows: EffectRows, contrast: EffectContrast, families: Families) -> None:
    """Refuse the g-formula where columns of both kinds are on the way, or where something is given."""
    names = {name for child, parents in families for name in (child, *parents)}
    if contrast.given or not all_discrete(rows.table, sorted(names)):
        raise OptionError(
            f"in some graphs the effect of {' and '.join(contrast.x)} is identified by no one adjustment "
            "set: set one of them at a time"
        )
