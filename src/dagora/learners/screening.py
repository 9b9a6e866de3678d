"""Fewer passes over rows that are scanned: try a search on a sample, and count early what it asked for.

A search asks for the next families only when it has the scores of those before them, so every few steps take
a pass over all rows. The first pass draws a sample on its way. The same method runs on it in memory, and all
sets of columns that it asked for are counted on all rows, in one pass. Then the method runs on all rows as
it always does: what was counted early it finds, and what was not takes a pass when it is asked for. So the
sample decides when a set is counted, and never what is chosen: graph and score are the same to the last bit.

A score with a price per parameter would find fewer edges on fewer rows. With G the gain in likelihood that d
parameters bring on n of N = k n rows, k (G − d/2) + d/2 is expected on all of them, which outweighs the price
p d there if G/d > 1/2 + (p − 1/2)/k. That is the price on the sample, but never so low that many edges come
by chance, which would be counted early for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from dagora.base.events import Event, ignore
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.learners.one_run import Searching
from dagora.learners.run import Run
from dagora.learners.source import Source
from dagora.scores.discrete import DiscreteScore
from dagora.scores.local_score import LocalScore
from dagora.stats.scan.scan_statistics import ScanStatistics
from dagora.stats.statistics import CellCounts, ColumnSets, Contingency, flatten
from dagora.stats.table import TableStatistics

# The shares of the time that is left: for the search on the sample, and for the pass over all rows that
# counts what it asked for.
SHARE, EARLY = 0.1, 0.3
# The least price on a sample, and what is taken off the logarithm of the number of columns: then about a
# third as many edges come by chance as there are columns.
LEAST_PRICE, LESS = 1.75, 0.7


class RecordingStatistics(TableStatistics):
    """Statistics of a sample that note the sets of columns they are asked for."""

    def __init__(self, table: Table, jobs: int) -> None:
        super().__init__(table, jobs)
        self.sets: dict[tuple[int, ...], None] = {}

    def counts(self, column_sets: ColumnSets) -> CellCounts:
        """Occupied joint counts of many sets."""
        columns, offsets = flatten(column_sets)
        flat, bounds = columns.tolist(), offsets.tolist()
        self._note([flat[a:b] for a, b in pairwise(bounds)])
        return super().counts(column_sets)

    def contingency(self, columns: Sequence[int]) -> Contingency:
        """Occupied cells of one set, with their counts."""
        self._note([columns])
        return super().contingency(columns)

    def _note(self, column_sets: Sequence[Sequence[int]]) -> None:
        for columns in column_sets:
            self.sets[tuple(sorted(set(columns)))] = None


def screen(searching: Searching, source: Source, local: LocalScore | None, run: Run) -> str:
    """Count early what a method is likely to ask for, if rows are scanned and a sample of them is in memory.

    Returns what was done, in words; empty where nothing was counted.
    """
    rows = source.rows
    if not isinstance(rows, ScanStatistics) or not searching.entry.screens or rows.sample is None:
        return ""
    run.on_event(Event("trying on a sample", 0))
    asked = RecordingStatistics(rows.sample, run.jobs)
    trial = replace(run, on_event=ignore, budget=run.budget.part(SHARE))
    again = at_sample_price(searching, local, asked)
    began = run.budget.elapsed
    again.once(Source(rows=asked), again.make(asked, run.knowledge), trial)
    # About what the trial took, times as many rows; the sets that were asked for first come first.
    seconds = (run.budget.elapsed - began) * rows.n_rows / rows.sample.n_rows
    share = 1.0 if math.isinf(run.budget.left) else min(1.0, EARLY * run.budget.left / max(seconds, 1e-9))
    early = list(asked.sets)[: int(share * len(asked.sets))]
    # A trial that ended before it knew all pairs is useless, and would cost a pass.
    useful = (share == 1.0 and not trial.budget.exhausted) or len(early) > math.comb(len(rows.schema), 2)
    if not useful or run.budget.exhausted or not rows.count_early(early):
        return ""
    return (
        f"a search on a sample of {rows.sample.n_rows:,} rows decided what to count early; every family was "
        f"then counted on all {rows.n_rows:,} rows"
    )


def at_sample_price(searching: Searching, local: LocalScore | None, asked: RecordingStatistics) -> Searching:
    """The same method on a score whose price per parameter fits a sample."""
    score = searching.score
    if score is None or not any(option.name == "penalty" for option in score.options):
        return searching
    there, here = local, searching.make(asked, Knowledge())
    if not isinstance(there, DiscreteScore) or not isinstance(here, DiscreteScore):
        return searching
    times = there.n_rows / here.n_rows
    least = max(LEAST_PRICE, math.log(len(here.schema)) - LESS)
    price = max(least, 0.5 + (there.price - 0.5) / times)
    penalty = cast("float", searching.score_options.get("penalty", 1.0))
    scaled = penalty * min(1.0, price / here.price)
    return replace(searching, score_options={**searching.score_options, "penalty": scaled})
