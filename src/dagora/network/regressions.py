"""Regressions of a node of a mixed network on parents of both kinds: one per configuration.

A continuous node: x = intercept + Σ slope · parent + sd · N(0, 1), with its own numbers for each
configuration of the discrete parents (a conditional linear Gaussian). A discrete node with continuous
parents: P(level l) ∝ exp(intercept_l + Σ slope_l · parent), again per configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError

Array = NDArray[np.float64]

SPARE_ROWS = 3
"""Rows beyond its slopes that a configuration needs for a regression of its own."""

ROWS_PER_COEFFICIENT = 5
"""Rows for each coefficient that a configuration needs for a logistic regression of its own."""


@dataclass(frozen=True, eq=False)
class Lines:
    """A continuous node: one regression per configuration of its discrete parents.

    `intercepts` and `sds` have one axis per discrete parent, in the order of `graph.parents`; `slopes` has
    one axis more, the continuous parents in the order of `graph.parents`.

    >>> lines = Lines(intercepts=[0.0, 2.0], slopes=[[1.0], [-1.0]], sds=[0.5, 0.5])
    >>> lines.slopes[1]  # at the second level of its discrete parent
    array([-1.])
    """

    intercepts: Array
    slopes: Array
    sds: Array

    def __post_init__(self) -> None:
        for name in ("intercepts", "slopes", "sds"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        if self.sds.shape != self.intercepts.shape or self.slopes.shape[:-1] != self.intercepts.shape:
            raise GraphError(
                f"lines need intercepts and sds of one shape and slopes with one axis more, not "
                f"{self.intercepts.shape}, {self.sds.shape} and {self.slopes.shape}"
            )
        numbers = (self.intercepts, self.slopes, self.sds)
        if not all(np.isfinite(array).all() for array in numbers) or (self.sds < 0).any():
            raise GraphError("lines need finite numbers and standard deviations ≥ 0")


@dataclass(frozen=True, eq=False)
class Softmax:
    """A discrete node with continuous parents: P(level l) ∝ exp(intercepts[…, l] + slopes[…, l, :] · x).

    The first axes are the levels of the discrete parents; the last axis of `slopes` are the continuous
    parents, both in the order of `graph.parents`.

    >>> choice = Softmax(intercepts=[0.0, 0.0], slopes=[[0.0], [2.0]])
    >>> choice.probabilities(np.array([[0.0], [1.0]])).round(3).tolist()
    [[0.5, 0.5], [0.119, 0.881]]
    """

    intercepts: Array
    slopes: Array

    def __post_init__(self) -> None:
        for name in ("intercepts", "slopes"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        if self.intercepts.ndim < 1 or self.slopes.shape[:-1] != self.intercepts.shape:
            raise GraphError(
                f"a softmax needs intercepts per level and slopes with one axis more, not "
                f"{self.intercepts.shape} and {self.slopes.shape}"
            )
        if not np.isfinite(self.intercepts).all() or not np.isfinite(self.slopes).all():
            raise GraphError("a softmax needs finite numbers")

    def probabilities(self, values: Array, configuration: tuple[NDArray[np.integer], ...] = ()) -> Array:
        """The levels' probabilities in each row, given the continuous and the discrete parents."""
        weights = np.exp(self._logits(values, configuration))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def log_probabilities(self, values: Array, configuration: tuple[NDArray[np.integer], ...] = ()) -> Array:
        """Their logarithms, also where a probability is too small for a number.

        >>> Softmax([0.0, 0.0], [[0.0], [1.0]]).log_probabilities(np.array([[-1000.0]])).tolist()
        [[0.0, -1000.0]]
        """
        logits = self._logits(values, configuration)
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)))

    def _logits(self, values: Array, configuration: tuple[NDArray[np.integer], ...]) -> Array:
        """The exponents, less the largest of each row."""
        slopes = np.einsum("...lk,...k->...l", self.slopes[configuration], values)
        logits = self.intercepts[configuration] + slopes
        return np.asarray(logits - logits.max(axis=-1, keepdims=True))
