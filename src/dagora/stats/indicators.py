"""Second moments of a widened table: what relates columns of both kinds without rows.

A continuous column becomes two features, z and z², with z the column at any centre and scale. A discrete
column of r levels becomes r − 1, the indicators of all levels but the first. Regressions of any of these on
any others need only n, the means and the covariances of all features, which are sums over rows, as moments
are. What is computed from determinants of these covariances depends neither on centres and scales nor on
which level has no indicator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.base.wording import option
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.stats.moments import BLOCK_ROWS, add_block
from dagora.stats.statistics import Moments, running_sum

# Centre and scale of each column.
Scales = Sequence[tuple[float, float]]
# Features of a continuous column: itself and its square.
POWERS = 2
# The most features of a table: their covariances fill about 32 MiB, and half of that in a message.
MOST_FEATURES = 2048
# Features of so many columns are held for a whole block of rows; of more, for fewer rows.
WIDTH = 256


@dataclass(frozen=True, slots=True)
class IndicatorMoments:
    """Moments of the features of all columns; those of column i are `starts[i]` to `starts[i + 1]`."""

    moments: Moments
    starts: NDArray[np.int64]

    def in_order(self, places: NDArray[np.int64]) -> IndicatorMoments:
        """The same with the columns in another order."""
        own = [np.arange(self.starts[place], self.starts[place + 1]) for place in places.tolist()]
        turn = np.concatenate([np.zeros(0, dtype=np.int64), *own])
        found = self.moments
        moments = Moments(found.n, found.mean[turn], found.scatter[np.ix_(turn, turn)])
        return IndicatorMoments(moments, running_sum(np.array([len(some) for some in own], dtype=np.int64)))


def no_indicator_moments(who: str = "what was given") -> RowsUnavailableError:
    """The error about statistics that cannot give them, and who made them."""
    return RowsUnavailableError(
        f"{who} takes tables of one kind of columns only: leave {option('push_down')} out, discretise the "
        f"continuous columns (a table's by {option('discretise', 'quantile')}, those of a database in a "
        "query), or leave one kind out"
    )


def feature_starts(schema: Schema) -> NDArray[np.int64]:
    """The offset of the features of each column, and their number in all; too many are refused.

    >>> from dagora.data.schema import Variable
    >>> dose, age = Variable("dose", Kind.DISCRETE, ("lo", "mid", "hi")), Variable("age", Kind.CONTINUOUS)
    >>> feature_starts(Schema([dose, age]))
    array([0, 2, 4])
    """
    sizes = [
        POWERS if variable.kind is Kind.CONTINUOUS else max(0, len(variable.levels) - 1)
        for variable in schema
    ]
    if sum(sizes) > MOST_FEATURES:
        name = schema[int(np.argmax(sizes))].name
        raise DataError(
            f"the columns have {sum(sizes):,} levels in all, at most {MOST_FEATURES:,} are possible beside "
            f"continuous columns: leave '{name}' out ({option('drop', name)}), or merge its levels"
        )
    return running_sum(np.array(sizes, dtype=np.int64))


def table_indicator_moments(table: Table) -> IndicatorMoments:
    """Moments of a table's features, by blocks of rows; not finite where values are too large.

    >>> table = Table.from_numpy([[0, -1.0], [1, 0.0], [1, 1.0], [0, 0.0]], names=["a", "x"], discrete=["a"])
    >>> table_indicator_moments(table).moments.mean  # of the indicator, of z, and of its square
    array([0.5, 0. , 1. ])
    """
    starts, scales = feature_starts(table.schema), table_scales(table)
    return IndicatorMoments(add_features(no_features(starts), table.schema, scales, table.columns), starts)


def table_scales(table: Table) -> Scales:
    """Centre and scale of each column, from all rows of a table."""
    return [
        (float(column.mean()), float(column.std()) or 1.0)
        if variable.kind is Kind.CONTINUOUS and table.n_rows
        else (0.0, 1.0)
        for variable, column in zip(table.schema, table.columns, strict=True)
    ]


def moment_scales(schema: Schema, moments: Moments) -> Scales:
    """Centre and scale of each column, from the moments of the continuous ones."""
    spreads = np.sqrt(np.diag(moments.scatter) / max(1, moments.n))
    own = zip(moments.mean.tolist(), [spread or 1.0 for spread in spreads.tolist()], strict=True)
    return [next(own) if variable.kind is Kind.CONTINUOUS else (0.0, 1.0) for variable in schema]


def no_features(starts: NDArray[np.int64]) -> Moments:
    """Moments of features over no rows."""
    size = int(starts[-1])
    return Moments(0, np.zeros(size), np.zeros((size, size)))


def add_features(total: Moments, schema: Schema, scales: Scales, columns: Sequence[NDArray[Any]]) -> Moments:
    """Moments of the features of some rows and of more, by blocks of those; `columns` are their cells."""
    with np.errstate(over="ignore", invalid="ignore"):
        for features in feature_blocks(schema, scales, columns):
            total = add_block(total, features)
    return total


def feature_blocks(
    schema: Schema, scales: Scales, columns: Sequence[NDArray[Any]]
) -> Iterator[NDArray[np.float64]]:
    """The features of all rows, one per row of a matrix, block by block of rows."""
    starts = feature_starts(schema)
    size, rows = int(starts[-1]), len(columns[0])
    step = max(1, min(BLOCK_ROWS, BLOCK_ROWS * WIDTH // max(1, size)))
    for start in range(0, rows, step):
        stop = min(rows, start + step)
        features = np.empty((size, stop - start))
        for place, (variable, column) in enumerate(zip(schema, columns, strict=True)):
            own = features[starts[place] : starts[place + 1]]
            block = column[start:stop]
            if variable.kind is Kind.CONTINUOUS:
                centre, scale = scales[place]
                own[0] = (block - centre) / scale
                own[1] = own[0] * own[0]
            else:
                own[:] = block == np.arange(1, len(own) + 1)[:, None]
        yield features
