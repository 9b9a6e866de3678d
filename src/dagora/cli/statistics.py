"""`dagora statistics`: count and sum a table into a file, to learn from later without its rows."""

from __future__ import annotations

import click

from dagora.cli import completing
from dagora.cli.data_options import Reading, data_options, overview_first
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples:
  dagora statistics march.csv -o march.stats
  dagora learn march.stats april.stats -o network.json
  dagora learn year.stats april.stats --minus old.stats --start network.json
  dagora statistics wide.csv --max-parents 2 -o wide.stats
  dagora statistics march.csv --families network.json -o march.stats
  dagora statistics march.stats april.stats -o spring.stats
"""


@click.command(
    "statistics", cls=PagedCommand, short_help="Count and sum a table into a file.", epilog=EXAMPLES
)
@click.argument("data", nargs=-1, required=True, shell_complete=completing.files)
@click.option(
    "-o", "--output", metavar="FILE.stats", required=True, shell_complete=completing.files,
    help="File for the statistics.",
)  # fmt: skip
@click.option(
    "--max-parents",
    type=click.IntRange(0),
    help="Count families of up to so many parents only; without it, all discrete columns together.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="A,B,C",
    help="Count these discrete columns together (repeatable), and not all of them.",
)
@click.option(
    "--families",
    metavar="GRAPH",
    shell_complete=completing.files,
    help="Count the families of this graph, and not all columns together.",
)
@click.option(
    "--minus",
    multiple=True,
    metavar="OLD.stats",
    shell_complete=completing.files,
    help="Take away the statistics of these rows (repeatable), where DATA are .stats files.",
)
@quiet_option("Do not say what is written.", passed=True)
@data_options
def command(
    *,
    data: tuple[str, ...],
    output: str,
    max_parents: int | None,
    sets: tuple[str, ...],
    families: str | None,
    minus: tuple[str, ...],
    quiet: bool,
    reading: Reading,
) -> None:
    """Count the discrete columns of DATA, sum the others without rounding, and write that to a file.

    Files of statistics are added to each other. `dagora learn` takes them in the place of rows, and learns
    from several what it learns from the statistics of all rows, to the last bit. They hold no rows, but few
    rows can be read off their counts: treat them as you treat the table.
    """
    from dagora.api.statistics import statistics
    from dagora.base.budget import Budget
    from dagora.base.errors import OptionError
    from dagora.cli.one_data import one_data
    from dagora.cli.outputs import check_overwriting, check_target
    from dagora.cli.progress import progress
    from dagora.stats.stored.accepting_stored import are_stored
    from dagora.stats.stored.make_statistics import statistics_of_table
    from dagora.stats.stored.writing_statistics import ENDING

    if not output.lower().endswith(ENDING):
        raise OptionError(f"{output}: a file of statistics ends in {ENDING}")
    check_target(output)
    check_overwriting([output], [*data, *minus, families])
    if are_stored(list(data)):
        if not reading.is_default("error") or max_parents is not None or sets or families:
            raise OptionError("options about rows do not go with files of statistics: leave them out")
        found = statistics(list(data), minus=list(minus) or None)
    else:
        if minus:
            raise OptionError(f"--minus goes with files of statistics ({ENDING}) as DATA")
        file = one_data(data)
        asked = [*(listed.split(",") for listed in sets), *(families_of(families) if families else [])]
        with progress(Budget()) as shown:
            table = reading.table(file)
            with overview_first(table, file, shown):
                found = statistics_of_table(
                    table,
                    max_parents,
                    [[name.strip() for name in each] for each in asked] or None,
                    (table.overview and table.overview.source) or file,
                )
    if not quiet:
        echo(f"{output}: {found.describe()}", err=True)
    found.save(output)


def families_of(graph: str) -> list[tuple[str, ...]]:
    """The variables of a graph's families."""
    from dagora.base.errors import OptionError
    from dagora.formats.registry import read_graph
    from dagora.graph.dag import DAG

    known = read_graph(graph)
    if not isinstance(known, DAG):
        raise OptionError(f"{graph}: --families takes a graph whose edges are all directed")
    return [(node, *known.parents(node)) for node in known]
