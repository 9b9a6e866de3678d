"""Levels whose order means something, and numbers by their ranks: what the options `ordinal` and `ranks` ask.

The order of levels is the one that is said, else that of an ordered category, of numbers, of intervals, of
numbers with which levels begin ("1 low"), or of a scale of words that all readers know. Other words have no
order that a program could guess: it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import find_repeated, some_of
from dagora.base.wording import col, option
from dagora.data.columns.column_names import check_known, chosen_columns, resolve
from dagora.data.columns.column_profile import IN_ORDER
from dagora.data.columns.column_type import Column
from dagora.data.columns.levels import IS_INTERVAL, IS_NUMBER, sort_levels
from dagora.data.columns.missing import EVERY
from dagora.data.columns.reading_options import ReadingOptions, said_order
from dagora.data.schema import Kind, Variable

Floats = NDArray[np.float64]
Places = NDArray[np.uint16]

BEGINS = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?(?=\W|$)")
# Words from the least to the most; those at one place mean the same.
SCALES = """
never; almost never; rarely, seldom; sometimes, occasionally; often, frequently; usually; very often; always
strongly disagree; disagree; somewhat disagree; neutral, undecided; somewhat agree; agree; strongly agree
very dissatisfied; dissatisfied; neutral; satisfied; very satisfied
none, no, absent; very low, very mild; low, mild; medium, middle, mid, moderate; high, severe; very high
not at all; a little, slightly; somewhat, moderately; quite a bit, very; extremely
very poor, very bad; poor, bad; fair, average; good; very good; excellent
small, s; medium, m; large, l; extra large, xl
"""
FEWEST_ITEMS, FEWEST_STEPS, MOST_STEPS = 3, 4, 11
"""Columns of the same whole numbers, and how many of these, that look like answers on a scale."""

MOST_NAMED = 5
ORDERED = "declared: ordered levels"


def ordinal_columns(names: Sequence[str], reading: ReadingOptions) -> dict[str, tuple[str, ...]]:
    """The columns whose levels are ordered, with the order that was said; empty where none was.

    >>> ordinal_columns(["pain", "dose"], ReadingOptions(ordinal=["pain", "dose: low < high"]))
    {'pain': (), 'dose': ('low', 'high')}
    """
    said = dict(said_order(text, names) for text in resolve(reading.ordinal, names))
    chosen = chosen_columns("ordinal", said, names, reading)
    for name in chosen:
        check_known(name, names, "declared ordinal")
    plain = {*resolve(reading.discrete, names), *resolve(reading.continuous, names)} - set(said)
    return {name: said.get(name, ()) for name in chosen if name not in plain}


def in_order(variable: Variable, said: Sequence[str] = ()) -> tuple[Variable, Places]:
    """The variable with its levels in their order, and the new code of each old one.

    >>> in_order(Variable("a", Kind.DISCRETE, ("high", "low", "medium")))
    (Variable(name='a', ..., levels=('low', 'medium', 'high'), ordered=True), array([2, 0, 1], dtype=uint16))
    """
    levels = variable.levels
    if said:
        if (twice := find_repeated(said)) is not None:
            raise DataError(f"the order of {col(variable.name)} has '{twice}' twice: name each level once")
        if missing := [level for level in levels if level not in said]:
            raise DataError(
                f"the order of {col(variable.name)} ({' < '.join(said)}) lacks the levels {some_of(missing)}"
            )
        wanted = tuple(said)
    else:
        places = places_of(variable)
        if places is None:
            example = " < ".join((*levels[:2], "…"))
            raise DataError(
                f"the levels of {col(variable.name)} ({some_of(levels)}) have no order that can be seen: say "
                f"it, from the least to the most ({option('ordinal', f'{variable.name}: {example}')})"
            )
        wanted = tuple(sorted(levels, key=dict(zip(levels, places, strict=True)).__getitem__))
    codes = np.array([wanted.index(level) for level in levels], dtype=np.uint16)
    return replace(variable, levels=wanted, ordered=True), codes


def places_of(variable: Variable) -> Sequence[float] | None:
    """The place of each level, where an order can be seen."""
    levels = variable.levels
    settled = variable.ordered or len(levels) <= 2
    if settled or all(map(IS_NUMBER.fullmatch, levels)) or all(map(IS_INTERVAL.fullmatch, levels)):
        return range(len(levels))
    numbers = [float(found[0]) for level in levels if (found := BEGINS.match(level))]
    if len(numbers) == len(levels) == len(set(numbers)):
        return numbers
    return on_a_scale(levels)


def on_a_scale(levels: Sequence[str]) -> list[float] | None:
    """The places of words on the first scale that has all of them, each at its own.

    >>> on_a_scale(["Often", "never", "sometimes"]), on_a_scale(["red", "blue", "green"])
    ([4.0, 0.0, 3.0], None)
    """
    for scale in SCALES.strip().splitlines():
        place = {word.strip(): k for k, words in enumerate(scale.split(";")) for word in words.split(",")}
        found = [place.get(level.casefold()) for level in levels]
        if None not in found and len(set(found)) == len(found):
            return [float(each or 0) for each in found]
    return None


def agreed_levels(name: str, declared: Mapping[str, Variable]) -> tuple[tuple[str, ...], bool]:
    """The levels of a column that is read in several places, and True if these are in an order.

    An order that one place declares holds for all; orders of some levels each are put together.

    >>> one, two = (Variable("a", Kind.DISCRETE, levels, True) for levels in (("c", "b"), ("b", "a")))
    >>> agreed_levels("a", {"in part 1": one, "in part 2": two})
    (('c', 'b', 'a'), True)
    """
    orders = {place: each.levels for place, each in declared.items() if each.ordered}
    levels = sort_levels(level for each in declared.values() for level in each.levels)
    if not orders:
        same = {each.levels for each in declared.values()}
        return (same.pop() if len(same) == 1 else levels), False
    seen = places_of(Variable(name, Kind.DISCRETE, levels))
    if seen is not None:
        guess = tuple(sorted(levels, key=dict(zip(levels, seen, strict=True)).__getitem__))
        if all(alike(order, guess) for order in orders.values()):
            return guess, True
    whole = put_together(name, orders)
    for place, each in declared.items():
        if strange := [level for level in each.levels if level not in whole]:
            raise DataError(
                f"the order of {col(name)} ({' < '.join(whole)}) lacks the levels {some_of(strange)}, which "
                f"it has {place}: say the whole order there"
            )
    return whole, True


def put_together(name: str, orders: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The one order that has the orders of all places; an error where there is none, or more than one."""
    places = list(orders)
    for one, other in combinations(places, 2):
        if not alike(orders[one], orders[other]):
            raise DataError(
                f"the levels of {col(name)} are in the order {' < '.join(orders[one])} {one}, and "
                f"{' < '.join(orders[other])} {other}: declare one order"
            )
    left = {level: None for order in orders.values() for level in order}
    found: list[str] = []
    while left:
        first = [
            level for level in left if not any(comes_after(level, order, left) for order in orders.values())
        ]
        if len(first) != 1:
            told = some_of(f"'{level}'" for level in first or left)
            raise DataError(
                f"the orders of {col(name)} {', '.join(places)} do not tell which of its levels {told} comes "
                "first: declare the same levels everywhere"
            )
        found += first
        del left[first[0]]
    return tuple(found)


