"""Methods for rows on series: they are given windows of time as rows, and nothing may lead into the past.

A window is a step with the steps before it (`stats.windows`). Its columns of earlier steps have no parents
(`graph.knowledge_in_time`), so a score counts the families of the present step alone: what it gives to the
columns of earlier steps by themselves is the same for every graph, and is taken off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dagora.base.errors import OptionError
from dagora.base.events import Event, Observer
from dagora.base.wording import option
from dagora.data.columns.missing_pattern import check_missing
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_in_time import earlier_nodes, knowledge_in_time
from dagora.learners.method import Method
from dagora.learners.outcome import Outcome
from dagora.learners.source import Source
from dagora.scores.local_score import LocalScore
from dagora.stats.capabilities import capabilities_of
from dagora.stats.lagged import IncompleteSeries, SeriesStatistics
from dagora.stats.windows import IncompleteWindows, Windows

LAGS, MOST_LAGS = 1, 100
# Numbers in the account of a search that are scores of whole graphs.
SCORES = ("tabu_score", "order_score", "drawn_score", "bound", "greedy", "best_seen", "polished")


def check_lags(lags: object) -> int:
    """Refuse a number of lags that is none; without one it is `LAGS`.

    >>> check_lags(None), check_lags(3)
    (1, 3)
    """
    if lags is None:
        return LAGS
    if isinstance(lags, bool) or not isinstance(lags, int) or not 1 <= lags <= MOST_LAGS:
        raise OptionError(option="lags", value=lags, must=f"be a whole number from 1 to {MOST_LAGS}")
    return lags


def with_lags(method: Method, options: Mapping[str, object], lags: int | None) -> Mapping[str, object]:
    """The options of a method, with the number of lags if it is one in time, which has that option.

    >>> from dagora.learners.registry import method_named
    >>> with_lags(method_named("dynotears"), {}, 2), with_lags(method_named("tabu"), {}, 2)
    ({'lags': 2}, {})
    """
    return {**options, "lags": lags} if method.in_time and lags is not None else options


def in_windows(method: Method, source: Source, lags: object, jobs: int = 1) -> Source:
    """The source with windows as rows where the rows are series, unless the method makes its own."""
    if method.in_time:
        return source
    if capabilities_of(source.rows).lagged is not None:
        refuse_series(method)
        method.check_width(len(source.names) * (check_lags(lags) + 1))
    return windows_as_rows(source, lags, jobs)


def windows_as_rows(source: Source, lags: object, jobs: int = 1) -> Source:
    """The source with windows as rows where the rows are series; else a number of lags is refused."""
    lagged = capabilities_of(source.rows).lagged
    if lagged is not None and not isinstance(source.rows, SeriesStatistics | IncompleteSeries):
        return Source(lagged(check_lags(lags)))  # sums over windows are all that there is
    if not isinstance(source.rows, SeriesStatistics | IncompleteSeries):
        if lags is not None:
            raise OptionError(f"{option('lags')} goes with {option('time')}, which says when a row was")
        return source
    clock = source.rows.clock if isinstance(source.rows, IncompleteSeries) else None
    rows = Windows.of(source.rows.panel, check_lags(lags)).statistics(jobs, clock)
    if isinstance(rows, IncompleteWindows):
        check_missing(rows.schema.names, rows.table.seen)
    return Source(rows)


def refuse_series(method: Method) -> None:
    """Refuse series to a method that cannot know that nothing leads into the past; name one that can.

    >>> from dagora.learners.registry import method_named
    >>> refuse_series(method_named("fci"))
    Traceback (most recent call last):
    dagora.OptionError: the method fci does not learn from series: choose svar-rfci, or leave time out
    """
    if method.instead_in_time:
        raise OptionError(
            f"the method {method.name} does not learn from series: choose {method.instead_in_time}, or leave "
            f"{option('time')} out"
        )


def knowing_time(known: Knowledge, source: Source) -> Knowledge:
    """The knowledge, with that of time where the rows are windows."""
    windows = source.windows
    return known if windows is None else knowledge_in_time(known, windows.variables, windows.lags)


def score_of_the_past(score: LocalScore | None, source: Source) -> float:
    """The score of the columns of earlier steps by themselves, which is the same for every graph."""
    if score is None or source.windows is None:
        return 0.0
    earlier = np.flatnonzero(earlier_nodes(score.schema.names)).tolist()
    return float(score.families([(column, ()) for column in earlier]).sum())


def watching_the_present(observe: Observer, past: float) -> Observer:
    """An observer that sees scores without that of the columns of earlier steps."""

    def observe_present(event: Event) -> None:
        score = None if event.score is None else event.score - past
        observe(replace(event, score=score, bound=None if event.bound is None else event.bound - past))

    return observe_present if past else observe


def of_the_present(outcome: Outcome, past: float) -> Outcome:
    """The outcome with the score of the families of the present step, given the earlier ones."""
    if not past or outcome.score is None:
        return outcome
    stats = {name: value - past if name in SCORES else value for name, value in outcome.stats.items()}
    curves = {name: tuple(value - past for value in values) for name, values in outcome.curves.items()}
    return replace(outcome, score=outcome.score - past, stats=stats, curves=curves)
