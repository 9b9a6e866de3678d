"""Run all parties of a federation on one machine: a process for the coordinator and one for each site."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.cli.federate.keys import COORDINATOR
from dagora.cli.learn_request import LearnRequest
from dagora.cli.live_line import live_line
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dagora.data.made_tables import ReadTable
    from dagora.data.series import Timing
    from dagora.parties.horizontal.plan.codebook import Codebook
    from dagora.parties.horizontal.plan.plan import RunPlan

# Lines of the coordinator that are not passed on: where it listens, and errors, which are printed at the end.
HELD_BACK = re.compile(r"dagora: (listening|error: |interrupted|\S+ failed: )")


def run_parties(
    files: dict[str, Path],
    codebook: Codebook,
    rows: int,
    minimum: int,
    request: LearnRequest,
    timing: Timing | None = None,
    step: float = 0.0,
    weights: str | None = None,
) -> str:
    """Start all parties, wait until they end, and return what the coordinator printed.

    `timing` names the columns of time and series where the rows are series, in steps of length `step`;
    `weights` names that of weights.
    The first Ctrl-C goes to the coordinator, which ends its search and returns the best graph so far.
    """
    from dagora.cli.progress import interruptible
    from dagora.parties.horizontal.methods_over_sites import window_lags
    from dagora.parties.processes.party_processes import PartyProcesses
    from dagora.parties.transport.certificates import temporary_certificates

    pass_on = live_line().pass_on

    def relay(party: str, line: str) -> None:
        if party == COORDINATOR and not HELD_BACK.match(line):
            pass_on(line)

    with (
        failing_as_the_party(),
        temporary_certificates([COORDINATOR, *files]) as credentials,
        PartyProcesses(on_line=None if request.quiet else relay) as processes,
    ):
        homes = {name: held.ca.parent for name, held in credentials.items()}
        lags = window_lags(request.method, request.settings)
        plan = write_trial(homes, codebook, rows, request.method, lags=lags, step=step)
        start = ["federate", "coordinator", "--keys", str(homes[COORDINATOR]), "--port", "0"]
        start += ["--minimum", str(minimum), "--table-columns", str(plan.columns_per_table)]
        start += ["--table-cells", str(plan.cells_per_table)]
        processes.start(COORDINATOR, [*start, *request.arguments()])
        said = processes.wait_for_line(COORDINATOR, r"listening on (\S+)", timeout=60.0)
        weighing = [] if weights is None else ["--weights", weights]
        for name, file in files.items():
            arguments = ["federate", "client", str(file), "--keys", str(homes[name]), "--connect", said[1]]
            processes.start(name, [*arguments, "--quiet", "--na", "none", *time_arguments(timing), *weighing])
        with interruptible(lambda: processes.interrupt(COORDINATOR)):
            return processes.wait()[COORDINATOR].out


def time_arguments(timing: Timing | None) -> list[str]:
    """The arguments of a client that name its columns of time and series."""
    if timing is None:
        return []
    return ["--time", timing.time, *([] if timing.series is None else ["--series", timing.series])]


def write_trial(
    homes: Mapping[str, Path], codebook: Codebook, rows: int, method: str, *, lags: int = 0, step: float = 0.0
) -> RunPlan:
    """Write the codebook and policies of a trial, in which one person has all the rows; return its plan."""
    from dagora.base.files import write_whole
    from dagora.parties.horizontal.plan.drafting import draft_trial
    from dagora.parties.horizontal.policy.drafted_policy import trial_policy
    from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME, POLICY_NAME
    from dagora.parties.horizontal.policy.policy_text import write_codebook, write_policy
    from dagora.parties.horizontal.session.federation import FEWEST_ROWS
    from dagora.parties.transport.certificates import fingerprint

    certificates = {name: fingerprint((home / "party.pem").read_bytes()) for name, home in homes.items()}
    coordinator = certificates.pop(COORDINATOR)
    plan = draft_trial(
        codebook, certificates, method, coordinator, largest_rows=max(FEWEST_ROWS, rows), lags=lags, step=step
    )
    write_whole(homes[COORDINATOR] / CODEBOOK_NAME, write_codebook(trial_policy(plan)))
    for name in certificates:
        write_whole(homes[name] / POLICY_NAME, write_policy(trial_policy(plan), "a trial"))
    return plan


@contextmanager
def failing_as_the_party() -> Iterator[None]:
    """End as the party that failed did: with its output, its last line and its exit code."""
    from dagora.parties.processes.party_processes import PartyFailedError

    try:
        yield
    except PartyFailedError as failure:
        ended = failure.ended
        if ended.code < 0 or not ended.last_words.startswith("dagora: "):
            raise  # it was killed, or crashed
        whose = "" if ended.name == COORDINATOR else f"{ended.name}: "
        echo(ended.out, nl=False)
        # A file that could not be written has a line of its own, before the last one.
        errors = [line for line in ended.err.splitlines() if line.startswith("dagora: error: ")]
        for line in errors or [ended.last_words]:
            echo(line.replace("dagora: error: ", f"dagora: error: {whose}", 1), err=True)
        raise click.exceptions.Exit(ended.code) from None


@contextmanager
def site_files(parts: Mapping[str, ReadTable]) -> Iterator[dict[str, Path]]:
    """Write the sites' tables to temporary files that only this user can read."""
    from dagora.data.designed import DesignedTable
    from dagora.data.writers import write_table
    from dagora.parties.private_folder import private_folder

    with private_folder() as folder:
        files = {name: folder / f"{name}.csv" for name in parts}
        for name, part in parts.items():
            write_table(part.with_weights() if isinstance(part, DesignedTable) else part, files[name])
        yield files
