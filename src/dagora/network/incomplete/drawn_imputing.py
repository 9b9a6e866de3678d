"""Fill missing cells by many draws: for networks with both kinds of nodes, and for wide discrete ones.

A level's probability is its share of the draws, a number's mean and standard deviation are theirs.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import IncompleteTable
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.network.incomplete.imputation import FilledCell, Imputation, completed, impossible_row, in_order
from dagora.network.incomplete.matching import in_terms_of
from dagora.network.networks import DiscreteNetwork, MixedNetwork

# Copies of the rows, and times that their holes are drawn and kept.
COPIES, KEPT = 200, 5
# Times before that where draws follow from those before them.
FORGOTTEN = 5
# Cells of all copies that are filled together.
BLOCK = 1 << 23


def impute_by_draws(
    network: DiscreteNetwork | MixedNetwork, table: IncompleteTable, draws: int, seed: int
) -> Imputation:
    """Fill a table by draws."""
    known = in_terms_of(network, table)
    holed = np.flatnonzero(~known.seen.all(axis=0))
    step = max(1, BLOCK // (COPIES * len(known.names)))
    filled = dict(zip(known.names, (column.copy() for column in known.columns), strict=True))
    random = [{name: column.copy() for name, column in filled.items()} for _ in range(draws)]
    cells: list[FilledCell] = []
    for start in range(0, len(holed), step):
        rows = holed[start : start + step]
        part = known.take(rows)
        found = draw_holes(network, part, draws, seed + start, rows)
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
        completed(table, filled, network.levels),
        in_order(cells, table),
        tuple(completed(table, one, network.levels) for one in random),
        f"values and certainties are estimates from {COPIES * KEPT:,} draws",
    )


def draw_holes(
    network: DiscreteNetwork | MixedNetwork,
    part: IncompleteTable,
    draws: int,
    seed: int,
    rows: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:
    """For each node, what its missing cells were drawn to be: an array of draws × cells."""
    copies = FilledRows(part, COPIES, seed)
    copies.sweep(network.model)
    if copies.impossible.any():
        raise impossible_row(int(rows[copies.impossible][0]))
    if not copies.independent:
        for _ in range(FORGOTTEN):
            copies.sweep(network.model)
    kept: dict[str, list[NDArray[Any]]] = {node: [] for node in part.names}
    for turn in range(max(KEPT, ceil(draws / COPIES))):
        if turn:
            copies.sweep(network.model)
        for node, seen in zip(part.names, part.seen, strict=True):
            kept[node].append(copies.columns[node][:, ~seen])
    return {node: np.concatenate(values) for node, values in kept.items()}


def summary(drawn: NDArray[Any], levels: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The most frequent level of each cell and its share; of numbers, mean and standard deviation.

    >>> summary(np.array([[0, 1], [0, 1], [1, 1]]), levels=2)
    (array([0, 1]), array([0.66666667, 1.        ]))
    """
    if not levels:
        return drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
    shares = np.stack([(drawn == level).mean(axis=0) for level in range(levels)])
    return shares.argmax(axis=0), shares.max(axis=0)
