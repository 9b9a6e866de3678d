"""`dagora methods`: list methods, samplers and scores, or describe one of them."""

from __future__ import annotations

import json

import click

from dagora.api.methods import Catalogue, Entry, methods
from dagora.cli import completing
from dagora.cli.help_pages import WIDTH, PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples:
  dagora methods
  dagora methods --all
  dagora methods tabu
  dagora methods bdeu
"""


@click.command("methods", cls=PagedCommand, short_help="List methods, samplers and scores.", epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=completing.everything)
@click.option("--all", "all_of_them", is_flag=True, help="Describe every one of them, in a line each.")
@click.option("--json", "as_json", is_flag=True, help="Print as one JSON object.")
@quiet_option()
def command(*, name: str | None, all_of_them: bool, as_json: bool) -> None:
    """List all methods, samplers and scores, or show the one called NAME with its options."""
    catalogue = methods()
    if name is None:
        page = overview if all_of_them else first_page
        echo(json.dumps(catalogue.to_dict(), ensure_ascii=False) if as_json else page(catalogue))
        return
    chosen = catalogue.entries_named(name)
    if as_json:
        shown = {entry.kind: entry.to_dict() for entry in chosen}
        echo(json.dumps(shown, ensure_ascii=False))
    else:
        echo("\n\n".join(map(repr, chosen)))


def overview(catalogue: Catalogue) -> str:
    """All methods, samplers and scores, a line each."""
    lines = ["Methods"]
    lines += [f"  {method.name:16}{method.summary}" for method in catalogue.methods]
    lines += ["", "Samplers"]
    lines += [f"  {sampler.name:16}{sampler.summary}" for sampler in catalogue.samplers]
    lines += ["", "Scores"]
    lines += [f"  {score.name:16}{score.row[1]:12}{score.summary}" for score in catalogue.scores]
    return "\n".join([*lines, "", "dagora methods NAME shows one with its options."])


def first_page(catalogue: Catalogue) -> str:
    """The methods that people choose from, and the names of all others: no more than a screen."""
    listed: list[str] = []
    named: dict[str, list[str]] = {}
    for entry in catalogue.methods:
        if getattr(entry.item, "takes", "") == "federation":
            named.setdefault("over sites (dagora federate)", []).append(entry.name)
        elif getattr(entry.item, "seldom", False):
            named.setdefault("others", []).append(entry.name)
        else:
            listed.append(in_a_line(entry))
    lines = ["Methods, for dagora learn -m NAME", *listed]
    lines += [f"  {title}: {', '.join(names)}" for title, names in named.items()]
    lines += ["", "Samplers, for dagora sample -m NAME", *map(in_a_line, catalogue.samplers)]
    kinds: dict[str, list[str]] = {}
    for score in catalogue.scores:
        kinds.setdefault(score.row[1], []).append(score.name)
    lines += ["", "Scores, for -s NAME", *(f"  {kind:14}{', '.join(names)}" for kind, names in kinds.items())]
    return "\n".join(
        [*lines, "", "dagora methods NAME shows one with its options, dagora methods --all describes all."]
    )


def in_a_line(entry: Entry) -> str:
    """A name and what it does; what is after a semicolon is left out where the line would be too long."""
    line = f"  {entry.name:14}{entry.summary}"
    return line if len(line) <= WIDTH else line.partition("; ")[0]
