"""Learn from one sample of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagora.base.budget import Budget
from dagora.base.errors import DataError
from dagora.data.columns.missing_pattern import check_missing
from dagora.graph.bits import Rows, pack
from dagora.learners.request import PreparedRequest
from dagora.learners.run import Run
from dagora.learners.source import Source
from dagora.posterior.resample.completions import completed
from dagora.posterior.resample.row_draws import IMPUTE, drawn_statistics, seeds_of
from dagora.posterior.resample.series_blocks import SeriesBlocks
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics

# How rows are drawn: by the name of a way, or in blocks of steps.
Way = str | SeriesBlocks


@dataclass(frozen=True)
class SampleGraph:
    """The graph of a sample, or why there is none.

    `marks` are bit rows: bit i of row j says that there is a mark i → j; an undirected edge has both.
    """

    marks: Rows | None
    refused: str = ""


def sample_of(prepared: PreparedRequest, way: Way, random: np.random.Generator, seed: int) -> Statistics:
    """The rows of a sample: some of them, blocks of steps, or all rows with their missing values drawn."""
    statistics = prepared.source.statistics
    if isinstance(way, SeriesBlocks):
        return way.draw(statistics, random)
    if way != IMPUTE:
        return drawn_statistics(statistics, way, random)
    if prepared.imputing is None or not isinstance(statistics, IncompleteStatistics):
        raise DataError(f"no cell is missing, so all completions are alike: leave {IMPUTE} out")
    return completed(statistics, prepared.imputing, random, seed)


def learn_sample(
    prepared: PreparedRequest, way: Way, seed: int, sample: int, budget: Budget
) -> SampleGraph | None:
    """Draw rows and learn from them, on one thread; None where time was up before the end."""
    if budget.left <= 0.0:
        return None
    searching = prepared.searching
    random, own_seed = seeds_of(seed, sample)
    try:
        drawn = sample_of(prepared, way, random, own_seed)
        if isinstance(drawn, IncompleteStatistics):
            check_missing(drawn.schema.names, drawn.table.seen)
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
    if graph.nodes != prepared.nodes:
        graph = graph.reorder(prepared.nodes)
    return SampleGraph(pack(graph.to_numpy().T))
