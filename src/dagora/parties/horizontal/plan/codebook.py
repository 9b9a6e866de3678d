"""The codebook: the columns of a run and how every site writes them, agreed before any row is looked at.

A discrete column lists its levels, or the points at which numbers are cut into intervals. A continuous column
has a range. So no site shows a level or a number of its own: what the codebook lacks becomes the level
`other` where the codebook says so, and otherwise a refusal that only the site's owner reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np

from dagora.data.columns.intervals import interval_names
from dagora.data.columns.levels import IS_NUMBER, sort_levels
from dagora.data.schema import MAX_LEVELS, Kind, Schema, Variable
from dagora.data.table import Table
from dagora.errors import DisagreementError, FormatError
from dagora.wording import among

OTHER = "other"
MOST_COLUMNS = 10_000
LONGEST_TEXT = 500
LARGEST_NUMBER = 1e308
FIELDS = ("name", "levels", "other", "cuts", "range")


@dataclass(frozen=True, slots=True)
class Coding:
    """One column: `levels` (and whether the rest is `other`), or `cuts`, or the range from `low` to `high`.

    >>> Coding("smoker", levels=("no", "yes"), other=True).variable.levels
    ('no', 'yes', 'other')
    >>> Coding("age", cuts=(18.0, 65.0)).variable.levels
    ('(-inf, 18]', '(18, 65]', '(65, inf)')
    >>> Coding("dose", low=0.0, high=10.0).variable.kind
    <Kind.CONTINUOUS: 'continuous'>
    """

    name: str
    levels: tuple[str, ...] = ()
    other: bool = False
    cuts: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0

    @property
    def continuous(self) -> bool:
        """Whether the column stays numbers."""
        return not self.levels and not self.cuts

    @property
    def variable(self) -> Variable:
        """The column as the learner sees it."""
        if self.continuous:
            return Variable(self.name, Kind.CONTINUOUS)
        if self.cuts:
            return Variable(self.name, Kind.DISCRETE, interval_names(np.array(self.cuts)))
        more = (OTHER,) if self.other and OTHER not in self.levels else ()
        return Variable(self.name, Kind.DISCRETE, (*self.levels, *more))

    @property
    def centre(self) -> float:
        """The middle of the range."""
        return self.low / 2 + self.high / 2

    @property
    def half_width(self) -> float:
        """Half the width of the range."""
        return self.high / 2 - self.low / 2

    def to_dict(self) -> dict[str, Any]:
        """The column as JSON and TOML hold it."""
        if self.continuous:
            return {"name": self.name, "range": [self.low, self.high]}
        if self.cuts:
            return {"name": self.name, "cuts": list(self.cuts)}
        return {"name": self.name, "levels": list(self.levels), **({"other": True} if self.other else {})}

    @classmethod
    def from_dict(cls, content: object) -> Coding:
        """Read a column; every error names it.

        >>> Coding.from_dict({"name": "age", "range": [90, 0]})
        Traceback (most recent call last):
        dagora.errors.FormatError: column 'age': range must be two numbers, the smaller one first
        """
        if not isinstance(content, Mapping):
            raise FormatError("a column needs a name, and levels, cuts or a range")
        name = content.get("name")
        if not _is_text(name):
            raise FormatError("a column needs a name of printable text")
        for key in content:
            if key not in FIELDS:
                raise FormatError(f"column '{name}': there is no '{key}': {among(FIELDS)}")
        given = [key for key in ("levels", "cuts", "range") if key in content]
        if len(given) != 1:
            raise FormatError(f"column '{name}': give exactly one of levels, cuts and range")
        other = content.get("other", False)
        if not isinstance(other, bool) or (other and given != ["levels"]):
            raise FormatError(f"column '{name}': other is true or false, and goes with levels")
        if given == ["levels"]:
            return cls(str(name), levels=_levels(str(name), content["levels"]), other=other)
        if given == ["cuts"]:
            return cls(str(name), cuts=_cuts(str(name), content["cuts"]))
        low, high = _range(str(name), content["range"])
        return cls(str(name), low=low, high=high)


@dataclass(frozen=True)
class Codebook:
    """The columns of a run, in order.

    >>> book = Codebook((Coding("a", levels=("no", "yes")), Coding("x", low=-1.0, high=1.0)))
    >>> Codebook.from_list(book.to_list()) == book, book.schema.names
    (True, ('a', 'x'))
    """

    columns: tuple[Coding, ...]

    def __post_init__(self) -> None:
        if not self.columns:
            raise FormatError("a codebook needs at least one column")
        if len(self.columns) > MOST_COLUMNS:
            raise FormatError(f"a codebook has at most {MOST_COLUMNS} columns, not {len(self.columns)}")
        names = [coding.name for coding in self.columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise FormatError(f"the codebook names column '{twice}' twice")

    @cached_property
    def schema(self) -> Schema:
        """The columns as the learner sees them."""
        return Schema(coding.variable for coding in self.columns)

    @property
    def continuous(self) -> tuple[Coding, ...]:
        """The continuous columns."""
        return tuple(coding for coding in self.columns if coding.continuous)

    @cached_property
    def digest(self) -> str:
        """A name for exactly this codebook."""
        return sha256(json.dumps(self.to_list(), ensure_ascii=False).encode()).hexdigest()

    def __iter__(self) -> Iterator[Coding]:
        return iter(self.columns)

    def get(self, name: str) -> Coding | None:
        """The column of a name, if there is one."""
        return next((coding for coding in self.columns if coding.name == name), None)

    def to_list(self) -> list[dict[str, Any]]:
        """The columns as JSON and TOML hold them."""
        return [coding.to_dict() for coding in self.columns]

    @classmethod
    def from_list(cls, content: object) -> Codebook:
        """Read and check a list of columns."""
        if not isinstance(content, list):
            raise FormatError("a codebook is a list of columns")
        if len(content) > MOST_COLUMNS:
            raise FormatError(f"a codebook has at most {MOST_COLUMNS} columns, not {len(content)}")
        return cls(tuple(map(Coding.from_dict, content)))

    @classmethod
    def of_tables(cls, tables: Mapping[str, Table], *, margin: float = 0.0, rare: int = 0) -> Codebook:
        """A codebook that fits tables which one person may see, by the sites that have them.

        Discrete columns get all levels, without those in fewer than `rare` rows, which are `other`. Ranges
        reach from the smallest to the largest value, and further on both sides by `margin` of that width,
        rounded outwards to two digits.

        >>> table = Table.from_numpy([["no", 1.25], ["yes", 2.5]], names=["a", "x"])
        >>> [coding.to_dict() for coding in Codebook.of_tables({"north": table}, margin=0.1)]
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
                        f"'{lacking[0]}' is a column of {here} but not of {there}: "
                        "sites need the same columns"
                    )
        common = tuple(_common_coding(name, tables, margin) for name in names)
        book = cls(tuple(_without_rare(coding, tables, rare) for coding in common) if rare else common)
        return cls.from_list(book.to_list())  # names and levels that no plan can hold are refused here


