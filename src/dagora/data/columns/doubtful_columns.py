"""Warnings about columns that may not be what they seem: counts, mixed units, copies, filled holes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_type import Column
from dagora.data.columns.formulas import formula_warning
from dagora.data.columns.names import IS_COUNT, IS_WEIGHT, MAY_BE_WEIGHT
from dagora.data.columns.odd_values import value_warnings
from dagora.data.columns.ordinal import mean_ranks
from dagora.data.columns.rows_alike import hash_rows, numbers_of
from dagora.data.columns.spoilt_numbers import RowNumber
from dagora.data.columns.study_design import design_warnings
from dagora.data.columns.units import CONVERSIONS, Conversion
from dagora.data.schema import Kind

Floats = NDArray[np.float64]

AT_FIVE_PER_CENT = 1.36  # largest distance of two distributions, in standard errors
ALIKE = 0.08  # distance of two distributions up to which they are alike, however many rows there are
SEVERAL = 5.0  # times as large as in one unit, numbers in the other are written with fewer decimals
NEAR = 0.15  # relative distance of the ratio of two clusters from a factor
FEWEST_ROWS = 20  # with fewer, clusters mean nothing
COPY = 1 - 1e-5  # correlation, plain or of ranks, from which on a column is a copy
HALF_A_STEP = 0.55  # by which a rounded number differs at most, with some room for the slope
FEWEST_IN_ORDER = 7  # values: with fewer, two columns may be in one order by chance
FEWEST_STEPS = 20  # of a rounded column: with fewer, it is a rough version and not a copy
MOST_ROWS = 10_000  # evenly spaced, that are compared
MOST_COLUMNS = 300  # whose copies are looked for
MOST_NAMED = 5  # columns that one warning names, to stay readable
FEWEST_DIFFERENT = 10  # rows without the most frequent level: with fewer, columns are alike by chance
FEWEST_INDICATORS = 3  # two columns of 0 and 1 that exclude each other may be a yes and a no
# What an indicator is where it holds, and where it does not.
YES_AND_NO = {
    *(("1", "0"), ("true", "false"), ("t", "f"), ("yes", "no"), ("y", "n"), ("ja", "nein"), ("oui", "non")),
    *(("si", "no"), ("sí", "no"), ("sì", "no"), ("sim", "não"), ("tak", "nie"), ("ja", "nej"), ("ja", "nee")),
}
BEFORE_LEVEL = re.compile(r"^(.+)[_.=: -][^_.=: -]+$")
MOST_ALIKE = 0.999  # correlation in the same row, beyond which columns are copies and not shifted
IS_TOTAL = re.compile("((grand |sub[ -]?)?totals?|gesamt|insgesamt|summe|somme)", re.IGNORECASE)
MOST_OFF_ONE = 0.1  # of the mean of weights whose mean is 1
SHEET_DAYS, SHEET_YEARS = (36_526, 47_500), 15  # as a spreadsheet counts the days of 2000 to 2029, and of
FEWEST_DAYS = 30  # so many years at most, and more than so many of them, which no name calls dates
OFTEN = 0.05  # share of rows with one value
MOST_LOOKED_AT = 100  # numbers whose digits are counted


def column_warnings(typed: Sequence[Column], row_number: RowNumber | None = None) -> Iterator[str]:
    """Sentences about columns that count or weigh rows, mix units or copy another one.

    Without `row_number` no sentence names a row.
    """
    yield from count_warnings(typed)
    yield from design_warnings(typed)
    yield from value_warnings(typed, row_number)
    yield from sheet_day_warning(typed)
    yield from total_warning(typed)
    mixed = [(column.variable.name, found) for column in typed if (found := mixed_units(column))]
    if mixed:
        told = "; ".join(
            f"'{name}' (around {low:g} and {high:g}, as {units})"
            for name, (low, high, units) in mixed[:MOST_NAMED]
        )
        noun = "column seems" if len(mixed) == 1 else "columns seem"
        yield f"{len(mixed)} {noun} to mix units: {told}: bring all rows to one unit"
    copies = rounded_copies(typed)
    if copies:
        told = some_of([f"'{one}' and '{other}'" for one, other in copies], MOST_NAMED, noun="pairs")
        yield (
            f"these columns say the same, but for units or rounding: {told}; leave one of each out "
            f"({option('drop', copies[0][1])})"
        )
    yield from level_copy_warning(typed)
    yield from indicator_warning(typed)
    yield from shifted_warning(typed)
    yield from formula_warning(typed)
    filled = [column.variable.name for column in typed if filled_by_middle(column)]
    if filled:
        told = some_of([f"'{name}'" for name in filled], MOST_NAMED)
        yield (
            "one value stands in many rows and is the mean or the median of all others, as where missing "
            f"values were filled with it: {told}; leave those cells empty, and they are modelled"
        )


def unused_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about declared levels that no row has: scores count them."""
    found = []
    for column in typed:
        levels = column.variable.levels
        seen = column.values if column.missing is None else column.values[~column.missing]
        used = set(np.unique(seen).tolist()) if levels else set()
        if levels and len(used) < len(levels):
            unused = some_of(f"'{level}'" for code, level in enumerate(levels) if code not in used)
            found.append(f"{unused} of '{column.variable.name}'")
    if found:
        yield (
            "declared levels that no row has count as levels, so that edges at their columns need more "
            f"evidence: {some_of(found, MOST_NAMED, between='; ', noun='columns')}; leave out what cannot be"
        )


