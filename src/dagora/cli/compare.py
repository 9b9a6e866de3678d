"""`dagora compare`: compare a graph with the truth."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dagora.cli import completing
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option

EXAMPLES = """\b
Examples:
  dagora compare learned.json truth.bif.gz
  dagora compare learned.dot truth.csv --json --picture difference.svg
  dagora compare monday.json tuesday.json --report difference.html
"""


@click.command("compare", cls=PagedCommand, short_help="Compare two graphs.", epilog=EXAMPLES)
@click.argument("estimate", shell_complete=completing.files)
@click.argument("truth", shell_complete=completing.files)
@click.option(
    "--picture", metavar="FILE.svg", help="Draw the estimate, with right and wrong edges in colours."
)
@click.option(
    "--report",
    metavar="FILE.html",
    help="Write a page with both graphs side by side, differences in colours.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON object.")
@quiet_option()
def command(*, estimate: str, truth: str, picture: str | None, report: str | None, as_json: bool) -> None:
    """Compare the graph ESTIMATE with TRUTH: as DAGs, as equivalence classes (CPDAG) and as skeletons.

    SHD counts a reversed edge once. TPR, FDR and FPR are as in the NOTEARS paper. A PAG is compared mark by
    mark with a PAG, or with the one that follows from a DAG whose other variables are hidden.
    """
    from dagora.cli.outputs import check_picture, check_report, show_comparison, write_picture
    from dagora.formats.registry import read_graph
    from dagora.graph.compare import compare
    from dagora.report import write_comparison

    if picture:
        check_picture(picture)
    if report:
        check_report(report)
    estimated, known = read_graph(estimate), read_graph(truth)
    comparison = compare(estimated, known)
    if picture:
        write_picture(estimated, picture, truth=known)
    if report:
        names = (Path(estimate).name, Path(truth).name)
        write_comparison(estimated, known, report, names=names if names[0] != names[1] else (estimate, truth))
    if as_json:
        click.echo(json.dumps(comparison.to_dict()))
    else:
        show_comparison(comparison)
