"""Moments of windows of time given which series they belong to, or which step they end at, or both.

What is given is a block of indicators, one for each series or step: columns lose their mean in each of them.
That is exact also for both blocks at once and for panels with holes, where not every series has every step:
columns are centred by one block after the other, and one regression on the smaller one removes what is left
(Frisch & Waugh 1933). The number of rows falls by the rank of the indicators, beside the overall mean.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from dagora.graph.lagged_graph import window_names
from dagora.stats.statistics import Moments
from dagora.stats.windows import Windows

SERIES, STEPS = "series", "steps"

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class CentredWindows:
    """The windows of series of numbers.

    `names` are their columns, `mean` the means of these and `spread` the sums of squares about them.

    >>> from dagora.data.series import Panel
    >>> from dagora.data.table import Table
    >>> rows = [[0, 1, 5], [0, 2, 6], [1, 1, 8], [1, 2, 9]]
    >>> panel = Panel.of_table(Table.from_numpy(rows, ["id", "t", "x"], continuous=["all"]), "t", "id")
    >>> windows = CentredWindows(Windows.of(panel, 0))
    >>> [(found.n, float(found.scatter[0, 0])) for by in ((), (SERIES,), (STEPS,), (SERIES, STEPS))
    ...  for found in [windows.moments(frozenset(by))]]
    [(4, 10.0), (3, 1.0), (3, 9.0), (2, 0.0)]
    """

    def __init__(self, windows: Windows) -> None:
        panel = windows.panel
        run = np.searchsorted(panel.starts, windows.ends, side="right") - 1
        place = {label: number for number, label in enumerate(dict.fromkeys(panel.labels))}
        series = np.array([place[label] for label in panel.labels])[run]
        steps = windows.ends - panel.starts[run] if panel.steps is None else panel.steps[windows.ends]
        self.names = window_names(windows.variables, windows.lags)
        columns = panel.table.columns
        rows = [
            columns[at][windows.ends - lag] for lag in range(windows.lags + 1) for at in range(len(columns))
        ]
        self._rows: Floats = np.stack(rows, axis=1).astype(np.float64)
        self.mean: Floats = self._rows.mean(axis=0)
        self._rows -= self.mean
        self.spread: Floats = np.einsum("ij,ij->j", self._rows, self._rows)
        self._blocks = {SERIES: numbered(series), STEPS: numbered(steps)}

    def __len__(self) -> int:
        return len(self._rows)

    def blocks(self, by: str) -> int:
        """The number of series, or of steps that a window ends at."""
        return int(self._blocks[by].max()) + 1

    def rank(self, by: AbstractSet[str]) -> int:
        """The rank of the indicators of some blocks, beside the overall mean."""
        separate = parts(self._blocks[SERIES], self._blocks[STEPS]) if len(by) > 1 else 1
        return sum(self.blocks(one) - 1 for one in by) - (separate - 1)

    def moments(self, by: AbstractSet[str]) -> Moments:
        """Moments given the indicators of some blocks."""
        rows = self._rows
        ordered = sorted(by, key=self.blocks)
        for one in ordered:
            rows = rows - means(rows, self._blocks[one])[self._blocks[one]]
        scatter = rows.T @ rows
        if len(ordered) == 2:
            small, large = (self._blocks[one] for one in ordered)
            left = sums(rows, small)
            scatter -= left.T @ np.linalg.pinv(centred_indicators(small, large), hermitian=True) @ left
        return Moments(len(rows) - self.rank(by), self.mean, scatter)


def numbered(values: Integers) -> Integers:
    """The same groups, numbered from 0."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def sums(rows: Floats, block: Integers) -> Floats:
    """The sums of columns over the rows of each group."""
    from scipy.sparse import csr_matrix

    indicators = csr_matrix((np.ones(len(block)), (block, np.arange(len(block)))))
    found: Floats = indicators @ rows
    return found


def means(rows: Floats, block: Integers) -> Floats:
    """The means of columns over the rows of each group."""
    found: Floats = sums(rows, block) / np.bincount(block)[:, None]
    return found


def together(one: Integers, other: Integers) -> Floats:
    """The number of rows in each group of one block and each of another."""
    found = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(found, (one, other), 1.0)
    return found


def centred_indicators(small: Integers, large: Integers) -> Floats:
    """The products of the indicators of one block, centred in the groups of another.

    >>> centred_indicators(np.array([0, 1, 0]), np.array([0, 0, 1])).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    counts = together(small, large)
    found: Floats = np.diag(counts.sum(axis=1)) - counts / counts.sum(axis=0) @ counts.T
    return found


def parts(one: Integers, other: Integers) -> int:
    """The number of parts of the rows that have no group of either block in common.

    >>> parts(np.array([0, 0, 1]), np.array([0, 1, 1])), parts(np.array([0, 0, 1]), np.array([0, 1, 2]))
    (1, 2)
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    nodes = int(one.max() + other.max()) + 2
    joined = csr_matrix((np.ones(len(one)), (one, other + one.max() + 1)), shape=(nodes, nodes))
    return int(connected_components(joined, directed=False, return_labels=False))
