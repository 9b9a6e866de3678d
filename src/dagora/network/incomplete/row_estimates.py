"""Estimates of the missing values of rows, each from its own row alone: exact, or from weighted draws.

Rows with the same pattern of missing values are worked on together (`proposals/row_posteriors`). If too many
levels of a row depend on each other, they are drawn by blocked Gibbs sampling, one row at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.data.incomplete import IncompleteTable
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.network.incomplete.imputation import impossible_row
from dagora.network.networks import DiscreteNetwork, MixedNetwork
from dagora.network.proposals.row_posteriors import (
    RowPosteriors,
    UnaffordableError,
    ValueDistribution,
    WeightedDraws,
    network_scales,
)

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
# Draws of each row that are used: 1,000 give a share a standard error below 0.016.
COPIES, SWEEPS = 200, 5
DRAWS = COPIES * SWEEPS
# Sweeps before those, if draws depend on the ones before (burn-in).
BURN_IN = 5
# Values of all draws that are held at a time (64 MiB).
BLOCK = 1 << 23
# Of the draws where exact answers and weights are out of reach: the same for every row.
SEED = 0


class PatternRows:
    """Some rows of a table with one pattern of missing values; `where` are their positions."""

    def __init__(
        self,
        network: DiscreteNetwork | MixedNetwork,
        table: IncompleteTable,
        where: Rows,
        scales: dict[str, tuple[float, float]],
    ) -> None:
        self._network, self._part, self.where = network, table.take(where), where
        pattern = self._part.seen[:, 0]
        self.given = {
            name: column.astype(np.int64) if name in network.model.levels else column
            for name, column, here in zip(table.names, self._part.columns, pattern.tolist(), strict=True)
            if here
        }
        self._posteriors = RowPosteriors(network.model, self.given, len(where), scales)
        self._drawn: WeightedDraws | None = None
        self._refuse(self._posteriors.impossible)

    @property
    def gone(self) -> tuple[str, ...]:
        """The missing nodes."""
        return self._posteriors.gone

    def exact(self, node: str) -> ValueDistribution | None:
        """The distribution of a missing node, if it is known exactly."""
        found = self._posteriors.exact(node)
        if found is not None:
            numbers = found.mean[:, None] if found.mean is not None else found.probabilities
            self._refuse(np.isnan(np.asarray(numbers)).any(axis=1))
        return found

    def draws(self) -> WeightedDraws:
        """Draws of all missing nodes."""
        if self._drawn is None:
            try:
                self._drawn = self._posteriors.draw(DRAWS)
            except UnaffordableError:
                self._drawn = self._draw_by_gibbs()
            self._refuse(self._drawn.impossible)
        return self._drawn

    def estimate(self, node: str) -> tuple[ValueDistribution, Floats]:
        """The distribution of a missing node by draws, and the effective draws of each row."""
        drawn = self.draws()
        weights = drawn.weights((node,))
        values = drawn.columns[node]
        worth = (
            1 / (weights**2).sum(axis=0) if drawn.log_weights.get(node) else np.full(len(self.where), np.inf)
        )
        levels = len(self._network.model.levels.get(node, ()))
        if levels:
            shares = [(weights * (values == level)).sum(axis=0) for level in range(levels)]
            return ValueDistribution(probabilities=np.minimum(np.stack(shares, axis=1), 1.0)), worth
        mean = (weights * values).sum(axis=0)
        spread = (weights * (values - mean) ** 2).sum(axis=0)
        return ValueDistribution(mean=mean, sd=np.sqrt(spread)), worth

    def _refuse(self, impossible: NDArray[np.bool_]) -> None:
        if impossible.any():
            raise impossible_row(int(self.where[impossible][0]))

    def _draw_by_gibbs(self) -> WeightedDraws:
        """Draw one row after the other."""
        parts: dict[str, list[NDArray[Any]]] = {node: [] for node in self.gone}
        impossible = np.zeros(len(self.where), dtype=np.bool_)
        for row in range(len(self.where)):
            copies = FilledRows(self._part.take([row]), COPIES, SEED)
            copies.sweep(self._network.model)
            impossible[row] = bool(copies.impossible[0])
            for _ in range(0 if copies.independent else BURN_IN):
                copies.sweep(self._network.model)
            kept: dict[str, list[NDArray[Any]]] = {node: [] for node in self.gone}
            for turn in range(SWEEPS):
                if turn:
                    copies.sweep(self._network.model)
                for node in self.gone:
                    kept[node].append(copies.columns[node].copy())
            for node, values in kept.items():
                parts[node].append(np.concatenate(values))
        columns = {node: np.concatenate(values, axis=1) for node, values in parts.items()}
        return WeightedDraws(columns, {}, impossible)


def rows_by_pattern(
    network: DiscreteNetwork | MixedNetwork, table: IncompleteTable, rows: Rows
) -> Iterator[PatternRows]:
    """Rows of a table in the network's order, pattern by pattern, so many at a time as memory holds."""
    scales = network_scales(network.model)
    patterns, place = np.unique(table.seen[:, rows], axis=1, return_inverse=True)
    step = max(1, BLOCK // (DRAWS * len(table.names)))
    for k in range(patterns.shape[1]):
        of_pattern = rows[place.ravel() == k]
        for start in range(0, len(of_pattern), step):
            yield PatternRows(network, table, of_pattern[start : start + step], scales)


def estimate_values(
    rows: PatternRows, nodes: Collection[str]
) -> Iterator[tuple[str, ValueDistribution, Floats | None]]:
    """Each of these nodes that is missing, its distribution, and effective draws where it was drawn."""
    for node in rows.gone:
        if node in nodes:
            found = rows.exact(node)
            if found is not None:
                yield node, found, None
            else:
                yield node, *rows.estimate(node)
