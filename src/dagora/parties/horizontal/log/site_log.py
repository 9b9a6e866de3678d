"""A site's log: a line on disk before each answer leaves, each with the hash of the line before it.

The file holds JSON, a line per event, each with its own hash and that of the line before it: `plan` (a plan
was accepted), `refused` (a plan or question was not), `answer` (to a question, in full), `shown` (an answer
that is not summed), `end`. A line is forced to disk before the answer is sent, so that whatever happens to
the process, the log names every answer that left. If the process or the machine dies while a line is written,
that line is incomplete and its answer did not leave; the next run removes it. A changed or missing line
breaks the chain, and nothing is answered until the owner has looked. (Lines that are missing at the end leave
no trace.)
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from dagora.base.errors import FormatError, OptionError
from dagora.base.files import naming, report_failure
from dagora.base.parsing import parse_json
from dagora.parties.horizontal.log.log_events import check_event
from dagora.parties.private_file import check_private

FILE_NAME = "federated.jsonl"
START = "0" * 64
_SEAL = b', "hash": "%b"}'
MOST_BYTES = 1 << 32  # a log is read whole into memory

LogEvent = dict[str, Any]


class SiteLog(Protocol):
    """The record of all questions to a site, of this run and earlier ones."""

    @property
    def events(self) -> list[LogEvent]:
        """All events so far, in order."""

    def add(self, event: str, content: Mapping[str, Any]) -> None:
        """Write an event; it is safe when this returns."""


@dataclass
class MemoryLog:
    """A log for runs within one process, where one person has all the tables."""

    events: list[LogEvent] = field(default_factory=list)

    def add(self, event: str, content: Mapping[str, Any]) -> None:
        """Keep an event."""
        self.events.append({"event": event, **content})


class FileLog:
    """A log on disk, open for one run at a time."""

    def __init__(self, path: Path, handle: int, events: list[LogEvent], last: str) -> None:
        self.path = path
        self.events = events
        self._handle = handle
        self._last = last
        self._broken = False

    def add(self, event: str, content: Mapping[str, Any]) -> None:
        """Append an event, and wait until it is on disk."""
        entry = {"time": now(), "event": event, **content, "after": self._last}
        line, digest = _seal(json.dumps(entry, ensure_ascii=False, allow_nan=False).encode())
        with report_failure(self.path, FormatError):
            if self._broken:
                raise FormatError(f"{self.path}: could not be written before, so nothing more is written")
            good = os.fstat(self._handle).st_size
            try:
                _write_all(self._handle, line + b"\n")
                os.fsync(self._handle)
            except OSError:
                # What is half written is taken back, as far as possible; the answer does not leave.
                self._broken = True
                with contextlib.suppress(OSError):
                    os.ftruncate(self._handle, good)
                raise
        self._last = digest
        self.events.append(entry)


@contextmanager
def open_log(path: Path) -> Iterator[FileLog]:
    """Open a site's log for one run; it is made if there is none. Only its owner may be able to read it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_log(Path(folder, "log.jsonl")) as log:
    ...         log.add("end", {"reason": "done"})
    ...     [event["event"] for event in read_log(Path(folder, "log.jsonl")).events]
    ['end']
    """
    with report_failure(path, FormatError):
        new = not path.exists()
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if new:
                _settle_folder(path.parent)
            check_private(path, "log", FormatError)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OptionError(
                    f"{path}: another run of this site has its log open: wait for its end"
                ) from None
            found = read_log(path)
            if found.torn:
                os.ftruncate(handle, found.whole_bytes)
                os.fsync(handle)
            yield FileLog(path, handle, found.events, found.last)
        finally:
            os.close(handle)


@dataclass(frozen=True)
class LogFile:
    """The content of a log; `torn` if its last line was cut off while it was written."""

    events: list[LogEvent]
    last: str
    torn: bool
    whole_bytes: int


def read_log(path: Path) -> LogFile:
    """Read a log; check its chain, and each of its events."""
    with report_failure(path, FormatError):
        if path.stat().st_size > MOST_BYTES:
            raise FormatError(
                f"{path}: a log of more than {MOST_BYTES >> 30} GB is not read; another file would "
                "begin to count anew what is limited for ever"
            )
        content = path.read_bytes()
    whole, torn = content, b""
    if content and not content.endswith(b"\n"):
        cut = content.rfind(b"\n") + 1
        whole, torn = content[:cut], content[cut:]
    last, events, planned = START, [], False
    for number, line in enumerate(whole.split(b"\n")[:-1], 1):
        sealed, digest = _seal(line[: -len(_SEAL % START.encode())] + b"}")
        try:
            entry = parse_json(line)
            follows = (
                isinstance(entry, dict)
                and isinstance(entry.get("event"), str)
                and entry.get("after") == last
                and sealed == line
            )
        except FormatError:
            follows = False
        if not follows:
            raise FormatError(
                f"{path}: line {number} was changed, or a line before it is missing: the log cannot be "
                "relied on"
            )
        with naming(f"{path}: line {number}"):
            check_event(entry, planned=planned)
        planned |= entry["event"] == "plan"
        events.append(entry)
        last = digest
    return LogFile(events, last, bool(torn), len(whole))


def _seal(line: bytes) -> tuple[bytes, str]:
    """A line of JSON with its own hash as the last part, and that hash."""
    digest = sha256(line).hexdigest()
    return line[:-1] + _SEAL % digest.encode(), digest


def now() -> str:
    """The time in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _write_all(handle: int, content: bytes) -> None:
    while content:
        content = content[os.write(handle, content) :]


def _settle_folder(folder: Path) -> None:
    # A new file survives a power cut only if its folder is on disk, too.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
