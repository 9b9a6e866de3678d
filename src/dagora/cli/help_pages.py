"""Help that fits a screen: what is used every day first, with examples; `--help-all` shows the rest.

A command whose whole page fits a screen shows it. Of any other, `--help` has the first paragraph, the options
of every day and the names of the others. Options that only one command has stand first; those that many have,
in the groups below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from dagora.cli.terminal import echo
from dagora.data.columns.reading_options import READING

LINES = 40  # of a screen
WIDTH = 100  # most characters of a line
# What stands for a value, in short.
METAVARS = (("INTEGER RANGE", "N"), ("INTEGER", "N"), ("FLOAT RANGE", "X"), ("FLOAT", "X"), ("TEXT", "NAME"))
COLUMN = 34  # widest first column of a list of options
GROUPS = {
    "How to learn": (
        "method", "score", "options", "max_parents", "knowledge", "target", "interventions", "em_rounds",
        "bootstrap", "resample", "seed", "time_limit", "jobs",
    ),
    "How to read the table": tuple(READING),
    "Rows that stay outside": ("query", "sample", "scan", "push_down", "dask"),
    "Series": ("time", "series", "lags"),
    "What to write": ("output", "report", "picture", "truth", "as_json", "checkpoint", "quiet"),
}  # fmt: skip
GROUP_OF = {name: title for title, names in GROUPS.items() for name in names}
# Of the options in groups, those that a first page shows.
EVERYDAY = frozenset({
    "method", "score", "options", "max_parents", "knowledge", "bootstrap", "time_limit", "seed",
    "output", "report", "as_json", "quiet", *(name for name, entry in READING.items() if not entry.rare),
})  # fmt: skip


NEEDED = frozenset({"causes", "outcome"})
"""Options that a command needs, but for another one that may stand in their place."""


class PagedCommand(click.Command):
    """A command with a first page of help, and a second one with everything."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters, with `--help-all`."""
        return [*super().get_params(ctx), HELP_ALL]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The whole page where it was asked for or fits a screen, else the first one."""
        whole = click.HelpFormatter(width=formatter.width)
        super().format_help(ctx, whole)
        if EVERYTHING in ctx.meta or fits(whole):
            formatter.write(whole.getvalue())
            return
        for examples, own in ((3, True), (1, True), (1, False)):
            page = click.HelpFormatter(width=formatter.width)
            self.format_first_page(ctx, page, examples, own=own)
            if fits(page):
                break
        formatter.write(page.getvalue())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All options, in groups."""
        for title, group in in_groups(self.get_params(ctx)):
            write_options(ctx, formatter, title, group)

    def format_first_page(
        self, ctx: click.Context, formatter: click.HelpFormatter, examples: int, *, own: bool
    ) -> None:
        """Write a short page: a paragraph, the common options, the names of the others, examples.

        `own` says whether all options that only this command has are explained, or those that it needs.
        """
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text((self.help or "").split("\n\n")[0])
        others: list[str] = []
        for title, group in in_groups(self.get_params(ctx)):
            shown = [
                one
                for one in group
                if one.required
                or one.name in EVERYDAY | NEEDED
                or (own and one.name not in GROUP_OF)
                or asks(one)
            ]
            others += [max(one.opts, key=len) for one in group if one not in shown]
            write_options(ctx, formatter, title, shown, briefly=True)
        if others:
            with formatter.section(f"More, with {ctx.command_path} --help-all"):
                names = textwrap.wrap(" ".join(others), formatter.width - 2, break_on_hyphens=False)
                formatter.write("".join(f"  {line}\n" for line in names))
        lines = [line for line in (self.epilog or "").splitlines() if line.startswith("  ")]
        if lines:
            with formatter.section("Examples"):
                formatter.write("".join(f"{line}\n" for line in lines[:examples]))


def fits(page: click.HelpFormatter) -> bool:
    """Return True if a page fits a screen."""
    return len(page.getvalue().splitlines()) <= LINES


def asks(option: click.Option) -> bool:
    """Return True for an option that asks for help."""
    return bool({"--help", "--help-all"} & set(option.opts))


EVERYTHING = "help-all"


def show_all(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Print the whole page and exit."""
    if value and not ctx.resilient_parsing:
        ctx.meta[EVERYTHING] = True
        echo(ctx.get_help())
        ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_all,
    help="Show all options and exit.",
)


def in_groups(parameters: Sequence[click.Parameter]) -> Iterator[tuple[str, list[click.Option]]]:
    """Options of this command alone, then those of each group, then help."""
    options = [one for one in parameters if isinstance(one, click.Option) and not one.hidden]
    own = [one for one in options if one.name not in GROUP_OF and not asks(one)]
    groups = [("Options", own)]
    groups += [(title, [one for one in options if GROUP_OF.get(one.name or "") == title]) for title in GROUPS]
    *first, (title, last) = [group for group in groups if group[1]] or [("Options", own)]
    yield from first
    yield title, [*last, *filter(asks, options)]


def write_options(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    title: str,
    options: Sequence[click.Option],
    *,
    briefly: bool = False,
) -> None:
    """A group of options, each with its meaning; `briefly`, with the first clause of it."""
    records = [record for record in (one.get_help_record(ctx) for one in options) if record]
    if records:
        with formatter.section(title):
            formatter.write_dl(
                [in_short(*record) if briefly else record for record in records], col_max=COLUMN
            )


def in_short(flags: str, meaning: str) -> tuple[str, str]:
    """An option with the first clause of its meaning, its choices and its default.

    >>> in_short("-s, --score TEXT", "Score to maximise; default: BIC for the kind of the columns.")
    ('-s, --score NAME', 'Score to maximise.')
    >>> in_short("--jobs INTEGER RANGE", "Threads to use.  [default: 1; x>=1]")
    ('--jobs N', 'Threads to use. [default: 1]')
    """
    said, _, facts = meaning.partition("  [")
    clause = said.split("; ")[0].split(". ")[0].removesuffix(".")
    default = next((fact[9:] for fact in facts.rstrip("]").split("; ") if fact.startswith("default: ")), "")
    name, _, choices = flags.partition(" [")
    for long, short in METAVARS:
        name = name.replace(long, short)
    facts = "; ".join(filter(None, [choices.removesuffix("]"), default and f"default: {default}"]))
    return (f"{name} HOW" if choices else name), f"{clause}." + (f" [{facts}]" if facts else "")
