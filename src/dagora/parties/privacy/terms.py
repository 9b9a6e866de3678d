"""The terms of a release: the released sums, the noise of each site, and the guarantee.

Neighbours are tables that differ by one person, who has at most `rows_per_person` rows, anywhere. The promise
is (ε, δ)-differential privacy of the noisy sum, whatever else is known and whatever is done with the sum. It
holds even if `colluders` of the sites tell the others their noise: the noise of the rest is enough.

- `pairs`: the joint counts of all pairs of discrete columns. A row adds 1 to one cell of each of the
  k = d(d − 1)/2 tables, so Δ² = k.
- `table`: the joint counts of all discrete columns. A row adds 1 to one cell, so Δ² = 1.
- `moments`: the number of rows, sums and products of continuous columns (`moment_features`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Literal

from dagora.base.errors import DataError, OptionError
from dagora.base.options import Option, check_options
from dagora.data.schema import Kind, Schema
from dagora.parties.privacy.accounting import require_wide_noise, rho_of
from dagora.parties.privacy.moment_features import GRID, moment_sensitivity

Release = Literal["pairs", "table", "moments"]

OPTIONS = (
    Option("epsilon", "float", 1.0, "how much one person can change the odds of anything, as a power of e",
           low=0.001, high=100.0),
    Option("delta", "float", 1e-6, "probability that the promise may fail; far below 1 / rows",
           low=1e-15, high=1e-3),
    Option("colluders", "int", None, "sites that may tell others their noise (a third of the sites)", low=0),
    Option("rows_per_person", "int", 1, "most rows that one person can have", low=1, high=10_000),
    Option("row_bound", "float", None, "moments: largest sum of squares of a row, each value "
           "measured in half its column's range (columns / 6: right for ranges of 3 standard deviations "
           "either way)", low=0.0, open_low=True),
)  # fmt: skip
SHAPE = (
    Option("release", "text", "", "what is summed", choices=("pairs", "table", "moments"), required=True),
    Option("columns", "int", None, "number of columns", low=2, high=10_000, required=True),
    Option("sites", "int", None, "number of sites", low=1, high=10_000, required=True),
)
# Of the range's half-width: a standard deviation of 1/3, and room for rows of 1.5 times the usual size.
USUAL_SQUARE = Fraction(1, 6)
# Noise is made for a share less than all of ρ. The rest pays for sums of discrete Gaussians.
SHARE = 1 - Fraction(1, 10**6)
_WHAT = {"pairs": "pairs", "table": "a table"}
# Below these, results are more noise than structure (benchmarks/privacy.py).
ENOUGH = {"pairs": 5e4, "table": 0.0, "moments": 2e4}
# Standard deviations of the noise that no release has.
MUCH_NOISE = 50


@dataclass(frozen=True)
class PrivacyTerms:
    """All that the sites must agree on; `agree_on_terms` fills in what is usual.

    >>> terms = PrivacyTerms("pairs", columns=37, sites=3, epsilon=1.0, delta=1e-6, colluders=1)
    >>> round(terms.rho, 4), terms.sensitivity_squared, round(terms.sigma_site, 1)
    (0.0244, 666, 82.7)
    >>> PrivacyTerms.from_dict(terms.to_dict()) == terms
    True
    """

    release: Release
    columns: int
    sites: int
    epsilon: float
    delta: float
    colluders: int
    rows_per_person: int = 1
    row_bound: float | None = None

    def __post_init__(self) -> None:
        checked = check_options("the terms of privacy", (*SHAPE, *OPTIONS), asdict(self))
        if checked["colluders"] is None or self.colluders >= self.sites:
            raise OptionError(
                f"of {self.sites} sites at most {self.sites - 1} can collude, not {self.colluders}: "
                "one that is honest must be left to add the noise"
            )
        if self.release == "moments" and not (self.row_bound and self.row_bound <= self.columns):
            raise OptionError(
                f"the option 'row_bound' must be a number up to that of the columns ({self.columns}), "
                f"not {self.row_bound}"
            )
        if self.release != "moments" and self.row_bound is not None:
            raise OptionError(
                f"the option 'row_bound' belongs to moments, not to {_WHAT[self.release]}: leave it out"
            )
        require_wide_noise(self.sigma2_site)

    @property
    def rho(self) -> float:
        """The cost of the release in zCDP, rounded down to six digits from the ρ that implies (ε, δ)."""
        exact = rho_of(self.epsilon, self.delta)
        unit = 10.0 ** (math.floor(math.log10(exact)) - 5)
        return float(f"{math.floor(exact / unit) * unit:.6g}")

    @property
    def sensitivity_squared(self) -> int:
        """Δ²: by how much one person can move the sum, as the square of a Euclidean length."""
        if self.release == "table":
            one_row = 1
        elif self.release == "pairs":
            one_row = self.columns * (self.columns - 1) // 2
        else:
            one_row = moment_sensitivity(self.columns, Fraction(self.row_bound or 0)) ** 2
        return one_row * self.rows_per_person**2

    @property
    def sigma2_site(self) -> Fraction:
        """Variance of the noise that each site adds to each number of its part."""
        honest = self.sites - self.colluders
        exact = self.sensitivity_squared / (2 * Fraction(self.rho) * SHARE * honest)
        fine = 2**20  # a short fraction just above, so that sampling is quick
        return Fraction(math.ceil(exact * fine), fine) if exact < fine else Fraction(math.ceil(exact))

    @property
    def sigma_site(self) -> float:
        """Standard deviation of the noise that each site adds."""
        return math.sqrt(self.sigma2_site)

    @property
    def sum_variance(self) -> float:
        """Variance of the noise in each number of the sum over all sites."""
        return float(self.sites * self.sigma2_site)

    def ends(self, rows: int) -> tuple[float, float]:
        """The least and the most that a number of the sum over at most so many rows can be, with its noise.

        >>> [round(end) for end in PrivacyTerms("pairs", 3, 3, 1.0, 1e-6, 1).ends(1000)]
        [-481, 1481]
        """
        noise = MUCH_NOISE * math.sqrt(self.sum_variance)
        if self.release != "moments":
            return -noise, rows + noise
        most = rows * moment_sensitivity(self.columns, Fraction(self.row_bound or 0)) + noise
        return -most, most

    def describe(self) -> list[str]:
        """The terms in sentences.

        >>> for line in PrivacyTerms("pairs", 37, 3, 1.0, 1e-6, 1).describe():
        ...     print(line)
        noise for (ε = 1, δ = 1e-06)-differential privacy of one row, zCDP ρ = 0.02436
        noised once: the joint counts of all 666 pairs of 37 columns
        each of 3 sites adds noise of standard deviation 82.7 to each number; the promise holds if 1 colludes
        """
        whose = "one row" if self.rows_per_person == 1 else f"a person with up to {self.rows_per_person} rows"
        pairs = self.columns * (self.columns - 1) // 2
        what = f"the joint counts of all {pairs} pairs of {self.columns} columns"
        if self.release == "moments":
            what = f"the number of rows, the sums and the products of {self.columns} columns"
        elif self.release == "table":
            what = f"the joint counts of {self.columns} columns"
        size = self.sigma_site / (GRID if self.release == "moments" else 1)
        who = "each number gets noise" if self.sites == 1 else f"each of {self.sites} sites adds noise"
        each = "" if self.sites == 1 else " to each number"
        collude = f"; the promise holds if {self.colluders} " + (
            "colludes" if self.colluders == 1 else "collude"
        )
        promise = f"(ε = {self.epsilon:g}, δ = {self.delta:g})-differential privacy of {whose}"
        return [
            f"noise for {promise}, zCDP ρ = {self.rho:.4g}",
            f"noised once: {what}",
            f"{who} of standard deviation {size:.3g}{each}{collude if self.colluders else ''}",
        ]

    def warnings(self, rows: float) -> list[str]:
        """Warnings for this number of rows."""
        found = []
        enough = ENOUGH[self.release]
        if rows * self.epsilon < enough * self.rows_per_person:
            found.append(
                f"the noise for ε = {self.epsilon:g} is large for {rows:.0f} rows: expect many wrong or "
                f"missing edges; rows × ε should be {enough * self.rows_per_person:g} or more"
            )
        if self.delta * rows > 0.1:
            found.append(f"δ = {self.delta:g} is large for {rows:.0f} rows: choose one far below 1 / rows")
        return found

    def to_dict(self) -> dict[str, str | int | float | None]:
        """JSON form, for the plan; the same terms always give the same."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, content: object) -> PrivacyTerms:
        """Read the JSON form; anything that is missing, unknown or out of range is refused by name."""
        if not isinstance(content, Mapping):
            raise OptionError(f"the terms of privacy are a JSON object, not {content!r:.40}")
        for field in fields(cls):
            if field.name not in content:
                raise OptionError(f"the terms of privacy lack '{field.name}'")
        checked = check_options("the terms of privacy", (*SHAPE, *OPTIONS), content)
        return cls(**checked)  # type: ignore[arg-type]  # checked just above


