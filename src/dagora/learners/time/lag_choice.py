"""The number of lags that a score chooses: how far back the past helps to explain each variable.

For each p up to a maximum every variable at t gets its parents among all variables of the p steps before
it, one by one, as long as the score rises. All p are judged on the same windows, those of the maximum, so
that their scores can be compared. The choice is the smallest p whose score is within `NEAR` nats of the
best one: a longer past would add next to nothing. BIC is asked with the penalty at which edges by chance
are rare (`scores.penalty`), since there are many lagged columns to choose from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError
from dagora.base.events import Event
from dagora.base.phrases import amount
from dagora.base.wording import option
from dagora.data.series import Panel
from dagora.graph.knowledge import Knowledge
from dagora.graph.lagged_graph import lagged_name, split_name
from dagora.learners.run import Run
from dagora.learners.source import Source
from dagora.scores.local_score import TIE, LocalScore
from dagora.scores.penalty import AUTO
from dagora.scores.registry import Score, default_score
from dagora.stats.windows import Windows, panel_behind

AUTO_LAGS = "auto"
# Without a number the past is looked at so many steps back at most, while so many of the windows stay.
MOST, LEAST_SHARE = 12, 0.5
# Nats below the best score that a shorter past may have.
NEAR = 3.0
# Of a time limit, the share that the choice may take.
SHARE = 0.25


@dataclass(frozen=True)
class ChosenLags:
    """The number of lags, the scores of all that were looked at, and a sentence."""

    lags: int
    curve: tuple[float, ...] = ()
    message: str = ""


def most_lags(lags: str, panel: Panel) -> int:
    """The largest number of lags to look at: "auto:6" is six, "auto" what the series are long enough for."""
    word, colon, asked = lags.partition(":")
    if word != AUTO_LAGS or (colon and not (asked.isdigit() and 1 <= int(asked) <= 100)):
        raise OptionError(
            option="lags", value=lags, must="be a whole number from 1 to 100, auto, or auto:N for at most N"
        )
    lengths = panel.lengths
    windows = [int(np.maximum(lengths - p, 0).sum()) for p in range(101)]
    if asked:
        if not windows[int(asked)]:
            raise DataError(
                f"no series has {int(asked) + 1} steps: choose a smaller number than {option('lags', lags)}"
            )
        return int(asked)
    enough = [p for p in range(1, MOST + 1) if windows[p] >= max(2.0, LEAST_SHARE * windows[1])]
    return max(enough, default=1)


def choose_lags(
    source: Source,
    lags: str,
    score: Score | None,
    options: Mapping[str, object],
    known: Knowledge,
    clock: Budget,
) -> ChosenLags:
    """Choose the number of lags by a score, or by the default score of the columns."""
    panel = panel_behind(source.rows)
    if panel is None:
        raise OptionError(f"{option('lags', lags)} goes with {option('time')}, which says when a row was")
    run = Run(known, budget=clock.part(SHARE))
    most = most_lags(lags, panel)
    statistics = Windows.of(panel, most).statistics()
    chosen = score or default_score(statistics.schema)
    own = {each.name for each in chosen.options}
    settings = {name: value for name, value in options.items() if name in own}
    if any(each.name == "penalty" for each in chosen.options) and settings.get("penalty") in (None, 1.0):
        settings["penalty"] = AUTO
    curve = explained(chosen.make(statistics, **settings), panel.table.names, most, run)
    found = 1 + int(np.flatnonzero(curve >= curve.max() - NEAR)[0])
    message = (
        f"{amount(found, 'lag')} of 1 to {len(curve)} chosen by {chosen.name} of regressions on the past"
    )
    if len(curve) < most:
        message += f" (no more looked at: {run.budget.reason})"
    return ChosenLags(found, tuple(curve.tolist()), message)


def explained(score: LocalScore, variables: tuple[str, ...], most: int, run: Run) -> NDArray[np.float64]:
    """The scores of all variables given the best parents that were found of 1, 2, … steps back."""
    names = score.schema.names
    place = {name: k for k, name in enumerate(names)}
    parents: dict[int, tuple[int, ...]] = {place[name]: () for name in variables}
    values = dict(zip(parents, score.families([(child, ()) for child in parents]).tolist(), strict=True))
    totals: list[float] = []
    for p in range(1, most + 1):
        if totals and run.budget.exhausted:
            break
        known = [place[lagged_name(name, lag)] for lag in range(1, p + 1) for name in variables]
        for child, found in list(parents.items()):
            parents[child], values[child] = grow(score, child, found, values[child], known, run)
        totals.append(sum(values.values()))
        run.on_event(Event("lags", p, total=most))
    return np.array(totals)


def grow(
    score: LocalScore, child: int, parents: tuple[int, ...], value: float, known: list[int], run: Run
) -> tuple[tuple[int, ...], float]:
    """Add the best column of the past as long as the score rises; those added for a shorter past stay."""
    limit = run.knowledge.max_parents
    while limit is None or len(parents) < limit:
        free = [column for column in known if column not in parents and allowed(score, column, child, run)]
        if not free:
            break
        scores = score.families([(child, tuple(sorted((*parents, column)))) for column in free])
        best = int(scores.argmax())
        if not scores[best] > value + TIE * abs(value):
            break
        parents, value = tuple(sorted((*parents, free[best]))), float(scores[best])
    return parents, value


def allowed(score: LocalScore, parent: int, child: int, run: Run) -> bool:
    """Return True if knowledge allows an edge, also where it names every earlier step at once."""
    tail, head = score.schema.names[parent], score.schema.names[child]
    every = f"{split_name(tail)[0]}[t-*]"
    return run.knowledge.allows(tail, head) and (every, head) not in run.knowledge.forbidden
