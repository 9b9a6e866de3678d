"""Correlations of normal variables behind ordered levels and numbers.

An ordered column is taken as a normal variable that was cut at thresholds, which its margin gives. The
correlation of two such columns is the polychoric one (Olsson 1979), with a number the polyserial one (Olsson,
Drasgow & Dorans 1982), each by maximum likelihood for its pair. Numbers are taken by their ranks, as normal
scores (the nonparanormal: Liu, Lafferty & Wasserman 2009), or as they are. Estimates by pairs need not be
correlations of any variables together: eigenvalues below a floor are then raised to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.base.wording import col, option, setting
from dagora.data.columns.levels import IS_INTERVAL
from dagora.data.columns.ordinal import normal_scores
from dagora.data.schema import Kind, Variable
from dagora.stats.capabilities import capabilities_of, contingencies
from dagora.stats.statistics import Contingency, Statistics

Floats = NDArray[np.float64]

LARGEST = 0.995
"""Largest correlation that is looked for: beyond it, one column determines the other."""

FLOOR = 1e-3
"""Least eigenvalue of the matrix."""

LEAST, TINY = 1e-300, 1e-12
FEWEST = 4
"""Rows that a table is worth at least."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)


class LatentCorrelations:
    """Correlations of the normal variables behind all columns.

    `matrix` has them, `rows` are the rows of numbers that would tell as much, `moved` is the largest change
    that a floor on eigenvalues made, `constant` are levels that never change, `noise` is the variance that
    levels add to their variables. Levels need the counts of pairs, numbers the rows.
    """

    def __init__(self, statistics: Statistics, owner: str) -> None:
        check_columns(statistics, owner)
        self.schema, self.n_rows = statistics.schema, statistics.n_rows
        self.discrete = [variable.kind is Kind.DISCRETE for variable in self.schema]
        self.columns = [] if all(self.discrete) else columns_of(statistics, owner)
        d = len(self.schema)
        pairs = [(i, j) for j in range(d) for i in range(j)]
        counted = [(i, j) for i, j in pairs if self.discrete[i] and self.discrete[j]]
        self.counts = {
            pair: table_of(joint, [self.schema[k] for k in pair])
            for pair, joint in zip(counted, contingencies(statistics, counted), strict=True)
        }
        self.constant = constant_levels(self, owner)
        self.found = np.eye(d)
        for i, j in pairs:
            self.found[i, j] = self.found[j, i] = self._estimate(i, j)
        self.matrix, self.moved = with_floor(self.found)
        self.noise = np.array([noise_of(shares) for shares in self._shares()] if pairs else [0.0] * d)
        self.rows = max(FEWEST, round(self._worth())) if pairs else self.n_rows

    def _estimate(self, i: int, j: int) -> float:
        """The correlation of a pair; levels that never change have none."""
        if self.constant & {i, j}:
            return 0.0
        if (i, j) in self.counts:
            return polychoric(self.counts[i, j])
        if self.discrete[i] or self.discrete[j]:
            numbers, codes = (self.columns[k] for k in ((j, i) if self.discrete[i] else (i, j)))
            return polyserial(numbers, codes.astype(np.int64))
        found = np.corrcoef(self.columns[i], self.columns[j])[0, 1]
        return float(np.clip(found, -LARGEST, LARGEST))

    def _worth(self) -> float:
        """Rows of numbers that tell as much of partial correlations given all others: the median over pairs.

        Levels are taken as their normal variable with a noise, whose variance their margin gives. For
        variables with the residual correlation −p and, with the noise, residual variances a and b and
        covariance c, an estimate of p then has the variance below: (1 − p²)² / rows where there is no noise.
        """
        inverse = np.linalg.inv(self.matrix)
        residual = inverse / np.sqrt(np.diag(inverse))[:, None]
        i, j = np.triu_indices(len(inverse), 1)
        p = -inverse[i, j] / np.sqrt(inverse[i, i] * inverse[j, j])
        spread = residual @ (self.matrix + np.diag(self.noise)) @ residual.T
        a, b, c = spread[i, i], spread[j, j], spread[i, j]
        variance = a * b + c**2 + p**2 / 2 * (a**2 + b**2 + 2 * c**2) + 2 * p * c * (a + b)
        return float(self.n_rows * np.median((1 - p**2) ** 2 / variance))

    def _shares(self) -> Iterator[Floats]:
        """The shares of the levels of each column; none of numbers."""
        for k, discrete in enumerate(self.discrete):
            if discrete and self.columns:
                yield np.bincount(self.columns[k].astype(np.int64)) / self.n_rows
            elif discrete:
                pair = (k, k + 1) if (k, k + 1) in self.counts else (k - 1, k)
                yield self.counts[pair].sum(1 - pair.index(k)) / self.n_rows
            else:
                yield np.empty(0)

    def influence(self, i: int, j: int) -> Floats:
        """The part of a row in the estimate, times the rows: by the two levels, or of each row with a number.

        The squares' mean over rows, divided by their number, is the variance of the correlation.
        """
        rho = float(self.found[i, j])
        if self.constant & {i, j}:
            return np.zeros(self.counts[i, j].shape if (i, j) in self.counts else self.n_rows)
        if (i, j) in self.counts:
            return polychoric_influence(self.counts[i, j], rho)
        if self.discrete[i] or self.discrete[j]:
            numbers, codes = (self.columns[k] for k in ((j, i) if self.discrete[i] else (i, j)))
            return polyserial_influence(numbers, codes.astype(np.int64), rho)
        one, other = (standardised(self.columns[k]) for k in (i, j))
        return np.asarray(one * other - rho / 2 * (one**2 + other**2))


