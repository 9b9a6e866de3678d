"""Fill missing values row by row: for networks with both kinds of nodes, and for wide discrete ones.

Values are exact where they can be, else from weighted draws (`row_estimates`); random completions are drawn.
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
from dagora.network.incomplete.row_estimates import (
    BLOCK,
    BURN_IN,
    COPIES,
    DRAWS,
    estimate_values,
    rows_by_pattern,
)
from dagora.network.networks import DiscreteNetwork, MixedNetwork
from dagora.network.proposals.row_posteriors import ValueDistribution

# Effective draws of a row that are enough: 100 give a probability a standard error of 0.05 at most.
ENOUGH = 100


def impute_rows(
    network: DiscreteNetwork | MixedNetwork, table: IncompleteTable, draws: int, seed: int
) -> Imputation:
    """Fill a table row by row: a value depends on its own row alone; random completions are drawn."""
    known = in_network_order(network, table)
    incomplete = np.flatnonzero(~known.seen.all(axis=0))
    filled = dict(zip(known.names, (column.copy() for column in known.columns), strict=True))
    cells: list[FilledCell] = []
    worth = np.full(known.n_rows, np.inf)
    drawn = 0
    for rows in rows_by_pattern(network, known, incomplete):
        for node, found, effective in estimate_values(rows, table.names):
            if effective is not None:
                drawn += len(rows.where)
                worth[rows.where] = np.minimum(worth[rows.where], effective)
            values, certainty = best_values(found)
            filled[node][rows.where] = values
            cells += [
                FilledCell(row + 1, node, network.levels[node][int(value)], probability=sure)
                if node in network.levels
                else FilledCell(row + 1, node, value, sd=sure)
                for row, value, sure in zip(
                    rows.where.tolist(), values.tolist(), certainty.tolist(), strict=True
                )
            ]
    return Imputation(
        complete_table(table, filled, network.levels),
        in_order(cells, table),
        tuple(
            complete_table(table, one, network.levels)
            for one in random_completions(network, known, incomplete, draws, seed)
        ),
        f"{drawn:,} of them estimated from {DRAWS:,} draws{at_least(worth)}" if drawn else "",
        few_draws(worth),
    )


def best_values(found: ValueDistribution) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The most probable level of each row with its probability, or the mean with the standard deviation."""
    if found.probabilities is not None:
        return found.probabilities.argmax(axis=1), found.probabilities.max(axis=1)
    assert found.mean is not None, "a number has a mean"
    assert found.sd is not None, "a number has a standard deviation"
    return found.mean, found.sd


def random_completions(
    network: DiscreteNetwork | MixedNetwork,
    known: IncompleteTable,
    incomplete: NDArray[np.int64],
    draws: int,
    seed: int,
) -> list[dict[str, NDArray[Any]]]:
    """Tables whose missing values are drawn, all of a row jointly and each row by itself."""
    random = [dict(zip(known.names, (c.copy() for c in known.columns), strict=True)) for _ in range(draws)]
    step = max(1, BLOCK // (COPIES * len(known.names)))
    for start in range(0, len(incomplete) if draws else 0, step):
        rows = incomplete[start : start + step]
        part = known.take(rows)
        found = draw_missing_values(network, part, draws, seed + start, rows)
        for place, node in enumerate(known.names):
            gone = rows[~part.seen[place]]
            for k, one in enumerate(random):
                one[node][gone] = found[node][k]
    return random


def draw_missing_values(
    network: DiscreteNetwork | MixedNetwork,
    part: IncompleteTable,
    draws: int,
    seed: int,
    rows: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:
    """Draw the missing values of each node: draws × values."""
    copies = FilledRows(part, COPIES, seed)
    copies.sweep(network.model)
    if copies.impossible.any():
        raise impossible_row(int(rows[copies.impossible][0]))
    if not copies.independent:
        for _ in range(BURN_IN):
            copies.sweep(network.model)
    kept: dict[str, list[NDArray[Any]]] = {node: [] for node in part.names}
    for turn in range(ceil(draws / COPIES)):
        if turn:
            copies.sweep(network.model)
        for node, seen in zip(part.names, part.seen, strict=True):
            kept[node].append(copies.columns[node][:, ~seen])
    return {node: np.concatenate(values) for node, values in kept.items()}


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
