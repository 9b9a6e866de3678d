"""Score a graph on data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.graph.cpdag import CPDAG, Graph, require_graph
from dagora.learners.checks import numbers_for, orders_numbers
from dagora.learners.large_sources import scan_if_large
from dagora.learners.source import read_rows
from dagora.scores.local_score import LocalScore, graph_score
from dagora.scores.registry import default_score, score_named
from dagora.stats.accepting import as_statistics
from dagora.stats.statistics import Statistics


@takes_reading()
def score(
    data: object,
    graph: Graph,
    score: str | None = None,
    *,
    interventions: str | Mapping[str, Any] | Sequence[Any] | None = None,
    **options: Any,  # noqa: ANN401
) -> float:
    """Score a graph on data.

    Parameters
    ----------
    {data}
    graph : DAG or CPDAG
        Of a CPDAG, one of its DAGs is scored.
    score : str, optional
        A name from `methods()`. Default: "bic" for discrete, "bic-gaussian" for continuous columns,
        "bic-mixed" for both.
    {interventions, reading}
    **options
        Options of the score; `dagora.methods()[NAME]` lists them.

    Returns
    -------
    float
        The sum over all variables given their parents; larger is better.

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> round(score({"a": [0, 1] * 20, "b": [0, 1] * 20}, DAG(["a", "b"]), score="bic"), 3)
    -59.141
    """
    require_graph(graph)
    directed = graph.extension() if isinstance(graph, CPDAG) else graph
    reading, options = split_reading(options, graph.nodes, numbers_for(None, score))
    reading = replace(reading, trends=orders_numbers(score))
    rows: Statistics | None = None
    if interventions is None:
        rows = scan_if_large(data, None, score, options, reading)
    if rows is None:
        rows = read_rows(data, reading=reading, interventions=interventions)
    return graph_score(make_score(rows, score, **options), directed)


def make_score(data: object, score: str | None = None, jobs: int = 1, **options: Any) -> LocalScore:  # noqa: ANN401
    """Make the named score (or the default one) of some data."""
    reading, options = split_reading(options, numbers_for=numbers_for(None, score))
    statistics = as_statistics(data, jobs, replace(reading, trends=orders_numbers(score)))
    entry = default_score(statistics.schema) if score is None else score_named(score)
    return entry.make(statistics, **options)
