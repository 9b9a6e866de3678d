"""The surprise of each row of a series: the probability or density of what was seen, given the rows before.

The p-value is the probability, under the network, of a row that is no more probable than this one. In a
linear Gaussian network it is that of a larger Mahalanobis distance from what was expected, a χ² tail; in a
discrete one the sum over all combinations of levels that are no more probable. With both kinds of variables
both come from draws. The first `lags` rows of a series have no score: they are what the others follow from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from dagora.base.wording import render_fields
from dagora.network.node_likelihood import node_log_likelihoods
from dagora.network.time.discrete import discrete_history, surprises
from dagora.network.time.histories import Histories, SeriesHistory
from dagora.network.time.kalman import run_filter
from dagora.network.time.particles import follow
from dagora.network.time.step_model import StepModel
from dagora.network.time.trajectory import csv_text

Array = NDArray[np.float64]

COLUMNS = ("row", "series", "time", "surprise", "p_value")
UNUSUAL = 0.001
MOST_LINES = 10


@dataclass(frozen=True, slots=True)
class RowScore:
    """The surprise of a data row (from 1): −log of its probability or density given the rows before."""

    row: int
    series: str
    time: str
    surprise: float
    p_value: float | None


@dataclass(frozen=True, eq=False)
class RowScores:
    """The surprise of every row but the first ones of each series, in the order of time.

    >>> scores = RowScores((RowScore(3, "", "3", 1.5, 0.4), RowScore(4, "", "4", 9.2, 0.0002)))
    >>> [score.row for score in scores.unusual()]
    [4]
    >>> print(scores)
    2 rows scored; 1 with a p-value below 0.001, where 0.002 are expected
    row 4 at 4: p = 0.0002, surprise 9.2
    """

    rows: tuple[RowScore, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        render_fields(self, "notes")

    def unusual(self, below: float = UNUSUAL) -> list[RowScore]:
        """The rows with a p-value below a bound, the least first."""
        found = [row for row in self.rows if row.p_value is not None and row.p_value < below]
        return sorted(found, key=lambda row: (row.p_value, -row.surprise))

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "rows": [dict(zip(COLUMNS, cells_of(row), strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }

    def to_csv(self) -> str:
        """The scores as text with commas."""
        return csv_text(COLUMNS, map(cells_of, self.rows))

    def to_text(self) -> str:
        """The number of unusual rows and the most unusual ones, in words."""
        found = self.unusual()
        tested = sum(row.p_value is not None for row in self.rows)
        expected = f"{UNUSUAL * tested:.2g} are expected"
        lines = [
            f"{len(self.rows)} rows scored; {len(found)} with a p-value below {UNUSUAL:g}, where {expected}"
        ]
        lines += [
            f"row {row.row} at {row.series + ' ' if row.series else ''}{row.time}: p = {row.p_value:.2g}, "
            f"surprise {row.surprise:.3g}"
            for row in found[:MOST_LINES]
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def __str__(self) -> str:
        return self.to_text()


def cells_of(row: RowScore) -> tuple[Any, ...]:
    """The cells of a score, in the order of `COLUMNS`."""
    return (row.row, row.series, row.time, row.surprise, row.p_value)


def score_rows(steps: StepModel, histories: Histories, draws: int, seed: int) -> RowScores:
    """Score the rows of all series."""
    found: list[RowScore] = []
    notes = list(histories.notes)
    kind = steps.model.kind
    if kind not in ("discrete", "gaussian"):
        notes.append(
            f"p-values are shares of {draws:,} draws, and have an error of up to {50 / draws**0.5:.2g} points"
        )
    for place, history in enumerate(histories.series):
        if kind == "discrete":
            logs, tails = surprises(discrete_history(steps, history))
        elif kind == "gaussian":
            measured = run_filter(steps, history)
            logs = measured.log_densities
            tails = np.where(
                measured.measured > 0,
                gammaincc(np.maximum(measured.measured, 1) / 2, measured.distances / 2),
                np.nan,
            )
        else:
            logs, tails = drawn_scores(steps, history, draws, np.random.default_rng([seed, 59, place]))
        for step in range(steps.lags, history.steps):
            row = int(history.rows[step])
            if row < 0 or not history.seen[step].any():
                continue
            tail = None if np.isnan(tails[step]) else float(tails[step])
            time = histories.written(history.begin + step)
            found.append(RowScore(row + 1, history.label, time, -float(logs[step]), tail))
    if any(row.p_value is None for row in found):
        notes.append(
            "rows without a p-value: the combinations of their levels are too many, or a cell is missing"
        )
    return RowScores(tuple(found), tuple(notes))


def drawn_scores(
    steps: StepModel, history: SeriesHistory, draws: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Log densities of all steps, and p-values where a step and those it follows from are seen as a whole."""
    logs, tails = np.zeros(history.steps), np.full(history.steps, np.nan)
    for step, one in enumerate(follow(steps, history, {}, draws, rng)):
        logs[step] = one.log_density
    whole = np.asarray(history.seen.all(axis=1))
    for step in range(steps.lags, history.steps):
        window = slice(step - steps.lags, step + 1)
        if not whole[window].all():
            continue
        recent = history.until(step + 1).since(step - steps.lags)
        logs[step] = log_density(steps, recent.values[:, None])[0]
        seen = recent.seen.copy()
        seen[-1] = False
        *_, last = follow(steps, replace(recent, seen=seen), {}, draws, rng)
        values = np.broadcast_to(recent.values[:, None], (len(seen), draws, seen.shape[1])).copy()
        values[-1] = last.values
        others = log_density(steps, values)
        tails[step] = (1 + int((others <= logs[step] + 1e-9).sum())) / (draws + 1)
    return logs, tails


def log_density(steps: StepModel, values: Array) -> Array:
    """Log density of the last of lags + 1 steps, for a number of rows at once: `values[s, row, k]`."""
    columns: dict[str, NDArray[Any]] = {}
    for back in range(steps.lags + 1):
        for k, name in enumerate(steps.variables):
            column = values[-1 - back][:, k]
            node = steps.node(name, steps.lags - back)
            columns[node] = column.astype(np.int64) if name in steps.model.levels else column
    model = steps.model
    found = [node_log_likelihoods(model, name, columns, model.distributions) for name in steps.variables]
    return np.asarray(np.sum(found, axis=0))
