"""Names of columns: what a table may call its columns, and which of them a user means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import nearest, split_list
from dagora.base.wording import col, option
from dagora.data.columns.missing import EVERY
from dagora.data.columns.reading_options import NameList, ReadingOptions, around_one, said_order
from dagora.data.schema import Kind

# Searches compare all pairs of columns: beyond this no time limit on a search can be kept.
MOST_COLUMNS = 20_000
MOST_AROUND_ONE = 200_000  # where one of them is the target of a search


def name_text(name: object) -> str:
    """A name as text; None, and NaN in its place, are none.

    >>> name_text(7), name_text(float("nan")), name_text(None)
    ('7', '', '')
    """
    return "" if name is None or name != name else str(name)  # noqa: PLR0124 (NaN)


def check_names(names: Sequence[object]) -> tuple[str, ...]:
    """Trim the names; an empty one, or the same one twice, is refused."""
    trimmed = tuple(name_text(name).strip() for name in names)
    seen: set[str] = set()
    for position, name in enumerate(trimmed, start=1):
        if not name:
            raise DataError(
                f"column {position} has no name: give it one, or remove it if it only numbers the rows"
            )
        if name in seen:
            raise DataError(
                f"two columns are named '{name}': rename one of them (if these are no names, put a line with "
                "names first)"
            )
        seen.add(name)
    return trimmed


def declare_kinds(names: Sequence[str], reading: ReadingOptions) -> dict[str, Kind]:
    """Map each declared column to its kind; names are checked, and `all` stands for every other column.

    >>> declare_kinds(["a", "b"], ReadingOptions(ordinal=["a"], continuous=["all"]))
    {'a': <Kind.DISCRETE: 'discrete'>, 'b': <Kind.CONTINUOUS: 'continuous'>}
    """
    declared: dict[str, Kind] = {}
    rest: list[Kind] = []
    said = (said_order(text, names)[0] for text in resolve(reading.ordinal, names))
    ordinal = [name for name in said if name != EVERY or name in names]  # all: whatever is discrete
    for kind, word, chosen in (
        (Kind.DISCRETE, "discrete", resolve(reading.discrete, names)),
        (Kind.DISCRETE, "ordinal", ordinal),
        (Kind.CONTINUOUS, "continuous", resolve(reading.continuous, names)),
    ):
        for name in chosen:
            if name == EVERY and name not in names:
                rest.append(kind)
                continue
            check_known(name, names, f"declared {word}")
            if declared.setdefault(name, kind) is not kind:
                raise DataError(f"{col(name)} is declared both discrete and continuous: choose one")
    if len(rest) > 1:
        raise DataError("all columns are declared both discrete and continuous: choose one")
    return declared | {name: kind for kind in rest for name in names if name not in declared}


def chosen_columns(
    what: str, chosen: Iterable[str], names: Sequence[str], reading: ReadingOptions
) -> list[str]:
    """The columns that an option names, and `all` for the variables; a column that is none is refused.

    >>> reading = ReadingOptions(in_time=("day",), ranks=["all"])
    >>> chosen_columns("ranks", reading.ranks, ["day", "x"], reading)
    ['x']
    """
    roles, found = reading.roles, list(chosen)
    for name in found:
        if name in roles:
            raise OptionError(f"{option(roles[name], name)} is no variable: leave it out of {option(what)}")
    if EVERY not in found or EVERY in names:
        return found
    return list(
        dict.fromkeys([*(name for name in found if name != EVERY), *(n for n in names if n not in roles)])
    )


def columns_to_join(names: Sequence[str], reading: ReadingOptions) -> frozenset[str]:
    """The columns in which levels that differ only in case are joined."""
    chosen = chosen_columns("join", resolve(reading.join, names), names, reading)
    for name in chosen:
        check_known(name, names, "whose levels are to be joined")
    return frozenset(chosen)


def resolve(chosen: Iterable[str], names: Sequence[str]) -> list[str]:
    """Split lists as written on a command line, unless the whole text is the name of a column.

    >>> resolve([NameList("a,b"), NameList("c, d"), NameList("e,f")], ["a", "b", "c, d", "e", "f"])
    ['a', 'b', 'c, d', 'e', 'f']
    """
    found: list[str] = []
    for text in chosen:
        if isinstance(text, NameList) and text not in names:
            found += split_list(text)
        else:
            found.append(str(text))
    return found


def kept_positions(names: Sequence[str], reading: ReadingOptions) -> list[int]:
    """Return which columns are looked at: those not dropped and, if only some are asked for, those."""
    gone = dict.fromkeys(resolve(reading.drop, names))
    known = set(names)
    for name in gone:
        if name not in known:
            check_known(name, names, "to be dropped")
    trimmed = {*names, *(name.strip() for name in names)}
    about_rows = set(reading.about_rows.values())
    only = trimmed if reading.only is None else {*reading.only, *about_rows}
    for name in reading.only or ():
        if name not in trimmed and name not in about_rows:
            raise DataError(f"there is no column named '{name}': known are {list_names(names)}")
    kept = [i for i, name in enumerate(names) if name not in gone and (name in only or name.strip() in only)]
    if not kept and names:
        raise DataError("all columns are dropped: at least one is needed")
    most = MOST_AROUND_ONE if reading.check_width is around_one else MOST_COLUMNS
    if len(kept) > most:
        raise DataError(
            f"there are {len(kept)} columns, and at most {most} can be used: make a table of those "
            f"you need, or leave some out ({option('drop')})"
        )
    reading.check_width(len(kept))
    return kept


def check_known(name: str, names: Sequence[str], what: str) -> None:
    """Refuse the name of a column that does not exist; suggest a similar one."""
    if name not in names:
        parts = [known for known in names if "," in known and name in known]
        near = nearest(str(name), names)
        hint = f"did you mean '{near}'?" if near else f"the columns are {list_names(names)}"
        if parts:
            hint = f"a name that has a comma goes in quotes, as in {option('drop', parts[0])}"
        raise DataError(f"there is no {col(name)} ({what}): {hint}")


def list_names(names: Sequence[str], most: int = 8) -> str:
    """List a few names in one line."""
    more = f", … ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def check_about_rows(what: str, names: Sequence[str], reading: ReadingOptions) -> int:
    """The place of the column that an option such as `counts` names; refuse one that is asked for otherwise.

    That is a column that is not there, that is a variable, or whose rows follow each other in time.
    """
    column, known = reading.about_rows[what], check_names(names)
    check_known(column, known, f"of {what}")
    if reading.in_time:
        raise OptionError(
            f"rows that follow each other in time are taken as they stand: leave {option(what)} out"
        )
    for name in ("discrete", "continuous", "ordinal", "ranks", "join", "within_groups"):
        if column in (said_order(text, names)[0] for text in resolve(getattr(reading, name), names)):
            raise OptionError(f"{option(what, column)} is no variable: leave it out of {option(name)}")
    if column in (*reading.numbers, *reading.wanted, *reading.levels, reading.marks):
        raise OptionError(f"{option(what, column)} is no variable, but it is asked for as one")
    if list(reading.about_rows.values()).count(column) > 1:
        raise OptionError(f"{option(what, column)} names a column that another option uses: choose one")
    return known.index(column)


def check_marks(column: str, names: Sequence[str]) -> None:
    """Refuse a column of marks that is not there.

    >>> check_marks("sett", ["a", "set"])
    Traceback (most recent call last):
    dagora.DataError: interventions="sett" names no column: the columns are a, set
    """
    if column not in names:
        raise DataError(
            f"{option('interventions', column)} names no column: the columns are "
            f"{', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
        )
