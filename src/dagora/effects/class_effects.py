"""The effects of all graphs in a class, without listing the graphs (IDA and joint IDA).

What the graphs of a class disagree on is the parents of x. Each choice of them that some graph has directs
enough edges to identify the effect, which is then computed by the best set of that choice. For several x at
once, one graph stands for each choice of all their parents (Nandy, Maathuis & Richardson 2017). A choice
counts once, however many graphs make it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_rows import EffectRows
from dagora.effects.g_formula import LINEAR, effect_along_paths
from dagora.effects.one_graph import effect_if_identified
from dagora.effects.parent_sets import directed_around, parent_sets
from dagora.effects.result import ClassMember
from dagora.graph.adjustment import Adjustment
from dagora.graph.bit_sets import bit_rows, members
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import Edge
from dagora.graph.directions import members_by_parents
from dagora.graph.identification import oriented

MOST_CHOICES = 256
"""Choices of parents for which an effect is computed."""


class ClassEffects(NamedTuple):
    """The effects over a class, those not zero first, what they assume, and notes."""

    members: tuple[ClassMember, ...] = ()
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def effects_over_class(
    graph: Graph, rows: EffectRows, contrast: EffectContrast, seed: int = 0
) -> ClassEffects:
    """The effect for each choice of the parents of x, at most `MOST_CHOICES`."""
    chosen = list(islice(choices(graph, contrast.x), MOST_CHOICES + 1))
    found, assumed = [], []
    for edges, member in chosen[:MOST_CHOICES]:
        said = Adjustment(member, contrast.x, contrast.y)
        if said.verdict == "g-formula":
            found.append(ClassMember(edges, effect_along_paths(member, rows, contrast, seed), ()))
            assumed.append(LINEAR)
            continue
        effect = effect_if_identified(said, rows, contrast, seed)
        found.append(ClassMember(edges, effect.estimates, effect.adjustment, effect.support))
        assumed += effect.assumptions
    return ClassEffects(
        tuple(sorted(found, key=lambda member: member.adjustment is None)),
        tuple(dict.fromkeys(assumed)),
        (f"only the first {MOST_CHOICES} choices were computed",) if len(chosen) > MOST_CHOICES else (),
    )


def choices(graph: Graph, causes: tuple[str, ...]) -> Iterator[tuple[tuple[Edge, ...], Graph]]:
    """The ways to direct the open edges at some nodes, each with a graph that has them so."""
    matrix, names = oriented(graph), graph.nodes
    lines = matrix & matrix.T
    if len(causes) == 1:
        x = graph.index(causes[0])
        for before, after in parent_sets(bit_rows(matrix), bit_rows(matrix.T), x):
            edges = [(names[node], causes[0]) for node in members(before)]
            edges += [(causes[0], names[node]) for node in members(after)]
            yield tuple(edges), CPDAG.from_numpy(directed_around(matrix, x, before, after), names)
        return
    class_ = CPDAG.from_numpy(matrix, names)
    dag = class_.extension()
    places = [graph.index(name) for name in causes]
    open_ = [edge for edge in dag.edges if lines[dag.index(edge[0]), dag.index(edge[1])]]
    for member in members_by_parents(dag, open_, causes):
        at_causes = np.zeros_like(lines)
        at_causes[places] = at_causes[:, places] = True
        found = np.argwhere(member.to_numpy() & lines & at_causes)
        yield tuple((names[i], names[j]) for i, j in found), member
