"""DirectLiNGAM: one column after the other is found to be the first cause of those that are left.

The columns follow a linear model with independent noise that is not normal. The first cause is the column of
which the residuals of all others are most nearly independent (`entropies`). It is regressed out of the
others, and so on (Shimizu et al. 2011, with the measure of Hyvärinen & Smith 2013). Then edges are pruned.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.learners.nongaussian.causal_fit import Columns, outcome_of_order, read_columns
from dagora.learners.nongaussian.entropies import first_column
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.learners.search.alarm import Alarm
from dagora.stats.statistics import Statistics

Floats = NDArray[np.float64]


def lingam(statistics: Statistics, run: Run) -> Outcome:
    """Find an order by DirectLiNGAM and the graph along it."""
    columns = read_columns(statistics, run.knowledge, "lingam")
    order = direct_order(columns, run)
    return outcome_of_order(columns, order, run, "an order by which residuals are most independent")


def direct_order(columns: Columns, run: Run) -> list[int]:
    """Columns, causes first; those not reached in time follow as they stand, as far as knowledge allows."""
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
    """What standardised rows leave unexplained by one of them, standardised."""
    weights = values @ cause / values.shape[1]
    rest = values - weights[:, None] * cause
    return np.asarray(rest / np.sqrt((rest**2).mean(axis=1))[:, None], dtype=np.float64)
