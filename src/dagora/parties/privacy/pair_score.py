"""BIC of at most one parent on pair tables that carry noise.

With T the counts of a child and its parent, E those expected if the two were independent, and v the variance
of the noise in a cell, an edge gains

    Σ over cells of [T ln(T/E) − T + E] · E / (E + v)  −  ½ (r − 1)(s − 1) ln n

Counting alone, a cell's contribution is as if its error had variance E; with noise it has E + v, so its
evidence is worth E / (E + v) of that. Without noise this is BIC, as the sums of T and E are equal. The gain
is the same in both directions: a network is scored by its skeleton, and a best one is a forest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.schema import Schema
from dagora.parties.privacy.pair_tables import Floats, PairTables
from dagora.scores.local_score import Family


class PairScore:
    """The score of families with at most one parent; `penalty` is a factor on a parameter's price."""

    def __init__(self, schema: Schema, tables: PairTables, penalty: float = 1.0) -> None:
        self._schema = schema
        self._rows = tables.rows
        price = penalty * np.log(tables.rows) / 2
        self._alone = np.array([marginal_fit(m) - price * (len(m) - 1) for m in tables.margins])
        self._gains = np.full((len(schema), len(schema)), -np.inf)
        for (i, j), table in tables.tables.items():
            expected = np.outer(tables.margins[i], tables.margins[j]) / tables.rows
            parameters = (table.shape[0] - 1) * (table.shape[1] - 1)
            gain = association(table, expected, tables.variance(i, j)) - price * parameters
            self._gains[i, j] = self._gains[j, i] = gain

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """The number of rows, as estimated from the release."""
        return round(self._rows)

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families."""
        scores = np.empty(len(families))
        for k, (child, parents) in enumerate(families):
            if len(parents) > 1:
                raise OptionError(
                    "pair tables with noise say nothing about two parents of one variable: "
                    f"set {option('max_parents', 1)}"
                )
            scores[k] = self._alone[child] + sum(self._gains[parent, child] for parent in parents)
        return scores


def marginal_fit(margin: Floats) -> float:
    """Σ m ln(m / n): the log-likelihood of a variable without parents."""
    seen = margin[margin > 0]
    return float((seen * np.log(seen / margin.sum())).sum())


def association(table: Floats, expected: Floats, variance: float) -> float:
    """Σ [T ln(T/E) − T + E] · E / (E + v); a count below 0 counts as 0, and cells with E = 0 as nothing.

    >>> independent = np.outer([5.0, 5.0], [6.0, 4.0]) / 10
    >>> association(independent, independent, 2.0)
    0.0
    """
    possible = expected > 0
    e, t = expected[possible], np.maximum(table[possible], 0.0)
    logarithms = np.log(np.where(t > 0, t, 1.0) / e)
    return float(((t * logarithms - t + e) * e / (e + variance)).sum())
