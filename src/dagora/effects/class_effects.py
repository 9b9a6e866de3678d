"""The effects of all graphs in a class, without listing the graphs (IDA and joint IDA).

What the graphs of a class disagree on is the parents of x. Each choice of them that some graph has directs
enough edges to identify the effect, which is then computed by the best set of that choice; for several x at
once likewise (Nandy, Maathuis & Richardson 2017). A choice counts once, however many graphs make it.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_source import EffectSource
from dagora.effects.g_formula import effect_without_set
from dagora.effects.one_graph import effect_if_identified
from dagora.effects.result import ClassMember
from dagora.graph.adjustment import Adjustment
from dagora.graph.cpdag import Graph
from dagora.graph.parent_sets import MOST_CHOICES, parent_choices


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