def total_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about rows among the others that are called totals."""
    found = []
    for column in typed:
        for code, level in enumerate(column.variable.levels):
            rows = np.count_nonzero(column.values == code) if IS_TOTAL.fullmatch(level) else 0
            if rows > 1:  # one in the last row is told elsewhere
                found.append(f"'{level}' in '{column.variable.name}' ({rows} rows)")
    if found:
        yield (
            f"rows seem to be totals of others: {some_of(found, MOST_NAMED)}; leave them out of the table if "
            "they add up other rows, since all rows count as independent"
        )


def level_copy_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about discrete columns that are the same but for the names of their levels."""
    alike: dict[bytes, list[str]] = {}
    for column in typed:
        if column.variable.kind is Kind.DISCRETE and column.missing is None and often_differs(column):
            _, first, codes = np.unique(column.values, return_index=True, return_inverse=True)
            by_appearance = np.argsort(np.argsort(first)).astype(np.uint16)[codes]
            alike.setdefault(sha256(by_appearance.tobytes()).digest(), []).append(column.variable.name)
    groups = [names for names in alike.values() if len(names) > 1]
    if groups:
        shown = [" and ".join(f"'{name}'" for name in names[:MOST_NAMED]) for names in groups]
        told = some_of(shown, between="; ", noun="groups")
        yield (
            f"these columns say the same in other words: {told}; if they are "
            f"one variable, leave the others out ({option('drop', groups[0][-1])})"
        )


def often_differs(column: Column) -> bool:
    """Return True if some rows at least do not have the most frequent level."""
    rows = len(column.values)
    return bool(rows - np.bincount(column.values).max() >= max(FEWEST_DIFFERENT, OFTEN * rows))


def indicator_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about columns of yes and no whose names begin alike, one of which is yes in each row."""
    blocks: dict[tuple[str, tuple[str, ...]], list[Column]] = {}
    for column in typed:
        begins = BEFORE_LEVEL.match(column.variable.name)
        if begins and column.missing is None and place_of_yes(column.variable.levels) is not None:
            blocks.setdefault((begins.group(1), column.variable.levels), []).append(column)
    for (start, levels), block in blocks.items():
        if len(block) < FEWEST_INDICATORS or len(block[0].values) < FEWEST_ROWS:
            continue
        yes = place_of_yes(levels) or 0
        total = np.sum([column.values == yes for column in block], axis=0)
        if (total == 1).all():
            names = some_of([f"'{column.variable.name}'" for column in block], MOST_NAMED)
            yield (
                f"exactly one of {names} is {levels[yes]} in every row: they are indicators of one variable, "
                f"and their edges say only that; make one column '{start}' of them"
            )


def place_of_yes(levels: Sequence[str]) -> int | None:
    """The place of the level that says yes of two; None where neither does.

    >>> place_of_yes(("0", "1")), place_of_yes(("Ja", "Nein")), place_of_yes(("f", "m"))
    (1, 0, None)
    """
    if len(levels) != 2:
        return None
    first, second = (level.casefold() for level in levels)
    if (second, first) in YES_AND_NO:
        return 1
    return 0 if (first, second) in YES_AND_NO else None


def shifted_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about continuous columns that repeat another one a row later."""
    columns = [one for one in typed if one.variable.kind is Kind.CONTINUOUS and one.missing is None]
    if not 1 < len(columns) <= MOST_COLUMNS or len(columns[0].values) < FEWEST_ROWS:
        return
    values = np.array([column.values[:MOST_ROWS] for column in columns])
    values = values / np.maximum(np.abs(values).max(1, keepdims=True), 1e-300)
    before, after = standardise(values[:, :-1]), standardise(values[:, 1:])
    shifted = (np.abs(after @ before.T) > COPY) & (np.abs(after @ after.T) < MOST_ALIKE)
    found = [(columns[i].variable.name, columns[j].variable.name) for i, j in np.argwhere(shifted)]
    if found:
        told = some_of([f"'{later}' (of '{earlier}')" for later, earlier in found], MOST_NAMED)
        yield (
            f"columns that hold what another one held in the row before: {told}; either cells slipped "
            f"by a row, or rows follow each other in time, which {option('time')} says"
        )


