"""`dagora methods`: list methods, samplers and scores, or describe one of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from dagora.commands.live_line import quiet_option
from dagora.methods import METHODS, Method, Takes
from dagora.options import Option, find
from dagora.samplers import SAMPLERS, Sampler
from dagora.scores.registry import SCORES, Score

Item = Method | Sampler | Score
KINDS: dict[type[Item], str] = {Method: "method", Sampler: "sampler", Score: "score"}

# What a method is given, in words.
TAKES: dict[Takes, str] = {
    "score": "any score",
    "candidates": "candidate parent sets of any score",
    "statistics": "data; it has an objective of its own and takes no score",
    "federation": "rows over sites (`dagora federate`); it has an objective of its own and takes no score",
}

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
    if name is None:
        listing: dict[str, Any] = {
            "methods": [entry(method) for method in METHODS],
            "samplers": [entry(sampler) for sampler in SAMPLERS],
            "scores": [entry(score) for score in SCORES],
        }
        click.echo(json.dumps(listing, ensure_ascii=False) if as_json else overview())
        return
    # A method and a score may share a name, as k2 does: then both are shown.
    kinds: dict[str, dict[str, Item]] = {}
    for item in (*METHODS, *SAMPLERS, *SCORES):
        kinds.setdefault(item.name, {})[KINDS[type(item)]] = item
    chosen = find("method, sampler or score", name, kinds)
    if as_json:
        shown = {kind: entry(item) for kind, item in chosen.items()}
        click.echo(json.dumps(shown, ensure_ascii=False))
    else:
        click.echo("\n\n".join(details(item) for item in chosen.values()))


def entry(item: Item) -> dict[str, Any]:
    """JSON form of an entry, without the place of its code."""
    return {key: value for key, value in asdict(item).items() if key not in {"learner", "sampler", "factory"}}


def overview() -> str:
    """All methods, samplers and scores, a line each."""
    lines = ["Methods"]
    lines += [f"  {method.name:16}{method.summary}" for method in METHODS]
    lines += ["", "Samplers"]
    lines += [f"  {sampler.name:16}{sampler.summary}" for sampler in SAMPLERS]
    lines += ["", "Scores"]
    lines += [f"  {score.name:16}{score.kind:12}{score.summary}" for score in SCORES]
    return "\n".join([*lines, "", "dagora methods NAME shows one with its options."])


def details(item: Item) -> str:
    """One method, sampler or score with its options."""
    lines = [f"{KINDS[type(item)]} {item.name}: {item.summary}"]
    if isinstance(item, Method):
        lines += [f"  takes      {TAKES[item.takes]}", f"  promises   {item.promise}"]
        lines += [f"  needs      {need.title}: {need.remedy}" for need in item.needs]
    elif isinstance(item, Sampler):
        lines += [f"  promises   {item.promise}"]
    else:
        equal = "score the same" if item.equivalent else "may score differently"
        lines += [f"  columns    {item.kind}", f"  equivalent graphs {equal}"]
    lines += [f"  reference  {item.reference}", "  options"]
    lines += [describe(option) for option in item.options] or ["    none"]
    return "\n".join(lines)


def describe(option: Option) -> str:
    """One option on a line."""
    default = "none" if option.default is None else option.default
    choices = f" ({'|'.join(option.choices)})" if option.choices else ""
    return f"    {option.name:14}{option.type:6} default {default!s:8} {option.summary}{choices}"
