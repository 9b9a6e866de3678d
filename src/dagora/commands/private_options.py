"""What both parties of `dagora private` are asked: options in common, as one object."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dagora.commands.data_options import CELLS, names
from dagora.commands.federate import seconds
from dagora.commands.gathering import F, gathered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagora.events import Observer
    from dagora.parties.vertical.agreement import AgreedTerms, Proposal
    from dagora.parties.vertical.private_k2 import PartyData
    from dagora.result import Result


@dataclass(frozen=True)
class Asked:
    """What a party reads, wants and writes."""

    key: str
    missing: str
    separator: str | None
    max_parents: int | None
    order: str | None
    score: str | None
    mode: str | None
    crypto: str | None
    patience: float
    output: str | None
    report: str | None
    as_json: bool
    quiet: bool

    @property
    def proposal(self) -> Proposal:
        """What goes into the agreement."""
        from dagora.parties.vertical.agreement import Proposal

        return Proposal(self.order, self.max_parents, self.score, self.mode, self.crypto)

    def check(self) -> None:
        """Refuse what can be refused before any data are read."""
        from dagora.commands.outputs import check_output, check_report

        _ = self.proposal
        if self.output:
            check_output(self.output, None)
        if self.report:
            check_report(self.report)

    def party_data(self, path: str, drop: str = "") -> PartyData:
        """Read a file with its key column."""
        from dagora.vertical import read_party_data

        return read_party_data(
            path, self.key, drop=names(drop), missing=self.missing, separator=self.separator
        )

    @contextmanager
    def progress(self) -> Iterator[Observer]:
        """Progress on standard error. Ctrl-C ends the run for both: half a search is no result."""
        from dagora.commands.progress import ProgressLine
        from dagora.events import ignore

        line = None if self.quiet else ProgressLine()
        try:
            yield line or ignore
        finally:
            if line:
                line.close()

    def tell(self, terms: AgreedTerms) -> None:
        """Say what was agreed, before anything that depends on rows is sent."""
        if not self.quiet:
            click.echo(f"dagora: agreed: {terms.describe()}", err=True)

    def present(self, result: Result) -> None:
        """Write and print, and say who learned what."""
        from dagora.commands.outputs import show_result, write_result
        from dagora.report import write_report

        if self.output:
            write_result(result, None, self.output)
        if self.report:
            write_report(result, self.report, source="columns of two owners")
        if self.as_json:
            click.echo(json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False))
            return
        show_result(result, None, [path for path in (self.output, self.report) if path])
        if not self.quiet:
            click.echo("")
            for sentence in result.settings["leakage"]:
                click.echo(f"· {sentence}")

    def arguments(self, *, host: bool) -> list[str]:
        """The same on a command line, for a party of a simulation, whose result is read again."""
        given: list[tuple[str, object]] = [
            ("--key", self.key),
            ("--missing", self.missing),
            ("--separator", self.separator),
            ("--patience", self.patience),
        ]
        if host:
            given += [
                ("--max-parents", self.max_parents),
                ("--order", self.order),
                ("--score", self.score),
                ("--mode", self.mode),
                ("--crypto", self.crypto),
            ]
        line = [part for flag, value in given if value is not None for part in (flag, str(value))]
        return [*line, *(["--quiet"] if self.quiet or not host else [])]


def private_options(command: F) -> F:
    """Add the options that all parties have; the command gets them as one argument `asked`."""
    options = (
        click.option("--key", required=True, metavar="COLUMN", help="Column that identifies rows."),
        *CELLS,
        click.option("--max-parents", type=int, metavar="U", help="No variable gets more (host: 3)."),
        click.option(
            "--order", metavar="A,B,C", help="All variables of both (host: its own, then the guest's)."
        ),
        click.option("--score", type=click.Choice(["f", "g"]), help="f: exact (default); g: the paper's."),
        click.option(
            "--mode",
            type=click.Choice(["hidden", "adaptive"]),
            help="hidden: only the graph comes out (default); adaptive: also the steps of the search.",
        ),
        click.option(
            "--crypto", type=click.Choice(["rlwe", "paillier"]), help="For dot products (default: rlwe)."
        ),
        click.option(
            "--patience",
            type=float,
            callback=seconds,
            default=600.0,
            show_default=True,
            help="Seconds to wait for a message of the other.",
        ),
        click.option("-o", "--output", metavar="FILE", help="Write the graph: .json .dot .graphml .csv"),
        click.option("--report", metavar="R.html", help="Write one page with all of it, for the browser."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--quiet", is_flag=True, help="Print the graph and nothing else."),
    )
    return gathered(command, Asked, "asked", options)
