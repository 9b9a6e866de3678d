"""`dagora federate policy`: write and check what the owner of a site allows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.cli import completing
from dagora.cli.data_options import (
    CellReading,
    Reading,
    TimeRequest,
    cell_options,
    data_options,
    time_options,
)
from dagora.cli.federate.keys import COORDINATOR, MINIMUM
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.party_options import as_bad_input
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dagora.data.series import Timing
    from dagora.data.table import Table
    from dagora.parties.horizontal.plan.codebook import Codebook

# A range drafted from a table reaches this much of its width beyond the smallest and the largest value.
MARGIN = 0.1


@click.group("policy", short_help="Write or check what a site may be asked.")
def policy() -> None:
    """Write or check the policy of a site: who may ask it what, together with whom."""


@dataclass(frozen=True)
class Folders:
    """The folders and certificates of one site, or of all parties of a trial."""

    sites: Mapping[str, Path]
    certificates: Mapping[str, str]
    trial: bool


@policy.command("init", cls=PagedCommand, short_help="Write a policy with comments, from a table.")
@click.argument("data", nargs=-1, shell_complete=completing.files)
@click.option(
    "--keys",
    "folder",
    required=True,
    metavar="FOLDER",
    help="Folder of this site's certificate; or, for a trial, the folder with those of all parties.",
)
@click.option(
    "--codebook", metavar="FILE", help="Take the columns from the consortium's codebook, not from a table."
)
@click.option(
    "--coordinator", metavar="CERT", help="The coordinator's certificate: a .pem file or its fingerprint."
)
@click.option(
    "--site",
    "others",
    multiple=True,
    metavar="NAME=CERT",
    help="Another site's certificate: a .pem file or its fingerprint (repeatable).",
)
@click.option(
    "--rare",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Levels in fewer rows of DATA than this are not named: they become the level other.",
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
@MINIMUM
@quiet_option()
@time_options
@data_options
def init(
    *,
    data: tuple[str, ...],
    folder: str,
    codebook: str | None,
    coordinator: str | None,
    others: tuple[str, ...],
    rare: int,
    overwrite: bool,
    minimum: int,
    in_time: TimeRequest,
    reading: Reading,
) -> None:
    """Write a policy with the usual limits and a comment for each line.

    Columns, levels and ranges are drafted from the tables DATA: read them before you use them, since all
    parties see them. With the folder that `dagora federate keys` has made, every site of a trial gets a
    policy, and the coordinator the codebook. With --time, the rows are series: only sums over windows of
    time may be asked for, which reach --lags steps back (1 where that is not said).
    """
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.base.errors import OptionError
    from dagora.base.files import write_whole
    from dagora.parties.horizontal.policy.drafted_policy import draft_policy
    from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME, POLICY_NAME, read_codebook
    from dagora.parties.horizontal.policy.policy_text import write_codebook, write_policy

    with as_bad_input():
        found = find_folders(Path(folder), coordinator, others)
    certificates = {name: known for name, known in found.certificates.items() if name != COORDINATOR}
    if 1 < len(certificates) < minimum:
        raise OptionError(
            f"there are {len(certificates)} sites, fewer than --minimum {minimum}: with two sites each can "
            "compute the other's part; --minimum 2 accepts that"
        )
    reading.options()  # refuses what does not go together
    timing = in_time.timing
    book, rows, step = columns_from(data, codebook, reading, rare, timing)
    lags = int(in_time.lags or 1) if timing is not None else 0
    if not found.trial:
        rows *= max(1, len(certificates))
    drafted_from = ", ".join((*data, *([codebook] if codebook else [])))
    drafted = draft_policy(
        book,
        found.certificates.get(COORDINATOR, ""),
        certificates,
        least_sites=max(minimum, len(certificates)),
        rows=rows,
        lags=lags,
        step=step,
    )
    if codebook is not None:
        agreed = read_codebook(Path(codebook))
        drafted = replace(
            drafted,
            largest_rows=agreed.largest_rows,
            columns_per_table=agreed.columns_per_table,
            cells_per_table=agreed.cells_per_table,
        )
    text = write_policy(drafted, drafted_from)
    files = {home / POLICY_NAME: text for home in found.sites.values()}
    if found.trial:
        files = {Path(folder, COORDINATOR, CODEBOOK_NAME): write_codebook(drafted), **files}
    taken = [path for path in files if path.exists() and not overwrite]
    if taken:
        raise OptionError(f"{taken[0]}: is there already: --overwrite replaces it")
    for path, content in files.items():
        write_whole(path, content)
        echo(str(path))
    note_gaps(found)


@policy.command("check", cls=PagedCommand, short_help="Read a policy back, and try a table on it.")
@click.argument("policy_file", metavar="POLICY", shell_complete=completing.files)
@click.argument("data", required=False, shell_complete=completing.files)
@quiet_option()
@cell_options
def check(*, policy_file: str, data: str | None, reading: CellReading) -> None:
    """Say what POLICY allows; with DATA, whether that table follows its columns.

    `dagora federate client --dry-run PLAN` tries a plan on it.
    """
    from dagora.learners.registry import METHODS
    from dagora.parties.horizontal.policy.policy_file import read_policy
    from dagora.parties.horizontal.policy.policy_text import policy_in_words

    path = Path(policy_file)
    found = read_policy(path, [method.name for method in METHODS])
    for line in policy_in_words(found):
        echo(line)
    if data is not None:
        site = reading.site(data, path.parent.name, found.codebook)
        echo(f"{data}: {site.table.n_rows} rows follow the codebook")


def find_folders(folder: Path, coordinator: str | None, others: Sequence[str]) -> Folders:
    """Find out whose certificates a folder holds, and collect everyone's fingerprints."""
    from dagora.base.errors import OptionError
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.transport import check_name

    if (folder / "party.pem").is_file():
        own = Credentials.load(folder)
        if own.name == COORDINATOR:
            raise OptionError(f"{folder} is for the coordinator: a policy is for a site")
        known = {own.name: certificate_of(str(own.certificate))}
        for given in others:
            name, sign, certificate = given.partition("=")
            if not sign or not name or name in {*known, COORDINATOR}:
                raise OptionError(f"--site takes NAME=CERT of another site, not '{given}'")
            known[check_name(name)] = certificate_of(certificate)
        if coordinator is not None:
            known[COORDINATOR] = certificate_of(coordinator)
        if len(set(known.values())) < len(known):
            raise OptionError("two parties have the same certificate: each needs its own")
        return Folders({own.name: folder}, dict(sorted(known.items())), trial=False)
    homes = sorted(path.parent for path in folder.glob("*/party.pem"))
    names = [home.name for home in homes]
    if COORDINATOR not in names or len(names) < 3:
        raise OptionError(f"{folder} holds no certificates: make them with `dagora federate keys`")
    if coordinator is not None or others:
        raise OptionError(
            f"{folder} holds the certificates of all parties: leave --coordinator and --site out"
        )
    certificates = {home.name: certificate_of(str(home / "party.pem")) for home in homes}
    sites = {home.name: home for home in homes if home.name != COORDINATOR}
    return Folders(sites, certificates, trial=True)


