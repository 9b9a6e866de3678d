"""Columns whose levels have an order that was declared, and whether a default may use it.

It is used through the normal variables behind the levels (`latent_correlations`), which takes an order of
every column. Codes whose order nobody declared have none here. Where levels are rare, or columns depend so
strongly that each tells little beside the others, such correlations mislead: then no default uses them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.base.phrases import some_of
from dagora.base.wording import col, option
from dagora.data.columns.levels import IS_INTERVAL
from dagora.data.schema import Kind, Variable
from dagora.stats.capabilities import capabilities_of
from dagora.stats.latent_correlations import FEWEST, LatentCorrelations
from dagora.stats.statistics import Statistics
from dagora.stats.windows import panel_behind

MOST_NAMED = 3
# Correlations take a millisecond for each pair.
MOST_COLUMNS = 60
# On alarm with its levels in order, whose rows are worth a hundredth of their number, `bic-latent` misses
# up to four times as many edges as `bic`; on chains that are worth a third, none. Two levels of which 10 % of
# the rows have one tell a third of their variable, and brought false edges; with 15 %, which tell 43 %, none.
LEAST_WORTH = 0.1
MOST_NOISE = 1.5


@dataclass(frozen=True)
class DeclaredOrder:
    """Columns of three or more levels with a declared order; `obstacle` says why no default uses it."""

    columns: tuple[str, ...] = ()
    obstacle: str = ""

    @property
    def usable(self) -> bool:
        """True if there is such an order, and nothing stands against it."""
        return bool(self.columns) and not self.obstacle

    def said(self, chosen: str, instead: str) -> str:
        """A sentence on what was chosen and why; empty where no order was declared."""
        if not self.columns:
            return ""
        named = some_of((f"'{name}'" for name in self.columns), MOST_NAMED, noun="columns")
        if self.obstacle:
            return f"the order of the levels of {named} is not used: {self.obstacle}"
        return f"{chosen} was chosen as the levels of {named} have an order ({instead} takes them without)"


def declared_order(statistics: Statistics) -> DeclaredOrder:
    """The columns whose levels have a declared order.

    >>> from dagora.data.table import Table
    >>> from dagora.stats.table import TableStatistics
    >>> rows = {"pain": ["none", "mild", "severe"] * 9, "ward": ["x", "y", "z"] * 9}
    >>> import pandas
    >>> table = Table.from_frame(pandas.DataFrame(rows), ordinal="pain")
    >>> found = [declared_order(TableStatistics(each)) for each in (table, table.select(["pain"]))]
    >>> [(each.columns, each.usable) for each in found]
    [(('pain',), False), (('pain',), True)]
    """
    schema = statistics.schema
    levels = [variable for variable in schema if variable.kind is Kind.DISCRETE]
    columns = tuple(variable.name for variable in levels if variable.ordered and variable.cardinality > 2)
    return DeclaredOrder(columns, obstacle(statistics, levels) if columns else "")


def obstacle(statistics: Statistics, levels: list[Variable]) -> str:
    """Why the order of some levels cannot be used; empty if it can."""
    has = capabilities_of(statistics)
    if panel_behind(statistics) is not None:
        return "rows follow each other in time"
    if has.refuse_missing is not None:
        return f"cells are missing ({option('missing', 'drop')} leaves their rows out)"
    if has.design is not None:
        return "rows have weights or groups"
    if has.interventions is not None or has.release is not None:
        return "variables were set" if has.release is None else "the sums carry noise"
    if plain := next((each for each in levels if not has_order(each)), None):
        return f"those of {col(plain.name)} have none ({option('ordinal', plain.name)} declares one)"
    if len(levels) < len(statistics.schema):
        try:
            statistics.rows()
        except RowsUnavailableError:
            return "beside numbers it needs the rows"
    if len(statistics.schema) > MOST_COLUMNS:
        return f"the correlations of more than {MOST_COLUMNS} columns take long"
    try:
        return too_little(statistics)
    except DataError as error:  # such as a table of a pair that the plan of sites has no place for
        return error.text


def too_little(statistics: Statistics) -> str:
    """Why levels tell too little of the normal variables behind them; empty if they tell enough."""
    found = LatentCorrelations(statistics, "a default that uses an order")
    coarse = int(np.argmax(found.noise))
    if found.noise[coarse] > MOST_NOISE:
        return f"nearly all rows of {col(found.schema[coarse].name)} have the same level"
    if found.rows <= FEWEST or found.rows < LEAST_WORTH * found.n_rows:
        return (
            f"columns depend so strongly that {found.n_rows:,} rows would be worth {found.rows:,} of numbers"
        )
    return ""


def has_order(variable: Variable) -> bool:
    """Return True for levels with a declared order, two levels, and intervals."""
    return variable.ordered or variable.cardinality <= 2 or all(map(IS_INTERVAL.fullmatch, variable.levels))
