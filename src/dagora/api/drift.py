"""Test which families of a graph changed between two periods."""

from __future__ import annotations

from typing import Any

from dagora.api.check import graph_of
from dagora.api.graph_source import GraphSource
from dagora.base.errors import OptionError
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG, require_dag
from dagora.graph.dag import DAG
from dagora.posterior.criticism.drift import Drift, drift_of
from dagora.stats.accepting import as_statistics
from dagora.stats.statistics import Statistics
from dagora.stats.stored.accepting_stored import are_stored

ALPHA = 0.05


@takes_reading()
def drift(
    graph: GraphSource,
    old: object,
    new: object,
    *,
    alpha: float = ALPHA,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> Drift:
    """Test which families of a graph changed from old data to new data.

    Each variable given its parents is compared between the periods: by G² where all are discrete, by the
    likelihood ratio of regressions where all are continuous, and from regressions with indicators of levels
    where there are both kinds.

    Parameters
    ----------
    graph : DAG, CPDAG, Result, network or file
        Of a CPDAG one member is taken: another one has other families.
    old, new : path, data frame, Table or statistics
        Rows of each period, or statistics of them (`statistics`).
    alpha : float, default 0.05
        The rate of false discoveries among the families that are said to have changed.
    {reading}

    Returns
    -------
    Drift
        `to_text()` says what changed, `to_json()` has every number, `plot()` marks what changed.

    Examples
    --------
    >>> import dagora
    >>> old = {"x": ["n", "y"] * 100, "y": ["n", "y"] * 90 + ["y", "n"] * 10}
    >>> new = {"x": ["n", "y"] * 100, "y": ["n", "y"] * 50 + ["y", "n"] * 50}
    >>> dagora.drift(dagora.DAG("xy", ["xy"]), old, new).changed
    ('y',)
    """
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise OptionError(option="alpha", value=alpha, must="be a number between 0 and 1")
    known, purpose = graph_of(graph)
    options, unknown = split_reading(reading, **purpose)
    if unknown:
        raise OptionError(f"drift has no option '{next(iter(unknown))}'")
    before, now = (
        as_statistics(data) if are_stored(data) else as_statistics(data, reading=options)
        for data in (old, new)
    )
    return drift_between(known, before, now, alpha)


def drift_between(graph: AnyGraph, before: Statistics, now: Statistics, alpha: float) -> Drift:
    """Test the families of a graph, or of a member of a class, between two periods."""
    dag: DAG = graph.extension() if isinstance(graph, CPDAG) else require_dag(graph)
    for statistics in (before, now):
        for node in dag:
            statistics.schema.index(node)
    return drift_of(dag, before, now, alpha)