def check_columns(statistics: Statistics, owner: str) -> None:
    """Refuse levels without an order, and sums of weights or with noise, which are no counts of rows."""
    has = capabilities_of(statistics)
    if has.design is not None:
        raise RowsUnavailableError(
            f"{owner} takes rows that count alike and are independent, and these have weights or groups: "
            f"leave them out, or choose another score ({option('score')}) or test ({setting('test')})"
        )
    if has.release is not None or has.interventions is not None:
        statistics.rows()
    for variable in statistics.schema:
        if variable.kind is Kind.DISCRETE and not is_ordered(variable):
            raise no_order(owner, variable)


def no_order(owner: str, variable: Variable) -> DataError:
    """The error about levels without an order."""
    return DataError(
        f"{owner} needs an order of levels, and those of {col(variable.name)} have none "
        f"({', '.join(variable.levels[:3])}, …): {option('ordinal', variable.name)} says one; or leave the "
        f"column out ({option('drop', variable.name)})"
    )


def columns_of(statistics: Statistics, owner: str) -> list[NDArray[Any]]:
    """The codes of ordered levels, and the normal scores of numbers."""
    try:
        table = statistics.rows()
    except RowsUnavailableError:
        number = next(each.name for each in statistics.schema if each.kind is Kind.CONTINUOUS)
        raise RowsUnavailableError(
            f"{owner} needs the rows where a column holds numbers, as {col(number)} does, and there are only "
            f"counts and sums here: cut it into intervals, leave it out ({option('drop', number)}), or "
            "choose bic-mixed or the test mixed"
        ) from None
    return [
        in_order(variable, table.codes(k))
        if variable.kind is Kind.DISCRETE
        else normal_scores(table.values(k))
        for k, variable in enumerate(table.schema)
    ]


def table_of(joint: Contingency, variables: Sequence[Variable]) -> Floats:
    """Joint counts of two columns as a table, the levels in their order."""
    counts = np.zeros([variable.cardinality for variable in variables])
    rows, columns = (in_order(variable, joint.cells[:, k]) for k, variable in enumerate(variables))
    counts[rows, columns] = joint.counts
    return counts


def constant_levels(found: LatentCorrelations, owner: str) -> set[int]:
    """The columns of levels that never change; numbers that never change are refused."""
    constant = {k for k, column in enumerate(found.columns) if not (column != column[0]).any()}
    for pair, counts in found.counts.items():
        constant |= {k for axis, k in enumerate(pair) if np.count_nonzero(counts.sum(1 - axis)) < 2}
    for k in sorted(constant):
        if not found.discrete[k]:
            raise DataError(
                f"{col(found.schema[k].name)} is constant, and {owner} is not defined on it: leave it out"
            )
    return constant


def is_ordered(variable: Variable) -> bool:
    """Return True for levels with an order: declared, two of them, numbers, or intervals.

    >>> is_ordered(Variable("a", Kind.DISCRETE, ("1", "2", "10")))
    True
    >>> is_ordered(Variable("b", Kind.DISCRETE, tuple("xyz")))
    False
    """
    levels = variable.levels
    return (
        variable.ordered
        or len(levels) <= 2
        or all(map(is_number, levels))
        or all(map(IS_INTERVAL.fullmatch, levels))
    )


