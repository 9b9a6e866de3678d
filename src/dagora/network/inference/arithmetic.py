"""Products and sums of tables, on numbers or on their logarithms; the first axis of a table are the rows."""

from __future__ import annotations

from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEAST_SPAN = -600.0
"""ln of the smallest ratio of two products that is still safe from underflow (e⁻⁷⁰⁸ is not)."""


class Overspan(Exception):  # noqa: N818 (no error: a sign that logarithms are needed)
    """The factors of a clique span more than a float can hold."""


class Arithmetic(Protocol):
    """What message passing needs of numbers."""

    def times(self, one: Array, other: Array) -> Array:
        """The product of two tables."""

    def summed(self, table: Array, axes: tuple[int, ...]) -> Array:
        """The sum over axes."""

    def inverse(self, table: Array) -> Array:
        """One over each entry, and zero for zero."""

    def scaled(self, table: Array) -> tuple[Array, Array]:
        """The table with a largest entry of 1 in each row, and the logarithm of what it was divided by."""

    def log_of(self, numbers: Array) -> Array:
        """Logarithms."""

    def plain(self, table: Array) -> Array:
        """The numbers themselves."""

    def span(self, message: Array) -> float:
        """Ln of the smallest positive entry, where the largest is about 1."""

    def check(self, span: float) -> None:
        """Refuse a product that may underflow."""


def log_span(table: Array) -> float:
    """Ln of the smallest positive entry over the largest; 0 for a table of zeros.

    >>> round(log_span(np.array([0.0, 0.5, 1.0])), 4)
    -0.6931
    """
    least = np.min(table, initial=inf, where=table > 0)
    return float(np.log(least) - np.log(table.max())) if least < inf else 0.0


class Plain:
    """Numbers as they are."""

    def times(self, one: Array, other: Array) -> Array:
        """The product of two tables."""
        return one * other

    def summed(self, table: Array, axes: tuple[int, ...]) -> Array:
        """The sum over axes."""
        return np.asarray(table.sum(axis=axes)) if axes else table

    def inverse(self, table: Array) -> Array:
        """One over each entry, and zero for zero."""
        return np.divide(1.0, table, out=np.zeros_like(table), where=table > 0)

    def scaled(self, table: Array) -> tuple[Array, Array]:
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
        """The numbers themselves."""
        return table

    def span(self, message: Array) -> float:
        """Ln of the smallest positive entry over the largest."""
        return log_span(message)

    def check(self, span: float) -> None:
        """Refuse a product that may underflow."""
        if span < LEAST_SPAN:
            raise Overspan


class Logarithmic:
    """Logarithms of numbers; −∞ stands for zero."""

    def times(self, one: Array, other: Array) -> Array:
        """The product of two tables."""
        return one + other

    def summed(self, table: Array, axes: tuple[int, ...]) -> Array:
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

    def scaled(self, table: Array) -> tuple[Array, Array]:
        """Divide each row by its largest entry."""
        logs = table.reshape(len(table), -1).max(axis=1)
        shift = np.where(np.isfinite(logs), logs, 0.0)
        return table - shift.reshape(-1, *[1] * (table.ndim - 1)), logs

    def log_of(self, numbers: Array) -> Array:
        """Logarithms, which they are."""
        return numbers

    def plain(self, table: Array) -> Array:
        """The numbers themselves."""
        return np.exp(table)

    def span(self, message: Array) -> float:  # noqa: ARG002
        """Nothing is too wide for logarithms."""
        return 0.0

    def check(self, span: float) -> None:
        """Nothing is too wide for logarithms."""


PLAIN = Plain()
LOGARITHMIC = Logarithmic()
