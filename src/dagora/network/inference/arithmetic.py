"""Products and sums of tables, of numbers or of their logarithms; the first axis of a table are the rows."""

from __future__ import annotations

from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEAST_SPAN = -600.0
"""ln of the smallest ratio of two products that is still safe from underflow (e⁻⁷⁰⁸ is not)."""


class Overspan(Exception):  # noqa: N818 (no error: a sign that logarithms are needed)
    """Signals that the factors of a clique span more than a float can hold."""


class Arithmetic(Protocol):
    """The operations of message passing."""

    def times(self, one: Array, other: Array) -> Array:
        """The product of two tables."""

    def sum_over(self, table: Array, axes: tuple[int, ...]) -> Array:
        """The sum over axes."""

    def inverse(self, table: Array) -> Array:
        """One over each entry, and zero for zero."""

    def scale(self, table: Array) -> tuple[Array, Array]:
        """Scale the largest entry of each row to 1; return the logarithm of the divisor, too."""

    def log_of(self, numbers: Array) -> Array:
        """Logarithms."""

    def plain(self, table: Array) -> Array:
        """The table of numbers."""

    def span(self, message: Array) -> float:
        """Log of the smallest positive entry, where the largest is about 1."""

    def check(self, span: float) -> None:
        """Refuse a product that may underflow."""


def log_span(table: Array) -> float:
    """Log of the smallest positive entry over the largest; 0 for a table of zeros.

    >>> round(log_span(np.array([0.0, 0.5, 1.0])), 4)
    -0.6931
    """
    least = np.min(table, initial=inf, where=table > 0)
    return float(np.log(least) - np.log(table.max())) if least < inf else 0.0


class Plain:
    """Operations on numbers."""

    def times(self, one: Array, other: Array) -> Array:
        """The product of two tables."""
        return one * other

    def sum_over(self, table: Array, axes: tuple[int, ...]) -> Array:
        """The sum over axes."""
        return np.asarray(table.sum(axis=axes)) if axes else table

    def inverse(self, table: Array) -> Array:
        """One over each entry, and zero for zero."""
        return np.divide(1.0, table, out=np.zeros_like(table), where=table > 0)

    def scale(self, table: Array) -> tuple[Array, Array]:
        """Divide each row by its largest entry."""
        most = table.reshape(len(table), -1).max(axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(most)
        most = np.where(most > 0, most, 1.0)
        return table / most.reshape(-1, *[1] * (table.ndim - 1)), logs

    def log_of(self, numbers: Array) -> Array:
        """Logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(numbers)

    def plain(self, table: Array) -> Array:
        """The table itself."""
        return table

    def span(self, message: Array) -> float:
        """Log of the smallest positive entry over the largest."""
        return log_span(message)

    def check(self, span: float) -> None:
        """Refuse a product that may underflow."""
        if span < LEAST_SPAN:
            raise Overspan


class Logarithmic:
    """Operations on logarithms; −∞ stands for zero."""

    def times(self, one: Array, other: Array) -> Array:
        """The product of two tables."""
        return one + other

    def sum_over(self, table: Array, axes: tuple[int, ...]) -> Array:
        """The sum over axes."""
        if not axes:
            return table
        most = table.max(axis=axes, keepdims=True)
        shift = np.where(np.isfinite(most), most, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(table - shift).sum(axis=axes)) + shift.squeeze(axis=axes))

    def inverse(self, table: Array) -> Array:
        """One over each entry, and zero for zero."""
        return np.where(np.isneginf(table), -inf, -table)

    def scale(self, table: Array) -> tuple[Array, Array]:
        """Divide each row by its largest entry."""
        logs = table.reshape(len(table), -1).max(axis=1)
        shift = np.where(np.isfinite(logs), logs, 0.0)
        return table - shift.reshape(-1, *[1] * (table.ndim - 1)), logs

    def log_of(self, numbers: Array) -> Array:
        """The argument, which is a logarithm already."""
        return numbers

    def plain(self, table: Array) -> Array:
        """The table of numbers."""
        return np.exp(table)

    def span(self, message: Array) -> float:  # noqa: ARG002
        """Return 0: logarithms do not underflow."""
        return 0.0

    def check(self, span: float) -> None:
        """Do nothing: logarithms do not underflow."""


PLAIN = Plain()
LOGARITHMIC = Logarithmic()