def standardise(rows: Floats) -> Floats:
    """Rows of mean 0 and length 1; a constant row is 0."""
    middle = rows - rows.mean(1, keepdims=True)
    lengths = np.sqrt((middle**2).sum(1, keepdims=True))
    scaled: Floats = np.divide(middle, lengths, out=np.zeros_like(middle), where=lengths > 1e-12)
    return scaled


def filled_by_middle(column: Column) -> bool:
    """Return True if one number stands in many rows, no other does, and it is the middle of the others.

    >>> from dagora.data.schema import Variable
    >>> others = np.arange(100) * 1.5
    >>> filled_by_middle(Column(Variable("x", Kind.CONTINUOUS), np.r_[others, [others.mean()] * 20]))
    True
    """
    if column.variable.kind is not Kind.CONTINUOUS:
        return False
    numbers = numbers_of(column)
    different, counts = np.unique(numbers, return_counts=True)
    if len(numbers) < FEWEST_ROWS or len(different) < len(numbers) / 4:
        return False
    usual = int(counts.argmax())
    often, next_often = counts[usual], np.sort(counts)[-2]
    if often < OFTEN * len(numbers) or often < 3 * next_often:
        return False
    others = numbers[numbers != different[usual]]
    rounding = 0.51 * 10.0 ** -most_decimals(others)
    below, above = int((others < different[usual]).sum()), int((others > different[usual]).sum())
    mean = abs(others.mean() - different[usual]) <= max(rounding, 1e-9 * others.std())
    return bool(mean or abs(below - above) <= 1)  # or the median