def agree_on_terms(schema: Schema, sites: int, joint: bool = False, /, **options: object) -> PrivacyTerms:
    """Terms for columns and sites, with what is usual where nothing is said (`OPTIONS`).

    With `joint`, the joint table of discrete columns is released, and not that of each pair.

    >>> from dagora.data.schema import Variable
    >>> schema = Schema([Variable(name, Kind.CONTINUOUS) for name in "abcdef"])
    >>> agree_on_terms(schema, 5, epsilon=2.0)
    PrivacyTerms(release='moments', columns=6, sites=5, epsilon=2.0, delta=1e-06, colluders=1, \
rows_per_person=1, row_bound=1.0)
    """
    checked = check_options("privacy", OPTIONS, options)
    counts: Release = "table" if joint else "pairs"
    release: Release = counts if schema.kinds == {Kind.DISCRETE} else "moments"
    require_kind(schema, release)
    if checked["colluders"] is None:
        checked["colluders"] = sites // 3
    if checked["row_bound"] is None and release == "moments":
        checked["row_bound"] = float(len(schema) * USUAL_SQUARE)
    return PrivacyTerms(release, len(schema), sites, **checked)  # type: ignore[arg-type]  # checked above


def parse_options(text: str) -> dict[str, object]:
    """Read options as written on a command line.

    >>> parse_options("epsilon=0.5,rows_per_person=3")
    {'epsilon': 0.5, 'rows_per_person': 3}
    >>> parse_options("epsilom=1")
    Traceback (most recent call last):
    dagora.OptionError: privacy has no option 'epsilom' (it has: epsilon, delta, colluders, \
rows_per_person, row_bound); did you mean 'epsilon'?
    """
    known = {option.name: option for option in OPTIONS}
    found: dict[str, object] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise OptionError(f"privacy takes options such as epsilon=1, not '{part}'")
        if name in found:
            raise OptionError(f"privacy has the option '{name}' twice: write it once")
        found[name] = known[name].parse(value) if name in known else value
    check_options("privacy", OPTIONS, found)
    return found


def require_kind(schema: Schema, release: Release) -> None:
    """Refuse columns that a release cannot hold."""
    wanted = Kind.CONTINUOUS if release == "moments" else Kind.DISCRETE
    if len(schema) < 2:
        raise DataError(f"there is {len(schema)} column, a network needs 2")
    for variable in schema:
        if variable.kind is not wanted:
            raise DataError(
                f"with privacy the columns are all discrete or all continuous, and '{variable.name}' is "
                f"{variable.kind} beside {wanted} ones: discretise the numbers, or leave columns out"
            )
