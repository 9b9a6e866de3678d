"""`dagora impute`: fill the missing values of a table from a network."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.cli import completing
from dagora.cli.data_options import (
    INTERVENTIONS,
    Reading,
    SiteTime,
    data_options_with_model,
    show_warnings,
    site_time_options,
)
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.data.series import Timing
    from dagora.network.incomplete.imputation import FilledCell, Imputation

EXAMPLES = """\b
Examples:
  dagora learn patients.csv -o network.bif
  dagora impute network.bif patients.csv -o completed.csv --certainty cells.csv
  dagora impute network.bif patients.csv -o completed.csv --draws 5
  dagora impute plant.json plant.csv --time t --series series -o completed.csv

With --time, NETWORK is one in time (`dagora forecast --network-file` writes it), or a graph in time that is
fitted to DATA first.
"""


@click.command("impute", cls=PagedCommand, short_help="Fill missing values from a network.", epilog=EXAMPLES)
@click.argument("network", shell_complete=completing.files)
@click.argument("data", shell_complete=completing.files)
@click.option(
    "-o", "--output", required=True, metavar="DATA", help="File for the completed table: .csv .tsv .parquet …"
)
@click.option(
    "--certainty",
    metavar="CELLS.csv",
    help="File of the filled cells: row, column, value, and its probability or standard deviation.",
)
@click.option(
    "--draws",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Also write this many tables filled at random, to files named after the first one: -1, -2, …",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draws.")
@click.option(
    "--most-probable",
    is_flag=True,
    help="With --time: the most probable history of all cells together, not each cell by itself.",
)
@INTERVENTIONS
@quiet_option()
@site_time_options
@data_options_with_model
def command(
    *,
    network: str,
    data: str,
    output: str,
    certainty: str | None,
    draws: int,
    seed: int,
    most_probable: bool,
    interventions: str | None,
    in_time: SiteTime,
    reading: Reading,
) -> None:
    """Fill the missing values of DATA from NETWORK (.bif or .json with parameters).

    A level is the most probable one given all that was seen in its row, a number the mean.
    """
    from dagora.base.errors import OptionError
    from dagora.base.wording import render
    from dagora.cli.outputs import check_overwriting, check_target
    from dagora.data.columns.reading_options import always
    from dagora.data.interventions import find_marks, warnings_of_marks
    from dagora.data.made_tables import without_design
    from dagora.data.readers import ENDINGS, WRITTEN, file_format
    from dagora.formats.registry import read_network
    from dagora.learners.source import marked_column
    from dagora.network.incomplete.imputing import impute_table
    from dagora.network.incomplete.set_rows import impute_set_rows, name_empty_marks, read_set_rows
    from dagora.network.networks import GaussianNetwork

    if reading.given["missing"] not in ("auto", "model"):
        raise OptionError(f"impute fills missing values: leave --missing {reading.given['missing']} out")
    first, second = (file.lower().removesuffix(".gz").endswith(ENDINGS) for file in (network, data))
    if first and not second:
        raise OptionError(f"the network comes first, then the table: dagora impute {data} {network}")
    file_format(output, WRITTEN)
    targets = [output, *(number_path(output, k + 1) for k in range(draws))]
    for target in (*targets, *([certainty] if certainty else [])):
        check_target(target)
    check_overwriting((*targets, certainty), (network, data))
    timing = in_time.timing
    if timing is not None:
        if draws or interventions is not None:
            raise OptionError("--draws and --interventions do not go with --time: leave them out")
        write_filled(fill_in_time(network, data, timing, reading, most_probable), [output], certainty)
        return
    if most_probable:
        raise OptionError("--most-probable goes with --time")
    known = read_network(network)
    levels = {} if isinstance(known, GaussianNetwork) else known.levels
    numbers = frozenset(known.graph.nodes) - set(levels)
    read = reading.any_table(
        data,
        part=True,
        wanted=known.graph.nodes,
        levels=levels,
        numbers=numbers,
        why_not_model=always,
        marks=marked_column(interventions),
    )
    table = without_design(read)
    if table.overview is not None and not live_line().silent:
        show_warnings(table.overview.warnings)
    nodes = known.graph.nodes
    marks = find_marks(table.schema, nodes) if interventions is None else marked_column(interventions)
    table = name_empty_marks(table, marks)
    if interventions is None:
        filled = impute_table(known, table, draws, seed)
        show_warnings(map(render, warnings_of_marks(table.schema, nodes)))
    else:
        set_rows = read_set_rows(interventions, table, nodes)
        filled = impute_set_rows(known, table, set_rows, draws, seed)
    write_filled(filled, targets, certainty)


def fill_in_time(
    network: str, data: str, timing: Timing, reading: Reading, most_probable: bool
) -> Imputation:
    """Fill the cells of series."""
    from dagora.api.network_in_time import fitted_or_given
    from dagora.cli.series_data import read_series

    rows = read_series(reading, network, data, timing, others=True)
    known, note = fitted_or_given(network, rows, timing, {})
    if note:
        show_warnings([note], "note")
    return known.fill(rows, most_probable=most_probable)


def write_filled(filled: Imputation, targets: list[str], certainty: str | None) -> None:
    """Write the completed tables and the certainty of their cells, and say so."""
    from dagora.base.files import write_whole
    from dagora.cli.writing import Files
    from dagora.data.writers import write_table

    show_warnings(filled.warnings)
    files = Files()
    for target, each in zip(targets, (filled.table, *filled.draws), strict=True):
        files.write(target, partial(write_table, each))
    files.write(certainty, lambda path: write_whole(path, cells_as_csv(filled.cells)))
    estimated = f" ({filled.message})" if filled.message else ""
    echo(f"{len(filled.cells)} cells filled{estimated}; written: {', '.join(files.written)}")
    files.end()


def number_path(path: str, number: int) -> str:
    """The name of a file with a number before its endings.

    >>> number_path("folder/a.csv.gz", 2)
    'folder/a-2.csv.gz'
    """
    file = Path(path)
    stem, dot, endings = file.name.partition(".")
    return str(file.with_name(f"{stem}-{number}{dot}{endings}"))


def cells_as_csv(cells: tuple[FilledCell, ...]) -> str:
    """The filled cells as lines of text."""
    import csv
    import io

    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["row", "column", "value", "probability", "sd"])
    for cell in cells:
        writer.writerow([cell.row, cell.column, cell.value, *map(shortly, (cell.probability, cell.sd))])
    return lines.getvalue()


def shortly(number: float | None) -> str:
    """A number to six digits; nothing where there is none."""
    return "" if number is None else f"{number:.6g}"
