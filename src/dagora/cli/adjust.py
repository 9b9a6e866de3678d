"""`dagora adjust`: what to adjust for, so that observed rows tell the effect of setting a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dagora.cli import completing
from dagora.cli.effect_options import KNOWLEDGE
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.graph.adjustment import Adjustment

MOST_SETS = 1000  # that are listed

EXAMPLES = """\b
Examples:
  dagora adjust network.bif --from drug --to death
  dagora adjust graph.dot --from drug --from dose --to death --knowledge tiers.json
  dagora adjust network.json --from drug --to death --set age,severity --all --json
  dagora adjust network.json --from drug --to death --hand-over question.dagitty
  dagora adjust network.json --all-pairs -o sets.csv
"""


@click.command("adjust", cls=PagedCommand, short_help="Find what to adjust for.", epilog=EXAMPLES)
@click.argument("graph", shell_complete=completing.files)
@click.option("--from", "causes", multiple=True, metavar="NAME", help="What is set; may be repeated.")
@click.option("--to", "outcome", metavar="NAME", help="The outcome.")
@click.option(
    "--set",
    "chosen",
    multiple=True,
    metavar="A,B",
    help="Say whether this set is valid; may be repeated, for names with commas.",
)
@click.option("--all", "list_all", is_flag=True, help="List all sets of which no variable can be left out.")
@click.option("--all-pairs", is_flag=True, help="For all pairs of variables, one set each.")
@KNOWLEDGE
@click.option(
    "-o", "--output", metavar="FILE", help="With --all-pairs: write a table, FILE.csv or FILE.json."
)
@click.option(
    "--hand-over",
    "target",
    metavar="FILE",
    help="Write graph, question and set: FILE.dagitty for DAGitty, FILE.gml for DoWhy.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@quiet_option()
def command(
    *,
    graph: str,
    causes: tuple[str, ...],
    outcome: str | None,
    chosen: tuple[str, ...],
    list_all: bool,
    all_pairs: bool,
    knowledge: str | None,
    output: str | None,
    target: str | None,
    as_json: bool,
) -> None:
    """Tell from GRAPH whether observed rows determine the effect of setting a variable.

    If they do, it says what to adjust for; if not, which edges leave it open. The effect is the total one,
    over all directed paths. A network of `dagora learn -o` knows which directions the data leave open; of
    other files, arrows are taken as causes. Only a PAG allows for hidden common causes.
    """
    from dagora.api.adjustment import adjustment
    from dagora.base.errors import OptionError
    from dagora.base.files import json_text
    from dagora.data.columns.column_names import resolve
    from dagora.data.columns.reading_options import NameList

    if all_pairs:
        if causes or outcome is not None or chosen or list_all or target is not None:
            raise OptionError("--all-pairs asks about all pairs: leave --from, --to and others out")
        tell_all_pairs(graph, knowledge, output, as_json=as_json)
        return
    if not causes or outcome is None:
        raise OptionError("an effect is from one variable to another: --from NAME --to NAME, or --all-pairs")
    if output is not None:
        raise OptionError("--output goes with --all-pairs")
    found = adjustment(graph, causes, outcome, knowledge=knowledge)
    if target is not None:
        hand_over(found, target, graph)
    names = resolve(map(NameList, chosen), found.graph.nodes) if chosen else None
    valid = None if names is None else found.is_valid(names)
    sets = list(found.minimal_sets(MOST_SETS)) if list_all else None
    if as_json:
        content = found.to_dict()
        if valid is not None:
            content["set"] = {"names": names, "valid": valid}
        if sets is not None:
            content["minimal_sets"] = [list(one) for one in sets]
        echo(json_text(content))
        return
    echo(found.to_text())
    if names is not None:
        echo(f"{', '.join(names) or 'nothing'}: {'a valid set' if valid else 'not a valid set'}")
    for one in sets or ():
        echo(f"valid: {', '.join(one) or 'nothing'}")
    if sets is not None and len(sets) == MOST_SETS:
        echo(f"no more than {MOST_SETS} sets are listed")


def tell_all_pairs(graph: str, knowledge: str | None, output: str | None, *, as_json: bool) -> None:
    """Print what to adjust for, for all pairs, and write it as a table."""
    from pathlib import Path

    from dagora.api.adjustment import all_adjustments
    from dagora.base.errors import OptionError
    from dagora.base.files import write_whole
    from dagora.cli.live_line import live_line
    from dagora.cli.outputs import check_overwriting, check_target

    ending = "" if output is None else Path(output).suffix.lower()
    if output is not None:
        if ending not in {".csv", ".json"}:
            raise OptionError("--output needs a file that ends in .csv or .json")
        check_target(output)
        check_overwriting([output], [graph, knowledge])
    live_line().phase("adjustment")
    found = all_adjustments(graph, knowledge=knowledge)
    if output is not None:
        write_whole(output, found.to_csv() if ending == ".csv" else found.to_json())
    if as_json or output is None:
        echo(found.to_json() if as_json else found.to_text())


def hand_over(found: Adjustment, target: str, source: str) -> None:
    """Write the question for another program."""
    from pathlib import Path

    from dagora.base.errors import OptionError
    from dagora.base.files import write_whole
    from dagora.cli.outputs import check_overwriting
    from dagora.formats.dagitty import render_question
    from dagora.formats.hand_over import dowhy_question

    check_overwriting([target], [source])
    match Path(target).suffix.lower():
        case ".dagitty":
            write_whole(target, render_question(found))
        case ".gml":
            write_whole(target, dowhy_question(found)["graph"])
        case _:
            raise OptionError("--hand-over needs a file that ends in .dagitty or .gml")
