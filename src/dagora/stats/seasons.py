"""A test of seasons: whether a series goes up and down with the hour, the day, the week or the year.

The series is regressed on its last steps, on a line in time, and on sines and cosines of the season and of
its parts (a half, a third, … a sixth). The F test of these has its level for stationary series, however
strongly they depend on their past. Several series are joined by Fisher's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from dagora.data.schema import Kind
from dagora.data.series import Panel
from dagora.stats.unit_roots import joined, runs_of

Floats = NDArray[np.float64]

# Days of the seasons of the calendar, and steps of those that are looked for where a step is only a number.
CALENDAR = {"an hourly": 1 / 24, "a daily": 1.0, "a weekly": 7.0, "a yearly": 365.2425}
UNNAMED = (4, 5, 7, 12, 24, 52)
# Probability with which any column of a table without seasons is said to have one.
LEVEL = 0.01
# Parts of a season that have waves, seasons that a run needs, earlier steps, and steps that are looked at.
PARTS, CYCLES, MOST_EARLIER, MOST_STEPS = 6, 3, 12, 20_000
# A longer season is told if it explains more than a shorter one by so much, times the root of all tests.
LONGER = 18.0
# A column tells a season if it differs from a season ago by so much less than from one step to the next.
# Little noise is more than that.
REPEATS = 0.002


@dataclass(frozen=True)
class Seasonal:
    """The numbers of a panel with a season of so many steps, in words a `cycle`; no column is the season."""

    names: tuple[str, ...] = ()
    steps: float = 0.0
    cycle: str = ""


def seasonal(panel: Panel) -> Seasonal:
    """Test every column of numbers; of several seasons that which explains most is told.

    >>> from dagora.data.table import Table
    >>> t, noise = np.arange(240), np.random.default_rng(1).normal(size=(240, 3))
    >>> rows = np.column_stack([t, noise + np.outer(np.sin(t * np.pi / 6), [1, 1, 0])])
    >>> seasonal(Panel.of_table(Table.from_numpy(rows, ["t", "x", "y", "z"], continuous=["all"]), "t"))
    Seasonal(names=('x', 'y'), steps=12, cycle='a cycle of 12 steps')
    """
    periods = seasons_of(panel)
    numbers = [at for at, one in enumerate(panel.table.schema) if one.kind is Kind.CONTINUOUS]
    best, strongest = Seasonal(), 0.0
    told: dict[int, float] = {}  # the seasons that columns tell, by these
    for steps, cycle in periods.items():
        tells = [at for at in range(len(panel.table.schema)) if at not in told and repeats(panel, at, steps)]
        if tells:
            told |= dict.fromkeys(tells, steps)
            continue
        found, gains = [], [0.0]
        every = 1 + int(2 * CYCLES * steps / MOST_STEPS)  # of a long season not every step is looked at
        known = [season / every for season in set(told.values())]
        for at in (each for each in numbers if each not in told):
            runs = [run[::every][-MOST_STEPS:] for _, run in runs_of(panel, at)]
            tests = [wave_test(run, steps / every, known) for run in runs if long_enough(run, steps / every)]
            if tests and joined(p for p, _ in tests) * len(numbers) * len(periods) <= LEVEL:
                found.append(panel.table.names[at])
                gains += [gain for _, gain in tests]
        if found and (not best.names or sum(gains) > strongest + LONGER * len(gains) ** 0.5):
            best, strongest = Seasonal(tuple(found), steps, cycle), sum(gains)
    return best


def seasons_of(panel: Panel) -> dict[float, str]:
    """The lengths of the seasons that may be there, in steps, with words."""
    if panel.dated and panel.step:
        lengths = {days / panel.step: name for name, days in CALENDAR.items()}
        return {steps: f"{name} cycle ({steps:.0f} steps)" for steps, name in lengths.items() if steps > 1.99}
    return {steps: f"a cycle of {steps} steps" for steps in UNNAMED}


def long_enough(values: Floats, steps: float) -> bool:
    """Return True if a run has enough seasons, and rows for the regression, and is not constant."""
    n = min(len(values), MOST_STEPS)
    columns = earlier(n) + 2 + len(list(waves(1, steps)))
    return n >= max(CYCLES * steps, 2 * columns) and bool(np.ptp(values) > 0)


def earlier(n: int) -> int:
    """The number of earlier steps that a series of `n` steps is regressed on."""
    return min(int(max(0, n - 1) ** (1 / 3)), MOST_EARLIER)


def wave_test(values: Floats, steps: float, told: Sequence[float] = ()) -> tuple[float, float]:
    """The p-value of the waves of a season, and twice their gain in log-likelihood less that of chance.

    Seasons that are `told` by columns are regressed on, too.
    """
    n, k = len(values), earlier(len(values))
    now = values[k:]
    past = [values[k - lag : -lag] for lag in range(1, k + 1)]
    past += [np.linspace(-1, 1, n - k), *(wave for season in told for wave in waves(n - k, season))]
    base = left_of(np.stack([*past, now, *waves(n - k, steps)]), len(past))
    now, extra = base[0], base[1:].T
    slopes = np.linalg.lstsq(extra, now, rcond=None)[0]
    total, rest = float(now @ now), float(((now - extra @ slopes) ** 2).sum())
    number, free = extra.shape[1], n - k - 1 - len(past) - extra.shape[1]
    if not rest > 0:
        return 0.0, np.inf
    gain = (n - k) * float(np.log(total / rest)) - number
    return float(fdtrc(number, free, (total / rest - 1) * free / number)), gain


def waves(n: int, steps: float) -> Iterator[Floats]:
    """Sines and cosines of a season and its parts, the longest first; none is shorter than two steps."""
    angle = 2 * np.pi * np.arange(n) / steps
    for part in range(1, PARTS + 1):
        if 2 * part < steps + 1e-3:
            yield np.cos(part * angle)
            if 2 * part < steps - 1e-3:
                yield np.sin(part * angle)


def left_of(rows: Floats, given: int) -> Floats:
    """The later rows of a matrix, centred, without what the first `given` ones explain."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    known = rows[:given].T
    found: Floats = rows[given:] - (known @ np.linalg.lstsq(known, rows[given:].T, rcond=None)[0]).T
    return found


def repeats(panel: Panel, column: int, steps: float) -> bool:
    """Return True if a column tells the season: it is the same one season later, or four (leap years)."""
    after = apart = 0.0
    for _, run in runs_of(panel, column):
        lag = round(4 * steps) if len(run) > 5 * steps and steps % 1 else round(steps)
        if len(run) >= lag + 2:
            after += float(((run[lag:] - run[:-lag]).astype(np.float64) ** 2).mean())
            apart += float((np.diff(run.astype(np.float64)) ** 2).mean())
    return after < REPEATS * apart
