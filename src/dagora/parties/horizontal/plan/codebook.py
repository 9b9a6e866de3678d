"""The codebook: the columns of a run and how every site writes them, agreed before any row is looked at.

A discrete column lists its levels, or the points at which numbers are cut into intervals; levels that are
`ordered` stand from the least to the most. A continuous column has a range, or a grid of quantiles by which
its ranks are taken. So no site shows a level or a value of its own: a level that the codebook lacks becomes
the level `other` where the codebook says so, and otherwise a refusal that only the site's owner reads. Where
rows have weights, the codebook has the largest of them, in the unit that all sites use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import FormatError
from dagora.base.phrases import among, find_repeated
from dagora.base.wording import option
from dagora.data.columns.intervals import interval_names
from dagora.data.schema import MAX_LEVELS, Kind, Schema, Variable

OTHER = "other"
FEWEST_POINTS = 3  # of a grid of quantiles
MOST_COLUMNS = 10_000  # bounds what the plan of a coordinator makes a site hold
LONGEST_TEXT = 500  # characters of a name or level
LARGEST_NUMBER = 1e308  # the largest double is 1.8e308
FIELDS = ("name", "levels", "other", "ordered", "cuts", "range", "grid")


@dataclass(frozen=True, slots=True)
class ColumnCoding:
    """One column: `levels` (with `other` for the remaining ones), or `cuts`, or a range from `low` to `high`.

    `ordered` says that the order of the levels means something; so it cannot go with `other`. A continuous
    column with a `grid` of quantiles, evenly spaced in probability, is taken by its ranks among them.

    >>> ColumnCoding("smoker", levels=("no", "yes"), other=True).variable.levels
    ('no', 'yes', 'other')
    >>> ColumnCoding("age", cuts=(18.0, 65.0)).variable.levels
    ('(-inf, 18]', '(18, 65]', '(65, inf)')
    >>> ColumnCoding("dose", low=0.0, high=10.0).variable.kind
    <Kind.CONTINUOUS: 'continuous'>
    """

    name: str
    levels: tuple[str, ...] = ()
    other: bool = False
    ordered: bool = False
    cuts: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    grid: tuple[float, ...] = ()

    @property
    def continuous(self) -> bool:
        """Return True if the column is continuous: it has neither levels nor cuts."""
        return not self.levels and not self.cuts

    @property
    def variable(self) -> Variable:
        """The column as the learner sees it."""
        if self.continuous:
            return Variable(self.name, Kind.CONTINUOUS)
        if self.cuts:
            return Variable(self.name, Kind.DISCRETE, interval_names(np.array(self.cuts)))
        more = (OTHER,) if self.other and OTHER not in self.levels else ()
        return Variable(self.name, Kind.DISCRETE, (*self.levels, *more), self.ordered)

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
        if self.grid:
            return {"name": self.name, "grid": list(self.grid)}
        if self.continuous:
            return {"name": self.name, "range": [self.low, self.high]}
        if self.cuts:
            return {"name": self.name, "cuts": list(self.cuts)}
        said = {key: True for key in ("other", "ordered") if getattr(self, key)}
        return {"name": self.name, "levels": list(self.levels), **said}

    @classmethod
    def from_dict(cls, content: object) -> ColumnCoding:
        """Read a column; every error names it.

        >>> ColumnCoding.from_dict({"name": "age", "range": [90, 0]})
        Traceback (most recent call last):
        dagora.FormatError: column 'age': range must be two numbers, the smaller one first
        """
        if not isinstance(content, Mapping):
            raise FormatError("a column needs a name, and levels, cuts or a range")
        name = content.get("name")
        if not _is_text(name):
            raise FormatError("a column needs a name of printable text")
        for key in content:
            if key not in FIELDS:
                raise FormatError(f"column '{name}': there is no '{key}': {among(FIELDS)}")
        given = [key for key in ("levels", "cuts", "range", "grid") if key in content]
        if len(given) != 1:
            raise FormatError(f"column '{name}': give exactly one of levels, cuts, range and grid")
        said = {key: content.get(key, False) for key in ("other", "ordered")}
        for key, value in said.items():
            if not isinstance(value, bool) or (value and given != ["levels"]):
                raise FormatError(f"column '{name}': {key} is true or false, and goes with levels")
        if all(said.values()):
            raise FormatError(f"column '{name}': the level other has no place in an order: leave one out")
        if given == ["levels"]:
            return cls(str(name), levels=_levels(str(name), content["levels"]), **said)
        if given == ["cuts"]:
            return cls(str(name), cuts=_cuts(str(name), content["cuts"]))
        if given == ["grid"]:
            return ranked_coding(str(name), content["grid"])
        low, high = _range(str(name), content["range"])
        return cls(str(name), low=low, high=high)


@dataclass(frozen=True)
class Codebook:
    """The columns of a run, in order; `largest_weight` is 0 where all rows count alike.

    >>> book = Codebook((ColumnCoding("a", levels=("no", "yes")), ColumnCoding("x", low=-1.0, high=1.0)))
    >>> Codebook.from_list(book.to_list()) == book, book.schema.names
    (True, ('a', 'x'))
    """

    columns: tuple[ColumnCoding, ...]
    largest_weight: float = 0.0

    def __post_init__(self) -> None:
        if not self.columns:
            raise FormatError("a codebook needs at least one column")
        if len(self.columns) > MOST_COLUMNS:
            raise FormatError(f"a codebook has at most {MOST_COLUMNS} columns, not {len(self.columns)}")
        if (twice := find_repeated(coding.name for coding in self.columns)) is not None:
            raise FormatError(f"the codebook names column '{twice}' twice")

    @cached_property
    def schema(self) -> Schema:
        """The columns as the learner sees them."""
        return Schema(coding.variable for coding in self.columns)

    @property
    def continuous(self) -> tuple[ColumnCoding, ...]:
        """The continuous columns."""
        return tuple(coding for coding in self.columns if coding.continuous)

    @cached_property
    def digest(self) -> str:
        """A name for exactly this codebook."""
        weighing = [{"largest_weight": self.largest_weight}] if self.largest_weight else []
        return sha256(json.dumps([*self.to_list(), *weighing], ensure_ascii=False).encode()).hexdigest()

    def __iter__(self) -> Iterator[ColumnCoding]:
        return iter(self.columns)

    @property
    def ranked(self) -> tuple[str, ...]:
        """The columns that are taken by their ranks."""
        return tuple(coding.name for coding in self.columns if coding.grid)

    def refuse_ranks(self, what: str) -> None:
        """Refuse columns that are taken by their ranks."""
        if self.ranked:
            raise FormatError(
                f"{what} takes columns in their own units, and the codebook takes '{self.ranked[0]}' by its "
                f"ranks: agree on a range in place of the grid ({option('ranks')} makes grids)"
            )

    def get(self, name: str) -> ColumnCoding | None:
        """The column of a name, if there is one."""
        return next((coding for coding in self.columns if coding.name == name), None)

    def to_list(self) -> list[dict[str, Any]]:
        """The columns as JSON and TOML hold them."""
        return [coding.to_dict() for coding in self.columns]

    @classmethod
    def from_list(cls, content: object, largest_weight: object = 0.0) -> Codebook:
        """Read and check a list of columns, and the largest weight."""
        if not isinstance(content, list):
            raise FormatError("a codebook is a list of columns")
        if len(content) > MOST_COLUMNS:
            raise FormatError(f"a codebook has at most {MOST_COLUMNS} columns, not {len(content)}")
        if not _is_number(largest_weight) or largest_weight < 0:  # type: ignore[operator]
            raise FormatError("largest_weight must be a number, 0 or more")
        return cls(tuple(map(ColumnCoding.from_dict, content)), float(largest_weight))  # type: ignore[arg-type]


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


def ranked_coding(name: str, grid: object) -> ColumnCoding:
    """A column that is taken by its ranks among quantiles.

    >>> ranked_coding("x", [1.0, 4.0, 4.0]).high.__round__(2)
    1.15
    """
    if not isinstance(grid, list | tuple) or len(grid) < FEWEST_POINTS or not all(map(_is_number, grid)):
        raise FormatError(f"column '{name}': grid must be a list of at least {FEWEST_POINTS} numbers")
    points = tuple(map(float, grid))
    if any(a > b for a, b in pairwise(points)) or points[0] == points[-1] or len(points) > MAX_LEVELS:
        raise FormatError(
            f"column '{name}': a grid must rise, with at most {MAX_LEVELS} numbers (where nearly all values "
            "are the same, there are no ranks to take)"
        )
    bound = float(scores_on_grid(np.array([np.inf]), points)[0])
    return ColumnCoding(name, low=-bound, high=bound, grid=points)


def scores_on_grid(values: NDArray[np.float64], grid: Sequence[float]) -> NDArray[np.float64]:
    """Normal scores of numbers by their places on a grid of quantiles; between two, along a line.

    On a grid of all values these are the normal scores of their ranks (`normal_scores`). Beyond its ends a
    number is half a place outside.

    >>> scores_on_grid(np.array([0.0, 1.0, 2.5, 4.0]), (1.0, 4.0, 4.0)).round(2).tolist()
    [-1.15, -0.67, -0.32, 0.32]
    """
    from scipy.special import ndtri

    points, number = np.array(grid), len(grid)
    before, upto = (np.searchsorted(points, values, side) for side in ("left", "right"))
    low, high = (points[np.clip(place, 0, number - 1)] for place in (before - 1, before))
    with np.errstate(all="ignore"):
        between = np.where(high > low, (values - low) / (high - low), 0.0)
    places = np.where(upto > before, (before + 1 + upto) / 2, before + between)
    places = np.where(upto == 0, 0.5, np.where(before == number, number + 0.5, places))
    return np.asarray(ndtri(places / (number + 1)))


def _range(name: str, given: object) -> tuple[float, float]:
    if not isinstance(given, list) or len(given) != 2 or not all(map(_is_number, given)):
        raise FormatError(f"column '{name}': range must be two numbers, the smaller one first")
    low, high = map(float, given)
    if not low < high:
        raise FormatError(f"column '{name}': range must be two numbers, the smaller one first")
    return low, high
