"""First and second moments of columns over many sites, each number a secure sum.

There are four rounds: (1) the number of rows and, per column, the binary order of its largest value, as a
histogram over the sites; (2) the means; (3) the variances about them; (4) the cross products of standardised
columns. No sum of (4) can exceed the number of rows, so the fixed point has about 18 digits whatever the
units.

The variances serve as scales and need to be right to a percent. If a column's deviations are small compared
to its mean, their squares vanish in a unit made for its largest value. Such columns are asked for again, in a
unit as small as the first answer allows. The coordinator sees only variances, and only such columns cost a
round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.parties.horizontal.secure_sum.fixed_point import rounding
from dagora.parties.horizontal.session.federation import Federation, Question, Site
from dagora.stats.statistics import Moments

# Sizes are distinguished by powers of 2⁸, from 2⁻¹⁰²⁴ to 2¹⁰²⁴.
ORDER_STEP, ORDERS = 8, 256
# A sum of squares is precise enough, to 0.1 percent, if it is this many times its rounding error.
CLEAR_OF_ROUNDING = 1 << 10
# Doubles that differ do so by more than 2⁻⁶⁴ of their unit, which is below 2⁹ times the largest of them.
FINEST = 64
SMALLEST_ORDER = -1022


def ask_moments(federation: Federation, n: int, orders: NDArray[np.int64]) -> Moments:
    """Moments of the continuous columns; `n` and `orders` come from `ask_size_and_orders`."""
    d = len(orders)
    if d == 0:
        return Moments(n, np.zeros(0), np.zeros((0, 0)))
    mean = ask_means(federation, n, orders)
    spread = ask_deviations(federation, "squares", {"mean": mean}, n, orders)
    # A constant column has no deviations to scale.
    spread = np.where(spread > 0, spread, 1.0)
    products = federation.total("products", {"mean": mean, "spread": spread}, largest=1.01 * n + 1)
    sums, upper = products[:d], products[d:]
    scatter = np.zeros((d, d))
    scatter[np.triu_indices(d)] = upper
    scatter = scatter + np.triu(scatter, 1).T - np.outer(sums, sums) / n
    # Rounding must not make a variance negative.
    np.fill_diagonal(scatter, np.maximum(np.diag(scatter), 0.0))
    with np.errstate(over="ignore"):  # callers refuse moments that are not finite
        return Moments(n, mean + spread * sums / n, scatter * np.outer(spread, spread))


def ask_size_and_orders(federation: Federation) -> tuple[int, NDArray[np.int64]]:
    """Total number of rows, and for each continuous column a k such that no value exceeds 2ᵏ."""
    sums = federation.count("size-and-orders", {})
    histogram = sums[1:].reshape(-1, ORDERS)
    largest = ORDERS - 1 - np.argmax(histogram[:, ::-1] > 0, axis=1)
    return int(sums[0]), (largest + 1) * ORDER_STEP - ORDERS * ORDER_STEP // 2


def ask_means(federation: Federation, n: int, orders: NDArray[np.int64]) -> NDArray[np.float64]:
    """Means of the columns."""
    unit = np.ldexp(1.0, orders)
    return federation.total("sums", {"unit": unit}, largest=float(n)) * unit / n


def ask_deviations(
    federation: Federation, task: str, question: Question, n: int, orders: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Root mean squares of the columns about a centre, each to a percent; zero for a constant column.

    The task sums squares in given units. Columns whose squares are lost in rounding get smaller units.
    """
    largest = 4.0 * n
    error = rounding(largest, len(federation.parties))
    finest = np.maximum(orders - FINEST, SMALLEST_ORDER)
    while True:
        unit = np.ldexp(1.0, orders)
        squares = federation.total(task, {**question, "unit": unit}, largest=largest)
        lost = (squares < CLEAR_OF_ROUNDING * error) & (orders > finest)
        if not lost.any():
            return np.sqrt(np.where(squares > error, squares, 0.0) / n) * unit
        # In units 2ᵏ times smaller, squares are 4ᵏ times larger; their largest possible value stays below n.
        smaller = np.floor(0.5 * np.log2(n / (np.maximum(squares, 0.0) + error))).astype(np.int64)
        orders = np.where(lost, np.maximum(orders - smaller, SMALLEST_ORDER), orders)


def continuous_columns(table: Table) -> NDArray[np.float64]:
    """The continuous columns, one per row."""
    chosen = [
        values
        for variable, values in zip(table.schema, table.columns, strict=True)
        if variable.kind is Kind.CONTINUOUS
    ]
    return np.stack(chosen) if chosen else np.zeros((0, table.n_rows))


def size_and_orders(site: Site, question: Question) -> NDArray[np.int64]:  # noqa: ARG001
    """The site's task: its number of rows, and a 1 at the order of the largest value of each column."""
    columns = continuous_columns(site.table)
    histogram = np.zeros((len(columns), ORDERS), dtype=np.int64)
    _, exponents = np.frexp(np.abs(columns).max(axis=1, initial=0.0))
    steps = np.clip(-((-exponents) // ORDER_STEP) - 1 + ORDERS // 2, 0, ORDERS - 1)
    histogram[np.arange(len(columns)), steps] = 1
    return np.concatenate([[site.table.n_rows], histogram.ravel()])


def sums(site: Site, question: Question) -> NDArray[np.float64]:
    """The site's task: sums of its columns, in given units."""
    scaled: NDArray[np.float64] = continuous_columns(site.table) / column_vector(question, "unit")
    return np.asarray(scaled.sum(axis=1))


def squares(site: Site, question: Question) -> NDArray[np.float64]:
    """The site's task: sums of squares about given means, in given units."""
    columns = continuous_columns(site.table) - column_vector(question, "mean")
    return np.asarray(((columns / column_vector(question, "unit")) ** 2).sum(axis=1))


def products(site: Site, question: Question) -> NDArray[np.float64]:
    """The site's task: sums and cross products of its standardised columns."""
    columns = (continuous_columns(site.table) - column_vector(question, "mean")) / column_vector(
        question, "spread"
    )
    return np.concatenate([columns.sum(axis=1), (columns @ columns.T)[np.triu_indices(len(columns))]])


def column_vector(question: Question, name: str) -> NDArray[np.float64]:
    """A vector of the question, one entry per continuous column, as a column."""
    vector: NDArray[np.float64] = np.asarray(question[name], dtype=np.float64)
    return vector[:, None]
