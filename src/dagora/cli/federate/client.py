"""`dagora federate client`: answer the coordinator from one site's rows, as its owner's policy allows."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.base.events import ignore
from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.base.files import naming
from dagora.cli import completing
from dagora.cli.data_options import (
    CellReading,
    SiteTime,
    cell_options,
    overview_first,
    show_warnings,
    site_time_options,
)
from dagora.cli.federate.flower import Serving, serve_runs, serving_options
from dagora.cli.federate.keys import COORDINATOR
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import live_line, quiet_option
from dagora.cli.party_options import address, as_bad_input, seconds_option
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagora.parties.horizontal.log.site_log import FileLog, SiteLog
    from dagora.parties.horizontal.policy.policy import SitePolicy
    from dagora.parties.transport.transport import Transport


@click.command("client", cls=PagedCommand, short_help="Answer the coordinator from this site's rows.")
@click.argument("data", shell_complete=completing.files)
@click.option("--keys", "folder", required=True, metavar="FOLDER", help="Folder of this site's certificate.")
@click.option("--connect", metavar="HOST:PORT", help="Where the coordinator listens.")
@seconds_option("--wait", 300.0, "Seconds to wait for the coordinator.")
@click.option(
    "--policy",
    "policy_file",
    metavar="FILE",
    help="What this site may be asked; default: policy.toml in the folder of --keys.",
)
@click.option(
    "--log",
    "log_file",
    metavar="FILE",
    help="Where every answer is written down; default: federated.jsonl in the folder of --keys.",
)
@click.option(
    "--dry-run",
    "plan_file",
    metavar="PLAN.json",
    help="Connect to nobody: say whether this plan would be accepted, and the most that it may ask.",
)
@click.option(
    "--show-weights",
    is_flag=True,
    help="Also allow methods that show what this site alone has: vote, average and best (its own weights, "
    "or graph), "
    "admm and admm-dynamic (as much as the covariance of its rows, or of windows of its series), and "
    "admm-mlp (as much as every value of its rows).",
)
@site_time_options
@quiet_option("Show no progress, and do not print what was asked.", passed=True)
@serving_options
@cell_options
def client(
    *,
    data: str,
    folder: str,
    connect: str | None,
    wait: float,
    policy_file: str | None,
    log_file: str | None,
    plan_file: str | None,
    show_weights: bool,
    in_time: SiteTime,
    quiet: bool,
    serving: Serving,
    reading: CellReading,
) -> None:
    """Answer the coordinator's questions about the rows of DATA; at the end, print what was answered."""
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.base.errors import OptionError
    from dagora.parties.horizontal.learners.tasks import TASKS
    from dagora.parties.horizontal.log.site_log import FILE_NAME, open_log
    from dagora.parties.horizontal.plan.coded_rows import check_number_of_rows, check_series
    from dagora.parties.horizontal.policy.policy import ANY
    from dagora.parties.horizontal.policy.policy_file import POLICY_NAME
    from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
    from dagora.parties.horizontal.session.serving import serve_site
    from dagora.parties.transport.certificates import Credentials
    from dagora.parties.transport.tcp import connect as connect_to

    if [connect, serving.serve, plan_file].count(None) != 2:
        raise OptionError(
            "a client needs one of --connect HOST:PORT, --serve PLACE (for Flower) and --dry-run PLAN.json"
        )
    place = address(connect) if connect is not None else None
    with as_bad_input():
        credentials = Credentials.load(folder)
    if credentials.name == COORDINATOR:
        raise OptionError(f"{folder} is for the coordinator: a client needs its site's certificate")
    policy = read_owners_policy(Path(policy_file) if policy_file else Path(folder, POLICY_NAME), data, folder)
    if show_weights:
        policy = replace(policy, shows=(ANY,))
    site = reading.site(data, credentials.name, policy.codebook, in_time.timing)
    with naming(data):
        check_number_of_rows(site.table.n_rows, policy.largest_rows)
        if site.panel is not None and policy.step:
            check_series(site.panel, policy.step)
    if site.panel is not None:
        show_warnings(site.panel.warnings)
    path = Path(log_file) if log_file else Path(folder, FILE_NAME)
    if plan_file is not None:
        rehearse(plan_file, credentials.name, policy, path)
        return
    identity = CertifiedIdentity(credentials)

    def answer(transport: Transport, log: FileLog) -> None:
        with transport:
            log.hand_over(identity)  # before the account, which is of the events from here on
            with account_of(log, quiet=quiet), overview_first(site.table, data, ignore):
                serve_site(transport, site, policy, identity, log, TASKS)

    # The log stays open, so that no other run of this site can begin meanwhile.
    with open_log(path) as log:
        if place is None:
            serve_runs(serving, credentials.name, lambda transport: answer(transport, log))
            return
        live_line().phase("waiting for the coordinator")
        transport = connect_to(credentials, *place, peer=COORDINATOR, wait=wait)
        live_line().phase("answering the coordinator")
        answer(transport, log)


def read_owners_policy(path: Path, data: str, folder: str) -> SitePolicy:
    """Read the policy, or say how to get one: without it nothing is answered."""
    from dagora.base.errors import OptionError
    from dagora.learners.registry import METHODS
    from dagora.parties.horizontal.policy.policy_file import read_policy

    if not path.is_file():
        raise OptionError(
            f"{path}: there is no policy, so nothing may be answered: write one with "
            f"`dagora federate policy init {data} --keys {folder}`"
        )
    return read_policy(path, [method.name for method in METHODS])


@contextmanager
def account_of(log: SiteLog, *, quiet: bool) -> Iterator[None]:
    """Say at the end, however it comes, what this run was asked."""
    from dagora.parties.horizontal.log.log_text import summarise

    before = len(log.events)
    try:
        yield
    finally:
        if not quiet:
            echo(f"dagora: {summarise(log.events[before:])}", err=True)


def rehearse(plan_file: str, site: str, policy: SitePolicy, log_file: Path) -> None:
    """Say whether a plan would be accepted, and the most that it may ask for."""
    from dagora.base.errors import FormatError
    from dagora.base.files import read_text
    from dagora.base.parsing import parse_json
    from dagora.parties.horizontal.log.log_events import History
    from dagora.parties.horizontal.log.log_text import plan_in_words
    from dagora.parties.horizontal.log.site_log import read_log
    from dagora.parties.horizontal.plan.plan import RunPlan
    from dagora.parties.private_file import check_private

    text = read_text(plan_file)
    with naming(plan_file):
        try:
            content = parse_json(text)
        except FormatError:
            raise FormatError(
                "this is not a plan: `dagora federate coordinator --write-plan` writes one"
            ) from None
        plan = RunPlan.from_dict(content)
    history = History()
    if log_file.exists():
        check_private(log_file, "log", FormatError)
        history = History.of(read_log(log_file).events)
    for line in plan_in_words(plan):
        echo(line)
    # Before the sites have met, the plan may leave certificates open.
    known = {name: fingerprint or policy.sites.get(name, "") for name, fingerprint in plan.sites.items()}
    policy.check(replace(plan, sites=known), site, history)
    echo("this site's policy allows it")
