"""Draws as JSON: every distinct graph once, as parent lists, and for each draw the number of its graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bits import Rows, pack, unpack
from dagora.posterior.draws import Draws
from dagora.posterior.summary.features import DistinctGraphs


def draws_to_dict(draws: Draws, distinct: DistinctGraphs) -> dict[str, Any]:
    """JSON form; −∞ among weights becomes null."""
    weights = draws.log_weights
    return {
        "graphs": parent_lists(distinct.parents, len(draws.names)),
        "index": distinct.index.tolist(),
        "log_scores": draws.log_scores.tolist(),
        "log_weights": None if weights is None else [[_plain(value) for value in row] for row in weights],
        "edges": None if draws.edges is None else draws.edges.tolist(),
        "independent": draws.independent,
        "particles": draws.particles,
        "completions": draws.completions,
        "stats": dict(draws.stats),
        "warnings": list(draws.warnings),
    }


def draws_from_dict(names: Sequence[str], content: Mapping[str, Any], **texts: str) -> Draws:
    """Undo `draws_to_dict`; `texts` are the status and the sentences of `Draws`."""
    nodes = len(names)
    distinct = parent_rows(content["graphs"], nodes)
    log_scores = _matrix(content["log_scores"])
    index = np.array(content["index"], dtype=np.int64).reshape(log_scores.shape)
    weights, edges = content["log_weights"], content["edges"]
    if weights is not None:
        weights = _matrix([[-math.inf if value is None else value for value in row] for row in weights])
    return Draws(
        names=tuple(names),
        parents=distinct[index],
        log_scores=log_scores,
        log_weights=weights,
        edges=None if edges is None else np.array(edges, dtype=np.float64),
        independent=content["independent"],
        particles=content.get("particles", False),
        completions=content.get("completions", 1),
        stats=content["stats"],
        warnings=tuple(content["warnings"]),
        **texts,
    )


def parent_lists(parents: Rows, nodes: int) -> list[list[list[int]]]:
    """Per graph and node the positions of its parents.

    >>> parent_lists(np.array([[[0], [1], [3]]], dtype=np.uint64), 3)
    [[[], [0], [0, 1]]]
    """
    present = unpack(parents.reshape(-1, parents.shape[-1]), nodes)
    members = np.nonzero(present)[1].tolist()
    ends = np.cumsum(present.sum(axis=1)).tolist()
    families = [members[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return [families[first : first + nodes] for first in range(0, len(families), nodes)]


def parent_rows(graphs: Sequence[Sequence[Sequence[int]]], nodes: int) -> Rows:
    """Undo `parent_lists`."""
    families = [family for graph in graphs for family in graph]
    present = np.zeros((len(graphs) * nodes, nodes), dtype=np.bool_)
    if len(families) != len(present):
        raise ValueError(f"each graph has parents for {nodes} nodes")
    sizes = np.array([len(family) for family in families], dtype=np.int64)
    members = np.array([parent for family in families for parent in family], dtype=np.int64)
    present[np.repeat(np.arange(len(families)), sizes), members] = True
    rows = pack(present)
    return rows.reshape(len(graphs), nodes, rows.shape[1])


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _matrix(rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Rows of numbers as an array [chains, draws], also if there are no draws."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if any(map(len, rows)) else 0)
