"""A party's own log of private sessions, which limits how much repeated runs can reveal.

A peer that may ask again and again, with other columns or another order, can turn the answers into
comparisons of counts of its choice. So each party keeps a file of JSON lines: one when the terms are agreed,
on disk before any byte that depends on rows is sent, and one when the session ends, well or not. The limit is
on how often a column of one's own was in a session that began, whoever the peer was. A peer's name is only
its role, so the log holds the fingerprint of its certificate too; without TLS there is none.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dagora.base.errors import FormatError, OptionError, ProtocolError
from dagora.base.files import read_text, report_failure
from dagora.base.parsing import parse_json
from dagora.base.wording import option
from dagora.parties.private_file import check_private

if TYPE_CHECKING:
    from dagora.learners.outcome import Outcome
    from dagora.parties.vertical.agreement import AgreedTerms, Role

FILE_NAME = "sessions.jsonl"
MOST_SESSIONS = 10  # by default; a choice, not a bound that was computed


@dataclass(frozen=True)
class SessionLog:
    """The sessions of one party; none of its columns takes part in more than `limit` sessions.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     SessionLog(Path(folder, "sessions.jsonl"), 3).earlier(["a", "b"])
    0
    """

    path: Path
    limit: int = MOST_SESSIONS

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or self.limit < 1:
            raise OptionError(f"the limit on sessions must be 1 or more, not {self.limit}")

    def sessions(self) -> list[dict[str, Any]]:
        """The entries of each session that began, in order; `status` is how it ended, or "begun"."""
        sessions: dict[str, dict[str, Any]] = {}
        if not self.path.exists():
            return []
        check_private(self.path, "log", FormatError)
        for number, line in enumerate(read_text(self.path).splitlines(), 1):
            try:
                content = dict(parse_json(line))
                known = sessions.setdefault(content["session"], {"own": [], "status": "begun"})
                known.update(content)
                if not all(isinstance(name, str) for name in known["own"]):
                    raise ValueError("names are texts")
            except (KeyError, TypeError, ValueError, FormatError):
                raise FormatError(
                    f"{self.path}: line {number} is not a session: repair it, since the log counts sessions"
                ) from None
        return list(sessions.values())

    def earlier(self, columns: Sequence[str]) -> int:
        """The largest number of sessions in which one of these columns took part."""
        counts = Counter(name for session in self.sessions() for name in set(session["own"]))
        return max((counts[name] for name in columns), default=0)

    def suspicious(self, fingerprint: str) -> int:
        """Count malicious sessions with this certificate that gave no result but may have revealed something.

        These failed once inputs had entered the circuits, or have no end in the log, as if killed.
        """
        return sum(
            session.get("security") == "malicious"
            and session.get("certificate") == fingerprint
            and (session["status"] == "begun" or bool(session.get("inputs_entered")))
            for session in self.sessions()
        )

    def check(self, columns: Sequence[str]) -> int:
        """Refuse columns that have reached the limit; otherwise return their number of sessions."""
        count = self.earlier(columns)
        if count >= self.limit:
            sessions = "1 session" if count == 1 else f"{count} sessions"
            raise OptionError(
                f"a column of these data was in {sessions} already, and each reveals more ({self.path}): "
                f"raise {option('max_sessions')} if that is acceptable"
            )
        return count

    @contextmanager
    def session(self) -> Iterator[OpenSession]:
        """Follow one session from its terms to its end."""
        session = OpenSession(self)
        try:
            yield session
        except BaseException as error:
            session.end("failed", error)
            raise
        session.end("finished")

    def begin(self, content: dict[str, Any]) -> None:
        """Add the first line of a session, or refuse its columns; sessions that begin at once take turns."""
        with self._locked() as handle:
            self.check(content["own"])
            write_line(handle, content)

    def append(self, content: dict[str, Any]) -> None:
        """Add a line and wait until it is on disk."""
        with self._locked() as handle:
            write_line(handle, content)

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The log to append to, which no other session, of this process or another, reads or writes now."""
        with report_failure(self.path, FormatError):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX)
                yield handle


def write_line(handle: BinaryIO, content: dict[str, Any]) -> None:
    """Write a line and wait until it is on disk."""
    handle.write((json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n").encode())
    handle.flush()
    os.fsync(handle.fileno())


class OpenSession:
    """A session under way: a line when the terms are agreed, and one when it ends."""

    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self._number = secrets.token_hex(8)
        self._begun = False
        self.outcome: Outcome | None = None
        self.leakage: tuple[str, ...] = ()

    def begin(self, terms: dict[str, Any]) -> None:
        """Log the terms, or refuse; nothing that depends on rows has been sent yet."""
        self._log.begin({"session": self._number, "time": now(), **terms})
        self._begun = True

    def end(self, status: str, error: BaseException | None = None) -> None:
        """Log how the session ended, the common rows and what was revealed; nothing if it never began."""
        if not self._begun:
            return
        content: dict[str, Any] = {"session": self._number, "ended": now(), "status": status}
        if isinstance(error, ProtocolError):
            content["reason"] = str(error)
            if error.consequence:
                content["inputs_entered"] = True
        if self.outcome is not None:
            content["rows"] = int(self.outcome.stats["rows"])
            content["edges"] = [list(edge) for edge in self.outcome.graph.edges]
            content["revealed"] = list(self.leakage)
        self._log.append(content)


def describe_terms(terms: AgreedTerms, role: Role, peer: str, certificate: str | None) -> dict[str, Any]:
    """The terms of two owners for the log of one of them; `certificate` is the fingerprint of the peer's."""
    own, other = (terms.host, terms.guest) if role == "host" else (terms.guest, terms.host)
    return {
        "peer": peer,
        "certificate": certificate,
        "role": role,
        "own": list(own),
        "other": list(other),
        "order": [terms.names[variable] for variable in terms.order],
        "levels": [terms.levels[variable] for variable in terms.order],
        "max_parents": terms.max_parents,
        "score": terms.score,
        "mode": terms.mode,
        "crypto": terms.crypto,
        "parameters": terms.parameters,
        **({"security": terms.security} if terms.security == "malicious" else {}),
    }


def now() -> str:
    """The time in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
