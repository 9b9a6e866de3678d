"""Dependence of a set of columns beyond counts of its discrete part and regressions of its continuous one.

R is the correlation matrix of the widened table (`stats.indicators`): z and z² of each continuous column,
indicators of the levels of each discrete one. For a set with continuous columns X and discrete columns A,

  gain(A, X) = −½ [ln det R(X, X², A) − ln det R(X, X²) − ln det R(A)]
               −½ [ln det R(X, X²) − ln det R(X) − Σ ln det R(x, x²) + Σ ln det R(x)]

per row: what indicators and functions of the continuous columns tell of each other, and what squares tell of
other continuous columns. It has k_A · k_F parameters for k_A indicators and k_F functions, and 3 for each
pair of continuous columns. Both are functions of the set, whichever of its columns is the child.

A feature that does not vary, such as the indicator of a level that never occurs, has no pivot: it is left out
and costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel

# A squared pivot below this share of the feature's variance is rounding: it depends on those before it.
DEPENDENT = 1e-12


class WidenedMoments(NamedTuple):
    """Correlations of features; those of column i are `starts[i]` to `starts[i + 1]`."""

    correlation: NDArray[np.float64]
    starts: NDArray[np.int64]
    continuous: NDArray[np.bool_]


class Dependence(NamedTuple):
    """Of each set: the gain per row, its parameters, and how many features are in play."""

    gains: NDArray[np.float64]
    parameters: NDArray[np.float64]
    features: NDArray[np.int64]


def dependence(widened: WidenedMoments, columns: NDArray[np.int64], offsets: NDArray[np.int64]) -> Dependence:
    """The dependence of many sets, whose columns are ascending in `columns[offsets[k]:offsets[k + 1]]`."""
    sizes = np.diff(widened.starts)[columns]
    running = np.concatenate([[0], np.cumsum(sizes)])
    widest = int((running[offsets[1:]] - running[offsets[:-1]]).max(initial=0))
    number = len(offsets) - 1
    found = Dependence(np.zeros(number), np.zeros(number), np.zeros(number, dtype=np.int64))
    room = np.zeros((2, widest + 1, widest + 1))
    sum_dependence(*widened, columns, offsets, room, *found)
    return found


@kernel
def sum_dependence(
    correlation: NDArray[np.float64],
    starts: NDArray[np.int64],
    continuous: NDArray[np.bool_],
    columns: NDArray[np.int64],
    offsets: NDArray[np.int64],
    room: NDArray[np.float64],
    gains: NDArray[np.float64],
    parameters: NDArray[np.float64],
    features: NDArray[np.int64],
) -> None:
    """The kernel of `dependence`: one Cholesky factor over (X, X², A) and one over A, per set."""
    size = room.shape[1]
    chosen = np.empty(size, dtype=np.int64)
    whole = np.empty(size)
    alone = np.empty(size)
    for k in range(len(offsets) - 1):
        functions = 0
        for power in range(2):
            for a in range(offsets[k], offsets[k + 1]):
                if continuous[columns[a]]:
                    chosen[functions] = starts[columns[a]] + power
                    functions += 1
        count = functions
        for a in range(offsets[k], offsets[k + 1]):
            if not continuous[columns[a]]:
                for feature in range(starts[columns[a]], starts[columns[a] + 1]):
                    chosen[count] = feature
                    count += 1
        if functions == 0 or (count == functions and functions == 2):
            continue
        factorise(correlation, chosen, 0, count, room[0], whole)
        factorise(correlation, chosen, functions, count, room[1], alone)
        plain = functions // 2
        lines, squares, indicators = 0, 0, 0
        gain = 0.0
        for a in range(plain):
            if whole[a] > 0:
                lines += 1
        for a in range(plain, functions):
            # What is left of a square once its own column is known.
            shared = correlation[chosen[a], chosen[a - plain]]
            own = correlation[chosen[a], chosen[a]] - shared * shared
            if own > DEPENDENT and whole[a - plain] > 0:
                squares += 1
                gain -= np.log(max(whole[a], DEPENDENT) / own)
        for a in range(functions, count):
            if alone[a] > 0:
                indicators += 1
                gain -= np.log(max(whole[a], DEPENDENT) / alone[a])
        gains[k] = gain / 2
        parameters[k] = indicators * (lines + squares) + squares * (lines - 1) + squares * (squares - 1) / 2
        features[k] = indicators + lines + squares


@inlined
def factorise(
    correlation: NDArray[np.float64],
    chosen: NDArray[np.int64],
    start: int,
    stop: int,
    factor: NDArray[np.float64],
    pivots: NDArray[np.float64],
) -> None:
    """Squared pivots of the features from `start` to `stop` given those before them; 0 where dependent."""
    for a in range(start, stop):
        i = chosen[a]
        left = correlation[i, i]
        for b in range(start, a):
            entry = correlation[i, chosen[b]]
            for c in range(start, b):
                entry -= factor[a, c] * factor[b, c]
            factor[a, b] = entry / np.sqrt(pivots[b]) if pivots[b] > 0 else 0.0
            left -= factor[a, b] * factor[a, b]
        pivots[a] = left if left > DEPENDENT * correlation[i, i] else 0.0
