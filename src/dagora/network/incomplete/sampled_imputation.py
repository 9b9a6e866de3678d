"""Fill missing values by many draws: for networks with both kinds of nodes, and for wide discrete ones.

The probability of a level is its share of the draws; mean and standard deviation are those of the draws.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import IncompleteTable
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.network.incomplete.imputation import (
    FilledCell,
    Imputation,
    complete_table,
    impossible_row,
    in_order,
)
from dagora.network.incomplete.matching import in_network_order
from dagora.network.networks import DiscreteNetwork, MixedNetwork

# Copies of the rows, and sweeps whose draws are used: 1,000 draws give a share a standard error below 0.016.
COPIES, SWEEPS = 200, 5
# Sweeps before those, if draws depend on the ones before (burn-in).
BURN_IN = 5
# Values of all copies that are held at a time (64 MiB).
BLOCK = 1 << 23
# Effective draws of a row that are enough: 100 give a probability a standard error of 0.05 at most.
ENOUGH = 100


def impute_by_draws(
    network: DiscreteNetwork | MixedNetwork, table: IncompleteTable, draws: int, seed: int
) -> Imputation:
    """Fill a table by draws."""
    known = in_network_order(network, table)
    incomplete = np.flatnonzero(~known.seen.all(axis=0))
    step = max(1, BLOCK // (COPIES * len(known.names)))
    filled = dict(zip(known.names, (column.copy() for column in known.columns), strict=True))
    random = [{name: column.copy() for name, column in filled.items()} for _ in range(draws)]
    cells: list[FilledCell] = []
    worth = np.full(known.n_rows, np.inf)
    for start in range(0, len(incomplete), step):
        rows = incomplete[start : start + step]
        part = known.take(rows)
        found, worth[rows] = draw_missing_values(network, part, draws, seed + start, rows)
        for place, node in enumerate(known.names):
            gone = rows[~part.seen[place]]
            if not len(gone):
                continue
            values, certainty = summary(found[node], len(network.levels.get(node, ())))
            filled[node][gone] = values
            for k, one in enumerate(random):
                one[node][gone] = found[node][k]
            if node in table.names:
                cells += [
                    FilledCell(row + 1, node, network.levels[node][int(value)], probability=sure)
                    if node in network.levels
                    else FilledCell(row + 1, node, value, sd=sure)
                    for row, value, sure in zip(
                        gone.tolist(), values.tolist(), certainty.tolist(), strict=True
                    )
                ]
    return Imputation(
        complete_table(table, filled, network.levels),
        in_order(cells, table),
        tuple(complete_table(table, one, network.levels) for one in random),
        f"values and certainties are estimates from {COPIES * SWEEPS:,} draws{at_least(worth)}",
        few_draws(worth),
    )


def draw_missing_values(
    network: DiscreteNetwork | MixedNetwork,
    part: IncompleteTable,
    draws: int,
    seed: int,
    rows: NDArray[np.int64],
) -> tuple[dict[str, NDArray[Any]], NDArray[np.float64]]:
    """Draw the missing values of each node (draws × values); also return each row's effective draws.

    They are infinite if the draws are independent.
    """
    copies = FilledRows(part, COPIES, seed)
    copies.sweep(network.model)
    if copies.impossible.any():
        raise impossible_row(int(rows[copies.impossible][0]))
    if not copies.independent:
        for _ in range(BURN_IN):
            copies.sweep(network.model)
    kept: dict[str, list[NDArray[Any]]] = {node: [] for node in part.names}
    worth = np.zeros(part.n_rows)
    for turn in range(max(SWEEPS, ceil(draws / COPIES))):
        if turn:
            copies.sweep(network.model)
        for node, seen in zip(part.names, part.seen, strict=True):
            kept[node].append(copies.columns[node][:, ~seen])
        weighted = np.isfinite(copies.effective)
        with np.errstate(divide="ignore"):
            worth += np.where(weighted, 1 / (1 / copies.effective + 1 / COPIES), np.inf)
    return {node: np.concatenate(values) for node, values in kept.items()}, worth


def at_least(worth: NDArray[np.float64]) -> str:
    """The end of the message: the effective draws of the worst row, if draws depend on each other.

    >>> at_least(np.array([np.inf, 812.3])), at_least(np.array([np.inf]))
    (', worth 812 independent ones or more', '')
    """
    least = float(worth.min(initial=np.inf))
    return f", worth {least:,.0f} independent ones or more" if np.isfinite(least) else ""


def few_draws(worth: NDArray[np.float64]) -> tuple[str, ...]:
    """Warn of rows with few effective draws.

    >>> few_draws(np.array([np.inf, 12.3, 30.0]))
    ('the draws of data row 2 and 1 more are worth fewer than 100 independent ones (12 in data row 2): ...',)
    """
    few = np.flatnonzero(worth < ENOUGH)
    if not len(few):
        return ()
    worst = int(few[worth[few].argmin()])
    more = f" and {len(few) - 1:,} more" if len(few) > 1 else ""
    warning = (
        f"the draws of data row {few[0] + 1}{more} are worth fewer than {ENOUGH} independent ones "
        f"({worth[worst]:.0f} in data row {worst + 1}): what was filled in there is uncertain"
    )
    return (warning,)


def summary(drawn: NDArray[Any], levels: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The most frequent level of each missing value and its share; mean and sd of continuous ones.

    >>> summary(np.array([[0, 1], [0, 1], [1, 1]]), levels=2)
    (array([0, 1]), array([0.66666667, 1.        ]))
    """
    if not levels:
        return drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
    shares = np.stack([(drawn == level).mean(axis=0) for level in range(levels)])
    return shares.argmax(axis=0), shares.max(axis=0)
