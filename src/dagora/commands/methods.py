"""`dagora methods`: list methods, samplers and scores, or describe one of them."""

from __future__ import annotations

import json

import click

from dagora.catalogue import Catalogue, methods
from dagora.commands.live_line import quiet_option

EXAMPLES = """\b
Examples:
  dagora methods
  dagora methods tabu
  dagora methods bdeu
"""


@click.command("methods", short_help="List methods, samplers and scores.", epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as one JSON object.")
@quiet_option()
def command(*, name: str | None, as_json: bool) -> None:
    """List all methods, samplers and scores, or show the one called NAME with its options."""
    catalogue = methods()
    if name is None:
        click.echo(json.dumps(catalogue.to_dict(), ensure_ascii=False) if as_json else overview(catalogue))
        return
    chosen = catalogue.named(name)
    if as_json:
        shown = {entry.kind: entry.to_dict() for entry in chosen}
        click.echo(json.dumps(shown, ensure_ascii=False))
    else:
        click.echo("\n\n".join(map(repr, chosen)))


def overview(catalogue: Catalogue) -> str:
    """All methods, samplers and scores, a line each."""
    lines = ["Methods"]
    lines += [f"  {method.name:16}{method.summary}" for method in catalogue.methods]
    lines += ["", "Samplers"]
    lines += [f"  {sampler.name:16}{sampler.summary}" for sampler in catalogue.samplers]
    lines += ["", "Scores"]
    lines += [f"  {score.name:16}{score.row[1]:12}{score.summary}" for score in catalogue.scores]
    return "\n".join([*lines, "", "dagora methods NAME shows one with its options."])
