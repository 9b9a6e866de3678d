"""DirectLiNGAM: an order of the columns, from one first cause after the other.

The columns follow a linear model with independent non-Gaussian noise. The first cause is the column of which
the residuals of all others are most nearly independent. It is regressed out of the others, and so on (Shimizu
et al. 2011). Then edges are pruned.

Of two standardised columns, j is the better cause if D(i, j) = H(j) + H(i given j) − H(i) − H(j given i) is
negative, where H(i given j) is the entropy of the standardised residual of i regressed on j. The loss of
a column i as the first one is Σ_j min(0, D(i, j))² (Hyvärinen & Smith 2013). Entropies are approximated by
the means of two functions (Hyvärinen 1998). D(j, i) = −D(i, j): a pair is computed once. A column whose loss
exceeds the best one so far is given up, and columns with small losses before come first.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.kernels.decorators import kernel
from dagora.learners.nongaussian.causal_fit import StandardisedColumns, outcome_of_order, read_columns
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.alarm import Alarm
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]

# Of the approximation of entropies (Hyvärinen 1998), with the entropy of a standard normal variable.
K1, K2, GAMMA = 79.047, 7.4129, 0.37457
NORMAL = (1 + math.log(2 * math.pi)) / 2
LOG_2 = math.log(2)


def lingam(statistics: Statistics, run: Run) -> Outcome:
    """Find an order by DirectLiNGAM and the graph along it."""
    columns = read_columns(statistics, run.knowledge, "lingam")
    order = direct_order(columns, run)
    return outcome_of_order(columns, order, run, "an order by which residuals are most independent")


def direct_order(columns: StandardisedColumns, run: Run) -> list[int]:
    """An order, causes first; columns not reached in time follow in their own order, if knowledge allows."""
    values = columns.values.copy()
    d = len(values)
    losses, known = np.zeros(d), np.empty((d, d))
    left, order = np.arange(d), []
    with Alarm(run.budget) as stop:
        while len(left):
            allowed = np.zeros(d, dtype=np.bool_)
            allowed[left] = ~columns.before[np.ix_(left, left)].any(axis=0)
            first = -1
            if not stop[0]:
                left = left[np.argsort(losses[left], kind="stable")]
                first = int(first_column(values, left, allowed, losses, known, stop))
            if first < 0:
                first = int(left[allowed[left]].min())
            order.append(first)
            left = left[left != first]
            if not stop[0]:
                values[left] = residuals(values[left], values[first])
            run.on_event(Event("order", len(order), total=d))
    return order


def residuals(values: Floats, cause: Floats) -> Floats:
    """The standardised residuals of standardised rows regressed on one of them."""
    weights = values @ cause / values.shape[1]
    rest = values - weights[:, None] * cause
    return np.asarray(rest / np.sqrt((rest**2).mean(axis=1))[:, None], dtype=np.float64)


@kernel
def entropy(x: Floats, y: Floats, weight: float, scale: float) -> float:
    """Approximate entropy of (x − weight · y) / scale, which has mean 0 and variance 1."""
    log_cosh = odd = 0.0
    for k in range(len(x)):
        u = (x[k] - weight * y[k]) / scale
        size = abs(u)
        log_cosh += size + math.log1p(math.exp(-2 * size)) - LOG_2
        odd += u * math.exp(-u * u / 2)
    return NORMAL - K1 * (log_cosh / len(x) - GAMMA) ** 2 - K2 * (odd / len(x)) ** 2


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

    `left` is sorted by the losses of the round before; `losses` is overwritten. `known` is the work array of
    D(i, j). If `stop[0]` is set, returns −1.
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
