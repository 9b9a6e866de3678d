"""Learn from one sample of rows."""

from __future__ import annotations

from dataclasses import dataclass

from dagora.base.errors import DataError
from dagora.base.events import Budget
from dagora.data.columns.missing_pattern import check_missing
from dagora.graph.bits import Rows, pack
from dagora.learners.request import PreparedRequest
from dagora.learners.run import Run
from dagora.learners.source import Source
from dagora.posterior.resample.row_draws import drawn_rows, seeds_of, statistics_of_rows
from dagora.stats.observed.statistics import IncompleteStatistics


@dataclass(frozen=True)
class SampleGraph:
    """The graph of a sample, or why there is none.

    `marks` are bit rows: bit i of row j says that there is a mark i → j; an undirected edge has both.
    """

    marks: Rows | None
    refused: str = ""


def learn_sample(
    prepared: PreparedRequest, way: str, seed: int, sample: int, budget: Budget
) -> SampleGraph | None:
    """Draw rows and learn from them, on one thread; None where time was up before the end."""
    if budget.left <= 0.0:
        return None
    source, searching = prepared.source, prepared.searching
    random, own_seed = seeds_of(seed, sample)
    rows = drawn_rows(way, source.statistics.n_rows, random)
    try:
        drawn = statistics_of_rows(source.statistics, rows)
        if isinstance(drawn, IncompleteStatistics):
            check_missing(source.names, drawn.table.seen)
        local = None if searching.score is None else searching.make(drawn, prepared.knowledge)
        run = Run(prepared.knowledge, own_seed, budget)
        outcome, _, _ = searching.with_missing(Source(drawn), local, run, prepared.em_rounds)
    except DataError as error:
        return SampleGraph(None, error.text)
    if budget.exhausted:
        return None
    if outcome.status == "failed":
        return SampleGraph(None, outcome.message)
    graph = outcome.plain_graph
    if graph.nodes != source.names:
        graph = graph.reorder(source.names)
    return SampleGraph(pack(graph.to_numpy().T))
