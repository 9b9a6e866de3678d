"""Dates as numbers: days since the first of January 1970, with fractions for times of day.

Months (2024-01), quarters (2024-Q1) and weeks (2024-W05) are the day on which they begin. Times with a zone
(2024-01-31T10:00Z, +02:00) are those of UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.columns.cells import is_text

if TYPE_CHECKING:
    import pyarrow as pa

# What the overview says of a column of dates.
DAYS, IN_UTC = "dates as days since 1970", ", in UTC"
IS_DATE = r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4})([T ][0-9]{2}:[0-9]{2}.*)?$"
NUMBERED_DAYS = (19_000_101, 20_991_231)  # the first and the last that a whole number spells
IS_TIME = r"^[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?( ?[AaPp][Mm])?$"
MICROSECONDS_A_DAY = 86_400_000_000
# Parts of seconds, in some cells at least: Arrow reads them as they stand, by no form.
PARTS_OF_SECONDS = "%Y-%m-%d %H:%M:%S.%f"
# The offset from UTC at the end of a time.
AHEAD = r"(?P<sign>[+-])(?P<hours>0[0-9]|1[0-4]):?(?P<minutes>[0-5][0-9])?"
ZONE = rf"^(?P<moment>.*[0-9]{{2}}:[0-9]{{2}}.*?)(?:Z|{AHEAD})$"
# Texts that can be read in one way only.
READABLE = (
    (r"^[0-9]{4}-[0-9]{2}-(?P<day>[0-9]{2})$", "%Y-%m-%d"),
    (r"^(?P<day>[0-9]{1,2})[.][0-9]{1,2}[.][0-9]{4}$", "%d.%m.%Y"),
    (r"^[0-9]{4}-[0-9]{2}-(?P<day>[0-9]{2})[T ][0-9]{2}:[0-9]{2}$", "%Y-%m-%d %H:%M"),
    (r"^[0-9]{4}-[0-9]{2}-(?P<day>[0-9]{2})[T ][0-9]{2}:[0-9]{2}:[0-9]{2}$", "%Y-%m-%d %H:%M:%S"),
    (
        r"^[0-9]{4}-[0-9]{2}-(?P<day>[0-9]{2})[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?$",
        PARTS_OF_SECONDS,
    ),
)

# Day or month first: a number above 12 tells.
SLASHES = r"^(?P<first>[0-9]{1,2})/(?P<second>[0-9]{1,2})/[0-9]{4}$"
DAY_FIRST = (r"^(?P<day>[0-9]{1,2})/[0-9]{1,2}/[0-9]{4}$", "%d/%m/%Y")
MONTH_FIRST = (r"^[0-9]{1,2}/(?P<day>[0-9]{1,2})/[0-9]{4}$", "%m/%d/%Y")
YEAR = "(?P<year>(?:19|20)[0-9]{2})"
# Periods, by the parts of a year that they count.
PERIODS = (
    (rf"^{YEAR}[-/M](?P<part>0[1-9]|1[0-2])$", "month"),
    (rf"^(?P<part>0[1-9]|1[0-2])[-/]{YEAR}$", "month"),
    (rf"^{YEAR}[- ]?[Qq](?P<part>[1-4])$", "quarter"),
    (rf"^[Qq](?P<part>[1-4])[-/ ]{YEAR}$", "quarter"),
    (rf"^{YEAR}-?W(?P<part>0[1-9]|[1-4][0-9]|5[0-3])$", "week"),
)


def spells_dates(column: pa.ChunkedArray | pa.Array) -> bool:
    """Return True if a text column holds dates, or periods of one kind, and nothing else."""
    import pyarrow.compute as pc

    if not is_text(column.type) or column.null_count == len(column):
        return False
    forms = (IS_DATE, *(pattern for pattern, _ in PERIODS))
    return any(pc.all(pc.match_substring_regex(column, form)).as_py() for form in forms)


def as_days(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates or times as days since 1970; an error where a text can be read in two ways, or a time has no day.

    >>> import pyarrow as pa
    >>> as_days("day", pa.chunked_array([["1970-01-02", "1970-02-01", None]])).to_pylist()
    [1.0, 31.0, None]
    >>> as_days("t", pa.chunked_array([["1970-01-02T01:00+01:00", "1970-01-01T12:00Z"]])).to_pylist()
    [1.0, 0.5]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    zones = pc.match_substring_regex(column, ZONE) if is_text(column.type) else None
    if zones is not None and pc.any(zones).as_py() and not pc.all(zones).as_py():
        raise DataError(
            f"some times of {col(name)} have a zone (Z, +02:00) and others have none: write them all alike"
        )
    try:
        moments = read_dates(column) if is_text(column.type) else column
        whole = moments.cast(pa.timestamp("us")).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"the dates of {col(name)} cannot be read as days: write them all as 2024-12-31, or leave "
            f"the column out ({option('drop', name)})"
        ) from None
    return pc.divide(whole.cast(pa.float64(), safe=False), float(MICROSECONDS_A_DAY))


def how_days_are_told(column: pa.ChunkedArray) -> str:
    """The words for dates as numbers, which name the zone that they are in, if they have one."""
    import pyarrow.compute as pc

    zoned = (
        pc.all(pc.match_substring_regex(column, ZONE)).as_py()
        if is_text(column.type)
        else getattr(column.type, "tz", None)
    )
    return f"{DAYS}{IN_UTC}" if zoned else DAYS


def read_dates(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as moments; raises `ArrowInvalid` where they are in none of the readable forms."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(column, ZONE)).as_py():
        parts = pc.extract_regex(column, ZONE)
        sign, hours, minutes = (pc.struct_field(parts, name) for name in ("sign", "hours", "minutes"))
        ahead = [pc.if_else(pc.equal(part, ""), "0", part).cast(pa.int64()) for part in (hours, minutes)]
        behind = pc.multiply(pc.add(pc.multiply(ahead[0], 60), ahead[1]), 60_000_000)
        there = read_dates(pc.struct_field(parts, "moment")).cast(pa.timestamp("us")).cast(pa.int64())
        moments = pc.if_else(pc.equal(sign, "+"), pc.subtract(there, behind), pc.add(there, behind))
        return moments.cast(pa.timestamp("us"))
    for pattern, form in (*READABLE, *slashed_form(column)):
        if pc.all(pc.match_substring_regex(column, pattern)).as_py():
            spaced = pc.replace_substring(column, "T", " ") if "%H" in form else column
            if form == PARTS_OF_SECONDS:
                return spaced.cast(pa.timestamp("us"))
            moments = pc.strptime(spaced, format=form, unit="us")
            days = pc.struct_field(pc.extract_regex(column, pattern), "day").cast(pa.int64())
            if not pc.all(pc.equal(pc.day(moments), days)).as_py():
                raise pa.ArrowInvalid("a day that its month does not have")
            return moments
    for pattern, part in PERIODS:
        if pc.all(pc.match_substring_regex(column, pattern)).as_py():
            return first_days(pc.extract_regex(column, pattern), part)
    raise pa.ArrowInvalid("no known form")


def slashed_form(column: pa.ChunkedArray) -> tuple[tuple[str, str], ...]:
    """The format of dates with slashes; empty, unless a number above 12 tells where the day stands.

    >>> import pyarrow as pa
    >>> [slashed_form(pa.chunked_array([day]))[0][1] for day in (["1/31/2024", "2/1/2024"], ["31/1/2024"])]
    ['%m/%d/%Y', '%d/%m/%Y']
    >>> slashed_form(pa.chunked_array([["1/2/2024"]]))
    ()
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(column, SLASHES)).as_py():
        return ()
    parts = pc.extract_regex(column, SLASHES)
    first, second = (
        pc.max(pc.struct_field(parts, name).cast(pa.int64())).as_py() for name in ("first", "second")
    )
    if (first > 12) == (second > 12):
        return ()
    return (DAY_FIRST,) if first > 12 else (MONTH_FIRST,)


