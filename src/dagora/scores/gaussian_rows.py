"""BIC of linear regressions of a few children on any of very many columns, without a table of all pairs.

The correlations of a column with all others are computed when they are first asked for: one product of the
rows with a column. Of p columns and k that were asked for, p·k numbers are kept, and not p². With R the
correlations and L Lᵀ = R[Z, Z], the rows of W = L⁻¹ R[Z, :] say what the columns Z explain: of column j they
leave 1 − Σ W[:, j]², and of its correlation with child i, R[i, j] − W[:, i]ᵀ W[:, j]. So all families that
add one column to Z are scored together. The values are those of `bic_gaussian`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.data.table import Table
from dagora.scores.usable_moments import refuse_discrete, refuse_unusable

Floats = NDArray[np.float64]
# A column of which others leave a smaller share of the variance says nothing that they do not.
LEAST_LEFT = 1e-9
# Added to the diagonal of correlations, so that copies of a column can be among the parents.
ROUNDING = 1e-12


class GaussianRows:
    """BIC of linear regressions on the columns of a table in memory.

    >>> from dagora.scores.bic_gaussian import GaussianBIC
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy(np.random.default_rng(1).normal(size=(50, 4)))
    >>> families = [(0, (1, 3)), (2, ())]
    >>> ours, theirs = GaussianRows(table, 1.0), GaussianBIC(TableStatistics(table))
    >>> np.allclose(ours.families(families), theirs.families(families), rtol=1e-9)
    True
    >>> np.allclose(ours.with_each(0, [1])[3], theirs.families([(0, (1, 3))])[0], rtol=1e-9)
    True
    """

    def __init__(self, table: Table, penalty: float) -> None:
        refuse_discrete(table.schema, "the score bic-gaussian")
        self._n = table.n_rows
        self._price = penalty * np.log(max(1, self._n)) / 2
        self._rows = np.stack(table.columns)
        with np.errstate(over="ignore", invalid="ignore"):
            means = self._rows.mean(axis=1)
            self._rows -= means[:, None]
            self._squares = np.einsum("ij,ij->i", self._rows, self._rows)
        refuse_unusable(table.names, means, self._squares / max(1, self._n), "the score bic-gaussian")
        self._rows /= np.sqrt(self._squares)[:, None]
        self._known: dict[int, Floats] = {}

    def families(self, families: Sequence[tuple[int, Sequence[int]]]) -> Floats:
        """Scores of a few families."""
        return np.array([self._family(child, list(parents)) for child, parents in families])

    def with_each(self, child: int, given: Sequence[int]) -> Floats:
        """Scores of a child with some parents and one more, for every column; −∞ where it adds nothing."""
        explained = self._explained(given)
        left = 1.0 - np.einsum("ij,ij->j", explained, explained)
        shared = self._correlations(child) - explained[:, child] @ explained
        usable = left > LEAST_LEFT
        usable[[child, *given]] = False
        share = np.full(len(left), np.nan)
        share[usable] = left[child] - shared[usable] ** 2 / left[usable]
        scores = self._scores(child, share, len(given) + 1)
        scores[~usable] = -np.inf
        return scores

    def _family(self, child: int, parents: list[int]) -> float:
        explained = self._explained(parents)[:, child]
        return float(self._scores(child, np.array([1.0 - explained @ explained]), len(parents))[0])

    def _scores(self, child: int, share: Floats, parents: int) -> Floats:
        """Scores of families of so many parents that leave these shares of the child's variance."""
        if parents + 1 >= self._n:
            return np.full(len(share), -np.inf)
        residual = self._squares[child] * np.maximum(share, LEAST_LEFT * 1e-6)
        fit = -self._n / 2 * (np.log(2 * np.pi * residual / self._n) + 1)
        scores: Floats = fit - self._price * (parents + 2)
        return scores

    def _explained(self, given: Sequence[int]) -> Floats:
        """W: what the given columns explain of all columns."""
        from scipy.linalg import solve_triangular

        known = np.array([self._correlations(i) for i in given]).reshape(len(given), len(self._rows))
        factor = np.linalg.cholesky(known[:, list(given)] + ROUNDING * np.eye(len(given)))
        found: Floats = solve_triangular(factor, known, lower=True, check_finite=False)
        return found

    def _correlations(self, column: int) -> Floats:
        """The correlations of a column with all."""
        if column not in self._known:
            self._known[column] = self._rows @ self._rows[column]
        return self._known[column]
