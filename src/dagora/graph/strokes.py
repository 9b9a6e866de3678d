"""The edges of a picture: their marks, weights and strengths, and compared with a truth, their verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dagora.base.errors import GraphError
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, without_pag
from dagora.graph.cpdag import Graph
from dagora.graph.dag import Edge
from dagora.graph.metrics import classify_edges
from dagora.graph.pag_metrics import both_pags, classify_pag_edges

Verdict = Literal[
    "plain",
    "shown",
    "correct",
    "reversed",
    "extra",
    "missing",
    "causal",
    "not causal",
    "deciding",
    "changed",
    "weak",
]


@dataclass(frozen=True)
class Stroke:
    """One edge to draw, from its first node to its second, with the sign of a PAG, such as `-->`.

    An `unsure` one is drawn as a line: its arrow is not sure, but counts for Markov blankets. `label` is
    written on it.
    """

    edge: Edge
    sign: str
    verdict: Verdict
    weight: float | None
    strength: float | None = None
    unsure: bool = False
    label: str = ""


def strokes_of(
    graph: AnyGraph,
    truth: AnyGraph | None = None,
    weights: ArrayLike | None = None,
    shown: Collection[Edge] = (),
) -> list[Stroke]:
    """The edges to draw, each with its verdict, and those of the truth that are missing."""
    if isinstance(graph, PAG):
        return _marked_strokes(graph, truth)
    known = None if truth is None else without_pag(truth, "the truth of a DAG or CPDAG")
    return _strokes(graph, known, weights, shown)


def _strokes(
    graph: Graph, truth: Graph | None, weights: ArrayLike | None, shown: Collection[Edge]
) -> list[Stroke]:
    values = None if weights is None else np.asarray(weights, dtype=np.float64)
    if values is not None and values.shape != (len(graph), len(graph)):
        raise GraphError(f"weights must be a {len(graph)} × {len(graph)} matrix, not of shape {values.shape}")
    if values is not None and not np.isfinite(values[graph.to_numpy()]).all():
        raise GraphError("the weights of the edges must be finite numbers")

    def weight(edge: Edge) -> float | None:
        return None if values is None else float(values[graph.index(edge[0]), graph.index(edge[1])])

    edges = [*((edge, "-->") for edge in graph.edges), *((edge, "---") for edge in graph.undirected)]
    if truth is None:
        return [
            Stroke(edge, sign, "shown" if edge in shown else "plain", weight(edge)) for edge, sign in edges
        ]
    verdicts = classify_edges(graph, truth)

    def verdict(edge: Edge) -> Verdict:
        return verdicts.of_edge(truth.index(edge[0]), truth.index(edge[1]))

    found = [Stroke(edge, sign, verdict(edge), weight(edge)) for edge, sign in edges]
    absent = [*((edge, "-->") for edge in truth.edges), *((edge, "---") for edge in truth.undirected)]
    found += [
        Stroke(edge, sign, "missing", None)
        for edge, sign in absent
        if verdicts.missing[truth.index(edge[0]), truth.index(edge[1])]
    ]
    return found


def with_strength(stroke: Stroke, strengths: Mapping[Edge, float]) -> Stroke:
    """The stroke with its strength, which is that of the edge in either direction."""
    if stroke.verdict == "missing":
        return stroke
    tail, head = stroke.edge
    return replace(stroke, strength=strengths.get((tail, head), strengths.get((head, tail))))


def _marked_strokes(graph: PAG, truth: AnyGraph | None) -> list[Stroke]:
    if truth is None:
        return [Stroke((one, other), sign, "plain", None) for one, sign, other in graph.marked_edges]
    found, known = both_pags(graph, truth)
    verdicts = classify_pag_edges(found, known)

    def place(name: str) -> int:
        return known.index(name)

    strokes = [
        Stroke((one, other), sign, verdicts.of_edge(place(one), place(other)), None)
        for one, sign, other in graph.marked_edges
    ]
    strokes += [
        Stroke((one, other), sign, "missing", None)
        for one, sign, other in known.marked_edges
        if verdicts.missing[place(one), place(other)]
    ]
    return strokes
