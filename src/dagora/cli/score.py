"""`dagora score`: write local scores of parent sets, for exact and order searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dagora.cli import completing
from dagora.cli.cluster_options import READING_THERE, check_reading_there, dask_option, rows_there
from dagora.cli.data_options import INTERVENTIONS, Reading, data_options, overview_first
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.data.columns.reading_options import Purpose
    from dagora.data.made_tables import ReadTable
    from dagora.stats.scan.scan_statistics import ScanStatistics

EXAMPLES = """\b
Examples:
  dagora score patients.csv --score bic --max-parents 3 -o patients.jkl
  dagora score patients.csv --score bdeu --option ess=10 --max-parents 2 -o patients.jkl.gz
"""


@click.command("score", cls=PagedCommand, short_help="Score parent sets.", epilog=EXAMPLES)
@click.argument("data", shell_complete=completing.files)
@click.option(
    "-s", "--score", shell_complete=completing.scores, help="Score; default: BIC for the kind of the columns."
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completing.options,
    help="Option of the score (repeatable).",
)
@click.option("--max-parents", type=click.IntRange(0), help="Most parents in a set.")
@click.option(
    "--knowledge",
    metavar="K.json",
    shell_complete=completing.files,
    help="File of knowledge; parent sets that it forbids are left out.",
)
@INTERVENTIONS
@dask_option("Count", f": {READING_THERE}")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads to use.")
@click.option(
    "-o",
    "--output",
    metavar="FILE.jkl",
    required=True,
    shell_complete=completing.files,
    help="File for the scores.",
)
@quiet_option()
@data_options
def command(
    *,
    data: str,
    score: str | None,
    options: tuple[str, ...],
    max_parents: int | None,
    knowledge: str | None,
    interventions: str | None,
    dask: str | None,
    jobs: int,
    output: str,
    reading: Reading,
) -> None:
    """Score parent sets of every column of DATA; write those that score higher than all their subsets."""
    from dagora.api.candidates import candidates
    from dagora.base.budget import Budget
    from dagora.base.dask_cluster import connect_cluster
    from dagora.base.errors import FormatError
    from dagora.base.files import write_whole
    from dagora.cli.outputs import check_overwriting, check_target
    from dagora.cli.progress import progress
    from dagora.cli.written_options import parse_options
    from dagora.learners.candidates.jkl import check_names, render_jkl
    from dagora.learners.checks import numbers_for, orders_numbers
    from dagora.learners.source import marked_column, read_rows

    if not output.lower().removesuffix(".gz").endswith(".jkl"):
        raise FormatError(f"{output}: scores are written as .jkl (or .jkl.gz)")
    check_target(output)
    check_overwriting([output], [data, knowledge])
    values = parse_options(None, score, options)
    if dask is not None:
        check_reading_there(reading, {"--interventions": interventions})
    table: ReadTable | ScanStatistics
    with connect_cluster(dask):
        if dask is not None:
            table = rows_there(reading, data, jobs)
        elif reading.scans(data):
            table = reading.open_scan(data, jobs)
        else:
            purpose: Purpose = {
                "numbers_for": numbers_for(None, score),
                "trends": orders_numbers(score),
                "marks": marked_column(interventions),
                "constants": False,
            }
            large = reading.scan_large(data, jobs, None, score, values, **purpose)
            table = reading.any_table(data, **purpose) if large is None else large
        rows = read_rows(table, jobs, interventions=interventions)
        check_names(rows.schema.names)
        budget = Budget()
        with progress(budget) as shown, overview_first(table, data, shown) as on_event:
            found = candidates(
                rows,
                score,
                max_parents=max_parents,
                knowledge=knowledge,
                jobs=jobs,
                on_event=on_event,
                budget=budget,
                **values,
            )
    write_whole(output, render_jkl(found))
    echo(
        f"{sum(len(child) for child in found)} parent sets of {len(found)} columns written to {output}",
        err=True,
    )
