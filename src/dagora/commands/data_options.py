"""The options of every command that reads a table: how to read it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dagora.commands.gathering import F, gathered
from dagora.commands.live_line import live_line
from dagora.errors import OptionError

if TYPE_CHECKING:
    from dagora.data.table import Table


@dataclass(frozen=True)
class Reading:
    """How to read a table."""

    discrete: str = ""
    continuous: str = ""
    drop: str = ""
    missing: str = "error"
    separator: str | None = None
    discretise: str | None = None
    bins: int | None = None

    def table(self, path: str, *, part: bool = False) -> Table:
        """Read the table and discretise it if asked; one `part` of a table may have a single row."""
        from dagora.data.discretise import discretise
        from dagora.data.readers import read_table
        from dagora.files import naming
        from dagora.stats.data_warnings import check_learnable

        if self.bins is not None and self.discretise is None:
            raise OptionError("--bins goes with --discretise")
        live_line().phase(f"reading {path}")
        table = read_table(
            path,
            discrete=names(self.discrete),
            continuous=names(self.continuous),
            drop=names(self.drop),
            missing=self.missing,
            separator=self.separator,
        )
        with naming(path):
            check_learnable(table.schema, table.n_rows + part)
        if self.discretise is None:
            return table
        return discretise(table, self.discretise, bins=self.bins or 2)


def names(listed: str) -> list[str]:
    """Split a comma-separated list of column names; a name that contains a comma is in quotes.

    >>> names('a, b,"c, d"')
    ['a', 'b', 'c, d']
    """
    return [
        name.strip() for row in csv.reader([listed], skipinitialspace=True) for name in row if name.strip()
    ]


CELL_OPTIONS = (
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "level"]),
        default="error",
        show_default=True,
        help="Missing cells: refuse them, drop their rows, or make them a level.",
    ),
    click.option(
        "--separator",
        metavar="CHAR",
        help="Column separator of a text file; default: comma, or tab for .tsv.",
    ),
)


def data_options(command: F) -> F:
    """Add the reading options to a command, which gets them as one argument `reading`."""
    options = (
        click.option("--discrete", default="", metavar="A,B", help="Columns to treat as discrete."),
        click.option("--continuous", default="", metavar="A,B", help="Columns to treat as continuous."),
        click.option("--drop", default="", metavar="A,B", help="Columns to leave out."),
        *CELL_OPTIONS,
        click.option(
            "--discretise",
            type=click.Choice(["mean", "width", "quantile"]),
            help="Make continuous columns discrete: cut at the mean, into equal widths, or at quantiles.",
        ),
        click.option(
            "--bins", type=click.IntRange(2), help="Number of intervals of --discretise; default: 2."
        ),
    )
    return gathered(command, Reading, "reading", options)
