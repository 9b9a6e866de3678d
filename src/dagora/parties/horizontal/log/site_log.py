"""A site's log: a line on disk before each answer leaves, each with the hash of the line before it.

The file holds JSON, a line per event, each with its own hash and that of the line before it: `plan` (a plan
was accepted; of a long one first `signed`, and the `plan` before its first answer), `refused` (a plan or
question was not), `answer` (to a question, in full), `shown` (an answer that is not summed, with its
question), `end`. A line is forced to disk before the answer is sent, so that whatever happens to the process,
the log names every answer that left. If the process or the machine dies while a line is written, that line is
incomplete and its answer did not leave; the next run removes it. A changed or missing line breaks the chain,
and nothing is answered until the owner has looked. (Lines that are missing at the end leave no trace.)

A long file is kept under another name, and a new one goes on. Its first line, `handover`, follows the last
one of the old file, holds all that is counted for ever, and is signed with the site's key. So no log becomes
too long to be read. Old files are read only for answers in them that are asked for again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dagora.base.errors import FormatError, OptionError
from dagora.base.files import naming, report_failure
from dagora.base.parsing import parse_json
from dagora.parties.horizontal.log.log_events import ON_DISK, History, Place, check_event
from dagora.parties.private_file import check_private

if TYPE_CHECKING:
    from dagora.parties.horizontal.secure_sum.identity import Identity

FILE_NAME = "federated.jsonl"
START = "0" * 64
_SEAL = b', "hash": "%b"}'
# A file beyond this is followed by another one before the next run. A part of a release is a line of 20 MB at
# most, and an answer that is shown one of 50 MB.
LONG_FILE = 1 << 24
LONGEST_LINE = 1 << 28
# On such a disk a log stays in one file.
NO_SECOND_NAME = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

LogEvent = dict[str, Any]


class SiteLog(Protocol):
    """The record of all questions to a site, of this run and earlier ones."""

    @property
    def events(self) -> list[LogEvent]:
        """All events of the present file so far, in order, without what stays on disk."""

    def add(self, event: str, content: Mapping[str, Any]) -> None:
        """Write an event; it is safe when this returns."""

    def recall(self, place: Place) -> LogEvent:
        """The whole event of an earlier line."""


@dataclass
class MemoryLog:
    """A log for runs within one process, where one person has all the tables."""

    events: list[LogEvent] = field(default_factory=list)

    def add(self, event: str, content: Mapping[str, Any]) -> None:
        """Keep an event."""
        number = str(len(self.events))
        at = {"at": Place(number)} if any(name in content for name in ON_DISK) else {}
        self.events.append({"event": event, **content, "hash": number, **at})

    def recall(self, place: Place) -> LogEvent:
        """An earlier event."""
        return self.events[int(place.hash)]


class FileLog:
    """A log on disk, open for one run at a time."""

    def __init__(self, path: Path, handles: list[int], events: list[LogEvent], last: str) -> None:
        self.path = path
        self.events = events
        # The last is the file's; those of older files stay locked, so that nobody goes on in them.
        self.handles = handles
        self._last = last
        self._broken = False

    def add(self, event: str, content: Mapping[str, Any]) -> None:
        """Append an event, and wait until it is on disk."""
        entry = {"time": now(), "event": event, **content, "after": self._last}
        line, digest = _sealed_line(entry)
        with report_failure(self.path, FormatError):
            if self._broken:
                raise FormatError(f"{self.path}: could not be written before, so nothing more is written")
            good = os.fstat(self.handles[-1]).st_size
            try:
                _write_all(self.handles[-1], line + b"\n")
                os.fsync(self.handles[-1])
            except OSError:
                # What is half written is taken back, as far as possible; the answer does not leave.
                self._broken = True
                with contextlib.suppress(OSError):
                    os.ftruncate(self.handles[-1], good)
                raise
        self._last = digest
        self.events.append(_slim({**entry, "hash": digest}, good, len(line)))

    def recall(self, place: Place) -> LogEvent:
        """The whole event of an earlier line, in this file or an older one."""
        path = self.path.with_name(place.file) if place.file else self.path
        try:
            with path.open("rb") as file:
                file.seek(place.start)
                line = file.read(place.size)
        except OSError:
            raise FormatError(
                f"{path}: the answer that was given before stands in this file: put it back"
            ) from None
        if _digest_of(line) != place.hash:
            raise FormatError(f"{path}: the answer that was given before is not there any more")
        found: LogEvent = parse_json(line)
        return found

    def hand_over(self, identity: Identity) -> None:
        """Go on in a new file where this one is long; call it between runs."""
        size = os.fstat(self.handles[-1]).st_size
        if size <= LONG_FILE:
            return
        with report_failure(self.path, FormatError):
            kept = _free_name(self.path)
            entry = self._handover(identity, kept.name)
            line, digest = _sealed_line(entry)
            if size < 2 * len(line):  # the file is long because of all that is counted
                return
            # The old file gets its second name first: at every moment there is a whole log under its name.
            if not _second_name(self.path, kept):
                return
            self.handles.append(_replace_file(self.path, line))
            self.events, self._last = [{**entry, "hash": digest}], digest
            _settle_folder(self.path.parent)

    def _handover(self, identity: Identity, kept: str) -> LogEvent:
        """The first event of the file that follows this one, which is then called `kept`."""
        entry: LogEvent = {
            "time": now(),
            "event": "handover",
            "file": kept,
            "history": History.of(self.events).hand_over(kept),
            "after": self._last,
            "certificate": b64encode(identity.certificate).decode(),
        }
        return {**entry, "signature": b64encode(identity.sign(_statement(entry))).decode()}


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
        path = path.resolve()  # files that follow this one lie beside it, not beside a link to it
        new = not path.exists()
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        handles = [handle]
        try:
            if new:
                _settle_folder(path.parent)
            check_private(path, "log", FormatError)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                moved = not os.path.samestat(os.fstat(handle), path.stat())
            except BlockingIOError:
                moved = True
            if moved:
                raise OptionError(f"{path}: another run of this site has its log open: wait for its end")
            found = read_log(path)
            if found.torn:
                os.ftruncate(handle, found.whole_bytes)
                os.fsync(handle)
            yield FileLog(path, handles, found.events, found.last)
        finally:
            for each in handles:
                os.close(each)


@dataclass(frozen=True)
class LogFile:
    """The content of a log; `torn` if its last line was cut off while it was written."""

    events: list[LogEvent]
    last: str
    torn: bool
    whole_bytes: int


def read_log(path: Path) -> LogFile:
    """Read a log; check its chain, and each of its events."""
    last, planned, start = START, False, 0
    events: list[LogEvent] = []
    with report_failure(path, FormatError), path.open("rb") as file:
        while (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
            number = len(events) + 1
            entry = _read_line(path, number, line[:-1], last)
            with naming(f"{path}: line {number}"):
                check_event(entry, planned=planned)
            if entry["event"] == "handover":
                _check_handover(path, entry)
            planned |= entry["event"] == "plan"
            events.append(_slim(entry, start, len(line) - 1))
            start, last = start + len(line), entry["hash"]
    if len(line) == LONGEST_LINE:
        raise FormatError(f"{path}: line {len(events) + 1} is too long")
    return LogFile(events, last, bool(line), start)


def _read_line(path: Path, number: int, line: bytes, last: str) -> LogEvent:
    """The event of a line that follows the one with the hash `last`; the first may follow another file."""
    with contextlib.suppress(FormatError):
        entry = parse_json(line)
        known = isinstance(entry, dict) and isinstance(entry.get("event"), str)
        if known and entry.get("hash") == _digest_of(line):
            if entry.get("after") == last and entry["event"] != "handover":
                return dict(entry)
            if entry["event"] == "handover" and number == 1 and isinstance(entry.get("after"), str):
                return dict(entry)
    raise FormatError(
        f"{path}: line {number} was changed, or a line before it is missing: the log cannot be relied on"
    )


def _check_handover(path: Path, entry: LogEvent) -> None:
    """Refuse a first line that was not signed, or that does not go on where the older file ends."""
    from dagora.parties.horizontal.secure_sum.identity import signature_holds

    try:
        signed = signature_holds(
            b64decode(entry["certificate"]), _statement(entry), b64decode(entry["signature"])
        )
    except ValueError:
        signed = False
    if not signed:
        raise FormatError(f"{path}: line 1 was not signed by the key that it names: it cannot be relied on")
    older = path.with_name(Path(entry["file"]).name)
    if older.exists():
        ending = _SEAL % entry["after"].encode() + b"\n"
        with older.open("rb") as file:
            file.seek(max(0, older.stat().st_size - len(ending)))
            if file.read() != ending:
                raise FormatError(f"{path}: line 1 does not go on where {older.name} ends")


def _statement(entry: LogEvent) -> bytes:
    """The bytes of a hand-over that are signed."""
    content = [entry[name] for name in ("time", "file", "history", "after", "certificate")]
    return b"dagora log\0" + json.dumps(content, sort_keys=True).encode()


def _slim(entry: LogEvent, start: int, size: int) -> LogEvent:
    """An event for memory: what stays on disk is replaced by its place."""
    if not any(name in entry for name in ON_DISK):
        return entry
    kept = {name: value for name, value in entry.items() if name not in ON_DISK}
    return {**kept, "at": Place(entry["hash"], "", start, size)}


def _free_name(path: Path) -> Path:
    """The name that an old file gets: federated.1.jsonl, then federated.2.jsonl and so on."""
    names = (path.with_name(f"{path.stem}.{number}{path.suffix}") for number in count(1))
    # It has the name already if a hand-over was cut off.
    return next(name for name in names if not name.exists() or name.samefile(path))


def _second_name(path: Path, name: Path) -> bool:
    """Give a file another name, too; False on a disk that has no such names."""
    try:
        if not name.exists():
            name.hardlink_to(path)
    except OSError as error:
        if error.errno not in NO_SECOND_NAME:
            raise
        return False
    return True


def _replace_file(path: Path, line: bytes) -> int:
    """Put a new file of one line in the place of an old one; its handle, which is locked."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)  # of a hand-over that was cut off
    handle = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write_all(handle, line + b"\n")
        os.fsync(handle)
        fresh.replace(path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _sealed_line(entry: LogEvent) -> tuple[bytes, str]:
    """An event as a line of JSON with its own hash as the last part, and that hash."""
    return _seal(json.dumps(entry, ensure_ascii=False, allow_nan=False).encode())


def _digest_of(line: bytes) -> str | None:
    """The hash that a sealed line has, if it is sealed."""
    sealed, digest = _seal(line[: -len(_SEAL % START.encode())] + b"}")
    return digest if sealed == line else None


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
