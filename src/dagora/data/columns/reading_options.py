"""What a user may say about how a table is to be understood: types, missing cells, columns left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

from dagora.base.errors import OptionError
from dagora.base.events import Budget
from dagora.base.wording import option
from dagora.data.columns.intervals import check_intervals
from dagora.data.columns.missing import missing_words
from dagora.data.schema import Kind

POLICIES = ("error", "drop", "level")
# Where missing cells can be modelled; `auto` does so if method and score can, and else refuses them.
WITH_MODEL = (*POLICIES, "model", "auto")


class Listed(str):
    """A name, or several with commas between them, as written on a command line."""

    __slots__ = ()


# Says of columns of some kinds why their missing cells cannot be modelled; nothing where they can.
WhyNotModel = Callable[[frozenset[Kind]], str]


def always(kinds: frozenset[Kind]) -> str:  # noqa: ARG001 (a `WhyNotModel`)
    """Allow missing cells to be modelled, whatever the columns."""
    return ""


def welcome(columns: int) -> None:
    """Take any number of columns."""


@dataclass(frozen=True)
class ReadingOptions:
    """How to understand columns and cells.

    `wanted` are columns that stay even if they look like an identifier. `levels` are levels known from
    elsewhere, which are never taken for a missing cell, `numbers` columns that are known to be numbers, where
    the user does not say otherwise. `numbers_for` names what the table is read for, if
    that takes numbers only: then codes are numbers, too. `only` are the columns to look at (None: all).
    `marks` is a column that says which variables were set in a row: it is discrete, and an empty cell of it
    is a level. `clock` is the time that reading may take, too. `check_width` is told the number of columns
    before any is read, and may refuse it. `why_not_model` says whether missing cells can be modelled (None:
    never). `constants` says whether a number that never changes is kept,
    `cuts` whether to advise cutting columns into intervals: not where `discretise` cannot be asked for.
    `in_time` says that rows follow each other in time, so that none can be left out.

    >>> ReadingOptions(discrete="age", missing="drop").stated()
    {'discrete': ['age'], 'missing': 'drop'}
    """

    discrete: Iterable[str] = ()
    continuous: Iterable[str] = ()
    drop: Iterable[str] = ()
    missing: str = "error"
    na: str | Iterable[str] = "auto"
    discretise: str | None = None
    bins: int | None = None
    separator: str | None = None
    wanted: Collection[str] = frozenset()
    levels: Mapping[str, Collection[str]] = field(default_factory=dict)
    numbers: Collection[str] = frozenset()
    numbers_for: str = ""
    only: Collection[str] | None = None
    marks: str | None = None
    clock: Budget = field(default_factory=Budget, compare=False)
    check_width: Callable[[int], None] = welcome
    why_not_model: WhyNotModel | None = field(default=None, compare=False)
    constants: bool = True
    cuts: bool = True
    in_time: bool = False

    def __post_init__(self) -> None:
        for name in ("discrete", "continuous", "drop"):
            object.__setattr__(self, name, as_names(name, getattr(self, name)))
        policies = POLICIES if self.why_not_model is None else WITH_MODEL
        if self.missing not in policies:
            raise OptionError(f"missing must be one of {', '.join(policies)}, not '{self.missing}'")
        if not isinstance(self.na, str):
            object.__setattr__(self, "na", as_names("na", self.na))
        missing_words(self.na)
        if self.discretise is None and self.bins is not None:
            raise OptionError(f"{option('bins')} goes with {option('discretise')}")
        if self.discretise is not None:
            check_intervals(self.discretise, self.bins or 2)

    def stated(self) -> dict[str, Any]:
        """The options that are not at their default, as JSON holds them."""
        said = {name: getattr(self, name) for name in PUBLIC}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in said.items()
            if value != PUBLIC[name] and (name, value) != ("missing", "auto")
        }

    @property
    def expects_holes(self) -> bool:
        """Whether the user has said what to do with missing cells."""
        return self.missing not in ("error", "auto")


class Purpose(TypedDict, total=False):
    """What the reader of a table says besides the user: fields of `ReadingOptions`."""

    wanted: Collection[str]
    levels: Mapping[str, Collection[str]]
    numbers: Collection[str]
    numbers_for: str
    only: Collection[str] | None
    marks: str | None
    clock: Budget
    check_width: Callable[[int], None]
    why_not_model: WhyNotModel | None
    constants: bool
    cuts: bool
    in_time: bool


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
        raise OptionError(f"{what} takes the names of columns, not {names!r}") from None


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
    reading = {name: value for name, value in options.items() if name in PUBLIC}
    read = ReadingOptions(
        **reading,
        wanted=wanted,
        levels=levels or {},
        numbers=numbers,
        numbers_for=numbers_for,
        only=only,
        why_not_model=why_not_model,
    )
    return read, {name: value for name, value in options.items() if name not in PUBLIC}


# The options that a user knows, with their defaults.
PUBLIC: dict[str, Any] = {
    entry.name: entry.default for entry in fields(ReadingOptions) if entry.name not in Purpose.__annotations__
}
