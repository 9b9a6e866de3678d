"""A request to a learner, checked, with the data read for it: what `learn` and `bootstrap` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.data.columns.reading_options import READING, ReadingOptions, always, around_one
from dagora.data.interventions import GivenInterventions
from dagora.data.series import Timing
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.lagged_graph import window_names
from dagora.learners.checks import (
    choose_score,
    numbers_for,
    order_said,
    orders_numbers,
    reason_against_model,
    refuse_interventions,
    require_time,
    split_options,
)
from dagora.learners.in_windows import in_windows, knowing_time, with_lags
from dagora.learners.large_sources import scan_if_large
from dagora.learners.one_run import Searching
from dagora.learners.registry import method_named
from dagora.learners.source import Source, read_source
from dagora.learners.time.lag_choice import ChosenLags, choose_lags
from dagora.scores.penalty import ChosenPenalty
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.statistics import IncompleteStatistics


@dataclass(frozen=True)
class PreparedRequest:
    """A method with its score and options, the data, and what is known beforehand."""

    searching: Searching
    source: Source
    knowledge: Knowledge
    em_rounds: int
    penalty: ChosenPenalty
    chosen_lags: ChosenLags | None = None
    order: str = ""  # a sentence on a declared order of levels, where no score was asked for

    @property
    def lags(self) -> int | None:
        """The steps that windows reach back; None where the graph is not one in time."""
        if self.source.windows is not None:
            return self.source.windows.lags
        own = self.searching.method_options.get("lags") if self.searching.entry.in_time else None
        return cast("int | None", own)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the graph: the columns, or those of a window."""
        in_time = self.searching.entry.in_time and self.lags is not None
        return window_names(self.source.names, self.lags or 0) if in_time else self.source.names

    imputing: DAG | None = None
    """The graph of the network that completes a table, where each sample is a completion of it."""

    def settings(self, time_limit: float | None) -> dict[str, Any]:
        """All that was asked for or filled in, as JSON can hold it."""
        asked = {
            **self.searching.method_options,
            **self.searching.score_options,
            "knowledge": self.knowledge.to_dict(),
            "time_limit": time_limit,
        }
        if self.lags is not None:
            asked["lags"] = self.lags
        if isinstance(self.source.rows, IncompleteStatistics):
            asked.update(missing="model", em_rounds=self.em_rounds)
        if isinstance(self.source.rows, InterventionalStatistics) and self.source.rows.marks is not None:
            asked["interventions"] = self.source.rows.marks.given
        return {key: plain(value) for key, value in asked.items()}


@dataclass(frozen=True, eq=False)
class GivenData:
    """Data as they were given, with what else says how to read them."""

    data: object
    jobs: int = 1  # threads that read
    interventions: GivenInterventions | None = None
    timing: Timing | None = None
    lags: int | str | None = None  # steps back that windows reach, where the rows are series
    scans: bool = False  # the rows of a large file may be scanned
    target: str | None = None  # the one variable to learn about, so that any number of columns will do


def prepare(
    given: GivenData,
    method: str,
    options: Mapping[str, Any],
    *,
    clock: Budget,
    score: str | None = None,
    knowledge: Knowledge | None = None,
    em_rounds: int = 0,
    completes: bool = False,
) -> PreparedRequest:
    """Check a request and read its data; `options` are reading options and those of method and score.

    `completes` says that missing values will be drawn before the method sees the rows.

    >>> rows = {"smoker": ["no", "yes"] * 20, "cough": [0, 1] * 20}
    >>> prepared = prepare(GivenData(rows), "tabu", {"patience": 5}, clock=Budget())
    >>> prepared.source.names, prepared.searching.score.name, prepared.settings(None)["patience"]
    (('smoker', 'cough'), 'bic', 5)
    """
    entry = method_named(method)
    known = Knowledge() if knowledge is None else knowledge
    reading = {name: value for name, value in options.items() if name in READING}
    options = {name: value for name, value in options.items() if name not in READING}
    asked = ReadingOptions(
        **{"missing": "auto", **reading},
        wanted=(*known.mentioned, *filter(None, [given.target])),
        numbers_for=numbers_for(entry, score, options),
        trends=orders_numbers(score, options),
        clock=clock,
        check_width=entry.check_width if given.target is None else around_one,
        why_not_model=always
        if completes
        else partial(reason_against_model, entry, score, marked=given.interventions is not None),
        constants=False,
    )
    scanned = None
    if given.scans and given.interventions is None and given.timing is None and given.target is None:
        scanned = scan_if_large(given.data, entry, score, options, asked, given.jobs)
    source = (
        read_source(given.data, given.jobs, asked, given.interventions, given.timing)
        if scanned is None
        else Source(scanned)
    )
    refuse_interventions(entry, source)
    lags, chosen_lags = given.lags, None
    if isinstance(lags, str):
        chosen_lags = choose_lags(source, lags, choose_score(entry, score, source), options, known, clock)
        lags = chosen_lags.lags
    options = with_lags(entry, options, lags)
    source = in_windows(entry, source, lags, given.jobs)
    if source.windows is not None:
        known = knowing_time(known, source)
        em_rounds = 0  # a cell is in several windows, and would be filled in differently in each
    elif not entry.in_time:  # which may also know of earlier steps, and checks that itself
        known.check_nodes(source.names)
    entry.check_knowledge(known, source.names)
    known = source.obeying(known, entry)
    if isinstance(em_rounds, bool) or not isinstance(em_rounds, int) or em_rounds < 0:
        raise OptionError(option="em_rounds", value=em_rounds, must="be a whole number, 0 or more")
    chosen = choose_score(entry, score, source)
    of_method, of_score = split_options(entry, chosen, {**source.noise_defaults(entry.name), **options})
    require_time(entry, source)
    penalty = ChosenPenalty(1.0)
    if chosen is not None and "penalty" in of_score:
        penalty = chosen.penalty(source.statistics, of_score["penalty"])
        of_score["penalty"] = penalty.factor
    searching = Searching(entry, chosen, of_method, of_score)
    order = order_said(source) if score is None and chosen is not None else ""
    return PreparedRequest(searching, source, known, em_rounds, penalty, chosen_lags, order)


def plain(value: object) -> object:
    """Turn a setting into what JSON can hold."""
    return [list(edge) for edge in value.edges] if isinstance(value, DAG) else value
