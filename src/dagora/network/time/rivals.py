"""Forecasts that a network in time should beat: the last value, the mean, and a vector autoregression.

The rivals know the rows before the origin alone. The vector autoregression is that of least squares, every
variable on all variables at all lags of the graph, with an intercept; further steps follow from its own
forecasts. Of discrete variables the rivals are the last level and the shares of the levels so far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.network.time.histories import SeriesHistory

Array = NDArray[np.float64]


def last_values(history: SeriesHistory, steps: int) -> Array:
    """The last value of each variable that was seen, at all steps ahead; NaN where none was."""
    found = np.full(history.values.shape[1], np.nan)
    for k in range(len(found)):
        seen = np.flatnonzero(history.seen[:, k])
        if len(seen):
            found[k] = history.values[seen[-1], k]
    return np.tile(found, (steps, 1))


def mean_values(histories: Sequence[SeriesHistory], steps: int) -> Array:
    """The mean of each variable over all rows so far, at all steps ahead."""
    values = np.concatenate([one.values for one in histories])
    seen = np.concatenate([one.seen for one in histories])
    totals = seen.sum(axis=0)
    sums = np.where(seen, values, 0.0).sum(axis=0)
    return np.tile(np.where(totals > 0, sums / np.maximum(totals, 1), np.nan), (steps, 1))


def least_squares(histories: Sequence[SeriesHistory], lags: int) -> Array | None:
    """The coefficients of a vector autoregression, the intercepts first; None where rows are too few."""
    rows, targets = [], []
    for one in histories:
        whole = np.asarray(one.seen.all(axis=1))
        for step in range(lags, one.steps):
            if whole[step - lags : step + 1].all():
                rows.append(np.concatenate([[1.0], one.values[step - lags : step][::-1].ravel()]))
                targets.append(one.values[step])
    if not rows or len(rows) <= len(rows[0]):
        return None
    return np.asarray(np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0])


def follow_regression(coefficients: Array | None, history: SeriesHistory, lags: int, steps: int) -> Array:
    """The forecasts of a vector autoregression; NaN where its last rows are not whole."""
    d = history.values.shape[1]
    recent = history.values[-lags:]
    if coefficients is None or len(recent) < lags or not history.seen[-lags:].all():
        return np.full((steps, d), np.nan)
    path = list(recent)
    for _ in range(steps):
        before = np.concatenate([[1.0], np.array(path[-lags:])[::-1].ravel()])
        path.append(before @ coefficients)
    return np.array(path[lags:])


def shares_of_levels(histories: Sequence[SeriesHistory], k: int, levels: int) -> Array:
    """The shares of the levels of a discrete variable so far."""
    counts = np.zeros(levels)
    for one in histories:
        codes = one.values[one.seen[:, k], k].astype(np.int64)
        counts += np.bincount(codes, minlength=levels)
    total = counts.sum()
    return np.asarray(counts / total if total else np.full(levels, 1 / levels))
