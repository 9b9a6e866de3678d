"""Options of methods and scores: declared once, checked in Python and on the command line alike."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from dagora.base.errors import OptionError, briefly
from dagora.base.phrases import nearest
from dagora.base.wording import option as worded

Value = int | float | bool | str | None
OptionType = Literal["int", "float", "bool", "text", "graph"]
T = TypeVar("T")

# Arguments of `learn` that are no options of a method.
OF_EVERY_METHOD = ("method", "score", "max_parents", "knowledge", "seed", "time_limit", "jobs", "missing")

# Whole numbers beyond 64 bits fit neither kernels nor a message: Python may refuse even to print them.
LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class Option:
    """A named option: its type, default, meaning and range.

    Those `choices` that are in `needs_rows` need the rows themselves; with those in `any_kind` a method takes
    columns of any kind. A `required` option must be given. In
    the place of a number one of `words` can stand. An option with `only_with` means nothing unless another
    option has one of these values: `("model", ("pc",))`. The text of one that
    `names_columns` lists them, with commas.

    >>> option = Option("restarts", "int", 0, "random restarts", low=0)
    >>> option.parse("3")
    3
    >>> option.check(-1)
    Traceback (most recent call last):
    dagora.OptionError: option 'restarts' must be at least 0, not -1
    """

    name: str
    type: OptionType
    default: Value
    summary: str
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    choices: tuple[str, ...] = ()
    needs_rows: tuple[str, ...] = ()
    any_kind: tuple[str, ...] = ()
    required: bool = False
    words: tuple[str, ...] = ()
    only_with: tuple[str, tuple[str, ...]] | None = None
    names_columns: bool = False

    def parse(self, text: str) -> Value:
        """Read a value as written on a command line; `none` stands for None where that is the default."""
        if self.default is None and text.lower() == "none":
            return None
        if text.lower() in self.words:
            return text.lower()
        try:
            if self.type == "int":
                return int(text)
            if self.type == "float":
                return float(text)
        except ValueError:
            raise self.refusal(f"takes {self.describe_type()}", text) from None
        if self.type == "bool":
            words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
            if text.lower() not in words:
                raise self.refusal("takes true or false", text)
            return words[text.lower()]
        return text

    def check(self, value: object) -> object:
        """Return a value of the declared type and range, or refuse it."""
        if value is None and self.default is None:
            return value
        if isinstance(value, str) and value in self.words:
            return value
        checked = self._check_type(value)
        if self.choices and checked not in self.choices:
            raise self.refusal(f"is one of {', '.join(self.choices)}", checked)
        if isinstance(checked, int | float) and not isinstance(checked, bool):
            if isinstance(checked, float) and math.isnan(checked):
                raise self.refusal("must be a number", checked)
            if self.low is not None and (checked < self.low or (self.open_low and checked == self.low)):
                bound = "larger than" if self.open_low else "at least"
                raise self.refusal(f"must be {bound} {self.low:g}", checked)
            if self.high is not None and checked > self.high:
                raise self.refusal(f"must be at most {self.high:g}", checked)
            if isinstance(checked, int) and abs(checked) > LARGEST_INTEGER:
                raise self.refusal("must be a whole number of at most 64 bits", checked)
            if isinstance(checked, float) and math.isinf(checked):
                raise self.refusal("must be a finite number", checked)
        return checked

    def _check_type(self, value: object) -> object:
        if self.type == "bool" and isinstance(value, bool):
            return value
        # Numpy's numbers count as numbers. An array has the same methods, but calling them fails.
        with contextlib.suppress(TypeError, OverflowError):
            if self.type == "int" and not isinstance(value, bool | str) and hasattr(value, "__index__"):
                return int(value.__index__())
            if self.type == "float" and not isinstance(value, bool | str) and hasattr(value, "__float__"):
                return float(value.__float__())
        if (self.type == "text" and isinstance(value, str)) or (
            self.type == "graph" and hasattr(value, "undirected")
        ):
            return value
        raise self.refusal(f"takes {self.describe_type()}", value)

    def refusal(self, rule: str, value: object) -> OptionError:
        """The error about a value that breaks a rule."""
        text = f"option '{self.name}' {rule}, not {briefly(value)}"
        return OptionError(text, option=self.name, value=value)

    @property
    def default_text(self) -> str:
        """The default as text."""
        return "none" if self.default is None else str(self.default)

    @property
    def meaning(self) -> str:
        """The meaning with the choices; a required option is mentioned, and the door writes its name."""
        choices = f" ({'|'.join(self.choices)})" if self.choices else ""
        required = f" (required: {worded(self.name)})" if self.required else ""
        other, values = self.only_with or ("", ())
        only = f" (only with {other}={'|'.join(values)})" if values else ""
        return self.summary + choices + required + only

    def describe_type(self) -> str:
        """The type in words."""
        names = {"int": "a whole number", "float": "a number", "bool": "true or false", "graph": "a graph"}
        return " or ".join((names.get(self.type, self.type), *self.words))


# The unit of every option `memory`, in bytes.
GIBIBYTE = 2**30
MEMORY = Option(
    "memory", "float", 4.0, "GiB of memory that tables and search states may take", low=0.0, open_low=True
)


def check_options(
    owner: str,
    known: Sequence[Option],
    given: Mapping[str, object],
    elsewhere: Callable[[str], str] = lambda _name: "",
) -> dict[str, object]:
    """Check given options and fill in the defaults; an error about an unknown name lists the known ones.

    `elsewhere` adds to that error who else has an option of that name.

    >>> check_options("it", [Option("truth", "graph", None, "the true graph", required=True)], {})
    Traceback (most recent call last):
    dagora.OptionError: it needs the option truth: the true graph
    """
    by_name = {option.name: option for option in known}
    for name in given:
        if name not in by_name:
            names = ", ".join(by_name) or "none"
            raise OptionError(
                f"{owner} has no option '{name}' (it has: {names}){elsewhere(name) or alike(name, by_name)}"
            )
    refuse_missing(owner, known, given)
    checked = {
        name: option.check(given[name]) if name in given else option.default
        for name, option in by_name.items()
    }
    refuse_meaningless(known, given)
    return checked


def alike(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown option: one that is spelt alike, also of those of every method.

    >>> alike("max_parent", ["restarts"]), alike("zebra", ["restarts"]), alike("max_parents", [])
    ("; did you mean 'max_parents'?", '', '')
    """
    near = nearest(name, [*known, *OF_EVERY_METHOD], likeness=0.75)
    return f"; did you mean '{near}'?" if near and near != name else ""