def _common_coding(name: str, tables: Mapping[str, Table], margin: float) -> Coding:
    """The coding of a column that fits it at every site, or a line that says where they disagree."""
    described = {site: table.schema[table.schema.index(name)] for site, table in tables.items()}
    numbers = [site for site, variable in described.items() if variable.kind is Kind.CONTINUOUS]
    coded_as_numbers = {
        site: all(IS_NUMBER.fullmatch(level) for level in variable.levels)
        for site, variable in described.items()
        if variable.kind is Kind.DISCRETE
    }
    text = [site for site, numeric in coded_as_numbers.items() if not numeric]
    if text and numbers:
        raise DisagreementError(
            f"column '{name}' is text at {text[0]} and numbers at {numbers[0]}: the sites must write it alike"
        )
    numeric = [site for site, numeric in coded_as_numbers.items() if numeric and described[site].levels]
    if text and numeric:
        raise DisagreementError(
            f"column '{name}' has words as levels at {text[0]} and numbers at {numeric[0]}: "
            "the sites must write it alike"
        )
    if not numbers:
        declared = {variable.levels for variable in described.values()}
        # Sites with the same levels keep their order; otherwise the union is sorted.
        levels = min(declared) if len(declared) == 1 else sort_levels(x for some in declared for x in some)
        return Coding(name, levels=levels)
    low, high = math.inf, -math.inf
    for site, table in tables.items():
        position = table.schema.index(name)
        values = table.columns[position]
        if described[site].kind is Kind.DISCRETE:
            values = np.array([float(level) for level in described[site].levels])[values]
        if len(values):
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    return fitting_range(name, low, high, margin)


