"""`dagora reproduce`: measure a table or figure of a paper again."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.base.errors import OptionError
from dagora.base.files import json_text
from dagora.cli.cluster_options import dask_option
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.base.budget import Budget
    from dagora.papers.measuring import Harvest
    from dagora.papers.reports import Report

EXAMPLES = """\b
Examples:
  dagora reproduce
  dagora reproduce notears/table1
  dagora reproduce notears/fig3 --full --jobs 2 -o results
  dagora reproduce notears/fig3 --full --only d=50 --only graph=SF4
  dagora reproduce notears/fig3 --full --dask tcp://127.0.0.1:8786
  dagora reproduce admm/fig2 --full --draw -o docs/reproductions
  dagora reproduce notears/sachs --json
"""


@click.command(
    "reproduce", cls=PagedCommand, short_help="Reproduce a paper's table or figure.", epilog=EXAMPLES
)
@click.argument("item", required=False, metavar="[PAPER/ITEM]")
@click.option("--list", "listing", is_flag=True, help="List the items.")
@click.option("--full", is_flag=True, help="Run at full size; without it, a small version (minutes).")
@click.option(
    "-o", "--output", default="reproductions", show_default=True, metavar="FOLDER", help="Folder for files."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the first repetition."
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes to use.")
@dask_option("Measure", ".")
@click.option(
    "--only", multiple=True, metavar="NAME=VALUE", help="Measure cells with this parameter only; repeatable."
)
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop then; the same command continues.")
@click.option("--draw", is_flag=True, help="Measure nothing: write the page from the cells in FOLDER.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@quiet_option()
def command(
    *,
    item: str | None,
    listing: bool,
    full: bool,
    output: str,
    seed: int,
    jobs: int,
    dask: str | None,
    only: tuple[str, ...],
    time_limit: float | None,
    draw: bool,
    as_json: bool,
) -> None:
    """Measure a table or figure of a paper again: PAPER/ITEM, such as notears/table1. Without it, list all.

    Each cell is saved in FOLDER as soon as it is measured. Ctrl-C or --time-limit stops early, and the same
    command continues where it stopped. A table (Markdown and CSV) and charts (SVG) of all cells that FOLDER
    then has are written at the end.
    """
    from dagora.base.budget import Budget
    from dagora.base.dask_cluster import check_cluster, connect_cluster
    from dagora.cli.progress import progress
    from dagora.learners.checks import check_circumstances
    from dagora.learners.run import Run
    from dagora.papers.cell_file import CellFile
    from dagora.papers.experiment import Size
    from dagora.papers.measuring import kept_cells, measure_cells
    from dagora.papers.registry import item_named
    from dagora.papers.reports import write_report

    if item is None or listing:
        show_items(item, as_json=as_json)
        return
    if dask is not None:
        check_cluster(dask)
        if jobs > 1:
            raise OptionError("--jobs does not go with --dask: leave one of them out")
    entry = item_named(item)
    budget = Budget(check_circumstances(seed, time_limit, jobs))
    experiment = entry.load()(Size(full, seed))
    chosen = experiment.where(only)
    with connect_cluster(dask) as cluster:
        folder = make_folder(output)
        stem = entry.name.replace("/", "-")
        cells = CellFile(folder / f"{stem}.cells.jsonl")
        with progress(budget) as on_event:
            run = Run(seed=seed, budget=budget, jobs=jobs, on_event=on_event)
            harvest = kept_cells(chosen, cells) if draw else measure_cells(chosen, cells, run, cluster)
        if only:
            harvest = kept_cells(experiment, cells)
    if draw and not harvest.measured:
        raise OptionError(f"no cell of {entry.name} is in {folder}: leave out --draw to measure them")
    report = experiment.report(harvest.measured) if harvest.measured else None
    written: list[Path] = []
    if report is not None:
        line = f"dagora reproduce {entry.name}{' --full' * full}{f' --seed {seed}' * (seed > 0)}"
        stated = entry.size(full=full)
        written = write_report(report, folder, stem, command=line, size=stated, missing=missing_part(harvest))
    written += [cells.path] * cells.path.exists()
    status, message = ending(harvest, budget, cells.path)
    if as_json:
        content = {
            "item": entry.name,
            "reference": entry.reference,
            "status": status,
            "message": message,
            "cells": len(harvest.measured),
            "total_cells": harvest.total,
            "full": full,
            "seed": seed,
            "seconds": budget.elapsed,
            **({} if report is None else report.to_dict()),
            "files": [str(path) for path in written],
        }
        echo(json_text(content))
        return
    if report is not None:
        show_report(report)
    echo(f"{status}: {message} ({budget.elapsed:.0f} s)")
    for path in written:
        echo(f"written: {path}", err=True)


def show_items(item: str | None, *, as_json: bool) -> None:
    """List the items, or those whose names begin like the one given."""
    from dagora.papers.registry import ITEMS

    shown = [entry for entry in ITEMS if entry.name.startswith(item or "")]
    if not shown:
        raise OptionError(
            f"there is no reproduction whose name begins with '{item}': leave it out to see all"
        )
    if as_json:
        entries = [{key: value for key, value in asdict(entry).items() if key != "maker"} for entry in shown]
        echo(json_text(entries))
        return
    width = max(len(entry.name) for entry in shown) + 2
    for entry in shown:
        echo(f"{entry.name:{width}}{entry.summary}")
        echo(f"{'':{width}}quick: {entry.quick}; --full: {entry.full}  ({entry.reference})")


def make_folder(output: str) -> Path:
    """Make the folder for the files; refuse one that cannot be written to before any work is done."""
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise OptionError(f"cannot make the folder {output}: {reason}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OptionError(f"the folder {output} may not be written to: name another with -o")
    return folder


def missing_part(harvest: Harvest) -> str:
    """The number of cells measured so far, in words; empty if complete."""
    return "" if harvest.complete else f"{len(harvest.measured)} of {harvest.total} cells are measured"


def ending(harvest: Harvest, budget: Budget, cells: Path) -> tuple[str, str]:
    """Status and message of a run; the message says how to continue."""
    if not harvest.complete and not budget.exhausted:
        return "finished", f"{missing_part(harvest)} and drawn"
    if not harvest.complete:
        return (
            "time-limit",
            f"{budget.reason}; {missing_part(harvest)} and kept: run the same command again to go on",
        )
    kept = f", {harvest.kept} of them before in {cells}" if harvest.kept else ""
    return "finished", f"{harvest.total} cells are measured{kept}"


def show_report(report: Report) -> None:
    """Print tables and notes for people."""
    echo(report.title)
    for table in report.tables:
        if len(report.tables) > 1:
            echo(f"\n{table.title}")
        echo(f"\n{table.to_markdown()}")
    echo("")
    for note in report.notes:
        echo(f"- {note}")
    echo("")
