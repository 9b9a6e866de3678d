"""The result of learning from several completions of one table: what most of them have."""

from __future__ import annotations

from dagora.graph.any_graph import number_of_edges
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.result import Result
from dagora.posterior.resample.strengths import Strengths


def pooled_result(strengths: Strengths) -> Result:
    """A result with the edges that more than half of the graphs have, in their usual directions.

    Together these may break knowledge that each graph obeys: then it is the graph closest to all of them.
    """
    if not strengths.samples:
        return Result(
            DAG(strengths.nodes), strengths.method, "failed", strengths.message, settings=strengths.settings
        )
    graph = strengths.consensus()
    pooled = f"{number_of_edges(graph)} pairs are joined in more than half of {strengths.samples} graphs"
    known = Knowledge.from_dict(strengths.settings["knowledge"])
    if isinstance(graph, DAG) and (broken := known.violations(graph)):
        graph = strengths.closest()
        pooled += f", but together break what is known ({broken[0]}): this is the graph closest to all,"
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
