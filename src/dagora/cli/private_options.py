"""The options that both parties of `dagora private` have, as one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.base.extras import FOR_OWNERS, GMPY2, require_all
from dagora.base.phrases import split_list
from dagora.base.wording import option
from dagora.cli.data_options import CELLS, given_options, show_overview, show_warnings
from dagora.cli.gathering import Decorator, F, gather_options
from dagora.cli.learn_options import REPORT
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.party_options import seconds_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.learners.result import Result
    from dagora.parties.vertical.agreement import AgreedTerms, TermsProposal
    from dagora.parties.vertical.private_k2 import PartyData


@dataclass(frozen=True)
class PrivateRequest:
    """The input of a party, its terms, and its output."""

    key: str
    given: Mapping[str, Any]
    max_parents: int | None
    order: str | None
    score: str | None
    mode: str | None
    crypto: str | None
    levels: str | None
    min_rows: int | None
    parameters: str | None
    shares: str | None
    security: str | None
    patience: float
    output: str | None
    report: str | None
    as_json: bool
    quiet: bool

    @property
    def proposal(self) -> TermsProposal:
        """The terms that this party wants."""
        from dagora.parties.vertical.agreement import TermsProposal

        return TermsProposal(
            self.order,
            self.max_parents,
            self.score,
            self.mode,
            self.crypto,
            self.levels,
            self.min_rows,
            self.parameters,
            self.security,
        )

    def check_packages(self) -> None:
        """Refuse to go on without what the protocol needs, or the encryption that was asked for."""
        require_all(FOR_OWNERS, "dagora private")
        if self.crypto == "paillier":
            GMPY2.require(option("crypto", "paillier"))

    def check(self, data: str | None = None) -> None:
        """Refuse invalid options and files before any data are read; `data` is the file of this party."""
        from dagora.base.errors import OptionError
        from dagora.cli.outputs import check_output, check_overwriting, check_report, check_target

        _ = self.proposal
        if self.security == "malicious" and self.crypto is not None:
            raise OptionError(
                f"{option('security', 'malicious')} encrypts no columns: leave out {option('crypto')}"
            )
        if self.output and not self._writes_network:
            check_output(self.output, (), None)
        elif self.output:
            check_target(self.output)
        if self.shares:
            check_target(self.shares)
        if self.parameters == "shares" and not self.shares:
            raise OptionError(f"{option('parameters', 'shares')} needs a file: give {option('shares')}")
        if self.shares and self.parameters != "shares":
            raise OptionError(
                f"{option('shares')} names a file for shares: give {option('parameters', 'shares')} too"
            )
        if self.report:
            check_report(self.report)
        check_overwriting([self.output, self.report, self.shares], [data])

    @property
    def _writes_network(self) -> bool:
        """Return True if the output holds a network and nothing else."""
        from dagora.formats.registry import find_format

        return self.parameters == "open" and find_format(self.output or ".json").needs_tables

    def party_data(self, path: str, drop: str = "") -> PartyData:
        """Read a file with its key column."""
        from dagora.parties.vertical.private_session import read_party_data

        live_line().phase(f"reading {path}")
        return read_party_data(path, self.key, drop=split_list(drop), **self.given)

    def greet(self, peer: str, fingerprint: str) -> None:
        """Say whose certificate was shown: its owner can compare it with what the peer says it has."""
        if not self.quiet:
            echo(f"dagora: the {peer} shows the certificate {fingerprint}", err=True)

    def state_costs(self, terms: AgreedTerms, brought: PartyData) -> None:
        """Print what the run will cost at most, before this party agrees to the terms."""
        if not self.quiet:
            from dagora.parties.vertical.costs import MORE_KEY_BYTES, bound_costs

            keys = len(brought.keys)
            if terms.security == "malicious":
                costs = bound_costs(terms, keys).describe()
                echo(f"dagora: with {keys} rows it takes {costs}", err=True)
                return
            more = MORE_KEY_BYTES["host" if terms.host == brought.table.names else "guest"]
            costs = bound_costs(terms, keys).describe()
            beyond = f"about {more} bytes for each key that the other has beyond {keys}"
            echo(f"dagora: with {keys} common rows it would take {costs}, and {beyond}", err=True)

    def tell(self, terms: AgreedTerms, brought: PartyData) -> None:
        """Print how the columns were understood and the agreed terms, before anything about rows is sent."""
        if not self.quiet:
            self.show_reading(brought)
            echo(f"dagora: agreed: {terms.describe()}", err=True)
            first = terms.names[terms.order[0]]
            if self.output and self._writes_network and first not in brought.table.names:
                lacking = f"{self.output} will lack variables, or may not be written at all"
                show_warnings([f"'{first}' comes first and is the other's: {lacking}"], "note")

    def show_reading(self, brought: PartyData) -> None:
        """Say how a party's columns were understood; with --json only what deserves a warning."""
        overview = brought.table.overview
        if self.quiet or overview is None:
            return
        if self.as_json:
            show_warnings(overview.warnings)
        else:
            show_overview(overview, brought.source)

    def present(self, result: Result, brought: PartyData) -> None:
        """Write files, print the result, and print who learned what; `brought` is the party's."""
        from dagora.cli.outputs import show_result
        from dagora.cli.writing import Files
        from dagora.report import write_report

        files = Files()
        files.write(self.output, lambda path: write_private(result, path))
        files.write(self.report, lambda path: write_report(result, path, source="columns of two owners"))
        if not self.quiet:
            overview = brought.table.overview
            told = overview.warnings if overview else ()  # before the run
            show_warnings(warning for warning in result.warnings if warning not in told)
            show_warnings(files.notes, "note")
        if self.as_json:
            echo(result.to_json())
        else:
            show_result(result, None, files.written)
            if not self.quiet:
                echo("")
                for sentence in result.settings["leakage"]:
                    echo(f"· {sentence}")
        files.end()

    def arguments(self, *, host: bool) -> list[str]:
        """The command-line arguments for one party of a simulation."""
        given: list[tuple[str, object]] = [
            ("--levels", self.levels),
            ("--min-rows", self.min_rows),
            ("--parameters", self.parameters),
            ("--security", self.security),
        ]
        if self.shares:
            from dagora.parties.vertical.parameter_output import shares_file

            given.append(("--shares", shares_file(self.shares, "host" if host else "guest")))
        if host:
            given += [
                ("--max-parents", self.max_parents),
                ("--order", self.order),
                ("--score", self.score),
                ("--mode", self.mode),
                ("--crypto", self.crypto),
            ]
        line = [*self.reading_arguments(), *as_line(given)]
        return [*line, *(["--quiet"] if self.quiet or not host else [])]

    def reading_arguments(self) -> list[str]:
        """The command-line arguments that every party of a simulation is given."""
        return as_line(
            [
                ("--key", self.key),
                *((f"--{name}", value) for name, value in self.given.items()),
                ("--patience", self.patience),
            ]
        )

    def group_terms(self) -> list[str]:
        """The command-line arguments with the terms of three and more owners."""
        terms = [("--max-parents", self.max_parents), ("--order", self.order), ("--score", self.score)]
        return as_line(terms)


