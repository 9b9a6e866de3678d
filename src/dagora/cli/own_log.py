"""A party's own log of private sessions, as the commands of `dagora private` open it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dagora.cli.party_options import warn

if TYPE_CHECKING:
    from dagora.parties.vertical.session_log import SessionLog


def own_log(log: str | None, folder: str, limit: int, columns: tuple[str, ...]) -> SessionLog:
    """Open a party's log; refuse columns that were in too many sessions, warn of any that were in one."""
    from dagora.parties.vertical.session_log import FILE_NAME, SessionLog

    sessions = SessionLog(Path(log) if log else Path(folder) / FILE_NAME, limit)
    count = sessions.check(columns)
    if count:
        times = "1 session" if count == 1 else f"{count} sessions"
        warn(
            f"these columns were in {times} before (limit {limit}), and each session reveals more about them "
            f"({sessions.path})"
        )
    return sessions


def warn_of_failures(sessions: SessionLog, peer: str, fingerprint: str, security: str | None) -> None:
    """Warn before a malicious run with a peer if an earlier one may have told it something for no result."""
    count = sessions.suspicious(fingerprint) if security == "malicious" else 0
    if count:
        times = "1 session" if count == 1 else f"{count} sessions"
        warn(
            f"{times} with this {peer} failed after garbling had begun, and each may have told it the graph "
            f"and one bit; find out why before you go on ({sessions.path}, SECURITY.md)"
        )
