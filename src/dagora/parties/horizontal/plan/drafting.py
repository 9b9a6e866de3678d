"""Draft a codebook from tables that one person may see, and a plan from the sums that a method needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DisagreementError, OptionError
from dagora.data.columns.cells import IS_PADDED
from dagora.data.columns.column_profile import (
    MAX_INTEGER_LEVELS,
    OF_NUMBERS,
    ColumnProfile,
    decide_kind,
    reason_to_leave_out,
)
from dagora.data.columns.levels import IS_NUMBER, level_name, sort_levels
from dagora.data.columns.ordinal import agreed_levels, ranked_columns
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.parties.horizontal.plan.codebook import (
    FEWEST_POINTS,
    OTHER,
    Codebook,
    ColumnCoding,
    ranked_coding,
)
from dagora.parties.horizontal.plan.coded_rows import follow_codebook
from dagora.parties.horizontal.plan.plan import (
    BASIS,
    COUNTS,
    FOURTH,
    INDICATORS,
    LAGGED,
    MOMENTS,
    MOST_CELLS,
    RELEASE,
    WEIGHTS,
    RunPlan,
    worst_case,
)
from dagora.parties.privacy.terms import PrivacyTerms

# Two parents for each variable, and tables of 32 kB.
COLUMNS_PER_TABLE, CELLS_PER_TABLE = 3, 4096
# A grid of quantiles.
MOST_STEPS, ROWS_PER_STEP = 100, 10
# The largest numbers that a plan can hold.
MOST_COLUMNS_PER_TABLE = 64
NO_LIMIT = 1 << 62
EFFECT = "effect"  # the method of a plan that learns nothing, but asks about an effect


def codebook_of(
    tables: Mapping[str, Table], *, margin: float = 0.0, rare: int = 0, largest_weight: float = 0.0
) -> Codebook:
    """A codebook that fits tables which one person may see, by the sites that have them.

    Discrete columns get all levels, without those in fewer than `rare` rows, which are `other`; a column with
    this level has no order. Ranges reach from the smallest to the largest value, and further on both sides by
    `margin` of that width, rounded outwards to two digits; so does the largest weight, where rows have any.

    >>> table = Table.from_numpy([["no", 1.25], ["yes", 2.5]], names=["a", "x"])
    >>> [coding.to_dict() for coding in codebook_of({"north": table}, margin=0.1)]
    [{'name': 'a', 'levels': ['no', 'yes']}, {'name': 'x', 'range': [1.1, 2.7]}]
    """
    first = next(iter(tables))
    names = tables[first].names
    for site, table in tables.items():
        for here, there, some, others in (
            (first, site, names, table.names),
            (site, first, table.names, names),
        ):
            lacking = [name for name in some if name not in others]
            if lacking:
                raise DisagreementError(
                    f"'{lacking[0]}' is a column of {here} but not of {there}: sites need the same columns"
                )
    common = tuple(filter(None, (_common_coding(name, tables, margin) for name in names)))
    book = Codebook(tuple(_without_rare(coding, tables, rare) for coding in common) if rare else common)
    weight = fitting_range("", 0.0, largest_weight, margin).high if largest_weight else 0.0
    # Names and levels that no plan can hold are refused here.
    return Codebook.from_list(book.to_list(), weight)


def _common_coding(name: str, tables: Mapping[str, Table], margin: float) -> ColumnCoding | None:
    """Find the coding of a column that fits it at every site; raise where they disagree.

    The rules of one table decide about the numbers of all sites together; None leaves the column out.
    """
    described = {site: table.schema[table.schema.index(name)] for site, table in tables.items()}
    numbers = [site for site, variable in described.items() if variable.kind is Kind.CONTINUOUS]
    coded_as_numbers = {
        site: all(IS_NUMBER.fullmatch(level) for level in variable.levels)
        for site, variable in described.items()
        if variable.kind is Kind.DISCRETE
    }
    text = [site for site, numeric in coded_as_numbers.items() if not numeric]
    padded = [s for s, variable in described.items() if any(map(IS_PADDED.match, variable.levels))]
    if (text or padded) and numbers:
        raise DisagreementError(
            f"column '{name}' is text at {(text or padded)[0]} and numbers at {numbers[0]}: "
            "the sites must write it alike"
        )
    numeric = [
        site
        for site, numeric in coded_as_numbers.items()
        if numeric and described[site].levels and site not in padded
    ]
    if text and numeric:
        raise DisagreementError(
            f"column '{name}' has words as levels at {text[0]} and numbers at {numeric[0]}: "
            "the sites must write it alike"
        )
    cells = {} if text else {site: _numbers_at(name, table) for site, table in tables.items()}
    if cells and all(_is_undeclared(name, table) for table in tables.values()):
        profile = _profile_of(name, cells)
        if reason_to_leave_out(profile) is not None:
            return None
        if decide_kind(profile).kind is Kind.DISCRETE:
            values = [] if profile.values is None else profile.values.to_pylist()
            return ColumnCoding(name, levels=sort_levels(map(level_name, values)))
        numbers = list(tables)
    if not numbers:
        levels, ordered = agreed_levels(name, {f"at {site}": each for site, each in described.items()})
        return ColumnCoding(name, levels=levels, ordered=ordered)
    filled = [values for values in cells.values() if len(values)]
    low = min((float(values.min()) for values in filled), default=math.inf)
    high = max((float(values.max()) for values in filled), default=-math.inf)
    return fitting_range(name, low, high, margin)


def _numbers_at(name: str, table: Table) -> NDArray[Any]:
    """The numbers of a column at one site, or those that its levels spell: integers where all are."""
    position = table.schema.index(name)
    levels, values = table.schema[position].levels, table.columns[position]
    if table.schema[position].kind is Kind.CONTINUOUS:
        return values
    integers = all(level.removeprefix("-").isdecimal() and abs(int(level)) < 1 << 63 for level in levels)
    numbers: NDArray[Any] = np.array([*map(int if integers else float, levels)])
    return np.take(numbers, values)


def _is_undeclared(name: str, table: Table) -> bool:
    """Return True if the rules for undeclared numbers decided the type of a column."""
    if table.overview is None:
        return False
    return any(
        column.name == name and OF_NUMBERS.match(column.why) is not None for column in table.overview.columns
    )


def _profile_of(name: str, cells: Mapping[str, NDArray[Any]]) -> ColumnProfile:
    """The profile of numbers at all sites together, as if one table held them.

    They are integers if all are whole, unless a site has few of them and yet took them for measurements.
    """
    import pyarrow as pa

    integers = all(
        values.dtype == np.int64
        or (
            len(np.unique(values)) > MAX_INTEGER_LEVELS
            and bool(((values == np.floor(values)) & (np.abs(values) < 1 << 62)).all())
        )
        for values in cells.values()
    )
    kind = np.int64 if integers else np.float64
    return ColumnProfile(name, pa.chunked_array([values.astype(kind) for values in cells.values()]))


def _without_rare(coding: ColumnCoding, tables: Mapping[str, Table], rare: int) -> ColumnCoding:
    """The column with its rare levels under the name `other`."""
    rows = dict.fromkeys(coding.levels, 0)
    for table in tables.values():
        position = table.schema.index(coding.name)
        if coding.levels:
            levels = table.schema[position].levels
            counted = np.bincount(table.columns[position], minlength=len(levels)).tolist()
            for level, count in zip(levels, counted, strict=True):
                rows[level] += count
    common = tuple(level for level in coding.levels if rows[level] >= rare)
    if len(common) == len(coding.levels):
        return coding
    return replace(coding, levels=common or (OTHER,), other=True, ordered=False)


def fitting_range(name: str, low: float, high: float, margin: float = 0.0) -> ColumnCoding:
    """A continuous column whose range holds the numbers from `low` to `high`.

    >>> fitting_range("x", 3.0, 3.0).to_dict()
    {'name': 'x', 'range': [0.0, 6.0]}
    """
    if not low <= high:
        low = high = 0.0
    if low == high:
        step = max(1.0, abs(low))
        return ColumnCoding(name, low=low - step, high=high + step)
    if not margin:
        return ColumnCoding(name, low=low, high=high)
    more = (high - low) * margin
    unit = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    return ColumnCoding(
        name,
        low=float(f"{math.floor((low - more) / unit) * unit:.12g}"),
        high=float(f"{math.ceil((high + more) / unit) * unit:.12g}"),
    )


def cut_at(codebook: Codebook, edges: Mapping[str, Sequence[float]]) -> Codebook:
    """The codebook with some continuous columns cut into intervals.

    >>> cut_at(Codebook((ColumnCoding("x", low=0.0, high=9.0),)), {"x": [3.0]}).schema[0].levels
    ('(-inf, 3]', '(3, inf)')
    """
    columns = tuple(
        replace(coding, cuts=tuple(edges[coding.name]), low=0.0, high=0.0)
        if coding.continuous and len(edges.get(coding.name, ()))
        else coding
        for coding in codebook
    )
    return replace(codebook, columns=columns)


def by_ranks(codebook: Codebook, tables: Iterable[Table], reading: ReadingOptions) -> Codebook:
    """The codebook with the columns that are taken by their ranks, on a grid of quantiles of all tables.

    A grid has a hundred steps, or fewer with ten rows each.

    >>> table = Table.from_numpy(np.arange(51.0)[:, None] / 10, ["x"])
    >>> by_ranks(codebook_of({"a": table}), [table], ReadingOptions(ranks="all")).columns[0].grid
    (1.0, 2.0, 3.0, 4.0)
    """
    following = [follow_codebook(table, codebook) for table in tables]
    steps = max(FEWEST_POINTS + 1, min(MOST_STEPS, sum(table.n_rows for table in following) // ROWS_PER_STEP))
    shares = np.arange(1, steps) / steps
    ranked = ranked_columns(codebook.schema.variables, reading)
    columns = []
    for coding, *values in zip(codebook, *(table.columns for table in following), strict=True):
        some = np.concatenate(values) if coding.name in ranked else np.zeros(0)
        grid = np.quantile(some, shares).tolist() if len(some) else []
        columns.append(ranked_coding(coding.name, grid) if grid else coding)
    return replace(codebook, columns=tuple(columns))


def draft_plan(
    codebook: Codebook,
    sites: Mapping[str, str],
    method: str,
    *,
    functions: int = 0,
    lags: int = 0,
    columns_per_table: int = COLUMNS_PER_TABLE,
    privacy: PrivacyTerms | None = None,
    **fields: Any,  # noqa: ANN401
) -> RunPlan:
    """A plan that asks for no more than the method needs; `fields` are other fields of the plan.

    With `privacy` it asks for a release and nothing else.

    >>> from dagora.parties.horizontal.plan.codebook import ColumnCoding
    >>> book = Codebook((ColumnCoding("a", levels=("no", "yes")), ColumnCoding("b", levels=("no", "yes"))))
    >>> plan = draft_plan(book, {"north": "", "south": "", "west": ""}, "hill-climb")
    >>> plan.questions, plan.tables
    (('counts',), 4)
    """
    sites = dict(sorted(sites.items()))
    if privacy is not None:
        fields |= {"shows": (), "shown_questions": {}, "step": 0.0}
        return RunPlan(sites, codebook, method, (RELEASE,), privacy=privacy, **fields)
    discrete = sum(not coding.continuous for coding in codebook)
    questions = [COUNTS] * (discrete > 0) + [MOMENTS] * (discrete < len(codebook.columns))
    questions += [INDICATORS] * (len(questions) > 1) + [WEIGHTS] * (codebook.largest_weight > 0)
    if lags:
        questions = [LAGGED]
    counted = discrete and not lags
    return RunPlan(
        sites,
        codebook,
        method,
        (*questions, *[BASIS] * (functions > 0)),
        columns_per_table=min(columns_per_table, MOST_COLUMNS_PER_TABLE),
        tables=min(NO_LIMIT, worst_case(discrete, columns_per_table) + 1) if counted else 0,
        functions=functions,
        lags=lags,
        **fields,
    )


def draft_effect_plan(
    codebook: Codebook,
    sites: Mapping[str, str],
    sets: Sequence[Sequence[str]],
    *,
    columns_per_table: int = MOST_COLUMNS_PER_TABLE,
    privacy: PrivacyTerms | None = None,
    **fields: Any,  # noqa: ANN401
) -> RunPlan:
    """A plan for an effect: counts of these tables, or sums for these regressions, and nothing else.

    The codebook has the columns of the sets and no others. Tables have at most `columns_per_table` columns.
    """
    sites, named = dict(sorted(sites.items())), tuple(map(tuple, sets))
    if privacy is not None:
        return RunPlan(sites, codebook, EFFECT, (RELEASE,), privacy=privacy, **fields)
    if codebook.continuous:
        return RunPlan(sites, codebook, EFFECT, (FOURTH,), columns_per_table=0, sets=named, **fields)
    widest = max(named, key=len)
    wide = len(widest)
    if wide > columns_per_table:
        raise OptionError(
            f"the table of {', '.join(widest)} has {wide} columns, and {columns_per_table} are allowed "
            "(columns_per_table of the codebook): agree on larger tables in the policies and the codebook"
        )
    return RunPlan(
        sites, codebook, EFFECT, (COUNTS,), columns_per_table=wide, tables=len(named), sets=named, **fields
    )


def draft_trial(
    codebook: Codebook,
    sites: Mapping[str, str],
    method: str,
    coordinator: str,
    **more: Any,  # noqa: ANN401
) -> RunPlan:
    """A plan without limits, for a trial in which one person has all the tables."""
    return draft_plan(
        codebook,
        sites,
        method,
        coordinator=coordinator,
        columns_per_table=len(codebook.columns),
        cells_per_table=MOST_CELLS,
        **more,
    )
