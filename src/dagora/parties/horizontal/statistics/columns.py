"""Continuous columns at many sites: the number of rows, the centre of each column and its spread.

The coordinator sees only sums over all sites: the number of rows n, how many sites have values of which
binary order in a column (for the fixed point), the sums of the columns (for a global centre) and their sums
of squares about the centre. A site centres its rows on the mean of all sites (`global`), on its own mean
(`local`, as published for the linear case; with few rows per site it costs accuracy), or not at all (`none`).
It divides what it computes from them by the n of all sites together, so that the sites' losses add up to the
loss on pooled rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind
from dagora.errors import DataError
from dagora.parties.horizontal.session.federation import Federation, Question, Site
from dagora.parties.horizontal.statistics.agreement import agree
from dagora.parties.horizontal.statistics.moments import (
    ask_deviations,
    ask_means,
    ask_size_and_orders,
    column_vector,
    continuous_columns,
)
from dagora.parties.transport.messages import Value
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.data_warnings import check_learnable

Vector = NDArray[np.float64]

CENTRES = ("global", "local", "none")
# A standard deviation below this share of the largest value is rounding.
CONSTANT = 1e-14


@dataclass(frozen=True, eq=False)
class Columns:
    """What the coordinator knows: names, total number of rows, the centre, and the spread about it."""

    names: tuple[str, ...]
    n: int
    centre: str
    mean: Vector
    deviations: Vector

    def question(self) -> dict[str, Value]:
        """The part of a question from which each site prepares its rows."""
        return {"n": self.n, "centre": self.centre, "mean": self.mean}


def ask_columns(federation: Federation, owner: str, centre: str) -> Columns:
    """Agree with all sites on columns and their centre; `owner`, "the method admm", begins an error."""
    schema = agree(federation)
    for variable in schema:
        if variable.kind is not Kind.CONTINUOUS:
            raise DataError(
                f"{owner} needs continuous columns, but '{variable.name}' is discrete: "
                "declare it continuous if it is a number, or leave it out"
            )
    n, orders = ask_size_and_orders(federation)
    check_learnable(schema, n)
    mean = ask_means(federation, n, orders) if centre == "global" else np.zeros(len(schema))
    question: Question = {"centre": centre, "mean": mean}
    deviations = ask_deviations(federation, "squares-about-centre", question, n, orders)
    for variable, deviation, size in zip(schema, deviations, np.ldexp(1.0, orders), strict=True):
        # The unit is up to 2⁸ times the largest value.
        if deviation <= CONSTANT * size:
            where = " within every site: choose centre=global" if centre == "local" else ": leave it out"
            raise DataError(f"{owner} cannot learn about column '{variable.name}', it is constant{where}")
    with np.errstate(over="ignore"):
        refuse_unusable(schema.names, np.zeros_like(mean), np.square(deviations), owner)
    return Columns(schema.names, n, centre, mean, deviations)


def prepared_columns(site: Site, question: Question) -> Vector:
    """The site's columns, one per row, centred as `Columns.question` says."""
    columns = continuous_columns(site.table)
    if question["centre"] == "global":
        columns = columns - cast("Vector", question["mean"])[:, None]
    elif question["centre"] == "local" and columns.shape[1]:
        columns = columns - columns.mean(axis=1, keepdims=True)
    return columns


def squares_about_centre(site: Site, question: Question) -> Vector:
    """Task: sums of squares about the centre, in given units."""
    columns: Vector = prepared_columns(site, question) / column_vector(question, "unit")
    return np.asarray(np.square(columns).sum(axis=1))