def is_number(text: str) -> bool:
    """Return True for a text that is a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def in_order(variable: Variable, codes: NDArray[np.generic]) -> NDArray[np.int64]:
    """Codes whose order is that of the levels: levels that are numbers are sorted as such.

    >>> in_order(Variable("a", Kind.DISCRETE, ("1", "10", "2")), np.array([0, 1, 2])).tolist()
    [0, 2, 1]
    """
    places = np.arange(len(variable.levels))
    if not variable.ordered and all(map(is_number, variable.levels)):
        places = np.argsort(np.argsort([float(level) for level in variable.levels], kind="stable"))
    return places[codes.astype(np.int64)]


def polychoric(counts: Floats) -> float:
    """The polychoric correlation behind a table of counts.

    Of a table cut at both medians it is sin(π (4 p − 1) / 2), where p is the share of the first cell.

    >>> round(polychoric(np.array([[40.0, 10.0], [10.0, 40.0]])), 4)
    0.809
    """
    across, down = thresholds(counts.sum(1)), thresholds(counts.sum(0))

    def loss(rho: float) -> float:
        cells = differences(both_below(across, down, rho))
        return -float((counts * np.log(np.maximum(cells, LEAST))).sum())

    return best(loss)


def polyserial(numbers: Floats, codes: NDArray[np.int64]) -> float:
    """The polyserial correlation of a number with ordered levels."""
    z, cuts = standardised(numbers), thresholds(np.bincount(codes))
    upper, lower = cuts[codes + 1], cuts[codes]

    def loss(rho: float) -> float:
        left = np.sqrt(1 - rho**2)
        share = ndtr((upper - rho * z) / left) - ndtr((lower - rho * z) / left)
        return -float(np.log(np.maximum(share, LEAST)).sum())

    return best(loss)


def best(loss: Callable[[float], float]) -> float:
    """The correlation of the least loss."""
    found = minimize_scalar(loss, bounds=(-LARGEST, LARGEST), method="bounded", options={"xatol": 1e-7})
    return float(found.x)


def polychoric_influence(counts: Floats, rho: float) -> Floats:
    """The part of a row of two levels in a polychoric correlation, times the rows; cuts are estimates too.

    With the score s = ∂ log p / ∂ρ it is (s + Σ E[∂s/∂τ] · influence on τ) / E[s²], summed over the cuts τ.
    """
    found = np.zeros(counts.shape)
    seen = np.ix_(counts.sum(1) > 0, counts.sum(0) > 0)
    counts = counts[seen]
    shares = [counts.sum(1) / counts.sum(), counts.sum(0) / counts.sum()]
    across, down = thresholds(shares[0]), thresholds(shares[1])
    p = np.maximum(differences(both_below(across, down, rho)), TINY)
    slope = differences(density(across, down, rho))
    score = slope / p
    left = np.sqrt(1 - rho**2)
    total = score.copy()
    for axis, (own, other) in enumerate(((across, down), (down, across))):
        inner = own[1:-1, None]
        beside = np.diff(ndtr((other[None, :] - rho * inner) / left), axis=1)
        turned = score if axis == 0 else score.T
        moves = -((turned[:-1] - turned[1:]) * beside).sum(1)
        below = np.arange(len(shares[axis])) <= np.arange(len(moves))[:, None]
        of_level = moves @ (below - np.cumsum(shares[axis])[:-1, None])
        total += of_level[:, None] if axis == 0 else of_level
    found[seen] = total / (slope * score).sum()
    return found


def polyserial_influence(numbers: Floats, codes: NDArray[np.int64], rho: float) -> Floats:
    """The part of each row in a polyserial correlation, times the rows; cuts and ranks are estimates too."""
    z, shares = standardised(numbers), np.bincount(codes) / len(codes)
    cuts = thresholds(shares)
    left = np.sqrt(1 - rho**2)
    eta = (cuts - rho * z[:, None]) / left
    inside = np.isfinite(eta)
    height = np.where(inside, np.exp(-(np.where(inside, eta, 0.0) ** 2) / 2), 0.0) / np.sqrt(2 * np.pi)
    p = np.maximum(np.diff(ndtr(eta), axis=1), TINY)
    turn = height * (np.where(inside, eta, 0.0) * rho / left**2 - z[:, None] / left)
    slope = np.diff(turn, axis=1)
    score = slope / p
    # The cuts: an empty level has none of its own.
    moves = -((score[:, :-1] - score[:, 1:]) * height[:, 1:-1]).mean(0) / left
    at = np.exp(-(cuts[1:-1] ** 2) / 2) / np.sqrt(2 * np.pi)
    below = np.arange(len(shares)) <= np.arange(len(moves))[:, None]
    of_level = (moves / np.maximum(at, TINY)) @ (below - np.cumsum(shares)[:-1, None])
    # The ranks: a row moves the normal scores of all rows above it.
    pull = (score * np.diff(height, axis=1)).sum(1) * rho / left
    pull *= np.sqrt(2 * np.pi) * np.exp(z**2 / 2)
    order = np.argsort(z, kind="stable")
    above = np.empty(len(z))
    above[order] = np.cumsum(pull[order][::-1])[::-1]
    of_rank = (above - (pull * ndtr(z)).sum()) / len(z)
    found = score[np.arange(len(codes)), codes] + of_level[codes] + of_rank
    return np.asarray(found / (slope * score).sum(1).mean())


def standardised(values: Floats) -> Floats:
    """Values of mean 0 and variance 1."""
    return np.asarray((values - values.mean()) / values.std())


def noise_of(shares: Floats) -> float:
    """The variance of the noise with which a level tells a standard normal variable; 0 for numbers.

    The levels explain the variance E[E[z | level]²] of it, which two equal halves do by 2 / π.

    >>> round(1 / (1 + noise_of(np.array([0.5, 0.5]))), 4), round(2 / np.pi, 4)
    (0.6366, 0.6366)
    """
    shares = shares[shares > 0]
    if len(shares) < 2:
        return 0.0
    height = np.exp(-(thresholds(shares) ** 2) / 2) / np.sqrt(2 * np.pi)
    return float(1 / (np.diff(height) ** 2 / shares).sum() - 1)


def thresholds(shares: NDArray[np.generic]) -> Floats:
    """The cuts of a standard normal variable that give the levels their shares, −∞ and ∞ included."""
    sums = np.cumsum(shares.astype(np.float64))
    return np.concatenate([[-np.inf], ndtri(np.minimum(sums[:-1] / sums[-1], 1.0)), [np.inf]])


def differences(corners: Floats) -> Floats:
    """The cells between corners, from what lies below each corner."""
    return np.asarray(corners[1:, 1:] - corners[:-1, 1:] - corners[1:, :-1] + corners[:-1, :-1])


def density(across: Floats, down: Floats, rho: float) -> Floats:
    """The density of two normal variables of some correlation at each pair of cuts; 0 at infinity."""
    h, k = across[:, None], down[None, :]
    finite = np.isfinite(h) & np.isfinite(k)
    p, q = np.where(finite, h, 0.0), np.where(finite, k, 0.0)
    left = 1 - rho**2
    height = np.exp(-(p**2 + q**2 - 2 * rho * p * q) / (2 * left)) / (2 * np.pi * np.sqrt(left))
    return np.where(finite, height, 0.0)


def both_below(across: Floats, down: Floats, rho: float) -> Floats:
    """The probability that two normal variables of some correlation lie below each pair of cuts.

    Φ(h) Φ(k) + ∫ exp(−(h² + k² − 2 h k sin t) / (2 cos² t)) dt / 2π from 0 to arcsin ρ (Plackett 1954).

    >>> both_below(np.array([0.0, np.inf]), np.array([0.0]), 0.5).round(4).tolist()
    [[0.3333], [0.5]]
    """
    h, k = across[:, None], down[None, :]
    finite = np.isfinite(h) & np.isfinite(k)
    p, q = np.where(finite, h, 0.0), np.where(finite, k, 0.0)
    half = np.arcsin(rho) / 2
    angles = half * (NODES + 1)
    sine, cosine = np.sin(angles), np.cos(angles) ** 2
    inside = np.exp(-(p[..., None] ** 2 + q[..., None] ** 2 - 2 * (p * q)[..., None] * sine) / (2 * cosine))
    return np.asarray(ndtr(h) * ndtr(k) + np.where(finite, half * (inside @ WEIGHTS) / (2 * np.pi), 0.0))


def with_floor(correlations: Floats) -> tuple[Floats, float]:
    """The nearest matrix, about, with no eigenvalue below the floor, and the largest change of an entry."""
    values, vectors = np.linalg.eigh(correlations)
    if values[0] >= FLOOR:
        return correlations, 0.0
    raised = (vectors * np.maximum(values, FLOOR)) @ vectors.T
    spread = np.sqrt(np.diag(raised))
    found = raised / np.outer(spread, spread)
    return found, float(np.abs(found - correlations).max())