def comes_after(level: str, order: Sequence[str], left: Collection[str]) -> bool:
    """Return True if another level that is left stands before a level."""
    return level in order and any(each in left for each in order[: order.index(level)])


def alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return True if two orders have their common levels in the same order."""
    return [level for level in one if level in other] == [level for level in other if level in one]


def order_levels(column: Column, ordinal: Mapping[str, tuple[str, ...]]) -> Column:
    """A column with its levels in order, where they are to have one."""
    name = column.variable.name
    if name not in ordinal or column.variable.kind is not Kind.DISCRETE:
        return column
    variable, codes = in_order(column.variable, ordinal[name])
    return replace(column, variable=variable, values=codes[column.values], why=ORDERED)


def without_order(column: Column) -> Column:
    """A column whose levels stay where they are, in an order that means nothing."""
    why = "categories" if column.why == IN_ORDER else column.why
    return replace(column, variable=replace(column.variable, ordered=False), why=why)


def ranked_columns(variables: Sequence[Variable], reading: ReadingOptions) -> frozenset[str]:
    """The continuous columns that are taken by their ranks."""
    names = [variable.name for variable in variables]
    said = resolve(reading.ranks, names)
    chosen = chosen_columns("ranks", said, names, reading)
    numbers = frozenset(variable.name for variable in variables if variable.kind is Kind.CONTINUOUS)
    for name in (each for each in said if each != EVERY or each in names):
        check_known(name, names, "to be taken by its ranks")
        if name not in numbers:
            raise OptionError(
                f"{option('ranks', name)} takes numbers by their ranks, and this column is discrete: "
                f"leave it out, or declare it continuous ({option('continuous', name)})"
            )
    return numbers.intersection(chosen)


def rank_values(column: Column, ranked: frozenset[str]) -> Column:
    """A column by its ranks, as normal scores, where that is asked for; missing values stay missing."""
    if column.variable.name not in ranked:
        return column
    seen = slice(None) if column.missing is None else ~column.missing
    values = column.values.copy()
    values[seen] = normal_scores(values[seen])
    return replace(column, values=values, why=f"{column.why}: by ranks, as normal scores")


def rank_warning(ranked: frozenset[str]) -> Iterator[str]:
    """A sentence about columns that are no longer in their units."""
    if ranked:
        told = some_of((f"'{name}'" for name in sorted(ranked)), MOST_NAMED, noun="columns")
        yield f"taken by ranks, as normal scores: {told}; results are in these units, not in the columns' own"


def scale_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about columns whose levels seem to be answers on a scale, and are taken without order."""
    steps: dict[tuple[str, ...], list[str]] = {}
    words = []
    for column in typed:
        variable = column.variable
        levels = variable.levels
        if variable.ordered or not FEWEST_STEPS <= len(levels) <= MOST_STEPS:
            continue
        if levels in (written(0, len(levels)), written(1, len(levels))):
            steps.setdefault(levels, []).append(variable.name)
        elif on_a_scale(levels):
            words.append(variable.name)
    found = [*words, *(name for items in steps.values() if len(items) >= FEWEST_ITEMS for name in items)]
    if found:
        told = some_of((f"'{name}'" for name in found), MOST_NAMED, noun="columns")
        verb = "seems to hold" if len(found) == 1 else "seem to hold"
        yield (
            f"{told} {verb} answers on a scale, taken as levels without an order: "
            f"{option('ordinal', found[0])} declares one, for the score bic-latent and the tests latent and "
            "trend"
        )


def written(first: int, number: int) -> tuple[str, ...]:
    """Whole numbers in a row, as levels."""
    return tuple(map(str, range(first, first + number)))


def normal_scores(values: Floats) -> Floats:
    """The normal quantiles of ranks; equal values share their mean rank.

    >>> normal_scores(np.array([3.0, 1.0, 2.0])).round(2).tolist()
    [0.67, -0.67, 0.0]
    """
    from scipy.special import ndtri

    return np.asarray(ndtri((mean_ranks(values) + 1) / (len(values) + 1)))


def mean_ranks(values: Floats) -> Floats:
    """Ranks of numbers from 0; equal ones have the mean of theirs.

    >>> mean_ranks(np.array([5.0, 7.0, 5.0]))
    array([0.5, 2. , 0.5])
    """
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.concatenate([[0], np.cumsum(counts)])
    ranks: Floats = ((ends[1:] + ends[:-1] - 1) / 2)[codes]
    return ranks
