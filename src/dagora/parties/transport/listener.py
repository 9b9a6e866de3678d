"""The party that waits for the others to connect.

A connection is refused if it does not speak TLS 1.3, shows no certificate of the CA, or carries a name that
is unexpected or already taken; the wait for the others goes on (`door` has the handshakes). A party that
leaves before the run begins may connect again. The run begins for all when the last party is connected.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Self

from dagora.base.errors import ProtocolError
from dagora.parties.transport.caller import TlsCaller
from dagora.parties.transport.certificates import Credentials, server_context
from dagora.parties.transport.connection import LINGER, Connection, LostError
from dagora.parties.transport.door import ListenerDoor, Refusal
from dagora.parties.transport.handshake import explain
from dagora.parties.transport.tcp import HANDSHAKE_SECONDS, TcpTransport
from dagora.parties.transport.transport import (
    MessageLimits,
    check_name,
    check_port,
    in_seconds,
    reason_to_tell,
)
from dagora.parties.transport.wire_format import FrameKind

BACKLOG = 1024  # connections that the system keeps until they are accepted
POLL_SECONDS = 0.02  # how late a closed listener notices
SUM_SECONDS = 10.0  # between two reports: a stranger can be refused a thousand times a minute
MOST_KINDS = 50  # a party may give reasons of its own when it leaves


class Listener:
    """Waits for the parties of a run: those named, or a number of any parties that our CA has signed.

    `on_refusal` is called with one line for each connection that is refused, or for many of one kind.
    """

    def __init__(
        self,
        credentials: Credentials,
        expected: Sequence[str] | int,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        limits: MessageLimits | None = None,
        timeout: float = 60.0,
        on_refusal: Callable[[str], None] | None = None,
    ) -> None:
        self.name = credentials.name
        self._expected = expected if isinstance(expected, int) else tuple(check_name(n) for n in expected)
        self._limits = limits or MessageLimits()
        self._timeout = timeout
        self._refusals = RefusalLog(on_refusal)
        self._closed = False
        self._arrived: list[Connection] = []
        check_port(port)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=BACKLOG)
        except OSError as error:
            raise ProtocolError(f"cannot listen on {host}:{port}: {explain(error)}; choose another") from None
        self._socket.setblocking(False)
        try:
            self._door = ListenerDoor(self._socket, greeter(credentials, self._limits))
        except BaseException:
            self._socket.close()
            raise
        self.host: str = host
        self.port: int = self._socket.getsockname()[1]

    def accept(
        self, timeout: float = 60.0, on_absence: Callable[[tuple[str, ...]], None] | None = None
    ) -> TcpTransport:
        """Wait until all parties are connected, then begin the run and stop listening.

        `on_absence` is told the names of those who are not there whenever that changes.
        """
        deadline = time.monotonic() + timeout
        there: dict[str, Connection] = {}
        absent = self._absent(there)
        try:
            while self._missing(there):
                if time.monotonic() > deadline:
                    raise ProtocolError(self._absence(there, timeout))
                self._open_door()
                self._look_after(there)
                if on_absence is not None and absent != (absent := self._absent(there)):
                    on_absence(absent)
        except BaseException as error:
            for connection in there.values():
                connection.end(reason_to_tell(error))
                connection.finish(time.monotonic() + LINGER)
            raise
        finally:
            self.close()
        for connection in there.values():
            with contextlib.suppress(LostError):
                # The first receive will notice that this party is lost.
                connection.send_frame(FrameKind.WELCOME, b"", 0, b"", HANDSHAKE_SECONDS)
        return TcpTransport(self.name, list(there.values()), self._limits, self._timeout)

    def _missing(self, there: dict[str, Connection]) -> int:
        expected = self._expected if isinstance(self._expected, int) else len(self._expected)
        return expected - len(there)

    def _absent(self, there: dict[str, Connection]) -> tuple[str, ...]:
        listed = () if isinstance(self._expected, int) else self._expected
        return tuple(name for name in listed if name not in there)

    def _absence(self, there: dict[str, Connection], timeout: float) -> str:
        latest = self._refusals.latest
        refused = f" (refused: {latest})" if latest else ""
        if isinstance(self._expected, int):
            return f"{len(there)} of {self._expected} parties came within {in_seconds(timeout)}{refused}"
        absent = ", ".join(f"'{name}'" for name in self._absent(there))
        return f"waited {in_seconds(timeout)} in vain for {absent}{refused}"

    def _open_door(self) -> None:
        for news in self._door.look(POLL_SECONDS):
            if isinstance(news, Refusal):
                self._refusals.add("a connection", news.where, news.why, idle=news.idle)
            else:
                self._arrived.append(news)

    def _look_after(self, there: dict[str, Connection]) -> None:
        for name, connection in list(there.items()):
            if not connection.idle():
                # It left before the run began: it may connect again.
                there.pop(name).drop()
                self._refusals.add(f"party '{name}'", "", "it left before the run began")
        while self._arrived:
            arrival = self._arrived.pop(0)
            reason = self._objection(arrival.peer, there)
            if reason:
                self._refusals.add(f"party '{arrival.peer}'", "", reason)
                self._turn_away(arrival, reason)
            else:
                there[arrival.peer] = arrival

    def _turn_away(self, arrival: Connection, reason: str) -> None:
        arrival.end(reason)
        if arrival.tls.fileno() >= 0:
            self._door.see_out(TlsCaller(arrival.tls, ("", 0), self._limits))

    def _objection(self, name: str, there: dict[str, Connection]) -> str:
        if name in there or name == self.name:
            return f"the name '{name}' is taken"
        if not isinstance(self._expected, int) and name not in self._expected:
            return f"no party '{name}' is expected"
        return "" if self._missing(there) else "all parties are there"

    def close(self) -> None:
        """Stop listening."""
        if self._closed:
            return
        self._closed = True
        self._door.close()
        self._socket.close()
        self._refusals.report()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def greeter(
    credentials: Credentials, limits: MessageLimits
) -> Callable[[socket.socket, tuple[str, int]], TlsCaller]:
    """The function that greets callers over TLS, with our certificate."""
    context, own = server_context(credentials), credentials.certificate
    return lambda raw, address: TlsCaller.accept(raw, address, context, own, limits)


class RefusalLog:
    """Reports refused connections: the first of a kind at once, the others counted in one line at a time.

    >>> log = RefusalLog(print)
    >>> for port in (1, 2, 3):
    ...     log.add("a connection", f"10.0.0.1:{port}", "it does not speak TLS")
    refused a connection from 10.0.0.1:1: it does not speak TLS
    >>> log.report()
    refused 2 more connections: it does not speak TLS (the last from 10.0.0.1:3)
    """

    def __init__(self, print_line: Callable[[str], None] | None) -> None:
        self._print = print_line or (lambda _: None)
        self._known: set[tuple[str, str]] = set()
        self._more: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], str] = {}
        self._reported = time.monotonic()
        self.latest = ""
        self._idle = True

    def add(self, who: str, where: str, why: str, *, idle: bool = False) -> None:
        """Note a refusal; `latest` keeps the last one that was not mere idleness, if there was any."""
        line = f"{who} from {where}: {why}" if where else f"{who}: {why}"
        if not idle or self._idle:
            self.latest, self._idle = line, idle
        kind = (who, why)
        if kind not in self._known and len(self._known) >= MOST_KINDS:
            kind = ("a connection", "other reasons")
        if kind in self._known:
            self._more[kind] += 1
            self._last[kind] = where
        else:
            self._known.add(kind)
            self._print(f"refused {line}")
        if time.monotonic() - self._reported > SUM_SECONDS:
            self.report()

    def report(self) -> None:
        """Print how many more there were since the last report."""
        for (who, why), count in self._more.items():
            where = self._last[who, why]
            last = f" (the last from {where})" if where else ""
            times = "once more" if count == 1 else f"{count} times more"
            many = f"{count} more connection{'s' * (count > 1)}" if where else f"{who} {times}"
            self._print(f"refused {many}: {why}{last}")
        self._more.clear()
        self._reported = time.monotonic()
