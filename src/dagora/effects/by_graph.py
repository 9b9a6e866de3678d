"""The effect by a graph, or by the class that it stands for where that does not identify it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dagora.effects.class_effects import ClassEffects, effects_over_class
from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_source import EffectSource
from dagora.effects.g_formula import effect_without_set
from dagora.effects.one_graph import assumptions_of, effect_if_identified, refuse_descendants
from dagora.effects.result import Effect
from dagora.graph.adjustment import Adjustment
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, without_pag


def effect_by_graph(
    graph: AnyGraph, rows: EffectSource, contrast: EffectContrast, notes: Sequence[str] = (), seed: int = 0
) -> Effect:
    """The effect that rows and a graph determine; the effects over its class where it leaves them open."""
    return replace(_effect_by_graph(graph, rows, contrast, notes, seed), graph=graph)


def _effect_by_graph(
    graph: AnyGraph, rows: EffectSource, contrast: EffectContrast, notes: Sequence[str], seed: int
) -> Effect:
    found = Adjustment(graph, contrast.x, contrast.y, notes)
    refuse_descendants(graph, contrast)
    if found.verdict in {"zero", "adjustment"}:
        return effect_if_identified(found, rows, contrast, seed)
    if found.verdict == "g-formula":
        by_paths = effect_without_set(without_pag(graph, "the g-formula"), rows, contrast, seed)
        return Effect(
            contrast,
            "g-formula",
            by_paths.estimates,
            how=by_paths.how,
            rows=rows.n_rows,
            support=by_paths.support,
            assumptions=(*assumptions_of(graph), *by_paths.assumes),
            notes=found.notes,
        )
    over = ClassEffects() if isinstance(graph, PAG) else effects_over_class(graph, rows, contrast, seed)
    return Effect(
        contrast,
        "not identified",
        rows=rows.n_rows,
        reason=found.reason,
        open_edges=found.open_edges,
        members=over.members,
        assumptions=tuple(dict.fromkeys((*assumptions_of(graph), *over.assumptions))),
        notes=(*found.notes, *over.notes),
    )
