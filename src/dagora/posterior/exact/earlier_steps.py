"""Posteriors of windows of time: earlier steps are summed out, and drawn again with the parents.

Columns of earlier steps have no parents, so only those of the present step stand in layers or orders. The
weight of a parent set P of those is the sum over all sets of earlier columns that may go with it. Given P,
the earlier parents of a column are independent of all others: they are drawn from their share of that sum.
So it takes the steps of n variables, and not those of (lags + 1) n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.posterior.space.family_scoring import FamilyLayout
from dagora.posterior.space.family_tables import FamilyTables, empty_tables, fill_log_sums
from dagora.posterior.space.space import Space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EarlierParents:
    """The families of one column: `log_weights[q, p]` of set q of earlier columns beside set p of others.

    `earlier[b]` is the column that bit b of q stands for; bit b of p is the b-th column of the present step
    that is not the child.
    """

    earlier: Ints
    log_weights: Floats

    @property
    def log_sums(self) -> Floats:
        """The log of the sum over all sets of earlier columns, for each set of present ones."""
        return np.asarray(np.logaddexp.reduce(self.log_weights, axis=0), dtype=np.float64)

    @property
    def shares(self) -> Floats:
        """The probability of each set of earlier columns, given the set of present ones."""
        sums = self.log_sums
        return np.exp(self.log_weights - np.where(np.isfinite(sums), sums, 0.0))


@dataclass(frozen=True, eq=False)
class WindowWeights:
    """The families of the columns of the present step, which come first among all columns."""

    columns: int
    families: tuple[EarlierParents, ...]
    past: float
    """The log weight of the columns of earlier steps, which have one family each."""

    @classmethod
    def of(cls, tables: FamilyTables, roots: NDArray[np.bool_]) -> WindowWeights:
        """Arrange the tables of a full space; `roots` marks the columns of earlier steps."""
        present = np.flatnonzero(~roots)
        assert (present == np.arange(len(present))).all(), "the present step comes first"
        return cls(
            len(roots),
            tuple(earlier_parents(tables, child, len(present)) for child in present.tolist()),
            float(tables.log_weights[tables.starts[roots]].sum()),
        )

    @property
    def log_weights(self) -> Floats:
        """Log weights by column and set of others of the present step, as `GraphSums` takes them."""
        return np.stack([family.log_sums for family in self.families])

    @property
    def tables(self) -> FamilyTables:
        """The tables of chains over the present step: every set of others, with its sum over earlier ones."""
        d = len(self.families)
        others = Space.full(d)
        tables = empty_tables(FamilyLayout(others.cores, others.extras, ((),) * d, d - 1))
        tables.log_weights[:] = self.log_weights.ravel()
        for child in range(d):
            fill_log_sums(tables, child)
        return tables

    def add_earlier(
        self, masks: Ints, log_scores: Floats, random: np.random.Generator
    ) -> tuple[Ints, Floats]:
        """Parents of every column for some graphs over the present step, and the graphs' log weights."""
        shape = masks.shape[:-1]
        flat, values = masks.reshape(-1, masks.shape[-1]), log_scores.reshape(-1) + self.past
        found = np.zeros((len(flat), self.columns), dtype=np.int64)
        for child, family in enumerate(self.families):
            beside = closed_up(flat[:, child], child)
            shares, sums = family.shares.cumsum(axis=0), family.log_sums
            uniforms = random.random(len(flat)) * shares[-1, beside]
            chosen = (shares[:, beside] <= uniforms).sum(axis=0)
            values = values + family.log_weights[chosen, beside] - sums[beside]
            found[:, child] = flat[:, child]
            for bit, column in enumerate(family.earlier.tolist()):
                found[:, child] |= (chosen >> bit & 1) << column
        return found.reshape(*shape, self.columns), values.reshape(shape)

    def edges(self, families: Floats, within: Floats) -> Floats:
        """Edge probabilities, from those of the families and edges of the present step."""
        d = len(self.families)
        found = np.zeros((self.columns, self.columns))
        found[:d, :d] = within
        for child, family in enumerate(self.families):
            sets = family.shares @ families[child]
            for bit, column in enumerate(family.earlier.tolist()):
                found[column, child] = sets[(np.arange(len(sets)) >> bit & 1).astype(np.bool_)].sum()
        return found


def earlier_parents(tables: FamilyTables, child: int, present: int) -> EarlierParents:
    """The families of a column of the present step, of which there are `present` many.

    Where the knowledge forbids parents, sets with them have the weight zero.
    """
    size, start = int(tables.sizes[child]), int(tables.starts[child])
    core = tables.cores[child, :size]
    now, before = core[core < present], core[core >= present]
    # Cores ascend, so that the bits of the present step are the lowest ones.
    own = tables.log_weights[start : start + (1 << size)].reshape(1 << len(before), 1 << len(now))
    spread = np.full((1 << len(before), 1 << (present - 1)), -np.inf)
    masks = np.zeros(1 << len(now), dtype=np.int64)
    for bit, column in enumerate(now.tolist()):
        masks |= (np.arange(1 << len(now)) >> bit & 1) << (column - (column > child))
    spread[:, masks] = own
    return EarlierParents(before.astype(np.int64), spread)


def closed_up(masks: Ints, child: int) -> Ints:
    """Masks of nodes without the bit of the child, which none of them has.

    >>> closed_up(np.array([0b101]), 1).tolist()
    [3]
    """
    low = (1 << child) - 1
    return (masks & low) | (masks >> 1 & ~low)
