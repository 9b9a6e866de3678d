"""`dagora compare`: compare a graph with the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.cli import completing
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.graph.adjustment_distances import AdjustmentDistances
    from dagora.graph.compare import EdgeDifferences

MOST_LISTED = 100  # edges of a kind that are printed; --json has all

NO_DISTANCES = (
    "effects that would be wrong are counted only where both graphs, without lags, are DAGs or CPDAGs"
)

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
    mark with a PAG, or with the one that follows from a DAG whose other variables are hidden. Of DAGs and
    CPDAGs it also tells for how many pairs the effect of one variable on the other would be wrong.
    """
    from dagora.cli.outputs import check_picture, check_report, show_comparison, write_picture
    from dagora.formats.registry import read_graph
    from dagora.graph.ancestral.pag import PAG
    from dagora.graph.compare import compare, list_differences
    from dagora.graph.metrics import Comparison
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
    listed = distances = None
    if not isinstance(estimated, PAG) and not isinstance(known, PAG):
        listed = list_differences(estimated, known)
    if isinstance(comparison, Comparison):
        distances = comparison.adjustment_distances()
    if as_json:
        edges = {} if listed is None else {"edges": listed.to_dict()}
        effects = {} if distances is None else {"adjustment": distances.to_dict()}
        echo(json.dumps({**comparison.to_dict(), **effects, **edges}, ensure_ascii=False))
    else:
        show_comparison(comparison)
        if distances is not None:
            show_distances(distances)
        elif isinstance(comparison, Comparison):
            echo(f"\n{NO_DISTANCES}")
        if listed is not None:
            show_differences(listed)


def show_distances(distances: AdjustmentDistances) -> None:
    """Print the shares of effects that would be wrong."""
    echo(f"\n{'':16}{'parent':>10}{'ancestor':>10}{'optimal':>10}")
    for label, shares in distances.rows():
        echo(f"{label:16}" + "".join(f"{share:10.3f}" for share in shares))
    echo(distances.describe())


def show_differences(listed: EdgeDifferences) -> None:
    """Print the edges that differ, a line for each kind."""
    words = {
        "missing": "missing (only in TRUTH)",
        "extra": "extra (only in ESTIMATE)",
        "reversed": "reversed or directed otherwise",
    }
    echo("")
    for kind, edges in listed.to_dict().items():
        more = f", … {len(edges) - MOST_LISTED} more" if len(edges) > MOST_LISTED else ""
        echo(f"{words[kind]}: {', '.join(edges[:MOST_LISTED]) or 'none'}{more}")
