"""The contrast of an effect: x set to one value instead of another, and the mean or event of y.

Of a continuous y it is the mean, of a discrete one the probability of a level, the event. The scales of an
event are the difference of the two probabilities, their ratio, and the ratio of their odds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.phrases import among
from dagora.base.wording import option
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.network.inference.question import find_number

Array = NDArray[np.float64]
Value = str | float
Levels = Sequence[Value] | Mapping[str, Sequence[Value]]

SCALES = ("difference", "ratio", "odds ratio")


@dataclass(frozen=True)
class EffectContrast:
    """Every variable of `x` is set to its entry of `to` instead of that of `base`."""

    x: tuple[str, ...]
    y: str
    to: tuple[Value, ...]
    base: tuple[Value, ...]
    event: str | None = None  # the level of y that is looked at; None: y is continuous
    given: Mapping[str, str] = field(default_factory=dict)
    per_unit: bool = False  # no values were named: x is one unit larger

    @property
    def outcome(self) -> str:
        """The mean or the probability of y that is compared, in words."""
        return f"the mean of {self.y}" if self.event is None else f"P({self.y}={self.event})"

    @property
    def scales(self) -> tuple[str, ...]:
        """The scales on which the effect is told."""
        return SCALES[:1] if self.event is None else SCALES

    def setting(self, values: Sequence[Value], *, levels_only: bool = False) -> str:
        """The values of x in words; with `levels_only`, those of its discrete variables.

        >>> EffectContrast(("drug", "dose"), "death", ("yes", 2.0), ("no", 1.0)).setting(("yes", 2.0))
        'drug=yes and dose=2'
        """
        told = [(a, b) for a, b in zip(self.x, values, strict=True) if isinstance(b, str) or not levels_only]
        return " and ".join(f"{name}={value_text(value)}" for name, value in told)

    def compare(self, means: Array) -> Array:
        """Compare what follows from both values, `[value, …]`, on every scale, `[…, scale]`."""
        return np.stack([compare_means(means[0], means[1], scale) for scale in self.scales], axis=-1)

    def to_text(self) -> str:
        """The contrast in words.

        >>> EffectContrast(("drug",), "death", ("yes",), ("no",), "yes", {"sex": "f"}).to_text()
        'drug=yes instead of no, on P(death=yes), given sex=f'
        """
        parts = [
            f"{name} one unit larger"
            if self.per_unit
            else f"{name}={value_text(to)} instead of {value_text(base)}"
            for name, to, base in zip(self.x, self.to, self.base, strict=True)
        ]
        given = ", given " + ", ".join(f"{a}={b}" for a, b in self.given.items()) if self.given else ""
        return f"{' and '.join(parts)}, on {self.outcome}{given}"

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "x": list(self.x),
            "y": self.y,
            "to": list(self.to),
            "base": list(self.base),
            "event": self.event,
            "given": dict(self.given),
            "per_unit": self.per_unit,
        }


def value_text(value: Value) -> str:
    """A level as it is, a number with the digits that matter."""
    return value if isinstance(value, str) else f"{value:.6g}"


def level_code(schema: Schema, name: str, level: Value) -> int:
    """The place of a level among those of its column."""
    return schema[schema.index(name)].levels.index(str(level))


def level_codes(schema: Schema, names: Sequence[str], levels: Sequence[Value]) -> dict[str, int]:
    """The place of a level of each column."""
    return {name: level_code(schema, name, level) for name, level in zip(names, levels, strict=True)}


def compare_means(to: Array, base: Array, scale: str) -> Array:
    """Compare two probabilities, or means, on a scale.

    >>> [float(compare_means(np.array(0.5), np.array(0.2), scale).round(3)) for scale in SCALES]
    [0.3, 2.5, 4.0]
    """
    if scale == "difference":
        return np.asarray(to - base)
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale == "ratio":
            return np.asarray(to / base)
        return np.asarray(to / (1 - to) / (base / (1 - base)))


def read_contrast(
    table: Table,
    x: str | Iterable[str],
    y: str,
    levels: Levels | None = None,
    event: Value | None = None,
    given: Mapping[str, Value] | None = None,
    *,
    linear: bool = True,
) -> EffectContrast:
    """Find what a question compares; what is not said is chosen where there is one plain choice.

    A unit of x has one effect where that is `linear`, on the mean of y.

    >>> table = Table.from_numpy([["no", "0"], ["yes", "1"]], names=["drug", "death"])
    >>> read_contrast(table, "drug", "death").to_text()
    'drug=yes instead of no, on P(death=1)'
    """
    names = tuple(dict.fromkeys(read_names(x)))
    read_names(y)
    if not names:
        raise OptionError("an effect needs at least one variable that is set")
    if event is None and y not in table.names and "=" in y:
        y, event = name_and_level(y, table.names)
    causes = [table.schema[table.schema.index(name)] for name in names]
    outcome = table.schema[table.schema.index(y)]
    if y in names:
        raise OptionError(f"'{y}' cannot be both set and the outcome")
    looked_at = find_event(outcome, event)
    by_name = levels_by_name(names, levels)
    linear = linear and looked_at is None
    pairs = [find_pair(table, one, by_name.get(one.name), linear=linear) for one in causes]
    conditions = {
        name: find_condition(table, name, level, (*names, y)) for name, level in (given or {}).items()
    }
    numbers = all(variable.kind is Kind.CONTINUOUS for variable in causes)
    per_unit = numbers and not by_name and linear
    to, base = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    if to == base:
        raise OptionError(f"'{names[0]}' is compared with itself: {option('levels')} takes two that differ")
    return EffectContrast(names, y, to, base, looked_at, conditions, per_unit)


def read_names(names: object) -> tuple[str, ...]:
    """One name or several, as a tuple; what is no text is refused.

    >>> read_names("dose"), read_names(["dose", "age"])
    (('dose',), ('dose', 'age'))
    """
    found = (names,) if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    strange = [name for name in found if not isinstance(name, str)]
    if strange:
        raise OptionError(f"a variable is named by a text, not {strange[0]!r}")
    return tuple(name for name in found if isinstance(name, str))


def name_and_level(text: str, names: Collection[str]) -> tuple[str, str]:
    """A name and a level with = between them, which both may have, too: the longest name there is counts.

    >>> name_and_level("a=b=u", ["a=b", "a"]), name_and_level("stage=3=late", ["stage"])
    (('a=b', 'u'), ('stage', '3=late'))
    """
    for place in range(len(text) - 1, 0, -1):
        if text[place] == "=" and text[:place] in names:
            return text[:place], text[place + 1 :]
    name, _, level = text.partition("=")
    return name, level


def levels_by_name(names: Sequence[str], levels: Levels | None) -> dict[str, Sequence[Value]]:
    """The two values of each variable, as far as they were given."""
    if levels is None:
        return {}
    if isinstance(levels, Mapping):
        unknown = [name for name in levels if name not in names]
        if unknown:
            raise OptionError(f"{option('levels')} names '{unknown[0]}', which is not set: {among(names)}")
        found = dict(levels)
    elif len(names) == 1:
        found = {names[0]: levels}
    else:
        raise OptionError(f"{len(names)} variables are set: give {option('levels')} for each by its name")
    for name, pair in found.items():
        if isinstance(pair, str) or len(pair) != 2:
            raise OptionError(
                f"{option('levels')} takes two values of '{name}': the one to set, and instead of which"
            )
    return found


def find_event(outcome: Variable, event: Value | None) -> str | None:
    """The level of the outcome that is looked at; None where the outcome is continuous."""
    if outcome.kind is Kind.CONTINUOUS:
        if event is not None:
            raise OptionError(
                f"'{outcome.name}' is continuous: its mean is looked at, so leave the event out"
            )
        return None
    if event is not None:
        return find_level(outcome, event)
    if outcome.cardinality < 2:
        raise OptionError(f"'{outcome.name}' has the same level in all rows: nothing can change it")
    if outcome.cardinality == 2:
        return outcome.levels[1]
    raise OptionError(
        f"'{outcome.name}' has {outcome.cardinality} levels: say which counts "
        f"({option('event', outcome.levels[-1])}); {among(outcome.levels)}"
    )


def find_level(variable: Variable, level: Value) -> str:
    """A level of a discrete variable by its name."""
    name = value_text(level) if isinstance(level, float) and not level.is_integer() else str(level)
    name = name.removesuffix(".0") if isinstance(level, float) else name
    if name not in variable.levels:
        raise OptionError(f"'{variable.name}' has no level '{name}': {among(variable.levels)}")
    return name


def find_pair(
    table: Table, variable: Variable, given: Sequence[Value] | None, *, linear: bool
) -> tuple[Value, Value]:
    """The two values of a variable that are compared."""
    to: Value
    base: Value
    if variable.kind is Kind.DISCRETE:
        if given is not None:
            to, base = (find_level(variable, level) for level in given)
        elif variable.cardinality == 2:
            base, to = variable.levels
        elif variable.cardinality < 2:
            raise OptionError(f"'{variable.name}' has the same level in all rows: no two can be compared")
        else:
            raise OptionError(
                f"'{variable.name}' has {variable.cardinality} levels: say which two to compare "
                f"({option('levels')}); {among(variable.levels)}"
            )
    elif given is not None:
        to, base = (read_number(variable, value) for value in given)
    elif linear:
        return 1.0, 0.0
    elif not table.n_rows:
        raise OptionError(f"say which two values of '{variable.name}' to compare ({option('levels')})")
    else:  # a unit has no one effect
        quartiles = np.quantile(table.values(table.schema.index(variable.name)), (0.75, 0.25))
        to, base = (float(f"{quartile:.4g}") for quartile in quartiles)
        if to == base:
            raise OptionError(
                f"the quartiles of '{variable.name}' are equal: say which two values to compare "
                f"({option('levels')})"
            )
    return to, base


def read_number(variable: Variable, value: Value) -> float:
    """A value of a continuous variable."""
    number = find_number(value)
    if number is None:
        raise OptionError(f"'{variable.name}' is continuous: '{value}' is no value of it")
    return number


def find_condition(table: Table, name: str, level: Value, taken: Sequence[str]) -> str:
    """The level of a variable that the effect is given."""
    variable = table.schema[table.schema.index(name)]
    if name in taken:
        raise OptionError(f"'{name}' cannot be given: it is set, or the outcome")
    if variable.kind is Kind.CONTINUOUS:
        raise OptionError(f"'{name}' is continuous: an effect is given levels, so make it discrete")
    return find_level(variable, level)
