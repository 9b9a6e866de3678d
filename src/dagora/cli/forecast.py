"""`dagora forecast`: what comes after the last rows of series."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.cli import completing
from dagora.cli.data_options import (
    Reading,
    SiteTime,
    data_options_with_model,
    show_warnings,
    site_time_options,
)
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.network.time.backtest import Backtest
    from dagora.network.time.trajectory import Trajectory

EXAMPLES = """\b
Examples:
  dagora forecast plant.json plant.csv --time t --series series --steps 12 -o forecast.csv
  dagora forecast plant.json plant.csv --time t --series series --do x1=3@t+2
  dagora forecast plant.json plant.csv --time t --series series --steps 3 --backtest 30 --report skill.html
  dagora forecast plant.json plant.csv --time t --series series --score-rows rows.csv
  dagora learn plant.csv -m dynotears --time t --series series --lags 2 -o plant.json

NETWORK is a graph in time, which is fitted to DATA, or a network in time with parameters. --do x=3 sets x at
all steps ahead, --do x=3@t+2 at the second one. Cells and steps that are missing are allowed for.
"""


@click.command("forecast", cls=PagedCommand, short_help="Forecast series.", epilog=EXAMPLES)
@click.argument("network", shell_complete=completing.files)
@click.argument("data", shell_complete=completing.files)
@click.option(
    "--steps", type=click.IntRange(1), help="Number of steps ahead.  [default: 12; with --backtest 1]"
)
@click.option(
    "--do",
    "settings",
    multiple=True,
    metavar="NAME=VALUE[@t+K]",
    help="Set a variable from outside, at all steps ahead or at one (repeatable).",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals.",
)
@click.option(
    "--backtest",
    type=click.IntRange(1, 10_000),
    metavar="ORIGINS",
    help="Forecast from so many origins, each time fitted to the rows before; compare with simple rivals.",
)
@click.option(
    "--score-rows", metavar="ROWS.csv", help="Write how surprising each row was, given those before it."
)
@click.option(
    "--estimate",
    type=click.Choice(["filter", "smooth"]),
    help="Instead of forecasts: the distributions at the steps of DATA, given those before, or all.",
)
@click.option(
    "--draws",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Number of draws where a network has both kinds of variables.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--network-file", metavar="FILE.json", help="Write the fitted network in time.")
@click.option("-o", "--output", metavar="FILE", help="Write the answer: .csv or .json.")
@click.option(
    "--picture", metavar="FILE.svg", help="Draw the last rows and the forecasts with their intervals."
)
@click.option("--report", metavar="FILE.html", help="Write a page: graph, charts, numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@quiet_option("Show no progress and no warnings.")
@site_time_options
@data_options_with_model
def command(
    *,
    network: str,
    data: str,
    steps: int | None,
    settings: tuple[str, ...],
    level: float,
    backtest: int | None,
    score_rows: str | None,
    estimate: str | None,
    draws: int,
    seed: int,
    network_file: str | None,
    output: str | None,
    picture: str | None,
    report: str | None,
    as_json: bool,
    in_time: SiteTime,
    reading: Reading,
) -> None:
    """Forecast the series of DATA by NETWORK, with intervals; or say how well it forecasts.

    Discrete and linear Gaussian networks are exact. Networks with both kinds of variables forecast by draws.
    """
    from dagora.api.backtest import backtest as test_forecasts
    from dagora.api.network_in_time import fitted_or_given, graph_in_time, timing_of
    from dagora.base.errors import OptionError
    from dagora.base.files import json_text, write_whole
    from dagora.base.wording import COMMAND, render
    from dagora.cli.outputs import check_overwriting, check_picture, check_report, check_target
    from dagora.cli.series_data import read_series
    from dagora.cli.writing import Files
    from dagora.formats.registry import write_network
    from dagora.report import write_forecast

    do = read_settings(settings)
    check_choices(backtest, estimate, settings, picture, score_rows, network_file)
    if estimate is not None and steps is not None:
        raise OptionError("--estimate tells of the rows of DATA, not of steps ahead: leave --steps out")
    if output is not None and not output.lower().endswith((".csv", ".json")):
        raise OptionError(f"an answer is written as .csv or .json, not as {output}")
    for path in (output, score_rows, network_file, picture):
        if path is not None:
            check_target(path)
    if picture is not None:
        check_picture(picture)
    if report is not None:
        check_report(report)
    check_overwriting([output, score_rows, network_file, picture, report], [network, data])
    timing = timing_of(in_time.time, in_time.series)
    live_line().phase(f"reading {data}")
    rows = read_series(reading, network, data, timing)
    files = Files()
    found: Trajectory | Backtest
    about: dict[str, Any]
    if backtest is not None:
        live_line().phase("forecasting from each origin")
        found = test_forecasts(
            network, rows, steps or 1, backtest, time=timing.time, series=timing.series, level=level,
            draws=draws, seed=seed,
        )  # fmt: skip
        answer = found.to_dict()
        graph, about = graph_in_time(network), {}
    else:
        known, note = fitted_or_given(network, rows, timing, {})
        if note:
            show_warnings([note], "note")
        live_line().phase("forecasting")
        if estimate == "smooth":
            found = known.smooth(rows, level=level)
        elif estimate == "filter":
            found = known.filter(rows, level=level, draws=draws, seed=seed)
        else:
            found = known.forecast(rows, steps or 12, do=do, level=level, draws=draws, seed=seed)
        answer = found.to_dict()
        histories = None if estimate else known.histories(rows)
        graph, about = known.graph, {"histories": histories, "notes": [note] if note else []}
        if score_rows is not None:
            about["scores"] = scores = known.score_rows(rows, seed=seed)
            answer["row_scores"] = scores.to_dict()
            files.write(score_rows, lambda path: write_whole(path, scores.to_csv()))
            if not as_json:
                echo(scores.to_text(), err=True)
        files.write(network_file, lambda path: write_network(known, path))
        if histories is not None and picture is not None:
            from dagora.report.forecast_picture import draw_forecast

            drawn = draw_forecast(histories, found)
            files.write(picture, lambda path: write_whole(path, drawn))
    source = Path(data).name
    files.write(report, lambda path: write_forecast(found, path, graph=graph, source=source, **about))
    whole = json_text(answer)
    files.write(output, lambda path: write_whole(path, whole if path.endswith(".json") else found.to_csv()))
    echo(whole if as_json else render(found.to_text(), COMMAND))
    files.end()


def check_choices(
    backtest: int | None,
    estimate: str | None,
    settings: tuple[str, ...],
    picture: str | None,
    score_rows: str | None,
    network_file: str | None,
) -> None:
    """Refuse options that do not go together."""
    from dagora.base.errors import OptionError

    if backtest is not None and (estimate or settings or picture or score_rows or network_file):
        raise OptionError("--backtest goes with --steps, -o and --report alone: leave --do and others out")
    if estimate is not None and (settings or picture):
        raise OptionError("--estimate tells of the rows of DATA: leave --do and --picture out")


def read_settings(given: tuple[str, ...]) -> dict[str, str]:
    """All settings; one that is there twice is refused."""
    from dagora.base.errors import OptionError

    found: dict[str, str] = {}
    for each in given:
        name, value = split_setting(each)
        if name in found:
            raise OptionError(f"--do sets '{name}' twice: say once what it is set to")
        found[name] = value
    return found


def split_setting(given: str) -> tuple[str, str]:
    """The variable, with its step, and the value of a setting.

    >>> split_setting("x=3@t+2"), split_setting("x=3")
    (('x@t+2', '3'), ('x', '3'))
    """
    from dagora.base.errors import OptionError

    name, sign, value = given.partition("=")
    value, at, ahead = value.rpartition("@t+") if "@t+" in value else (value, "", "")
    if not sign or not name or not value:
        raise OptionError(f"--do takes NAME=VALUE or NAME=VALUE@t+K, not '{given}'")
    return f"{name}{at}{ahead}", value
