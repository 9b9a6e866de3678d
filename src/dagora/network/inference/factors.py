"""Sums and maxima of products of factors, one variable after the other.

A factor is a table over some variables. To eliminate a variable, the factors that hold it are multiplied and
the variable is summed out (or maximised out) of the product. The last product and the sum are one matrix
product, so the whole clique is never held. Every new factor is scaled to a largest entry of 1, and the
logarithms of the scales are added. If factors span more than a float can hold, everything is done on
logarithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.base.wording import option
from dagora.network.inference.arithmetic import LEAST_SPAN, Overspan, log_span
from dagora.network.inference.elimination import EliminationOrder, eliminate, moral_bits

Array = NDArray[np.float64]

CELLS_AT_ONCE = 1 << 20
"""Cells of products that are held at once (8 MiB) if a matrix product does not pay."""

PAYING = 512
"""Multiplications per matrix from which numpy's product of many small matrices beats broadcasting."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A table over variables, one axis each.

    >>> Factor(("a", "b"), np.ones((2, 3))).restrict({"b": 1}).variables
    ('a',)
    """

    variables: tuple[str, ...]
    table: Array
    span: float | None = None
    """A bound of ln(smallest positive entry / largest), where one is known."""
    logs: Array | None = None
    """Logarithms of the table, where numbers do not reach."""

    @classmethod
    def of_logs(cls, variables: tuple[str, ...], logs: Array) -> Factor:
        """Make a factor of logarithms, which are kept if entries would underflow as numbers.

        >>> Factor.of_logs(("a",), np.array([0.0, -800.0])).logs, Factor.of_logs(("a",), np.zeros(2)).logs
        (array([   0., -800.]), None)
        """
        vanishing = bool((np.isfinite(logs) & (logs < LEAST_SPAN)).any())
        return cls(variables, np.exp(logs), logs=logs if vanishing else None)

    @property
    def is_impossible(self) -> bool:
        """Return True if every entry is zero."""
        return bool((self.table <= 0).all() if self.logs is None else np.isneginf(self.logs).all())

    def restrict(self, evidence: Mapping[str, int]) -> Factor:
        """Keep the entries that agree with the evidence."""
        if not any(variable in evidence for variable in self.variables):
            return self
        index = tuple(evidence.get(variable, slice(None)) for variable in self.variables)
        logs = None if self.logs is None else np.asarray(self.logs[index])
        left = tuple(v for v in self.variables if v not in evidence)
        return Factor(left, np.asarray(self.table[index]), logs=logs)

    def align(self, variables: Sequence[str]) -> Array:
        """The table with its axes in the order of `variables`, of length 1 where it has none."""
        present = [self.variables.index(v) for v in variables if v in self.variables]
        lengths = iter([self.table.shape[axis] for axis in present])
        return self.table.transpose(present).reshape(
            [next(lengths) if v in self.variables else 1 for v in variables]
        )


@dataclass(frozen=True)
class MemoryLimit:
    """Bytes that the largest table of a question may take, and what it is for, which refusals must know.

    `asked` is "question", "rows" (to be drawn) or "likelihood" (of rows with missing values).
    """

    memory: int = 1 << 31
    asked: str = "question"

    def way_out_if_too_large(self) -> str:
        """The way out if memory is short."""
        if self.asked == "likelihood":
            return "leave out rows with missing values (`complete` has the others)"
        more = f"{option('memory')} allows more"
        estimate = f"{option('method', 'sampling')} estimates the answer, "
        return f"{estimate}{more}" if self.asked == "question" else more

    def way_out_if_open(self, parent: str) -> str:
        """The way out if a discrete node depends on a continuous one that is not known."""
        if self.asked == "likelihood":
            return (
                f"leave out rows in which '{parent}' is missing (`complete` has those without missing values)"
            )
        if self.asked == "rows":
            return f"give '{parent}' too, or draw rows without evidence and keep those that fit"
        return f"{option('method', 'sampling')} estimates it"

    def check(self, elimination: EliminationOrder) -> None:
        """Refuse a question whose largest table does not fit, with its width and the ways out."""
        if 8 * elimination.most_cells > self.memory:
            raise QueryError(
                f"the question has width {elimination.width}: its largest table needs "
                f"{8 * elimination.most_cells:,} bytes, and {self.memory:,} are allowed: "
                f"{self.way_out_if_too_large()}"
            )


def find_order(
    factors: Iterable[Factor], sizes: Mapping[str, int], stages: Sequence[Iterable[str]], limits: MemoryLimit
) -> list[str]:
    """A good order for the variables of the stages, one stage after the other."""
    scopes = [factor.variables for factor in factors]
    names = sorted({v for scope in scopes for v in scope}.union(*stages))
    position = {name: i for i, name in enumerate(names)}
    bits = [sum(1 << position[v] for v in set(stage)) for stage in stages]
    families = [[position[v] for v in scope] for scope in scopes]
    elimination = eliminate(moral_bits(families, len(names)), [sizes[name] for name in names], bits)
    limits.check(elimination)
    return [names[v] for v in elimination.order]


class Product:
    """A product of factors from which variables are eliminated.

    >>> product = Product([Factor(("a",), np.array([0.2, 0.8])), Factor(("a", "b"), np.eye(2))])
    >>> product.sum_out("a")
    >>> product.over(["b"]), product.log_scale
    (array([0.25, 1.  ]), -0.2231...)
    """

    def __init__(self, factors: Iterable[Factor], *, logs: bool = False) -> None:
        self.logs = logs
        self.log_scale = 0.0
        self.factors: list[Factor] = []
        for factor in factors:
            if factor.logs is not None and not logs:
                raise Overspan
            table = factor.table
            if logs:
                with np.errstate(divide="ignore"):
                    table = np.log(table) if factor.logs is None else factor.logs
            self._add(factor.variables, table, None)

    @property
    def is_impossible(self) -> bool:
        """Return True if everything has probability zero."""
        return self.log_scale == -np.inf

    def sum_out(self, variable: str) -> None:
        """Sum a variable out."""
        held = self._take(variable)
        if not held:
            return
        span = sum(factor.span or 0.0 for factor in held)
        if len(held) == 1:
            (only,) = held
            axis = only.variables.index(variable)
            rest = tuple(v for v in only.variables if v != variable)
            self._add(rest, self._log_sum(only.table, axis) if self.logs else only.table.sum(axis=axis), span)
            return
        *smaller, largest = sorted(held, key=lambda factor: factor.table.size)
        other = reduce(self._times, smaller)
        if self.logs:
            variables, table = self._multiply([other, largest], last=variable)
            self._add(variables[:-1], self._log_sum(table, -1), span)
        else:
            self._add(*contract(largest, other, variable), span)

    def max_out(self, variable: str) -> Factor:
        """Maximise a variable out; return its best level for each configuration of the others."""
        held = self._take(variable)
        variables, table = self._multiply(held, last=variable)
        self._add(variables[:-1], table.max(axis=-1), sum(factor.span or 0.0 for factor in held))
        return Factor(variables[:-1], table.argmax(axis=-1).astype(np.uint16))

    def conditional(self, variable: str) -> Factor:
        """The product of all factors of a variable, which is the last axis; each row has largest entry 1."""
        held = [factor for factor in self.factors if variable in factor.variables]
        variables, table = self._multiply(held, last=variable)
        if self.logs:
            most = table.max(axis=-1, keepdims=True)
            table = np.exp(table - np.where(np.isfinite(most), most, 0.0))
        return Factor(variables, table)

    def over(self, variables: Sequence[str]) -> Array:
        """The product of all factors as one table over these variables, which are all that remain."""
        self._check(self.factors)
        combine = np.add if self.logs else np.multiply
        neutral = 0.0 if self.logs else 1.0
        table = reduce(
            combine,
            [factor.align(variables) for factor in self.factors],
            np.full([1] * len(variables), neutral),
        )
        if self.is_impossible or (self.logs and table.max() == -np.inf):
            return np.zeros_like(table)
        return np.asarray(np.exp(table - table.max()) if self.logs else table)

    def _take(self, variable: str) -> list[Factor]:
        held = [factor for factor in self.factors if variable in factor.variables]
        self.factors = [factor for factor in self.factors if variable not in factor.variables]
        self._check(held)
        return held

    def _check(self, held: list[Factor]) -> None:
        """Raise `Overspan` if a product may underflow: by the bounds, or else by the entries."""
        if self.logs or sum(factor.span or 0.0 for factor in held) > LEAST_SPAN:
            return
        held[:] = [Factor(factor.variables, factor.table, log_span(factor.table)) for factor in held]
        if sum(factor.span or 0.0 for factor in held) < LEAST_SPAN:
            raise Overspan

    def _times(self, one: Factor, other: Factor) -> Factor:
        variables = (*one.variables, *(v for v in other.variables if v not in one.variables))
        combine = np.add if self.logs else np.multiply
        return Factor(variables, combine(one.align(variables), other.align(variables)))

    def _multiply(self, held: list[Factor], last: str) -> tuple[tuple[str, ...], Array]:
        """The product of factors with one variable as the last axis."""
        whole = reduce(self._times, held)
        variables = (*(v for v in whole.variables if v != last), last)
        return variables, whole.align(variables)

    def _log_sum(self, table: Array, axis: int) -> Array:
        most = table.max(axis=axis, keepdims=True)
        shift = np.where(np.isfinite(most), most, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(table - shift).sum(axis=axis)) + shift.squeeze(axis=axis))

    def _add(self, variables: tuple[str, ...], table: Array, span: float | None) -> None:
        most = float(table.max())
        zero = most == -np.inf if self.logs else most <= 0
        if zero:
            self.log_scale = -np.inf
        else:
            self.log_scale += most if self.logs else log(most)
            table = table - most if self.logs else table / most
            span = log_span(table) if span is None and not self.logs else span
        if variables:
            self.factors.append(Factor(variables, table, span))


def contract(one: Factor, other: Factor, variable: str) -> tuple[tuple[str, ...], Array]:
    """Multiply two factors and sum a variable of both out."""
    shared = [v for v in one.variables if v in other.variables and v != variable]
    left = [v for v in one.variables if v not in other.variables]
    right = [v for v in other.variables if v not in one.variables]
    size = dict(zip((*one.variables, *other.variables), (*one.table.shape, *other.table.shape), strict=True))
    many, rows, columns = (prod(size[v] for v in names) for names in (shared, left, right))
    length = size[variable]
    a = one.align([*shared, *left, variable]).reshape(many, rows, length)
    b = other.align([*shared, variable, *right]).reshape(many, length, columns)
    if many == 1 or rows * columns * length >= PAYING:
        table = a @ b
    else:
        table = np.empty((many, rows, columns))
        step = max(1, CELLS_AT_ONCE // (rows * columns * length))
        for start in range(0, many, step):
            part = slice(start, start + step)
            np.sum(a[part, :, :, None] * b[part, None, :, :], axis=2, out=table[part])
    variables = (*shared, *left, *right)
    return variables, table.reshape([size[v] for v in variables])