def _without_rare(coding: Coding, tables: Mapping[str, Table], rare: int) -> Coding:
    """The column with its rare levels under the name `other`; without them all, nothing would be left."""
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
    return replace(coding, levels=common or (OTHER,), other=True)


def fitting_range(name: str, low: float, high: float, margin: float = 0.0) -> Coding:
    """A continuous column whose range holds the numbers from `low` to `high`.

    >>> fitting_range("x", 3.0, 3.0).to_dict()
    {'name': 'x', 'range': [0.0, 6.0]}
    """
    if not low <= high:
        low = high = 0.0
    if low == high:
        step = max(1.0, abs(low))
        return Coding(name, low=low - step, high=high + step)
    if not margin:
        return Coding(name, low=low, high=high)
    more = (high - low) * margin
    unit = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    return Coding(
        name,
        low=float(f"{math.floor((low - more) / unit) * unit:.12g}"),
        high=float(f"{math.ceil((high + more) / unit) * unit:.12g}"),
    )


def cut_at(codebook: Codebook, edges: Mapping[str, Sequence[float]]) -> Codebook:
    """The codebook with some continuous columns cut into intervals.

    >>> cut_at(Codebook((Coding("x", low=0.0, high=9.0),)), {"x": [3.0]}).schema[0].levels
    ('(-inf, 3]', '(3, inf)')
    """
    return Codebook(
        tuple(
            replace(coding, cuts=tuple(edges[coding.name]), low=0.0, high=0.0)
            if coding.continuous and len(edges.get(coding.name, ()))
            else coding
            for coding in codebook
        )
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and value.isprintable()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def _levels(name: str, levels: object) -> tuple[str, ...]:
    if not isinstance(levels, list) or not levels or not all(map(_is_text, levels)):
        raise FormatError(f"column '{name}': levels must be a list of printable texts")
    if len(set(levels)) < len(levels):
        raise FormatError(f"column '{name}': a level is listed twice")
    if len(levels) > MAX_LEVELS:
        raise FormatError(f"column '{name}': at most {MAX_LEVELS} levels, not {len(levels)}")
    return tuple(levels)


def _cuts(name: str, cuts: object) -> tuple[float, ...]:
    if not isinstance(cuts, list) or not cuts or not all(map(_is_number, cuts)):
        raise FormatError(f"column '{name}': cuts must be a list of numbers")
    numbers = tuple(map(float, cuts))
    if any(a >= b for a, b in pairwise(numbers)) or len(numbers) >= MAX_LEVELS:
        raise FormatError(f"column '{name}': cuts must increase, and be fewer than {MAX_LEVELS}")
    return numbers


def _range(name: str, given: object) -> tuple[float, float]:
    if not isinstance(given, list) or len(given) != 2 or not all(map(_is_number, given)):
        raise FormatError(f"column '{name}': range must be two numbers, the smaller one first")
    low, high = map(float, given)
    if not low < high:
        raise FormatError(f"column '{name}': range must be two numbers, the smaller one first")
    return low, high
