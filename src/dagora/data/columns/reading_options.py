"""The options about how data are read, declared once: types, missing values, columns left out.

The fields of `ReadingOptions` that are made by `public` are those that a user knows. `READING` lists them.
From it come the signatures and descriptions of Python's functions (`takes_reading`), the options of the
command (cli/data_options.py), what the page may send (explore/asking.py) and the table in docs/data.md.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from textwrap import indent, wrap
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.base.options import alike
from dagora.base.shared_parameters import SHARED
from dagora.base.wording import option
from dagora.data.columns.missing import na_words

if TYPE_CHECKING:
    from dagora.data.schema import Kind

F = TypeVar("F", bound=Callable[..., Any])

POLICIES = ("error", "drop", "level")
LESS = " < "  # between levels, in the order of a column
# Options that name a column which is no variable, but says how rows count.
ABOUT_ROWS = ("counts", "weights", "group")
# Where missing values can be modelled; `auto` does so if method and score can, and else refuses them.
WITH_MODEL = (*POLICIES, "model", "auto")
MODEL_HELP = (
    "Missing values: learn from what was seen (model), refuse them (error), drop their rows, or make them a "
    "level; auto: model where method and score can, else refuse."
)


@dataclass(frozen=True)
class ReadingOption:
    """An option about how data are read, as all doors show it."""

    name: str
    default: Any
    type: Literal["names", "words", "text", "integer"]
    help: str  # one sentence
    choices: tuple[str, ...] = ()
    low: int | None = None
    metavar: str | None = None  # what stands for the value in the command's help
    rare: bool = False  # not on the first page of that help

    @property
    def values(self) -> str:
        """The values that are allowed, in words."""
        if self.choices:
            return ", ".join(f'"{choice}"' for choice in self.choices)
        kinds = {
            "names": "names of columns",
            "words": "str, list of str, or mapping",
            "text": "str",
            "integer": "int",
        }
        return kinds[self.type] + ("" if self.low is None else f", {self.low} or more")

    def describe(self) -> str:
        """The entry of this option in a docstring, as numpydoc writes it."""
        default = "optional" if self.default in (None, ()) else f'default "{self.default}"'
        lines = wrap(self.help, 100)
        return "\n    ".join((f"{self.name} : {self.values}, {default}", *lines))


def public(default: object, type: str, help: str, **more: object) -> Any:  # noqa: A002, ANN401
    """Declare a field of `ReadingOptions` that users know."""
    return field(default=default, metadata={"type": type, "help": help, **more})


class NameList(str):
    """A name, or several with commas between them, as written on a command line."""

    __slots__ = ()


# Says of columns of some kinds why their missing values cannot be modelled; nothing where they can.
WhyNotModel = Callable[["frozenset[Kind]"], str]


def always(kinds: frozenset[Kind]) -> str:  # noqa: ARG001 (a `WhyNotModel`)
    """Allow missing values to be modelled, whatever the columns."""
    return ""


def never_with_design(kinds: frozenset[Kind]) -> str:  # noqa: ARG001 (a `WhyNotModel`)
    """Refuse to model missing values where rows have weights or belong to groups."""
    return "rows with weights or groups must be complete"


def welcome(columns: int) -> None:
    """Take any number of columns."""


def around_one(columns: int) -> None:
    """Take more columns still, as what is asked for is about one of them."""


@dataclass(frozen=True)
class ReadingOptions:
    """The options that say how columns and cells are understood.

    `wanted` are columns that stay even if they look like an identifier. `levels` are levels known from
    elsewhere, which are never taken for missing, `numbers` columns that are known to be numbers, where
    the user does not say otherwise. `numbers_for` names what the table is read for, if
    that takes numbers only: then codes are numbers, too. `only` are the columns to look at (None: all).
    `marks` is a column that says which variables were set in a row: it is discrete, and an empty cell of it
    is a level. `clock` is the time that reading may take, too. `check_width` is told the number of columns
    before any is read, and may refuse it. `why_not_model` says whether missing values can be modelled (None:
    never), `imputes` whether the caller can draw them. `constants` says whether a number that never changes
    is kept, `cuts` whether to advise cutting columns: not where `discretise` cannot be asked for.
    `in_time` are the columns of time and series where rows follow each other, so that none can be left out.
    `trends` says whether the other columns decide if few whole numbers are ordered: not where one column at a
    time is seen. `separated_by` is what separates the cells of the file, where it is text. `nominal` are
    columns whose levels stand in an order that need not mean anything: factors of R and labelled values.

    >>> ReadingOptions(discrete="age", missing="drop").non_defaults()
    {'discrete': ['age'], 'missing': 'drop'}
    """

    discrete: Iterable[str] = public((), "names", "Columns to treat as discrete (or all).", metavar="A,B")
    continuous: Iterable[str] = public((), "names", "Columns to treat as continuous (or all).", metavar="A,B")
    ordinal: Iterable[str] | Mapping[str, Iterable[str]] = public(
        (),
        "names",
        "Columns of levels with an order (or all), said where words do not show it: dose: low < mid < high.",
        metavar="A,B",
        rare=True,
    )
    drop: Iterable[str] = public((), "names", "Columns to leave out.", metavar="A,B")
    missing: str = public(
        "error",
        "text",
        "Missing values: refuse them (error), drop their rows, or make them a level.",
        choices=POLICIES,
    )
    na: str | Iterable[str] | Mapping[str, Any] = public(
        "auto",
        "words",
        "Words that mean missing, such as NA,? or, in one column, age:-1,smoker:9 (none: they are all "
        "levels; auto: among numbers, and elsewhere unless missing values are refused).",
        metavar="WORDS",
        rare=True,
    )
    discretise: str | None = public(
        None,
        "text",
        "Make continuous columns discrete: cut at the mean, into equal widths, or at quantiles.",
        choices=("mean", "width", "quantile"),
        rare=True,
    )
    bins: int | None = public(
        None, "integer", "Number of intervals of columns made discrete; default: 2.", low=2, rare=True
    )
    ranks: Iterable[str] = public(
        (),
        "names",
        "Continuous columns to take by their ranks, as normal scores (or all).",
        metavar="A,B",
        rare=True,
    )
    separator: str | None = public(
        None,
        "text",
        "Column separator of a text file; default: comma, tab for .tsv, or what splits its first lines.",
        metavar="CHAR",
        rare=True,
    )
    table: str | None = public(
        None,
        "text",
        "Sheet of a spreadsheet, or table of a database, by name; default: the only one.",
        metavar="NAME",
        rare=True,
    )
    decimal: str | None = public(
        None,
        "text",
        "Mark before decimals in a text file whose numbers can be read in two ways (3.762 beside 95); "
        "default: as its other columns tell.",
        choices=("point", "comma"),
        rare=True,
    )
    counts: str | None = public(
        None,
        "text",
        "Column that says how many rows each row stands for, as in a table of counts.",
        metavar="COLUMN",
        rare=True,
    )
    weights: str | None = public(
        None,
        "text",
        "Column of survey or importance weights: how much each row counts. The rows then count as their "
        "effective number (whole numbers of rows: counts).",
        metavar="COLUMN",
        rare=True,
    )
    group: str | None = public(
        None,
        "text",
        "Column that says which rows belong together, such as those of a patient, and are not independent.",
        metavar="COLUMN",
        rare=True,
    )
    within_groups: Iterable[str] = public(
        (),
        "names",
        "Continuous columns of which only the difference to the mean of their group is looked at (or all).",
        metavar="A,B",
        rare=True,
    )
    join: Iterable[str] = public(
        (),
        "names",
        "Columns in which levels are joined that differ only in case, or all mean true or false (or all).",
        metavar="A,B",
        rare=True,
    )
    wanted: Collection[str] = frozenset()
    levels: Mapping[str, Collection[str]] = field(default_factory=dict)
    numbers: Collection[str] = frozenset()
    numbers_for: str = ""
    only: Collection[str] | None = None
    marks: str | None = None
    clock: Budget = field(default_factory=Budget, compare=False)
    check_width: Callable[[int], None] = welcome
    why_not_model: WhyNotModel | None = field(default=None, compare=False)
    imputes: bool = False
    constants: bool = True
    cuts: bool = True
    in_time: tuple[str, ...] = ()
    trends: bool = True
    separated_by: str = ""
    nominal: Collection[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.ordinal, Mapping):
            orders = ((name, as_names("ordinal", levels)) for name, levels in self.ordinal.items())
            listed = tuple(f"{name}: {LESS.join(levels)}" if levels else str(name) for name, levels in orders)
            object.__setattr__(self, "ordinal", listed)
        for name in (each for each, entry in READING.items() if entry.type == "names"):
            object.__setattr__(self, name, as_names(name, getattr(self, name)))
        policies = POLICIES if self.why_not_model is None else WITH_MODEL
        if self.missing not in policies:
            raise OptionError(option="missing", value=self.missing, must=f"be one of {', '.join(policies)}")
        if isinstance(self.na, Mapping):
            object.__setattr__(self, "na", {str(name): self.na[name] for name in self.na})
        elif not isinstance(self.na, str):
            object.__setattr__(self, "na", as_names("na", self.na))
        na_words(self.na)
        if self.weights is not None and self.counts is not None:
            raise OptionError(
                f"{option('counts')} and {option('weights')} both say how much a row counts: leave one out"
            )
        if self.within_groups and self.group is None:
            raise OptionError(f"{option('within_groups')} goes with {option('group')}")
        if self.has_design and self.why_not_model is not None:
            object.__setattr__(self, "why_not_model", never_with_design)
        if self.decimal not in (None, *READING["decimal"].choices):
            raise OptionError(option="decimal", value=self.decimal, must="be point or comma")
        if self.discretise is None and self.bins is not None:
            raise OptionError(f"{option('bins')} goes with {option('discretise')}")
        if self.discretise is not None:
            from dagora.data.columns.intervals import check_intervals

            check_intervals(self.discretise, self.bins or 2)

    def non_defaults(self) -> dict[str, Any]:
        """The options that are not at their default, as JSON holds them."""
        values = {name: getattr(self, name) for name in READING}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value != READING[name].default and (name, value) != ("missing", "auto")
        }

    @property
    def about_rows(self) -> dict[str, str]:
        """The columns that are no variables but say how rows count, by the options that name them.

        >>> ReadingOptions(counts="n").about_rows
        {'counts': 'n'}
        """
        named = {name: getattr(self, name) for name in ABOUT_ROWS}
        return {name: str(column) for name, column in named.items() if column is not None}

    @property
    def roles(self) -> dict[str, str]:
        """The columns among the others that are no variables, and the options that say so.

        >>> ReadingOptions(in_time=("day", "patient"), marks="drug").roles
        {'day': 'time', 'patient': 'series', 'drug': 'interventions'}
        """
        marked = {} if self.marks is None else {self.marks: "interventions"}
        return {**dict(zip(self.in_time, ("time", "series"), strict=False)), **marked}

    @property
    def has_design(self) -> bool:
        """Return True if rows have weights or belong to groups."""
        return self.weights is not None or self.group is not None

    @property
    def expects_holes(self) -> bool:
        """Return True if the user has said what to do with missing values."""
        return self.missing not in ("error", "auto")


class Purpose(TypedDict, total=False):
    """Fields of `ReadingOptions` that the reader of a table sets, not the user."""

    wanted: Collection[str]
    levels: Mapping[str, Collection[str]]
    numbers: Collection[str]
    numbers_for: str
    only: Collection[str] | None
    marks: str | None
    clock: Budget
    check_width: Callable[[int], None]
    why_not_model: WhyNotModel | None
    imputes: bool
    constants: bool
    cuts: bool
    in_time: tuple[str, ...]
    trends: bool
    separated_by: str
    nominal: Collection[str]


def as_names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a single string is one name, not a sequence of letters.

    >>> as_names("drop", "id"), as_names("drop", ["id", "name"])
    (('id',), ('id', 'name'))
    """
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(name if isinstance(name, str) else str(name) for name in names)
    except TypeError:
        raise OptionError(f"{option(what)} takes the names of columns, not {names!r}") from None


