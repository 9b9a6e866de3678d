"""Measure the time of a method on parts of the columns of a table.

Nothing is known beforehand about this machine or this table, so both are measured: the method itself learns
from all rows of ever more columns (4, 6, 9, 14, …), for a second or two in all. The columns of a part depend
on each other (`related_columns`), so that parts are about as hard as the whole. Kernels that are compiled on
the way do not count.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dagora.base.budget import Budget
from dagora.base.errors import DagoraError, silence_warnings
from dagora.base.phrases import comma_list, split_list
from dagora.data.schema import Kind
from dagora.graph.dag import DAG
from dagora.kernels.compilation import compilation
from dagora.learners.effort.extrapolation import (
    FEWEST,
    Part,
    TimeEstimate,
    extrapolate,
    growth_rules,
    part_widths,
)
from dagora.learners.request import PreparedRequest
from dagora.stats.designed import DesignStatistics, rows_with_weights
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.related_columns import related_columns
from dagora.stats.table import TableStatistics

TRIES = 2  # to learn from the narrowest part in the time, where nothing had to be compiled for it
LEAST_SECONDS = 1e-6  # of a part, where a coarse clock did not move

Clock = Callable[[], float]


@dataclass(frozen=True)
class Trial:
    """A method with its options and rows, to be tried by the public function `learn` on some columns."""

    learn: Callable[..., object]
    prepared: PreparedRequest
    options: Mapping[str, Any]
    seed: int
    jobs: int
    clock: Clock

    def part(self, names: Sequence[str], limit: float, whole: Budget) -> Part | None:
        """Measure the time for these columns; None if it exceeds `limit` seconds, or the budget is spent.

        There is no time limit that the method knows of, as with one it may work differently: it is stopped.
        """
        rows = self.prepared.source.rows
        assert isinstance(rows, TableStatistics | IncompleteStatistics | DesignStatistics)
        searching = self.prepared.searching
        budget = whole.at_most(None)
        timer = threading.Timer(limit, budget.stop, ("the time for an estimate is over",))
        timer.daemon = True
        timer.start()
        began = self.clock()
        try:
            with silence_warnings():  # warnings are given when the whole table is learned from
                self.learn(
                    rows.in_order(names),
                    searching.entry.name,
                    score=None if searching.score is None else searching.score.name,
                    knowledge=self.prepared.knowledge.among(names),
                    seed=self.seed,
                    jobs=self.jobs,
                    budget=budget,
                    em_rounds=self.prepared.em_rounds,
                    **restrict_options(self.prepared, self.options, names),
                )
        finally:
            timer.cancel()
        return None if budget.exhausted else Part(len(names), max(self.clock() - began, LEAST_SECONDS))


def measure(trial: Trial, seconds: float, whole: Budget) -> TimeEstimate:
    """Try a method on ever more columns, for so many seconds, and say what the whole table takes."""
    source = trial.prepared.source
    columns = len(source.names)
    none = TimeEstimate(None, None, columns=columns, rows=0)
    if not isinstance(source.rows, TableStatistics | IncompleteStatistics | DesignStatistics):
        return replace(none, reason="it needs a table in memory, without interventions")
    none = replace(none, rows=source.rows.n_rows)
    rows = source.rows
    table = rows.table if isinstance(rows, IncompleteStatistics) else rows_with_weights(rows)[0]
    names = related_columns(table)
    parts: list[Part] = []
    if column_options(trial.prepared):
        trial.part(source.names, 0.0, whole)  # refuses what only all columns together show to be wrong
    try:
        quick = warm_up(trial, names[:FEWEST], seconds, whole)
        ends = trial.clock() + seconds
        for width in part_widths(columns) if quick else ():
            before, left = compilation.ended, ends - trial.clock()
            if left < (parts[-1].seconds if parts else 0.0):
                break
            found = trial.part(names[:width], left, whole)
            if compilation.ended != before:
                ends = trial.clock() + left
                found = trial.part(names[:width], left, whole)
            if found is None:
                break
            parts.append(found)
    except DagoraError as error:
        trial.part(source.names, seconds, whole)  # refuses what is wrong with the whole table, too
        return replace(none, reason=f"parts of the table cannot be tried ({error})")
    if whole.exhausted and len(parts) <= 1:
        return replace(none, reason=whole.reason)
    prepared = trial.prepared
    rules = growth_rules(prepared.searching.entry, prepared.knowledge.max_parents)
    return extrapolate(parts, none, rules, seconds, doubling=may_double(prepared))


def warm_up(trial: Trial, names: Sequence[str], seconds: float, whole: Budget) -> bool:
    """Return True if a method learns from a few columns in time; this compiles or loads its kernels."""
    tries = TRIES
    while tries and not whole.exhausted:
        before = compilation.ended
        if trial.part(names, seconds, whole) is not None:
            return True
        tries -= compilation.ended == before  # what was compiled need not be compiled again
    return False


def may_double(prepared: PreparedRequest) -> bool:
    """Return True if a column may double the parent sets that are scored: bounds exclude few large ones."""
    numbers = any(variable.kind is Kind.CONTINUOUS for variable in prepared.source.statistics.schema)
    unlimited = prepared.knowledge.max_parents is None
    return numbers and unlimited and prepared.searching.entry.takes == "candidates"


def restrict_options(
    prepared: PreparedRequest, options: Mapping[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    """Options for a part of the columns: what they say about the others is left out."""
    narrowed = dict(options)
    if len(names) == len(prepared.source.names):
        return narrowed
    for name, value in column_options(prepared).items():
        if isinstance(value, DAG):
            edges = [edge for edge in value.edges if set(names).issuperset(edge)]
            narrowed[name] = DAG(names, edges)
        else:
            narrowed[name] = comma_list(one for one in split_list(value) if one in names)
    return narrowed


def column_options(prepared: PreparedRequest) -> dict[str, Any]:
    """Options that were given whose values name columns: graphs, and lists of names."""
    given = prepared.searching.method_options
    return {
        one.name: given[one.name]
        for one in prepared.searching.entry.options
        if (one.type == "graph" or one.names_columns) and given.get(one.name) is not None
    }