def decimals(number: float) -> int:
    """The number of digits after the point.

    >>> decimals(1.25), decimals(3.0), decimals(1e-05)
    (2, 0, 5)
    """
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def sheet_day_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about whole numbers that a spreadsheet would show as days of a few years."""
    for column in typed:
        numbers = np.unique(numbers_of(column)) if column.variable.kind is Kind.CONTINUOUS else np.zeros(0)
        days = (
            len(numbers) > FEWEST_DAYS
            and SHEET_DAYS[0] <= numbers[0]
            and numbers[-1] <= min(SHEET_DAYS[1], numbers[0] + 365.25 * SHEET_YEARS)
        )
        if days and (numbers == np.floor(numbers)).all():
            name = column.variable.name
            first, last = np.datetime64("1899-12-30") + numbers[[0, -1]].astype("timedelta64[D]")
            yield (
                f"the numbers of column '{name}' may be dates as a spreadsheet counts days ({first} to "
                f"{last}): if they are, write them as dates, or leave the column out ({option('drop', name)})"
            )


def count_warnings(typed: Sequence[Column]) -> Iterator[str]:
    """Sentences about columns that say how many rows a row stands for."""
    for column in typed:
        name = column.variable.name
        if IS_COUNT.match(name) and tabulates(column, typed):
            yield (
                f"column '{name}' seems to count the rows that each row stands for: every row is counted "
                f"once; {option('counts', name)} counts them so"
            )
        elif IS_WEIGHT.match(name) or (MAY_BE_WEIGHT.match(name) and averages_one(column)):
            yield (
                f"column '{name}' seems to hold weights of rows: it is taken as a variable, and every row "
                f"counts the same; {option('weights', name)} makes rows count by it, {option('drop', name)} "
                "leaves it out"
            )


def tabulates(column: Column, typed: Sequence[Column]) -> bool:
    """Return True for whole numbers beside levels of which no combination occurs twice."""
    numbers = numbers_of(column)
    others = [other for other in typed if other is not column]
    counts = bool(numbers.size > 1 and (numbers >= 0).all() and (numbers == np.floor(numbers)).all())
    if not (counts and numbers.max() > 1 and others):
        return False
    if any(other.variable.kind is Kind.CONTINUOUS for other in others):
        return False
    hashed = hash_rows(others).sum(0)
    return len(np.unique(hashed)) == len(hashed)


def averages_one(column: Column) -> bool:
    """Return True for different positive numbers whose mean is about 1, as weights of samples have."""
    numbers = numbers_of(column)
    positive = bool(numbers.size > FEWEST_ROWS and (numbers > 0).all() and np.ptp(numbers) > 0)
    if not positive:
        return False
    error = float(numbers.std()) / np.sqrt(len(numbers))
    return bool(abs(float(numbers.mean()) - 1) < min(MOST_OFF_ONE, max(0.02, 3 * error)))


def mixed_units(column: Column) -> tuple[float, float, str] | None:
    """The middles of two clusters of positive numbers that differ as two units do, and these; else None.

    >>> from dagora.data.schema import Variable
    >>> grams = np.linspace(12, 16, 50)
    >>> mixed_units(Column(Variable("hb", Kind.CONTINUOUS), np.r_[grams, 10 * grams]))
    (14.0, 140.0, 'g/dl and g/l, or another factor of 10')
    """
    if column.variable.kind is not Kind.CONTINUOUS:
        return None
    numbers = np.sort(numbers_of(column))
    if len(numbers) < FEWEST_ROWS or (known := numbers_in_two_forms(numbers)) is not None:
        return known if len(numbers) >= FEWEST_ROWS else None
    if not 0 < numbers[0] < numbers[-1]:
        return None
    logs = np.log(numbers)
    gaps = np.diff(logs)
    place = int(gaps.argmax()) + 1
    low, high = logs[:place], logs[place:]
    if min(len(low), len(high)) < max(3, len(logs) // 100):
        return None
    inner = max(float(np.ptp(part)) for part in (low, high))
    others = float(np.sort(gaps)[-2])
    alike = max(low.std(), high.std()) < 2.5 * min(low.std(), high.std()) + 1e-12
    clear = gaps[place - 1] > max(2 * others, inner / 4)
    units = find_units(numbers[:place], numbers[place:]) if alike and clear and inner > 0 else None
    if units is None:
        return None
    return float(f"{np.exp(np.median(low)):.3g}"), float(f"{np.exp(np.median(high)):.3g}"), units


def numbers_in_two_forms(numbers: Floats) -> tuple[float, float, str] | None:
    """The middles and names of two forms that ranges of numbers alone tell: years, shares, temperatures.

    >>> numbers_in_two_forms(np.r_[np.arange(60.0, 95), np.arange(1950.0, 1990)])
    (77.0, 1969.5, 'years of two and of four digits')
    """
    whole = numbers == np.floor(numbers)
    for name, below, above, told in (
        ("years of two and of four digits", (0, 99), (1900, 2099), bool(whole.all())),
        ("shares and per cent", (0, 1), (1, 100), bool((whole == (numbers > 1) | (numbers == 0)).all())),
        ("°C and K", (-60, 60), (213, 333), True),
    ):
        low = numbers[(numbers >= below[0]) & (numbers <= below[1])]
        high = numbers[(numbers > max(above[0], below[1])) & (numbers <= above[1])]
        enough = min(len(np.unique(low)), len(np.unique(high))) >= FEWEST_DIFFERENT
        if not (told and enough and len(low) + len(high) == len(numbers)):
            continue
        if name == "shares and per cent" and np.ptp(high) < above[1] / 3:
            continue
        if name == "°C and K" and not same_but_shifted(low + 273.15, high):
            continue
        return float(f"{np.median(low):.5g}"), float(f"{np.median(high):.5g}"), name
    return None


def same_but_shifted(low: Floats, high: Floats) -> bool:
    """Return True if two samples of numbers, of which one was shifted, have one distribution."""
    most = max(ALIKE, AT_FIVE_PER_CENT * float(np.sqrt(1 / len(low) + 1 / len(high))))
    rounding = 10.0 ** -min(most_decimals(low - 273.15), most_decimals(high))
    return largest_distance(low, high, rounding) < most


def find_units(low: Floats, high: Floats) -> str | None:
    """The units in which some numbers are what others are in smaller ones; None where no known ones fit.

    >>> celsius = np.linspace(36, 39, 30)
    >>> find_units(celsius, 32 + 1.8 * celsius), find_units(celsius, 2 * celsius)
    ('°C and °F', None)
    """
    digits = most_decimals(low), most_decimals(high)
    coarser = digits[0] > digits[1]
    most = max(ALIKE, AT_FIVE_PER_CENT * float(np.sqrt(1 / len(low) + 1 / len(high))))

    def distance(units: Conversion) -> float:
        rounding = (units.slope * 10.0 ** -digits[0] + 10.0 ** -digits[1]) / 2
        return largest_distance(units.slope * low + units.offset, high, rounding)

    fits = {
        units: distance(units) for units in CONVERSIONS if may_be_mixed(units, low, high, coarser=coarser)
    }
    best = min(fits, key=fits.__getitem__)
    if fits[best] < most:
        return best.name
    ratio = float(np.median(high) / np.median(low))
    near = min((one for one in fits if not one.offset), key=lambda one: abs(ratio / one.slope - 1))
    decimal = any(abs(ratio / factor - 1) < NEAR for factor in (10, 100, 1000))
    return near.name if decimal and coarser else None


def may_be_mixed(units: Conversion, low: Floats, high: Floats, *, coarser: bool) -> bool:
    """Return True if two clusters are large enough, and far enough from each other, to suspect two units.

    `coarser` says that the larger numbers have fewer decimals.
    """
    if units.is_common:
        return True
    widest = max(low[-1] / low[0], high[-1] / high[0])
    enough = FEWEST_DIFFERENT if coarser or units.slope < SEVERAL else 5 * FEWEST_DIFFERENT
    return bool(min(len(low), len(high)) >= enough and (high[0] / low[-1]) ** 2 > widest)


def most_decimals(numbers: Floats) -> int:
    """The most digits after the point that some of the numbers have."""
    step = -(-len(numbers) // MOST_LOOKED_AT)
    return max(map(decimals, numbers[::step].tolist()))


def largest_distance(one: Floats, other: Floats, rounding: float) -> float:
    """The distance of Kolmogorov and Smirnov between two sorted samples, of what rounding cannot explain."""
    both = np.r_[one, other]

    def share(sample: Floats, shift: float) -> Floats:
        shares: Floats = np.searchsorted(sample, both + shift, "right") / len(sample)
        return shares

    above = share(one, -rounding) - share(other, rounding)
    below = share(other, -rounding) - share(one, rounding)
    return float(np.maximum(above, below).max())


def rounded_copies(typed: Sequence[Column]) -> list[tuple[str, str]]:
    """Pairs of continuous columns whose correlation, plain or of ranks, is 1 but for rounding."""
    columns = [
        column for column in typed if column.variable.kind is Kind.CONTINUOUS and column.missing is None
    ]
    if not 1 < len(columns) <= MOST_COLUMNS or len(columns[0].values) < FEWEST_ROWS:
        return []
    step = -(-len(columns[0].values) // MOST_ROWS)
    values = np.array([column.values[::step] for column in columns])
    values = values / np.maximum(np.abs(values).max(1, keepdims=True), 1e-300)
    moving = np.ptp(values, axis=1) > 0
    columns = [column for column, moves in zip(columns, moving, strict=True) if moves]
    found: set[tuple[int, int]] = set()
    plain = values[moving]
    ordered = np.array([len(np.unique(row)) >= FEWEST_IN_ORDER for row in plain], dtype=np.bool_)
    for table in (plain, np.array([mean_ranks(row) for row in plain])):
        if not len(table):
            break
        scaled = table - table.mean(1, keepdims=True)
        scaled /= np.sqrt((scaled**2).sum(1, keepdims=True))
        likeness = np.triu(np.abs(scaled @ scaled.T), 1)
        if table is not plain:
            likeness *= np.outer(ordered, ordered)
        found |= {(int(i), int(j)) for i, j in np.argwhere(likeness > COPY)}
        found |= {
            (int(i), int(j))
            for i, j in np.argwhere((likeness > MOST_ALIKE) & (likeness <= COPY))[:MOST_LOOKED_AT]
            if is_rounded(columns[i].values[::step], columns[j].values[::step])
        }
    names = [column.variable.name for column in columns]
    return [(names[i], names[j]) for i, j in sorted(found)]


def is_rounded(one: Floats, other: Floats) -> bool:
    """Return True if one of two columns is the other one, perhaps in another unit, rounded.

    >>> exact = np.linspace(50, 90, 300) ** 1.01
    >>> is_rounded(exact, exact.round()), is_rounded(exact, exact.round() + 2 * np.sin(exact))
    (True, False)
    """
    for exact, rounded in ((one, other), (other, one)):
        step = 10.0 ** -most_decimals(rounded)
        z, centred = exact - exact.mean(), rounded - rounded.mean()
        slope = (z @ centred) / max(z @ z, 1e-300)
        rest = np.abs(centred - slope * z).max()
        both = step + abs(slope) * 10.0 ** -most_decimals(exact)  # what seems exact may be rounded, too
        if rest <= HALF_A_STEP * both and np.ptp(rounded) >= FEWEST_STEPS * step:
            return True
    return False
