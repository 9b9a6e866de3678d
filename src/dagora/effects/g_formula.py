"""Effects that are identified, but by no one adjustment set: along the paths of a linear model, or by tables.

This happens only where several variables are set at once. Any DAG of the class gives the effect. Continuous
columns: its coefficients are drawn from their posterior (`gaussian_draws`), and what is set does not follow
its parents. Discrete ones: by the tables of all columns on the way (`table_g_formula`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dagora.base.errors import OptionError
from dagora.data.schema import Kind
from dagora.effects.assumptions import LINEAR_PARENTS
from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_rows import EffectRows
from dagora.effects.effect_source import EffectSource
from dagora.effects.gaussian_draws import GaussianPosterior, propagate, topological_orders
from dagora.effects.one_set import all_discrete
from dagora.effects.set_estimate import DRAWS, Interval, Support, summarise
from dagora.effects.table_g_formula import effect_by_tables, families_towards
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG


class IdentifiedEffect(NamedTuple):
    """The effect on each scale, how it was found, and what that assumes."""

    estimates: Mapping[str, Interval]
    how: str
    assumes: tuple[str, ...] = ()
    support: Support | None = None


def effect_without_set(
    graph: Graph, rows: EffectSource, contrast: EffectContrast, seed: int = 0
) -> IdentifiedEffect:
    """The effect by the arrows of a graph, or of one DAG of its class."""
    dag = graph.extension() if isinstance(graph, CPDAG) else graph
    families = families_towards(dag, contrast.x, contrast.y)
    needed = sorted({name for child, parents in families for name in (child, *parents)})
    known = set(rows.names)
    if isinstance(rows, EffectRows) and not contrast.given:
        if set(needed) <= known and all_discrete(rows.table, needed):
            found = effect_by_tables(rows, families, contrast, seed)
            found.refuse_untold()
            return IdentifiedEffect(found.estimates, found.how, support=found.support)
        if set(dag) <= known and all_continuous(rows, dag.nodes):
            estimates = effect_along_paths(dag, rows, contrast, seed)
            return IdentifiedEffect(estimates, "path sums of drawn coefficients", (LINEAR_PARENTS,))
    raise OptionError(
        f"the effect of {' and '.join(contrast.x)} on '{contrast.y}' is identified, but by no one "
        "adjustment set: set one of them at a time, or ask a fitted network with do(...)"
    )


def effect_along_paths(
    dag: DAG, rows: EffectRows, contrast: EffectContrast, seed: int = 0
) -> dict[str, Interval]:
    """The effect in a linear model with the arrows of a graph."""
    statistics = rows.statistics(dag.nodes)
    is_set, steps = np.zeros(len(dag), dtype=np.bool_), np.zeros(len(dag))
    for name, to, base in zip(contrast.x, contrast.to, contrast.base, strict=True):
        is_set[dag.index(name)], steps[dag.index(name)] = True, float(to) - float(base)
    graphs = np.repeat(dag.to_numpy()[None], DRAWS, axis=0)
    weights = GaussianPosterior.of(statistics).draw_weights(graphs, np.random.default_rng(seed))
    changes = propagate(weights, topological_orders(graphs), is_set, steps)[:, dag.index(contrast.y)]
    return {"difference": summarise(float(changes.mean()), changes)}


def all_continuous(rows: EffectRows, names: tuple[str, ...]) -> bool:
    """Return True if all these columns are continuous."""
    schema = rows.table.schema
    return all(schema[schema.index(name)].kind is Kind.CONTINUOUS for name in names)
