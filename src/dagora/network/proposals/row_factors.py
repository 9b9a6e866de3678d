"""Factors of discrete variables with a table for each row: eliminate them, and draw all variables jointly.

A variable is eliminated by adding up the log factors that hold it and summing over its levels. Backwards,
each variable is drawn given those that were eliminated after it (Dechter 1999). This is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import Noise

Floats = NDArray[np.float64]
Levels = dict[str, NDArray[np.int64]]


class SharedNoise:
    """Random numbers that are the same in every row, so that a row's draws depend on that row alone.

    Shapes are draws × rows × any others; a number instead is draws · rows.

    >>> SharedNoise(0, rows=2).random((1, 2, 1)).ravel().round(3).tolist()
    [0.232, 0.232]
    """

    def __init__(self, seed: int, rows: int) -> None:
        self._rng, self._rows = np.random.default_rng([seed, 59]), rows

    def random(self, size: Any = None) -> Floats:  # noqa: ANN401 - as numpy has it
        """Uniform random numbers."""
        return self._spread(self._rng.random, size)

    def standard_normal(self, size: Any = None) -> Floats:  # noqa: ANN401 - as numpy has it
        """Normal random numbers."""
        return self._spread(self._rng.standard_normal, size)

    def _spread(self, draw: Callable[..., Floats], size: Any) -> Floats:  # noqa: ANN401
        if isinstance(size, int):
            return np.repeat(draw(size // self._rows), self._rows)
        return np.broadcast_to(draw((size[0], 1, *size[2:])), size)


@dataclass(frozen=True, eq=False)
class RowFactor:
    """Logarithms of a factor: the first axis are rows, the others the levels of the variables."""

    variables: tuple[str, ...]
    logs: Floats

    def align(self, variables: Sequence[str]) -> Floats:
        """The logs with an axis for each of these variables, of length 1 where this factor has none."""
        kept = [name for name in variables if name in self.variables]
        moved = self.logs.transpose(0, *(1 + self.variables.index(name) for name in kept))
        sizes = iter(moved.shape[1:])
        return moved.reshape(len(moved), *(next(sizes) if name in kept else 1 for name in variables))


def find_order(
    scopes: Iterable[Iterable[str]], sizes: Mapping[str, int], kept: Collection[str] = ()
) -> tuple[list[str], frozenset[str], int]:
    """Return an order of elimination, the cheapest first; the largest set that arises, and its cells.

    The variables that are `kept` are not eliminated.

    >>> order, widest, cells = find_order(["ab", "bc", "cd"], {"a": 2, "b": 3, "c": 2, "d": 2})
    >>> order, sorted(widest), cells
    (['d', 'a', 'b', 'c'], ['a', 'b'], 6)
    """
    left = {frozenset(scope) for scope in scopes}
    variables = sorted({name for scope in left for name in scope} - set(kept))
    order: list[str] = []
    widest: frozenset[str] = frozenset()
    while len(order) < len(variables):
        merged = {
            name: frozenset().union(*(scope for scope in left if name in scope))
            for name in variables
            if name not in order
        }
        chosen = min(merged, key=lambda name: prod(sizes[one] for one in merged[name]))
        if prod(sizes[one] for one in merged[chosen]) > prod(sizes[one] for one in widest):
            widest = merged[chosen]
        left = {scope for scope in left if chosen not in scope} | {merged[chosen] - {chosen}}
        order.append(chosen)
    return order, widest, prod(sizes[one] for one in widest)


def join_factors(
    factors: Sequence[RowFactor], name: str, sizes: Mapping[str, int], rows: int
) -> tuple[list[RowFactor], tuple[str, ...], Floats]:
    """The factors without a variable, the others of those with it, and the sum of the latter, it last."""
    known = [factor for factor in factors if name in factor.variables]
    others = tuple(sorted({one for factor in known for one in factor.variables} - {name}))
    total = np.zeros((rows, *(sizes[one] for one in (*others, name))))
    for factor in known:
        total += factor.align((*others, name))
    return [factor for factor in factors if name not in factor.variables], others, total


class RowElimination:
    """Factors whose variables were eliminated in an order; `log_masses` is the log of each row's total.

    >>> done = RowElimination([RowFactor(("a",), np.log([[0.5, 1.5]]))], ["a"], {"a": 2}, rows=1)
    >>> done.log_masses.round(4), done.draw(3, np.random.default_rng(1))["a"].ravel().tolist()
    (array([0.6931]), [1, 1, 0])
    """

    def __init__(
        self, factors: Sequence[RowFactor], order: Sequence[str], sizes: Mapping[str, int], rows: int
    ) -> None:
        left = list(factors)
        self._rows = rows
        self._conditionals: list[tuple[str, tuple[str, ...], Floats]] = []
        self.log_masses = np.zeros(rows)
        for name in order:
            left, others, total = join_factors(left, name, sizes, rows)
            mass, cumulative = sum_last_axis(total)
            self._conditionals.append((name, others, cumulative))
            left.append(RowFactor(others, mass))
        for factor in left:
            self.log_masses = self.log_masses + factor.logs

    def draw(self, draws: int, rng: Noise) -> Levels:
        """Draw the levels of all variables, an array of draws × rows each."""
        drawn: Levels = {}
        rows = np.arange(self._rows)[None, :]
        for name, others, cumulative in reversed(self._conditionals):
            given = cumulative[(rows, *(drawn[one] for one in others))]
            uniform = rng.random((draws, self._rows, 1))
            drawn[name] = (given <= uniform).sum(axis=-1)
        return drawn


def sum_last_axis(total: Floats) -> tuple[Floats, Floats]:
    """Log of the sum of exp along the last axis, and cumulative shares (equal if all weights are 0)."""
    top = total.max(axis=-1)
    none = np.isneginf(top)
    weights = np.exp(total - np.where(none, 0.0, top)[..., None])
    weights[none] = 1.0
    cumulative = np.cumsum(weights, axis=-1)
    whole = cumulative[..., -1:].copy()
    cumulative /= whole
    return np.where(none, -np.inf, top + np.log(whole[..., 0])), cumulative


def marginal(
    factors: Sequence[RowFactor],
    order: Sequence[str],
    kept: Sequence[str],
    sizes: Mapping[str, int],
    rows: int,
) -> Floats:
    """Log of the marginal of the kept variables, not normalised: rows × their levels.

    >>> factors = [RowFactor(("a",), np.log([[0.5, 1.5]])), RowFactor(("a", "b"), np.log([[[1, 3], [2, 2]]]))]
    >>> np.exp(marginal(factors, ["a"], ["b"], {"a": 2, "b": 2}, rows=1)).round(3).tolist()
    [[3.5, 4.5]]
    """
    left = list(factors)
    for name in order:
        left, others, total = join_factors(left, name, sizes, rows)
        left.append(RowFactor(others, sum_last_axis(total)[0]))
    found = np.zeros((rows, *(sizes[name] for name in kept)))
    for factor in left:
        found += factor.align(kept)
    return found
