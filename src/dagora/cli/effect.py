"""`dagora effect`: what happens to one variable if another is set, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.cli import completing
from dagora.cli.data_options import (
    INTERVENTIONS,
    Reading,
    TimeRequest,
    data_options,
    overview_first,
    time_options_with_choice,
)
from dagora.cli.effect_options import GIVEN, KNOWLEDGE, LEVELS
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import check_pairs
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.data.series import Timing
    from dagora.effects.all_pairs import AllEffects
    from dagora.effects.effect_ranges import EffectRanges
    from dagora.effects.in_time import EffectInTime
    from dagora.effects.result import Effect

EXAMPLES = """\b
Examples:
  dagora effect patients.csv --from drug --to death
  dagora effect patients.csv --from drug --to death --graph graph.json --levels yes,no
  dagora effect patients.csv --from dose --to pressure --graph graph.json --given sex=f --json
  dagora effect patients.csv --from drug --to stage=late --knowledge tiers.json --method tabu
  dagora effect sensors.csv --from load --to heat --graph graph.json --model gp --curve
  dagora effect visits.csv --from drug --to death --graph graph.json --group patient
  dagora effect patients.csv --from drug --to death --report effect.html
  dagora effect sensors.csv --all --method partition --option draws=500 -o effects.json
  dagora effect sensors.csv --all --graph class.json
  dagora effect plant.csv --time t --series s --from x1 --to x2 --graph plant.json --horizon 6
  dagora effect plant.csv --time t --series s --from x1 --to x2 --lags 2
