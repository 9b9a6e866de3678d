"""`dagora check`: whether a graph is any good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dagora.cli import completing
from dagora.cli.data_options import INTERVENTIONS, Reading, data_options
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.graph.any_graph import AnyGraph

EXAMPLES = """\b
Examples:
  dagora check network.json patients.csv
  dagora check graph.dot patients.csv --permutations 1000 --report check.html
  dagora check graph.dot visits.csv --group patient
  dagora check network.json april.stats --against march.stats --picture drift.svg
  dagora check graph.dot --implied
  dagora check graph.dot --separated drug,death --given severity
"""


@click.command("check", cls=PagedCommand, short_help="Check a graph against data.", epilog=EXAMPLES)
@click.argument("graph", shell_complete=completing.files)
@click.argument("data", required=False, shell_complete=completing.files)
@click.option(
    "--permutations",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Random relabelings of the nodes that the graph is compared with.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the tests of independence.",
)
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Parts of the rows to hold out."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all that is drawn."
)
@click.option("--implied", is_flag=True, help="Without DATA: list the independences that the graph implies.")
@click.option(
    "--separated",
    "pair",
    metavar="A,B",
    help="Without DATA: say whether A and B are independent by the graph.",
)
@click.option("--given", metavar="NAMES", help="With --separated: what is held fixed, a list with commas.")
@click.option(
    "--against",
    metavar="OLD",
    shell_complete=completing.files,
    help="Say which families of GRAPH changed from OLD to DATA, both tables or files of statistics.",
)
@click.option(
    "--picture", metavar="FILE.svg", help="With --against: draw the graph, changed families marked."
)
@click.option("--report", metavar="FILE.html", help="Write a page with pictures.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@quiet_option()
@INTERVENTIONS
@data_options
def command(
    *,
    graph: str,
    data: str | None,
    permutations: int,
    alpha: float,
    folds: int,
    seed: int,
    implied: bool,
    pair: str | None,
    given: str | None,
    against: str | None,
    picture: str | None,
    report: str | None,
    as_json: bool,
    interventions: str | None,
    reading: Reading,
) -> None:
    """Check GRAPH against DATA: what the data contradict, and what would be better.

    The independences that the graph claims are tested, and compared with those of the graph with its nodes
    relabeled at random. Rows held out are predicted beside the empty graph, the graph of tabu search and
    random graphs. Tables simulated from the graph are compared with the data, column by column and for
    pairs without an edge (of more than 200, so many are drawn). Single changes are tried.
    """
    from dagora.api.check import check_options, graph_of, require_kinds, with_marks
    from dagora.base.errors import OptionError
    from dagora.cli.outputs import check_overwriting, check_report
    from dagora.learners.source import marked_column, read_rows
    from dagora.posterior.criticism.check import check_rows

    about_graph = implied or pair is not None
    if about_graph == (data is not None):
        raise OptionError(
            "--implied and --separated ask the graph alone: leave DATA out"
            if about_graph
            else "check needs data: dagora check GRAPH DATA (or --implied, --separated A,B)"
        )
    if given is not None and pair is None:
        raise OptionError("--given goes with --separated A,B")
    if picture is not None and against is None:
        raise OptionError("--picture goes with --against: --report writes a page of the other checks")
    if against is not None and data is not None:
        for option, value in (("--report", report), ("--interventions", interventions)):
            if value is not None:
                raise OptionError(f"{option} does not go with --against: leave one of them out")
        answer_drift(graph, (against, data), alpha, reading, picture, as_json=as_json)
        return
    if data is None:
        if against is not None:
            raise OptionError("--against goes with DATA, the new rows or statistics")
        if report is not None:
            raise OptionError("--report goes with DATA")
        known, _ = graph_of(graph)
        answer_from_graph(known, pair, given, implied=implied, as_json=as_json)
        return
    check_options(permutations, alpha, folds, seed)
    if report is not None:
        check_report(report)
        check_overwriting([report], [graph, data])
    known, purpose = graph_of(graph)
    table = reading.any_table(data, marks=marked_column(interventions), **with_marks(purpose, interventions))
    require_kinds(table.schema, purpose)
    live_line().phase("checking the graph")
    rows = read_rows(table, interventions=interventions)
    found = check_rows(known, rows, permutations=permutations, alpha=alpha, folds=folds, seed=seed)
    if report is not None:
        from dagora.report import write_check

        write_check(found, report, names=(graph, data))
    echo(found.to_json() if as_json else found.to_text())


def answer_drift(
    graph: str,
    periods: tuple[str, str],
    alpha: float,
    reading: Reading,
    picture: str | None,
    *,
    as_json: bool,
) -> None:
    """Print which families changed between two periods, and draw them."""
    from dagora.api.check import graph_of
    from dagora.api.drift import drift_between
    from dagora.cli.outputs import check_overwriting, check_picture
    from dagora.stats.accepting import as_statistics, statistics_of
    from dagora.stats.stored.accepting_stored import are_stored

    if picture is not None:
        check_picture(picture)
        check_overwriting([picture], [graph, *periods])
    known, purpose = graph_of(graph)
    before, now = (
        as_statistics(data) if are_stored(data) else statistics_of(reading.table(data, **purpose))
        for data in periods
    )
    found = drift_between(known, before, now, alpha)
    if picture is not None:
        found.plot().save(picture)
    echo(found.to_json() if as_json else found.to_text())


def answer_from_graph(
    graph: AnyGraph, pair: str | None, given: str | None, *, implied: bool, as_json: bool
) -> None:
    """Print what the graph alone says about independences."""
    from dagora.base.errors import OptionError
    from dagora.base.files import json_text
    from dagora.base.phrases import split_list
    from dagora.graph.independences import Independence, implied_independences, separated

    content: dict[str, object] = {}
    lines = []
    if pair is not None:
        names, held = split_list(pair), split_list(given or "")
        if len(names) != 2:
            raise OptionError(f"--separated takes two names with a comma between them, not '{pair}'")
        is_separated = separated(graph, names[0], names[1], held)
        content["separated"] = {"a": names[0], "b": names[1], "given": held, "separated": is_separated}
        verb = "implied" if is_separated else "not implied"
        lines.append(f"{Independence(names[0], names[1], tuple(held))}: {verb}")
    if implied:
        found = implied_independences(graph)
        content["implied"] = [{"a": one.a, "b": one.b, "given": list(one.given)} for one in found]
        lines += [str(one) for one in found] or ["every pair has an edge: no independence is implied"]
    echo(json_text(content) if as_json else "\n".join(lines))