def refuse_missing(owner: str, known: Sequence[Option], given: Mapping[str, object]) -> None:
    """Refuse options that lack a required one; on the command line such an option has a flag of its own."""
    for option in known:
        if option.required and given.get(option.name) is None:
            raise OptionError(f"{owner} needs the option {worded(option.name)}: {option.summary}")


def refuse_meaningless(known: Sequence[Option], given: Mapping[str, object]) -> None:
    """Refuse options that are given beside values of others with which they mean nothing.

    >>> model = Option("model", "text", "linear", "what is fitted", choices=("linear", "pc"))
    >>> alpha = Option("alpha", "float", 0.01, "level of the tests", only_with=("model", ("pc",)))
    >>> refuse_meaningless([model, alpha], {"model": "pc", "alpha": 0.05})
    >>> refuse_meaningless([model, alpha], {"alpha": 0.05})
    Traceback (most recent call last):
    dagora.OptionError: option 'alpha' means nothing with model=linear: it goes with model=pc
    """
    defaults = {option.name: option.default for option in known}
    for option in known:
        if option.only_with is None or option.name not in given:
            continue
        other, values = option.only_with
        value = given.get(other, defaults[other])
        if value not in values:
            raise OptionError(
                f"option '{option.name}' means nothing with {other}={value}: it goes with "
                + " or ".join(f"{other}={each}" for each in values)
            )


def find(what: str, name: str, entries: Mapping[str, T]) -> T:
    """Look an entry up by name; the error about an unknown name suggests a similar one."""
    if isinstance(name, str) and name in entries:
        return entries[name]
    written = str(name).lower() if isinstance(name, str | list | tuple) else ""
    elsewhere = NAMES_ELSEWHERE.get(written)
    close = elsewhere if elsewhere in entries else nearest(written, entries)
    hint = f"did you mean '{close}'? " if close else ""
    raise OptionError(f"there is no {what} named {quote_name(name)}: {hint}known are {', '.join(entries)}")


def quote_name(name: object) -> str:
    """A name in quotes, or briefly what was given in its place.

    >>> quote_name("tabu"), quote_name(3.5)
    ("'tabu'", '3.5')
    """
    return f"'{name}'" if isinstance(name, str) else " ".join(briefly(name).split())


# What other libraries call methods and scores that have another name here.
NAMES_ELSEWHERE = {
    "hc": "hill-climb",
    "hillclimbsearch": "hill-climb",
    "greedy": "hill-climb",
    "fges": "ges",
    "grasp": "boss",
    "pc-stable": "pc",
    "pc.stable": "pc",
    "directlingam": "lingam",
    "icalingam": "ica-lingam",
    "gobnilp": "ilp",
    "bde": "bdeu",
    "bic-g": "bic-gaussian",
    "bic-cg": "bic-mixed",
    "mcmc": "partition",
}


def find_in_any_case(what: str, name: str, entries: Mapping[str, T]) -> T:
    """Look an entry up by name, in small or capital letters.

    >>> find_in_any_case("score", "BDeu", {"bdeu": 1, "k2": 2})
    1
    """
    small = str(name).lower()
    return find(what, small if small in entries else name, entries)