"""


@click.command(
    "effect", cls=PagedCommand, short_help="Tell the effect of setting a variable.", epilog=EXAMPLES
)
@click.argument("data", shell_complete=completing.files)
@click.option("--from", "causes", multiple=True, metavar="NAME", help="What is set; may be repeated.")
@click.option("--to", "outcome", metavar="NAME[=LEVEL]", help="The outcome, and of a discrete one the level.")
@LEVELS
@GIVEN
@click.option(
    "--graph",
    metavar="GRAPH",
    shell_complete=completing.files,
    help="The graph, a file; a network of `dagora learn -o` knows what directions are open.",
)
@click.option(
    "-m",
    "--method",
    shell_complete=completing.methods,
    help="Without a graph: a sampler or bootstrap, to average over graphs, or a method that learns one.  "
    "[default: exact up to 10 columns, else partition]",
)
@click.option(
    "--model",
    type=click.Choice(["gp", "gp2"]),
    help="Let relations between continuous variables bend, by Gaussian processes.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=check_pairs,
    help="Option of the method or score (repeatable).",
)
@KNOWLEDGE
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random numbers.")
@click.option("--curve", is_flag=True, help="Also what happens over the values of a continuous variable.")
@click.option(
    "--horizon",
    type=click.IntRange(0),
    metavar="N",
    help="With --time: up to so many steps after the change.  [default: 6]",
)
@click.option("--all", "all_pairs", is_flag=True, help="The effects of all pairs of columns.")
@click.option("-o", "--output", metavar="FILE.json", help="Write the answer as JSON.")
@click.option("--report", metavar="FILE.html", help="Write a page: graph, adjustment (not --time).")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@quiet_option("Show no progress and no warnings.")
@INTERVENTIONS
@time_options_with_choice
@data_options
def command(
    *,
    data: str,
    causes: tuple[str, ...],
    outcome: str | None,
    levels: tuple[str, ...],
    given: tuple[str, ...],
    graph: str | None,
    method: str | None,
    model: str | None,
    options: tuple[str, ...],
    knowledge: str | None,
    seed: int,
    curve: bool,
    horizon: int | None,
    all_pairs: bool,
    output: str | None,
    report: str | None,
    as_json: bool,
    interventions: str | None,
    in_time: TimeRequest,
    reading: Reading,
) -> None:
    """Tell from DATA what happens to one variable if another is set, with a 95 % interval.

    A graph says what to adjust for. Where it, or the class of graphs that the data cannot tell apart, leaves
    the effect open, the effects of all graphs of the class are told, and never one number. Without a graph,
    the effect is averaged over graphs, each as probable as the data make it. The effect is the total
    one, over all directed paths. Only a PAG allows for common causes that are not in the table. With --time,
    it is told for the step of the change and the next ones, by a graph in time or averaged over such graphs.
    """
    from dagora.api.all_effects import all_effects
    from dagora.api.effect import effect
    from dagora.base.errors import OptionError
    from dagora.base.files import json_text, write_whole
    from dagora.cli.outputs import check_overwriting, check_report, check_target
    from dagora.graph.knowledge_files import as_knowledge
    from dagora.learners.source import marked_column, read_rows

    if all_pairs and (causes or outcome or levels or given or curve or model):
        raise OptionError("--all tells the effects of all pairs: leave --from, --to and others out")
    if not all_pairs and (not causes or outcome is None):
        raise OptionError("an effect is from one variable to another: --from NAME --to NAME, or --all")
    if output is not None:
        check_target(output)
    if report is not None:
        check_report(report)
    check_overwriting([output, report], [data, graph, knowledge])
    if in_time.timing is not None:
        refused = {
            "--model": model, "--given": given, "--curve": curve, "--all": all_pairs,
            "--interventions": interventions, "--report": report,
        }  # fmt: skip
        given_too = next((name for name, value in refused.items() if value), None)
        if given_too is not None:
            raise OptionError(f"{given_too} does not go with --time: leave it out")
        if len(causes) != 1 or outcome is None:
            raise OptionError("an effect in time is that of one --from on one --to")
        further = in_time.settings(method_options(method, options))
        further |= {"method": method, "seed": seed, "horizon": 6 if horizon is None else horizon}
        further |= {"knowledge": knowledge} if knowledge is not None else {}
        pairs = read_levels(causes, levels)
        further |= {} if pairs is None else {"levels": pairs[causes[0]]}
        answer = effect_of_series(reading, graph, data, in_time.timing, causes[0], outcome, further)
        if output is not None:
            write_whole(output, answer.to_json())
        echo(json_text(answer.to_dict()) if as_json else answer.to_text())
        return
    if horizon is not None:
        raise OptionError("--horizon goes with --time, which says when a row was")
    known = as_knowledge(knowledge, None).edges_only("an effect")
    asked = () if outcome is None else (outcome,)
    mentioned = (name for pair in (*asked, *given) for name in possible_names(pair))
    wanted = (*known.mentioned, *causes, *asked, *mentioned)
    marks = marked_column(interventions)
    table = reading.any_table(data, seed=seed, wanted=wanted, marks=marks)
    conditions = dict(split_pair(pair, "--given", table.names) for pair in given)
    rows = read_rows(table, interventions=interventions)
    with overview_first(table, data, lambda _: None, brief=as_json):
        live_line().phase("effect")
        settings: dict[str, Any] = {"graph": graph, "method": method, "knowledge": known, "seed": seed}
        settings |= method_options(method, options)
        found: Effect | AllEffects | EffectRanges
        if outcome is None:
            found = all_effects(rows, **settings)
        else:
            pairs = read_levels(causes, levels)
            about: dict[str, Any] = {"levels": pairs, "given": conditions, "curve": curve, "model": model}
            found = effect(rows, causes, outcome, **about, **settings)
    if output is not None:
        write_whole(output, found.to_json())
    if report is not None:
        from dagora.report import write_report

        write_report(found, report, source=Path(data).name)
    echo(json_text(found.to_dict()) if as_json else found.to_text())


def effect_of_series(
    reading: Reading,
    graph: str | None,
    data: str,
    timing: Timing,
    cause: str,
    outcome: str,
    settings: dict[str, Any],
) -> EffectInTime:
    """The effect of a change at one step on the next ones."""
    from dagora.api.effect_in_time import NUMBERS_FOR, effect_in_time
    from dagora.cli.series_data import read_all_series, read_series

    rows = (
        read_all_series(reading, data, timing, (cause, outcome), NUMBERS_FOR)
        if graph is None
        else read_series(reading, graph, data, timing)
    )
    live_line().phase("effect")
    return effect_in_time(
        rows, cause, outcome, graph=graph, time=timing.time, series=timing.series, **settings
    )


def possible_names(pair: str) -> list[str]:
    """All that may be the name in NAME=LEVEL, since names and levels may have an = of their own."""
    return [pair[:place] for place, sign in enumerate(pair) if sign == "=" and place]


def split_pair(pair: str, option: str, names: Collection[str]) -> tuple[str, str]:
    """A name and a level, written with = between them."""
    from dagora.base.errors import OptionError
    from dagora.effects.contrast import name_and_level

    name, level = name_and_level(pair, names)
    if not name or not level:
        raise OptionError(f"{option} takes NAME=LEVEL, not '{pair}'")
    return name, level


def read_levels(causes: tuple[str, ...], levels: tuple[str, ...]) -> dict[str, list[str]] | None:
    """The values to compare, of each cause in turn."""
    from dagora.base.errors import OptionError
    from dagora.base.phrases import split_list

    if not levels:
        return None
    if len(levels) != len(causes):
        raise OptionError(f"--levels is given {len(levels)} times for {len(causes)} variables that are set")
    return {name: split_list(pair) for name, pair in zip(causes, levels, strict=True)}


def method_options(method: str | None, options: tuple[str, ...]) -> dict[str, Any]:
    """Options of the method and of its score, with their types."""
    from dagora.api.effect import BOOTSTRAP, averages
    from dagora.base.options import Option
    from dagora.cli.written_options import parse_options, parse_pairs
    from dagora.posterior.registry import sampler_named
    from dagora.scores.registry import SCORES

    if not options:
        return {}
    if not averages(method):
        return parse_options(method, None, options)
    known = [option for score in SCORES for option in score.options]
    if method is not None and method.lower() == BOOTSTRAP:
        known.append(Option("samples", "int", 200, "samples of the rows", low=1))
        return parse_pairs(options, known, "bootstrap or its score")
    known += [Option("draws", "int", 1000, "graphs per chain", low=1)]
    known += [Option("chains", "int", 4, "chains", low=1)]
    known += sampler_named(method or "partition").options
    return parse_pairs(options, known, "the sampler or its score")
