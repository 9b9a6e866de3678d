"""Few whole numbers as amounts or as codes: the other columns of the table decide.

A column of 5 to 20 nearly consecutive whole numbers (ages of children, visits, answers from 1 to 5) is
ordered if neighbouring values behave alike. Three things must hold over the columns that go with it:

- A trend explains them better than free categories do, by BIC and by at least `MARGIN` nats, and the log of
  the number of columns that could have done so by chance. The trend of a continuous column is its
  regression on the number, that of a discrete one its multinomial logit.
- The numbers are in the right order. Had the levels been numbered at random, so strong a trend would be rare:
  at most `RARE` of all numberings, or none of the 60 where there are 5 levels.
- No column contradicts: none is explained better by categories than by a curve of degree two.

Counts of pairs and sums within levels are all that is needed. Where there are fewer rows than columns, chance
brings trends of any strength: nothing is decided there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from dagora.base.wording import option
from dagora.data.columns.column_profile import MAX_INTEGER_LEVELS, OF_NUMBERS
from dagora.data.columns.column_type import Column
from dagora.data.columns.levels import IS_NUMBER
from dagora.data.schema import Kind, Variable

Floats = NDArray[np.float64]

FEWEST_LEVELS = 5  # with fewer, too few numberings are possible to tell an order from chance
DENSE = 0.6  # share of the whole numbers between the smallest and the largest that occur
MARGIN = 3.0  # nats that decide
MOST_ALIKE = 0.8  # share of rows with the same number: beyond it, a few rows would carry every trend
RARE = 0.005  # share of random numberings that may have as strong a trend
NUMBERINGS = 1000  # tried at random, where there are too many
LARGEST = 1e9  # beyond it, numbers name something
MOST_ROWS = 10_000  # evenly spaced, that are looked at
MOST_OTHERS = 20  # columns that decide: those that go most closely with the numbers
MOST_PAIRS = 5_000  # pairs of columns that are looked at
TINY = 1e-9  # share of variance that is never explained


@dataclass(frozen=True)
class NumberedPair:
    """Numbers beside another column, in sums over the rows in which both are known.

    rows:   rows of each level of the numbers, all above zero
    values: the numbers
    cells:  rows by level of the numbers and of the other column, or None for a continuous one
    sums:   sums of a continuous column of variance 1 and mean 0 by level
    """

    rows: Floats
    values: Floats
    cells: Floats | None
    sums: Floats

    @property
    def n(self) -> float:
        """The number of rows."""
        return float(self.rows.sum())

    @property
    def width(self) -> int:
        """Parameters of the other column for each level."""
        return 1 if self.cells is None else self.cells.shape[1] - 1

    def penalise(self, likelihood: float, degree: int) -> float:
        """A gain in log-likelihood over independence, less the penalty of BIC."""
        return likelihood - degree * self.width * float(np.log(self.n)) / 2

    @cached_property
    def free(self) -> float:
        """The gain of free categories."""
        if self.cells is None:
            return self.penalise(self.gain_of(float((self.sums**2 / self.rows).sum())), len(self.rows) - 1)
        gain = entropy_sum(self.cells) - entropy_sum(self.rows) - self.baseline
        return self.penalise(gain, len(self.rows) - 1)

    @cached_property
    def baseline(self) -> float:
        """The log-likelihood of a discrete column by itself."""
        assert self.cells is not None
        return entropy_sum(self.cells.sum(0)) - self.n * float(np.log(self.n))

    def gain_of(self, explained: float) -> float:
        """The gain in log-likelihood of a continuous column of which a sum of squares is explained."""
        return -self.n / 2 * float(np.log(max(1 - explained / self.n, TINY)))

    def trend(self, degree: int = 1) -> float:
        """The gain of a polynomial in the numbers."""
        middle = self.values - self.values.mean()
        design = (middle / np.abs(middle).max())[:, None] ** np.arange(degree + 1)
        if self.cells is not None:
            return self.penalise(fit_logit(self.cells, design) - self.baseline, degree)
        weight = np.sqrt(self.rows)
        fitted, *_ = np.linalg.lstsq(design * weight[:, None], self.sums / weight, rcond=None)
        return self.penalise(self.gain_of(float((self.rows * (design @ fitted) ** 2).sum())), degree)

    @cached_property
    def association(self) -> float:
        """The chi-square of independence, by its degrees of freedom."""
        if self.cells is None:
            return float((self.sums**2 / self.rows).sum()) / (len(self.rows) - 1)
        expected = np.outer(self.rows, self.cells.sum(0)) / self.n
        chi_square = float(((self.cells - expected) ** 2 / expected).sum())
        return chi_square / (len(self.rows) - 1) / self.width

    def trend_statistics(self, numbers: Floats) -> Floats:
        """The score statistic of a trend for each row of numbers given to the levels."""
        if self.cells is None:
            between = np.outer(self.sums, self.sums) / self.n
        else:
            expected = np.outer(self.rows, self.cells.sum(0)) / self.n
            scaled = (self.cells - expected) / np.sqrt(self.cells.sum(0))
            between = scaled @ scaled.T
        middle = numbers - (numbers @ self.rows / self.n)[:, None]
        spread = (middle**2) @ self.rows / self.n
        explained: Floats = np.einsum("pi,ij,pj->p", middle, between, middle) / np.maximum(spread, TINY)
        return explained


def entropy_sum(counts: Floats) -> float:
    """The sum of c·log c."""
    return float((counts * np.log(np.where(counts > 0, counts, 1))).sum())


def fit_logit(cells: Floats, design: Floats, rounds: int = 30) -> float:
    """The highest log-likelihood of a multinomial logit: `cells` counts levels for each row of `design`."""
    rows, levels = cells.sum(1), cells.shape[1] - 1
    total = cells.sum(0)
    beta = np.zeros((design.shape[1], levels))
    beta[0] = np.log(total[1:] / total[0])

    def likelihood(beta: Floats) -> tuple[float, Floats]:
        linear = np.hstack([np.zeros((len(cells), 1)), design @ beta])
        linear -= linear.max(1, keepdims=True)
        logs = linear - np.log(np.exp(linear).sum(1, keepdims=True))
        return float((cells * logs).sum()), np.exp(logs)

    best, shares = likelihood(beta)
    for _ in range(rounds):
        gradient = design.T @ (cells - rows[:, None] * shares)[:, 1:]
        inner = shares[:, 1:]
        weight = rows[:, None, None] * (
            inner[:, :, None] * np.eye(levels) - inner[:, :, None] * inner[:, None]
        )
        hessian = np.einsum("kp,kq,kij->piqj", design, design, weight, optimize=True)
        hessian = hessian.reshape(beta.size, beta.size) + 1e-6 * np.eye(beta.size)
        step = np.linalg.solve(hessian, gradient.ravel()).reshape(beta.shape)
        found, shares_found = likelihood(beta + step)
        while found < best and np.abs(step).max() > TINY:
            step = step / 2
            found, shares_found = likelihood(beta + step)
        gained, beta, best, shares = found - best, beta + step, found, shares_found
        if gained < 1e-2:
            break
    return best


@cache
def numberings(levels: int) -> NDArray[np.int64]:
    """Orders of levels, the given one first: all of up to 6, else some at random."""
    if levels <= 6:
        return np.array(list(permutations(range(levels))))
    draw = np.random.default_rng(0)
    return np.array([np.arange(levels), *(draw.permutation(levels) for _ in range(NUMBERINGS - 1))])


def is_ordered(pairs: Sequence[NumberedPair], numbers: Floats, margin: float = MARGIN) -> bool:
    """Return True if a trend in the numbers explains other columns better than free categories do."""
    orders = numberings(len(numbers))
    strength = np.zeros(len(orders))
    for pair in pairs:
        # A level may be unknown in the rows of a pair.
        strength += pair.trend_statistics(numbers[orders][:, np.isin(numbers, pair.values)])
    share = float((strength >= strength[0] * (1 - 1e-9)).mean())
    if share > (2 / len(orders) if len(numbers) == FEWEST_LEVELS else RARE):
        return False
    gain = 0.0
    for pair in pairs:
        trend = pair.trend()
        if pair.free > max(trend, 0) + MARGIN and pair.free > pair.trend(2) + MARGIN:
            return False
        gain += max(trend, 0) - max(pair.free, 0)
    return gain > margin


def ordered_columns(columns: Sequence[Column], names: Collection[str]) -> set[str]:
    """The columns among `names` whose whole numbers are ordered, judged by all columns."""
    able = [column for column in columns if column.variable.name in names and may_be_ordered(column)]
    if not able or len(columns) < 2:
        return set()
    step = -(-len(able[0].values) // MOST_ROWS)
    short = [shorten(column, step) for column in sorted(columns, key=lambda column: column.variable.name)]
    stride = -(-len(short) * len(able) // MOST_PAIRS)
    found = set()
    for column in able:
        name = column.variable.name
        others = [other for other in short if other.variable.name != name]
        pairs = list(pairs_of(shorten(column, step), others[::stride]))
        closest = sorted(pairs, key=lambda pair: -pair.association)[:MOST_OTHERS]
        # The closest of many are close by chance.
        if closest and is_ordered(closest, numbers_of_levels(column), MARGIN + float(np.log(len(pairs)))):
            found.add(name)
    return found


def enough_rows(columns: Sequence[Column]) -> bool:
    """Return True if there are as many rows as columns: with fewer, nothing is decided."""
    return len(columns[0].values) >= len(columns)


def may_be_ordered(column: Column) -> bool:
    """Return True for 5 to 20 nearly consecutive whole numbers that nobody declared to be codes.

    >>> variable = Variable("visits", Kind.DISCRETE, tuple("01234"))
    >>> may_be_ordered(Column(variable, np.arange(5), why="5 distinct whole numbers"))
    True
    """
    levels = column.variable.levels
    if not FEWEST_LEVELS <= len(levels) <= MAX_INTEGER_LEVELS or not OF_NUMBERS.match(column.why):
        return False
    if not all(IS_NUMBER.fullmatch(level) for level in levels):
        return False
    numbers = numbers_of_levels(column)
    whole = bool((numbers == np.floor(numbers)).all() and np.abs(numbers).max() < LARGEST)
    return whole and len(numbers) >= DENSE * (float(np.ptp(numbers)) + 1) and varies(column)


def varies(column: Column) -> bool:
    """Return True if no number stands in most rows."""
    seen = column.values if column.missing is None else column.values[~column.missing]
    return bool(np.bincount(seen).max() <= MOST_ALIKE * len(seen)) if len(seen) else False


def numbers_of_levels(column: Column) -> Floats:
    """The levels as numbers, by their codes."""
    return np.array([float(level) for level in column.variable.levels])


def shorten(column: Column, step: int) -> Column:
    """Every `step`-th row of a column."""
    missing = None if column.missing is None else column.missing[::step]
    return Column(column.variable, column.values[::step], missing, column.why)


def pairs_of(column: Column, others: Sequence[Column]) -> Iterator[NumberedPair]:
    """A column of numbers beside each of the others that can say something about it."""
    numbers, levels = numbers_of_levels(column), column.variable.cardinality
    for other in others:
        number = other.variable.cardinality
        if number > MAX_INTEGER_LEVELS or number == 1:
            continue
        codes, values = column.values, other.values
        holes = [each.missing for each in (column, other) if each.missing is not None]
        if holes:
            seen = ~np.logical_or.reduce(holes)
            codes, values = codes[seen], values[seen]
        rows = np.bincount(codes, minlength=levels).astype(float)
        known = rows > 0
        if np.count_nonzero(known) < FEWEST_LEVELS:
            continue
        if other.variable.kind is Kind.DISCRETE:
            joint = np.bincount(codes.astype(np.int64) * number + values, minlength=levels * number)
            cells = joint.reshape(levels, number).astype(float)[known]
            cells = cells[:, cells.sum(0) > 0]
            if cells.shape[1] > 1:
                yield NumberedPair(rows[known], numbers[known], cells, rows[known])
            continue
        middle = values - values.mean()
        spread = float(np.sqrt((middle**2).mean()))
        if np.isfinite(spread) and spread > 0:
            sums: Floats = np.bincount(codes, middle / spread, levels).astype(np.float64)
            yield NumberedPair(rows[known], numbers[known], None, sums[known])


def explain_order(column: Column, *, ordered: bool, tested: bool) -> Column:
    """Say what was decided of a column that may be ordered, and how to change it."""
    if not may_be_ordered(column):
        return column
    name = column.variable.name
    if not ordered:
        found = "a trend fits the other columns no better" if tested else "their order was not looked at"
        advice = f"{found}; if they are amounts, {option('continuous', name)}"
        return replace(column, why=f"{column.why}: {advice}")
    values = numbers_of_levels(column)[column.values]
    if column.missing is not None:
        values[column.missing] = np.nan
    why = f"{column.why}: neighbouring ones behave alike; if they are codes, {option('discrete', name)}"
    return Column(Variable(name, Kind.CONTINUOUS), values, column.missing, why)