def as_line(given: Sequence[tuple[str, object]]) -> list[str]:
    """Flags and their values, without those that were not given.

    >>> as_line([("--order", None), ("--max-parents", 2)])
    ['--max-parents', '2']
    """
    return [part for flag, value in given if value is not None for part in (flag, str(value))]


def write_private(result: Result, path: str) -> list[str]:
    """Write a result, or the network of what was opened; return what should be said about the file."""
    from dagora.api.opened_network import opened_network
    from dagora.base.errors import GraphError
    from dagora.base.files import write_whole
    from dagora.cli.outputs import write_result
    from dagora.formats.json_format import render_result
    from dagora.formats.registry import find_format, write_network

    known = find_format(path)
    if "tables" not in result.settings or known.render_network is None:
        return write_result(result, None, path)
    if known.needs_tables:
        try:
            network = opened_network(result)
        except GraphError as error:
            raise GraphError(f"cannot write {path}: {error}{keep_result(result, path)}") from None
        write_network(network, path)
        lacking = ", ".join(node for node in result.graph if node not in network.graph.nodes)
        return [f"{path} lacks {lacking}: no table for them or an ancestor is known here"] if lacking else []
    tables = result.settings["tables"]
    missing = ", ".join([*tables["withheld"], *tables["with_the_other_party"]])
    reason = f"tables were withheld or stay with the other party: {missing}" if missing else None
    write_whole(path, render_result(result.to_dict(), None if missing else opened_network(result), reason))
    return [f"{path} has no parameters of all variables: {reason}"] if reason else []


def keep_result(result: Result, path: str) -> str:
    """Write the result beside a file that cannot be written, unless a file is there; say where it is."""
    from dagora.base.files import write_whole

    beside = Path(f"{path}.json")
    if beside.exists():
        return ""
    write_whole(beside, result.to_json() + "\n")
    return f"; the result is in {beside}"


def private_options(command: F) -> F:
    """Add the options that all parties have; the command gets them as one argument `request`."""
    options: tuple[Decorator, ...] = (
        click.option("--key", required=True, metavar="COLUMN", help="Column that identifies the rows."),
        *given_options(names=CELLS),
        click.option(
            "--max-parents",
            type=int,
            metavar="U",
            help="Most parents that a variable may have (the host's default: 3).",
        ),
        click.option(
            "--order",
            metavar="A,B,C",
            help="Order of all variables, parents first (the host's default: its own, then the guest's).",
        ),
        click.option(
            "--score",
            type=click.Choice(["f", "g"]),
            help="f: exact (default); g: by Stirling's formula, our reconstruction of the paper's.",
        ),
        click.option(
            "--mode",
            type=click.Choice(["hidden", "adaptive"]),
            help="hidden: only the graph is revealed (default); adaptive: the steps of the search as well.",
        ),
        click.option(
            "--crypto",
            type=click.Choice(["rlwe", "paillier"]),
            help="Encryption for dot products (default: rlwe).",
        ),
        click.option(
            "--levels",
            metavar="A=3,B=2",
            help="Numbers of levels that columns must have, one's own or the other's; else nobody goes on.",
        ),
        click.option(
            "--min-rows",
            type=int,
            metavar="N",
            help="Fewest common rows to go on with; the larger number of both parties counts (default: 2).",
        ),
        click.option(
            "--parameters",
            type=click.Choice(["none", "shares", "open"]),
            help="Of families with columns of both: none (default); shares: each party keeps shares of the "
            "counts in a file; open: both see the probabilities to three digits. Both must ask for it.",
        ),
        click.option(
            "--shares",
            metavar="FILE",
            help="File for this party's shares; simulate puts .host and .guest before its extension.",
        ),
        click.option(
            "--security",
            type=click.Choice(["semi-honest", "malicious"]),
            help="semi-honest: both follow the protocol (default); malicious: if one cheats, the other gets "
            "the right graph or none, and the cheater one bit more at most; both must bring the same rows. "
            "Both must ask for it.",
        ),
        seconds_option("--patience", 600.0, "Seconds to wait for each message of the other party."),
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the graph: .json .dot .graphml .csv; opened parameters: .json .bif",
        ),
        REPORT,
        click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
        quiet_option("Print the graph and nothing else.", passed=True),
    )
    return gather_options(command, PrivateRequest, "request", options, CELLS)
