"""Continuous columns at many sites: the number of rows, the centre of each column and its spread.

The number of rows n, the means and the spread come from the moments of all rows. A site centres its rows on
the mean of all sites (`global`), on its own mean (`local`, as published for the linear case; with few rows
per site it costs accuracy), or not at all (`none`). For `local` each site shows the sums of its squares about
its own means. A site divides its loss by the n of all sites together, so that the sum of the sites' losses is
the loss on pooled rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.parties.horizontal.learners.checked_fields import (
    MOST_ROWS,
    check_names,
    choice,
    collect_reals,
    finite_answer,
    reals,
    whole,
)
from dagora.parties.horizontal.session.federation import Answer, Federation, Site, TaskQuestion
from dagora.parties.transport.messages import Value
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.data_warnings import check_learnable

Vector = NDArray[np.float64]

CENTRES = ("global", "local", "none")
# A standard deviation below this share of the root mean square is rounding.
CONSTANT = 1e-14


def continuous_columns(table: Table) -> Vector:
    """The continuous columns, one per row."""
    chosen = [
        values
        for variable, values in zip(table.schema, table.columns, strict=True)
        if variable.kind is Kind.CONTINUOUS
    ]
    return np.stack(chosen) if chosen else np.zeros((0, table.n_rows))


@dataclass(frozen=True, eq=False)
class PooledColumns:
    """The names, number of rows, centre and standard deviations of the columns over all sites."""

    names: tuple[str, ...]
    n: int
    centre: str
    mean: Vector
    deviations: Vector

    def question(self) -> dict[str, Value]:
        """The part of a question from which each site prepares its rows."""
        return {"n": self.n, "centre": self.centre, "mean": self.mean}


def ask_columns(
    federation: Federation, owner: str, centre: str, other_centre: str = "with centre=global"
) -> PooledColumns:
    """The sites' columns and their centre; `owner`, "the method admm", begins an error.

    `other_centre` is the way out for a column that is constant within every site.
    """
    schema = federation.schema
    for variable in schema:
        if variable.kind is not Kind.CONTINUOUS:
            raise DataError(
                f"{owner} needs continuous columns, but '{variable.name}' is discrete: "
                "declare it continuous if it is a number, or leave it out"
            )
    moments = federation.moments()
    check_learnable(schema, moments.n)
    with np.errstate(over="ignore", invalid="ignore"):
        variances = np.diag(moments.scatter) / moments.n
        about_zero = variances + np.square(moments.mean)
        sizes = np.sqrt(about_zero)
        varying = np.sqrt(variances) > CONSTANT * sizes
        if centre == "local":
            variances = ask_own_squares(federation, len(schema)) / moments.n
        elif centre == "none":
            variances = about_zero
    for variable, deviation, size, varies in zip(schema, np.sqrt(variances), sizes, varying, strict=True):
        # Where not even the size is known, the values are too large or too small for any square.
        if deviation <= CONSTANT * size and 0 < size < np.inf:
            where = (
                f" within every site: leave it out, or learn {other_centre}" if varies else ": leave it out"
            )
            raise DataError(f"{owner} cannot learn about column '{variable.name}', it is constant{where}")
    mean = moments.mean if centre == "global" else np.zeros(len(schema))
    refuse_unusable(schema.names, np.zeros(len(schema)), variances, owner)
    return PooledColumns(schema.names, moments.n, centre, mean, np.sqrt(variances))


def ask_own_squares(federation: Federation, d: int) -> Vector:
    """Sums of squares of the columns about each site's own means."""
    answers = federation.gather("own-squares", {})
    squares: Vector = np.sum(list(collect_reals(answers, "squares", (d,)).values()), axis=0)
    return squares


@dataclass(frozen=True, eq=False)
class Preparation:
    """A site's reading of `PooledColumns.question`."""

    n: int
    centre: str
    mean: Vector

    FIELDS = ("n", "centre", "mean")

    @classmethod
    def read(cls, task: str, site: Site, question: TaskQuestion) -> Preparation:
        """Read the fields of `PooledColumns.question`, and check them against this site's rows."""
        d = len(site.table.names)
        return cls(
            whole(task, question, "n", max(1, site.table.n_rows), MOST_ROWS),
            choice(task, question, "centre", CENTRES),
            reals(task, question, "mean", (d,)),
        )

    def columns(self, site: Site) -> Vector:
        """The site's columns, one per row, centred as asked."""
        columns = continuous_columns(site.table)
        if self.centre == "global":
            columns = columns - self.mean[:, None]
        elif self.centre == "local" and columns.shape[1]:
            columns = columns - columns.mean(axis=1, keepdims=True)
        return columns


def own_squares(site: Site, question: TaskQuestion) -> Answer:
    """Task `own-squares`: sums of squares of this site's columns about its own means."""
    check_names("own-squares", question, ())
    columns = continuous_columns(site.table)
    if columns.shape[1] == 0:
        return {"squares": np.zeros(len(columns))}
    centred = columns - columns.mean(axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        return finite_answer("own-squares", {"squares": np.square(centred).sum(axis=1)})