def certificate_of(given: str) -> str:
    """The fingerprint of a certificate that is given as a file, or as the fingerprint itself."""
    from dagora.base.errors import FormatError, OptionError, ProtocolError
    from dagora.parties.horizontal.plan.plan import FINGERPRINT, read_fingerprint
    from dagora.parties.transport.certificates import fingerprint

    # As `openssl x509 -fingerprint -sha256` prints it, or as a policy has it.
    digits = given.rpartition("=")[2].lower().removeprefix(FINGERPRINT).replace(":", "").strip()
    if given.startswith(FINGERPRINT) or re.fullmatch("[0-9a-f]{64}", digits):
        return read_fingerprint("a certificate", f"{FINGERPRINT}{digits}")
    try:
        return fingerprint(Path(given).read_bytes())
    except (OSError, ProtocolError):
        raise OptionError(f"{given}: is not a certificate: give a .pem file, or sha256:…") from None
    except FormatError as error:
        raise OptionError(str(error)) from None


def columns_from(
    data: Sequence[str], codebook: str | None, reading: Reading, rare: int, timing: Timing | None
) -> tuple[Codebook, int, float]:
    """The columns of a codebook, or of tables that this person may see; how many rows, how long steps are."""
    from dagora.base.errors import OptionError
    from dagora.parties.horizontal.plan.drafting import CELLS_PER_TABLE, by_ranks, codebook_of, cut_at
    from dagora.parties.horizontal.policy.policy_file import read_codebook
    from dagora.parties.horizontal.session.federation import largest_weight, site_of

    if (codebook is None) is (not data):
        raise OptionError("give either tables or --codebook FILE")
    if codebook is not None:
        agreed = read_codebook(Path(codebook))
        if timing is not None and not agreed.step:
            raise OptionError(
                f"{codebook}: the codebook does not say how long a step of time is: add step = 1"
            )
        return agreed.codebook, 10 * CELLS_PER_TABLE, agreed.step if timing is not None else 0.0
    plain = {"discretise": None, "bins": None, "ranks": ()}
    uncut, step = replace(reading, given={**reading.given, **plain}), 0.0
    largest = 0.0
    if timing is None:
        sites = [site_of(path, uncut.any_table(path, part=True, cuts=False)) for path in data]
        tables, largest = {site.name: site.table for site in sites}, largest_weight(sites)
    else:
        tables, step = series_from(data, reading, uncut, timing)
    rows = sum(table.n_rows for table in tables.values())
    book = codebook_of(tables, margin=MARGIN, rare=rare, largest_weight=largest)
    note_lost_orders(tables, book)
    if reading.given["discretise"] is not None:
        book = cut_at(book, chosen_edges(tables, book, reading))
    return by_ranks(book, tables.values(), reading.options()), rows, step


