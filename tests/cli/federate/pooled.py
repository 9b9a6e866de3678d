"""What a run over sites is compared with: the result on the pooled rows."""

import json
from pathlib import Path

import pytest

import dagora


def edges_of(content: str) -> tuple[list, list, float]:
    """Edges and score of a result in JSON."""
    learned = json.loads(content)
    return learned["edges"], learned["undirected"], learned["score"]


def pooled(file: Path, method: str = "auto") -> tuple[list, list, object]:
    """The same of what is learned from one file."""
    result = dagora.learn(file, method)
    edges = [[list(edge) for edge in some] for some in (result.graph.edges, result.graph.undirected)]
    return edges[0], edges[1], pytest.approx(result.score, rel=1e-9)
