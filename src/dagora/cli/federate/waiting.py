"""The coordinator waits for its sites, and writes plans for them to look at."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from dagora.cli.live_line import live_line
from dagora.cli.party_options import warn
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dagora.parties.horizontal.plan.plan import RunPlan
    from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
    from dagora.parties.transport.transport import Transport

LINE_SECONDS = 60.0  # between lines about a site that comes and goes


def meet_sites(
    identity: CertifiedIdentity, plan: RunPlan, host: str, port: int, wait: float, patience: float
) -> Transport:
    """Listen until all sites of a plan are connected."""
    from dagora.parties.transport.listener import Listener

    listed = list(plan.sites)
    with Listener(
        identity.credentials, listed, host=host, port=port, timeout=patience, on_refusal=warn
    ) as listener:
        echo(f"dagora: listening on {host}:{listener.port} for {', '.join(listed)}", err=True)
        live_line().phase(f"waiting for {', '.join(listed)}")
        return listener.accept(timeout=wait, on_absence=AbsenceLines(listed))


class AbsenceLines:
    """Says which sites the coordinator waits for: at once where fewer are missing than ever, else rarely.

    Otherwise a site that comes and goes fills the terminal.
    """

    def __init__(self, listed: Sequence[str]) -> None:
        self._fewest = len(listed)
        self._last = time.monotonic()

    def __call__(self, absent: tuple[str, ...]) -> None:
        """Take in who is missing now."""
        waiting = f"waiting for {', '.join(absent)}" if absent else "all sites are there"
        live_line().phase(waiting)
        if len(absent) < self._fewest or time.monotonic() - self._last > LINE_SECONDS:
            echo(f"dagora: {waiting}", err=True)
            self._last = time.monotonic()
        self._fewest = min(self._fewest, len(absent))


def save_plan(plan: RunPlan, path: str) -> None:
    """Write the plan for people and for `client --dry-run`."""
    from dagora.base.files import json_text, write_whole

    write_whole(path, json_text(plan.to_dict()) + "\n")
    echo(f"wrote {path}", err=True)
