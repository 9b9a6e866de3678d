"""Smaller bases for parents with longer length-scales.

A family's bases come from the level of its shortest length-scale. A parent with a longer one needs fewer
dimensions: for ρ ≥ ρₐ the kernel C(ρ) lies in the span of the leading eigenvectors U of C(ρₐ), so that K(ρ) ≈
(QU) (UᵀC(ρ)U) (QU)ᵀ. All bases of a family come from one level, so that their Gram matrices are those of
actual columns and remain positive after any cut. Which cut a parent needs, `placing` says.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.points.compression import LONG, TAIL, ChebyshevBases, Level

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


class Bases(ChebyshevBases, Protocol):
    """Bases of all columns, from some length-scale upwards."""

    sums: Array
    projections: Array


class View:
    """A level's bases for length-scales from that of a coarser level upwards."""

    def __init__(self, level: Level, number: int) -> None:
        scale = LONG / 2.0 ** (number / 2)
        rough = np.zeros((len(level.bases), level.rank, level.rank))
        for column, basis in enumerate(level.bases):
            rank = basis.coefficients.shape[1]
            rough[column, :rank, :rank] = basis.covariance(scale)
        eigenvalues, vectors = np.linalg.eigh(rough)
        lost = np.cumsum(np.maximum(eigenvalues, 0.0), axis=1)
        self.rank = int((lost > TAIL).sum(axis=1).max())
        self.turns: Array = np.ascontiguousarray(vectors[:, :, ::-1][:, :, : self.rank])
        self.sums: Array = (level.sums[:, None, :] @ self.turns)[:, 0]
        self.projections: Array = level.projections @ self.turns
        self._level = level

    def series(self, column: int, cell: int) -> Array:
        """Chebyshev coefficients of C over one cell, one row per term."""
        basis = self._level.bases[column]
        rank = basis.coefficients.shape[1]
        series = basis.series(cell, basis.coefficients @ self.turns[column, :rank])
        return series.reshape(len(series), -1)


class Views:
    """A level and its cuts, each made when first needed, and the products of their bases."""

    def __init__(self, level: Level, number: int) -> None:
        self.level = level
        self._number = number
        self._cuts: dict[int, View] = {}

    def bases(self, number: int) -> Bases:
        """The bases that serve the length-scales of a level that is as coarse or coarser."""
        if number == self._number:
            return self.level
        if number not in self._cuts:
            self._cuts[number] = View(self.level, number)
        return self._cuts[number]

    def gram(self, one: int, other: int) -> Array:
        """Products of the bases of every column in one cut with those of every column in another."""
        product = self.level.gram
        if one != self._number:
            product = self._turns(one).swapaxes(-1, -2)[:, None] @ product
        if other != self._number:
            product = product @ self._turns(other)
        return product

    def _turns(self, number: int) -> Array:
        self.bases(number)
        return self._cuts[number].turns
