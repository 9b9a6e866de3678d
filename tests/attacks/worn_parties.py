"""Parties of a federation as processes that are killed, starved of disk, slowed, cut off or misled about time.

Each is forked from a server that has imported all it needs, so that a run of four processes takes a fraction of
a second. What happens to a party happens inside of its process, at an exact moment: "before TAG", "after TAG"
or "got TAG" of its n-th message, "connecting", or "half a line" of its log.
"""

import contextlib
import gc
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from unittest import mock

from dagora.cli.main import run as run_command
from dagora.parties.horizontal.log import site_log
from dagora.parties.horizontal.secure_sum import identity
from dagora.parties.horizontal.session.sealed_transport import SealedTransport
from dagora.parties.transport import tcp
from dagora.parties.transport.messages import decode
from dagora.parties.transport.tcp import TcpTransport

CHUNK = 256  # bytes that a slow link carries at a time
LONG_FILE = 1 << 16  # bytes of a log, beyond which it hands over: so that it does, and is read quickly


@dataclass(frozen=True)
class Fault:
    """What happens to a party: "" for nothing, "kill", "stall", "clock", "full", "slow" or "cut".

    `size` are the seconds of a stall or of the clock's jump, the bytes that a disk still takes, the seconds
    that a link takes for each chunk, or the bytes after which it is cut.
    """

    kind: str = ""
    moment: str = ""
    count: int = 1
    size: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind or 'no fault'} {self.moment} {self.count} {self.size:g}"


@dataclass(frozen=True)
class Holdings:
    """What a process holds: open files, threads, objects and memory."""

    files: int
    threads: int
    objects: int
    bytes: int

    @classmethod
    def of_this_process(cls) -> "Holdings":
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        files, threads = (len(list(Path(f"/proc/self/{some}").iterdir())) for some in ("fd", "task"))
        return cls(files, threads, len(gc.get_objects()), pages * resource.getpagesize())


@dataclass(frozen=True)
class Coordinated:
    """How a run ended for the coordinator: its exit code, answers that came, and what it still holds."""

    code: int
    answers: Counter[str]
    holds: Holdings


def take_part(line: list[str], fault: Fault, log: Path | None, said: Path) -> None:
    """One run of a party, and the end of its process."""
    os._exit(run_party(line, fault, log, said))


def coordinate(jobs: Connection) -> None:
    """All runs of one coordinator, in one process, until there is none left."""
    receive = SealedTransport.receive
    while (job := jobs.recv()) is not None:
        answers: Counter[str] = Counter()

        def hear(transport: SealedTransport, sender: str, tag: str, timeout: float | None = None) -> bytes:
            payload = receive(transport, sender, tag, timeout)
            answers[sender] += tag == "answer" and "masked" in decode(payload)  # noqa: B023
            return payload

        with mock.patch.object(SealedTransport, "receive", hear):
            code = run_party(*job)
        jobs.send(Coordinated(code, answers, Holdings.of_this_process()))


def run_party(line: list[str], fault: Fault, log: Path | None, said: Path) -> int:
    """Run a command under a fault; both streams of this process go to a file."""
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(handle, stream.fileno())
    os.close(handle)
    with mock.patch.object(site_log, "LONG_FILE", LONG_FILE), suffer(fault, line, log):
        code = run_command(line)
    sys.stdout.flush()
    return code


@contextlib.contextmanager
def suffer(fault: Fault, line: list[str], log: Path | None) -> Iterator[None]:
    """Let a fault happen within the block; slow and broken links change the address in the line."""
    with contextlib.ExitStack() as stack:
        if fault.kind == "kill":
            stack.enter_context(act_at(fault, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        elif fault.kind == "stall":
            stack.enter_context(act_at(fault, lambda: time.sleep(fault.size)))
        elif fault.kind == "clock":
            stack.enter_context(jumping_clock(fault))
        elif fault.kind == "full":
            room = (log.stat().st_size if log is not None and log.exists() else 0) + int(fault.size)
            stack.enter_context(full_disk(room))
        elif fault.kind in ("slow", "cut"):
            at = line.index("--connect") + 1
            line[at] = bad_link(line[at], fault)
        yield


@contextlib.contextmanager
def act_at(fault: Fault, act: Callable[[], object]) -> Iterator[None]:
    """Act when the moment of a fault comes for the n-th time."""
    send, receive, connect = TcpTransport.send, TcpTransport.receive, tcp.connect
    write, seen = site_log._write_all, Counter()

    def pass_by(moment: str) -> None:
        seen[moment] += 1
        if (moment, seen[moment]) == (fault.moment, fault.count):
            act()

    def sending(transport: TcpTransport, to: str, tag: str, payload: bytes) -> None:
        pass_by(f"before {tag}")
        send(transport, to, tag, payload)
        pass_by(f"after {tag}")

    def receiving(transport: TcpTransport, sender: str, tag: str, timeout: float | None = None) -> bytes:
        payload = receive(transport, sender, tag, timeout)
        pass_by(f"got {tag}")
        return payload

    def connecting(*arguments: object, **options: object) -> TcpTransport:
        pass_by("connecting")
        return connect(*arguments, **options)

    def writing(handle: int, content: bytes) -> None:
        half = len(content) // 2 if fault.moment == "half a line" else 0
        write(handle, content[:half])
        pass_by("half a line")
        write(handle, content[half:])

    with (
        mock.patch.object(TcpTransport, "send", sending),
        mock.patch.object(TcpTransport, "receive", receiving),
        mock.patch.object(tcp, "connect", connecting),
        mock.patch.object(site_log, "_write_all", writing),
    ):
        yield


@contextlib.contextmanager
def jumping_clock(fault: Fault) -> Iterator[None]:
    """The clock on the wall jumps at a moment; the one that only measures does not, as on any system."""

    class Wall(datetime):
        ahead = timedelta()

        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(tz) + cls.ahead

    true_time = time.time

    def wall_time() -> float:
        return true_time() + Wall.ahead.total_seconds()

    def jump() -> None:
        Wall.ahead = timedelta(seconds=fault.size)

    with (
        act_at(fault, jump),
        mock.patch.object(site_log, "datetime", Wall),
        mock.patch.object(identity, "datetime", Wall),
        mock.patch.object(time, "time", wall_time),
    ):
        yield


@contextlib.contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def bad_link(address: str, fault: Fault) -> str:
    """A relay to an address that carries a chunk at a time, or whose first line is cut after so many bytes."""
    host, _, port = address.rpartition(":")
    listening = socket.create_server((host, 0))
    left = int(fault.size) if fault.kind == "cut" else 1 << 60
    first: set[socket.socket] = set()

    def carry(source: socket.socket, target: socket.socket) -> None:
        nonlocal left
        with contextlib.suppress(OSError):
            while (chunk := source.recv(CHUNK)) and not (left < 0 and source in first):
                left -= len(chunk)
                if fault.kind == "slow":
                    time.sleep(fault.size)
                target.sendall(chunk)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def relay() -> None:
        while True:
            near, _ = listening.accept()
            try:
                far = socket.create_connection((host, int(port)))
            except OSError:
                near.close()
                continue
            if not first:
                first.update((near, far))
            for way in ((near, far), (far, near)):
                threading.Thread(target=carry, args=way, daemon=True).start()

    threading.Thread(target=relay, daemon=True).start()
    return "{}:{}".format(*listening.getsockname())
