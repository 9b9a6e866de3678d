"""The options that commands which learn or sample share."""

from __future__ import annotations

import click

from dagora.cli import completing
from dagora.cli.gathering import Decorator, F, gather_options
from dagora.cli.learn_request import LearnRequest
from dagora.cli.live_line import quiet_option
from dagora.network.table_prior import ONE_ROW, PseudoCount, TablePrior


class PseudoCountType(click.ParamType[PseudoCount]):
    """A number of at least 0, or one-row."""

    name = "number"

    def convert(
        self, value: object, _parameter: click.Parameter | None, _context: click.Context | None
    ) -> PseudoCount:
        """Read the option; `TablePrior` refuses what is no pseudocount."""
        from dagora.base.errors import OptionError

        try:
            added: PseudoCount = ONE_ROW if value == ONE_ROW else float(str(value))
        except ValueError:
            must = "must be a number of at least 0, or one-row"
            raise OptionError(f"--pseudocount {must}, not '{value}'") from None
        return TablePrior(added).pseudocount


def check_pairs(
    _context: click.Context, _parameter: click.Parameter, pairs: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse what is no NAME=VALUE before anything else is said about the line."""
    from dagora.base.errors import OptionError

    for pair in pairs:
        name, sign, _ = pair.partition("=")
        if not sign or not name:
            raise OptionError(f"--option takes NAME=VALUE, not '{pair}'")
    return pairs


COMMON_OPTIONS = (
    click.option(
        "--option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        callback=check_pairs,
        shell_complete=completing.options,
        help="Option of the method or score (repeatable).",
    ),
    click.option("--max-parents", type=click.IntRange(0), help="Most parents that a variable may have."),
    click.option(
        "--knowledge",
        metavar="K.json",
        shell_complete=completing.files,
        help="Edges required or forbidden, tiers, max_parents.",
    ),
    click.option(
        "--truth",
        metavar="GRAPH",
        shell_complete=completing.files,
        help="Compare the result with this graph.",
    ),
    click.option(
        "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random numbers."
    ),
    click.option(
        "--time-limit", type=float, metavar="SECONDS", help="Stop then and return what was found so far."
    ),
    click.option(
        "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads or processes to use."
    ),
)
REPORT = click.option(
    "--report",
    metavar="R.html",
    shell_complete=completing.files,
    help="Write a page for the browser: graph, edges, settings.",
)
PSEUDOCOUNT = click.option(
    "--pseudocount",
    type=PseudoCountType(),
    default=ONE_ROW,
    show_default=True,
    help="Added to every cell of a fitted probability table; one-row: one row for each combination of "
    "parents, spread evenly over the levels.",
)
PRINTING = (
    click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
    quiet_option("Show no progress and no warnings.", passed=True),
)


METHOD = click.option(
    "-m",
    "--method",
    default="auto",
    show_default=True,
    shell_complete=completing.methods,
    help="Method (`dagora methods` lists them).",
)
METHOD_OVER_SITES = click.option(
    "-m",
    "--method",
    default="",
    show_default="notears for continuous columns, else hill-climb",
    shell_complete=completing.methods,
    help="Method (`dagora methods` lists them).",
)


TARGET: Decorator = click.option(
    "--target",
    metavar="COLUMN",
    help="Learn about this column alone: its Markov blanket, searched near it, of any number of columns.",
)


def learn_options(command: F) -> F:
    """Add the options to a command, which gets them as one argument `request`."""
    return requesting(command, METHOD, TARGET)


def learn_options_over_sites(command: F) -> F:
    """The same with the default method over sites, which depends on the columns (see `settled`)."""
    return requesting(command, METHOD_OVER_SITES)


def requesting(command: F, *first: Decorator) -> F:
    """Add the options of a request to a command."""
    options: tuple[Decorator, ...] = (
        *first,
        click.option(
            "-s",
            "--score",
            shell_complete=completing.scores,
            help="Score to maximise; default: BIC for the kind of the columns.",
        ),
        *COMMON_OPTIONS,
        click.option(
            "--start",
            metavar="GRAPH",
            shell_complete=completing.files,
            help="Start from this graph or result (auto, hill-climb, tabu, order-search, boss, ges).",
        ),
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            shell_complete=completing.files,
            help="Graph as .json .bif .dot .graphml .csv .dagitty .tetrad",
        ),
        click.option(
            "--picture",
            metavar="FILE.svg",
            help="Draw the graph; with --truth, right and wrong edges in colours.",
        ),
        REPORT,
        PSEUDOCOUNT,
        *PRINTING,
    )
    return gather_options(command, LearnRequest, "request", options)