def first_days(periods: pa.ChunkedArray, part: str) -> pa.ChunkedArray:
    """The first day of months, quarters or weeks (by ISO 8601) that are given by year and number."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    year, number = (pc.struct_field(periods, name).cast(pa.int64()) for name in ("year", "part"))
    absent = pc.is_null(year).to_numpy()
    years, numbers = (each.fill_null(1970).to_numpy() - first for each, first in ((year, 1970), (number, 1)))
    if part == "week":
        # The first week is that of the fourth of January; it begins on a Monday.
        fourth = years.astype("datetime64[Y]").astype("datetime64[D]") + 3
        days = fourth - (fourth.astype(np.int64) + 3) % 7 + 7 * numbers
        thursday = (days + 3).astype("datetime64[Y]").astype(np.int64)
        if (thursday != years)[~absent].any():
            raise pa.ArrowInvalid("a week that its year does not have")
    else:
        months = 12 * years + numbers * (3 if part == "quarter" else 1)
        days = months.astype("datetime64[M]").astype("datetime64[D]")
    return pa.chunked_array([pa.array(days, mask=absent)])


def spell_days(column: pa.ChunkedArray) -> bool:
    """Return True if every whole number spells a day of 1900 to 2099, as 20180317 does.

    >>> import pyarrow as pa
    >>> [spell_days(pa.chunked_array([days])) for days in ([20180317, 19991231], [20180317, 20181347])]
    [True, False]
    """
    numbers = column.drop_null().to_numpy()
    if not len(numbers) or numbers.min() < NUMBERED_DAYS[0] or numbers.max() > NUMBERED_DAYS[1]:
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())
