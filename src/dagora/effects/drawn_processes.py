"""The effect by functions of Gaussian processes under each of many graphs.

Graphs that agree on what lies between x and y share a fitted network, whose functions are drawn as often as
these graphs were.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.effects.contrast import EffectContrast
from dagora.effects.drawn_graphs import DrawnGraphs
from dagora.effects.effect_rows import EffectRows
from dagora.effects.overlap import unseen_values
from dagora.effects.process_effects import effect_by_processes, told_outside
from dagora.effects.process_simulation import graph_of_paths, simulate_means
from dagora.effects.result import Effect
from dagora.graph.adjustment import Adjustment
from dagora.graph.dag import DAG
from dagora.network.gaussian_process.network import GaussianProcessNetwork

Array = NDArray[np.float64]


class ProcessModel(NamedTuple):
    """A kind of Gaussian processes, by its score, and what fits them to a graph."""

    score: str
    fit: Callable[[DAG], GaussianProcessNetwork]


def process_draws(
    graphs: DrawnGraphs,
    model: ProcessModel,
    rows: EffectRows,
    contrast: EffectContrast,
    rng: np.random.Generator,
) -> tuple[Array, list[str]]:
    """A value of the effect for each draw of a graph, [chain, draw, 1], and where it extrapolates."""
    sharing: dict[DAG, list[int]] = defaultdict(list)
    for place in np.flatnonzero(graphs.causes(contrast.x, contrast.y) & graphs.has_weight).tolist():
        sharing[graph_of_paths(graphs.distinct.graph(place), contrast.x, contrast.y)].append(place)
    index = graphs.distinct.index
    values, outside = np.zeros((*index.shape, 1)), defaultdict[str, float](float)
    settings = np.array([contrast.to, contrast.base], dtype=np.float64)
    for graph, places in sharing.items():
        there = np.isin(index, places)
        found = simulate_means(model.fit(graph), rows.table, contrast, settings, rng, int(there.sum()))
        values[there, 0] = found.change
        for name, share in found.outside.items():
            outside[name] += share * float(graphs.weights[there].sum())
    return values, [*unseen_values(rows.table, contrast), *told_outside(outside)]


def best_by_processes(
    graphs: DrawnGraphs, model: ProcessModel, rows: EffectRows, contrast: EffectContrast, seed: int
) -> Effect | None:
    """The effect by the most probable class of graphs; None where that leaves it open."""
    if Adjustment(graphs.best, contrast.x, contrast.y).verdict == "not identified":
        return None
    return effect_by_processes(graphs.best, model.fit, rows, contrast, seed=seed)
