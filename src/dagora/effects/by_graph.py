"""The effect by a graph, or over the class that it stands for where that does not identify it.

Graphs of a class are not listed (IDA and joint IDA). What they disagree on is the parents of x. Each choice
of them that some graph has directs enough edges to identify the effect, which is then computed by the best
set of that choice; for several x at once likewise (Nandy, Maathuis & Richardson 2017). A choice counts
once, however many graphs make it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_source import EffectSource
from dagora.effects.g_formula import effect_without_set
from dagora.effects.one_graph import assumptions_of, effect_if_identified, refuse_descendants
from dagora.effects.result import ClassMember, Effect
from dagora.graph.adjustment import Adjustment
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, without_pag
from dagora.graph.cpdag import Graph
from dagora.graph.parent_sets import MOST_CHOICES, parent_choices


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


class ClassEffects(NamedTuple):
    """The effects over a class, those not zero first, what they assume, and notes."""

    members: tuple[ClassMember, ...] = ()
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def effects_over_class(
    graph: Graph, rows: EffectSource, contrast: EffectContrast, seed: int = 0
) -> ClassEffects:
    """The effect for each choice of the parents of x, at most `MOST_CHOICES`."""
    chosen = list(islice(parent_choices(graph, contrast.x), MOST_CHOICES + 1))
    found: list[ClassMember] = []
    assumed: list[str] = []
    for edges, member in chosen[:MOST_CHOICES]:
        said = Adjustment(member, contrast.x, contrast.y)
        if said.verdict == "g-formula":
            by_paths = effect_without_set(member, rows, contrast, seed)
            found.append(ClassMember(edges, "g-formula", by_paths.estimates, None, by_paths.support))
            assumed += by_paths.assumes
            continue
        effect = effect_if_identified(said, rows, contrast, seed)
        found.append(ClassMember(edges, effect.verdict, effect.estimates, effect.adjustment, effect.support))
        assumed += effect.assumptions
    return ClassEffects(
        tuple(sorted(found, key=lambda member: member.verdict == "zero")),
        tuple(dict.fromkeys(assumed)),
        (f"only the first {MOST_CHOICES} choices were computed",) if len(chosen) > MOST_CHOICES else (),
    )