def said_order(text: str, names: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """The column that an entry of `ordinal` names, and the order of its levels, if that is said.

    >>> said_order("dose: low<high", ["dose"]), said_order("a: b", ["a: b"])
    (('dose', ('low', 'high')), ('a: b', ()))
    """
    name, _, order = text.partition(":")
    if text in names or not order:
        return text, ()
    levels = order.split(LESS if LESS in order else LESS.strip())
    return name.strip(), tuple(level.strip() for level in levels)


def split_reading(
    options: Mapping[str, Any],
    wanted: Collection[str] = frozenset(),
    numbers_for: str = "",
    only: Collection[str] | None = None,
    why_not_model: WhyNotModel | None = None,
    levels: Mapping[str, Collection[str]] | None = None,
    numbers: Collection[str] = frozenset(),
) -> tuple[ReadingOptions, dict[str, Any]]:
    """Separate reading options from others in the keyword arguments of a call.

    >>> split_reading({"missing": "drop", "ess": 10})[1]
    {'ess': 10}
    """
    reading = {name: value for name, value in options.items() if name in READING}
    read = ReadingOptions(
        **reading,
        wanted=wanted,
        levels=levels or {},
        numbers=numbers,
        numbers_for=numbers_for,
        only=only,
        why_not_model=why_not_model,
    )
    return read, {name: value for name, value in options.items() if name not in READING}


# The options that users know, by name.
READING = {
    entry.name: ReadingOption(entry.name, entry.default, **entry.metadata)
    for entry in fields(ReadingOptions)
    if entry.metadata
}


def select_options(names: Iterable[str] = (), missing: str | None = None) -> list[ReadingOption]:
    """Return the named reading options, or all; `missing` is a default where values can be modelled.

    >>> [o.name for o in select_options(["missing", "na"])], select_options(["missing"], "auto")[0].choices
    (['missing', 'na'], ('error', 'drop', 'level', 'model', 'auto'))
    """
    chosen = [entry for entry in READING.values() if not names or entry.name in names]
    if missing is None:
        return chosen
    modelled = replace(READING["missing"], default=missing, choices=WITH_MODEL, help=MODEL_HELP)
    return [modelled if entry.name == "missing" else entry for entry in chosen]


def takes_reading(*names: str, missing: str | None = None) -> Callable[[F], F]:
    """Give a function the reading options that `select_options` returns: in its signature and its docstring.

    The function gets them in its last parameter, `**reading` or, along with options of others, `**options`.
    Unknown names are refused unless others have options too. The line `{reading}` of the docstring becomes
    a description of each, and `{seed, jobs}` that of parameters which several functions share.

    >>> @takes_reading("drop", "na")
    ... def read(path, **reading):
    ...     return reading
    >>> inspect.signature(read), read("a.csv", na="none")
    (<Signature (path, *, drop: 'Iterable[str]' = (), na: 'str | ...' = 'auto')>, {'na': 'none'})
    """
    entries = select_options(names, missing)

    def give(function: F) -> F:
        signature = inspect.signature(function)
        *own, rest = signature.parameters.values()
        listed = [
            inspect.Parameter(
                entry.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=entry.default,
                annotation=ReadingOptions.__annotations__[entry.name],
            )
            for entry in entries
        ]
        others = [rest] if rest.name == "options" else []
        known = {each.name for each in (*own, *listed)}

        @wraps(function)
        def taking(*values: Any, **given: Any) -> Any:  # noqa: ANN401
            for name in () if others else given:
                if name not in known:
                    raise OptionError(f"{function.__name__} has no option '{name}'{alike(name, known)}")
            return function(*values, **given)

        taking.__signature__ = signature.replace(parameters=[*own, *listed, *others])  # type: ignore[attr-defined]
        reading = "\n".join(entry.describe() for entry in entries)
        taking.__doc__ = insert(function.__doc__ or "", {**SHARED, "reading": reading})
        return cast("F", taking)

    return give


def insert(document: str, texts: Mapping[str, str]) -> str:
    """Put texts, indented, in the place of the lines `{name}` or `{name, name}` of a docstring."""

    def fill(line: re.Match[str]) -> str:
        return indent("\n".join(texts[name] for name in line[2].split(", ")), line[1])

    return re.sub(r"^( *)\{(\w+(?:, \w+)*)\}$", fill, document, flags=re.MULTILINE)
