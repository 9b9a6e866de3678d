"""The result of learning from several completions of one table: what most of them have."""

from __future__ import annotations

from dagora.graph.any_graph import number_of_edges
from dagora.graph.dag import DAG
from dagora.learners.result import Result
from dagora.posterior.resample.strengths import Strengths


def pooled_result(strengths: Strengths) -> Result:
    """A result with the edges that more than half of the graphs have, in their usual directions."""
    if not strengths.samples:
        return Result(
            DAG(strengths.nodes), strengths.method, "failed", strengths.message, settings=strengths.settings
        )
    graph = strengths.consensus()
    pooled = f"{number_of_edges(graph)} pairs are joined in more than half of {strengths.samples} graphs"
    return Result(
        graph=graph,
        method=strengths.method,
        status=strengths.status,
        message=f"{pooled}, learned from {strengths.message}",
        score_name=strengths.score_name,
        seconds=strengths.seconds,
        seed=strengths.seed,
        stats=strengths.stats,
        settings=strengths.settings,
        versions=strengths.versions,
        warnings=strengths.warnings,
        data=strengths.data,
    )
