"""How far a column can be the cause of all others, by entropies of residuals, in one compiled kernel.

Of two standardised columns, j is the better cause if D(i, j) = H(j) + H(i given j) − H(i) − H(j given i) is
negative, where H(i given j) is the entropy of the standardised residual of i regressed on j. The loss of
a column i as the first one is Σ_j min(0, D(i, j))² (Hyvärinen & Smith 2013). Entropies are
approximated by the means of two functions (Hyvärinen 1998). D(j, i) = −D(i, j): a pair is computed once. A
column whose loss exceeds the best one so far is given up, and columns that did well before come first.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

Floats = NDArray[np.float64]

K1, K2, GAMMA = 79.047, 7.4129, 0.37457
NORMAL = (1 + math.log(2 * math.pi)) / 2
LOG_2 = math.log(2)


@kernel
def entropy(x: Floats, y: Floats, weight: float, scale: float) -> float:
    """Approximate entropy of (x − weight · y) / scale, which has mean 0 and variance 1."""
    curve = bend = 0.0
    for k in range(len(x)):
        u = (x[k] - weight * y[k]) / scale
        size = abs(u)
        curve += size + math.log1p(math.exp(-2 * size)) - LOG_2
        bend += u * math.exp(-u * u / 2)
    return NORMAL - K1 * (curve / len(x) - GAMMA) ** 2 - K2 * (bend / len(x)) ** 2


@kernel
def first_column(
    columns: Floats,
    left: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    losses: Floats,
    known: Floats,
    stop: NDArray[np.bool_],
) -> int:
    """The column of smallest loss among those that are `left`, standardised rows of `columns`.

    `left` is sorted by the losses of the round before; `losses` is overwritten. `known[i, j]` has room
    for D(i, j). When `stop[0]` is true, the answer is −1.
    """
    count, n = len(left), columns.shape[1]
    own = np.empty(count)
    for a in range(count):
        if stop[0]:
            return -1
        own[a] = entropy(columns[left[a]], columns[left[a]], 0.0, 1.0)
        for b in range(count):
            known[left[a], left[b]] = np.nan
    best, least = -1, np.inf
    for a in range(count):
        i = left[a]
        if not allowed[i]:
            losses[i] = np.inf
            continue
        loss = 0.0
        for b in range(count):
            j = left[b]
            if a == b:
                continue
            if stop[0]:
                return -1
            if np.isnan(known[i, j]):
                weight = 0.0
                for k in range(n):
                    weight += columns[i, k] * columns[j, k]
                weight /= n
                scale = math.sqrt(max(1e-300, 1 - weight * weight))
                ahead = own[b] + entropy(columns[i], columns[j], weight, scale)
                back = own[a] + entropy(columns[j], columns[i], weight, scale)
                known[i, j] = ahead - back
                known[j, i] = back - ahead
            if known[i, j] < 0:
                loss += known[i, j] ** 2
                if loss > least:
                    break
        losses[i] = loss
        if loss < least:
            best, least = i, loss
    return best