def note_lost_orders(tables: Mapping[str, Table], book: Codebook) -> None:
    """Say where rare levels, which are not named, cost a column its order."""
    ordered = {variable.name for table in tables.values() for variable in table.schema if variable.ordered}
    lost = [coding.name for coding in book if coding.other and coding.name in ordered]
    if lost:
        echo(
            f"dagora: note: rare levels of {', '.join(lost)} are the level other, which has no place in an "
            "order: the order is left out (--rare 0 names all levels)",
            err=True,
        )


def series_from(
    data: Sequence[str], reading: Reading, uncut: Reading, timing: Timing
) -> tuple[dict[str, Table], float]:
    """The variables of tables whose rows are series, and the length of their steps."""
    from dagora.base.errors import OptionError
    from dagora.parties.horizontal.session.federation import Site, in_series

    if reading.given["discretise"] is not None:
        raise OptionError("--discretise does not go with --time: leave it out")
    sites = [
        Site(
            path,
            uncut.table(
                path,
                part=True,
                cuts=False,
                wanted=timing.columns,
                numbers=(timing.time,),
                numbers_for="windows of time",
                in_time=timing.columns,
            ),
        )
        for path in data
    ]
    ordered, step = in_series(sites, timing)
    return {site.name: site.table for site in ordered}, step


def chosen_edges(tables: Mapping[str, Table], book: Codebook, reading: Reading) -> dict[str, list[float]]:
    """The cut points of continuous columns under --discretise, from all tables together."""
    import numpy as np

    from dagora.data.columns.intervals import check_intervals, choose_edges
    from dagora.parties.horizontal.plan.coded_rows import follow_codebook

    method, bins = reading.given["discretise"] or "", reading.given["bins"] or 2
    check_intervals(method, bins)
    following = [follow_codebook(table, book) for table in tables.values()]
    edges = {}
    for coding in book.continuous:
        position = book.schema.index(coding.name)
        values = np.concatenate([table.columns[position] for table in following])
        edges[coding.name] = choose_edges(values, method, bins).tolist()
    return edges


def note_gaps(found: Folders) -> None:
    """Say what the owner must still fill in."""
    missing = [] if COORDINATOR in found.certificates else ["the coordinator's certificate (--coordinator)"]
    if len(found.certificates) - (COORDINATOR in found.certificates) < 2:
        missing.append("the other sites' certificates (--site)")
    if missing:
        echo(f"dagora: note: fill in {' and '.join(missing)} before you use the policy", err=True)
