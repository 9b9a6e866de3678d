"""The party that waits for the others to connect.

A connection is refused if it does not speak TLS 1.3, shows no certificate of the CA, or carries a name that
is unexpected or already taken; the wait for the others goes on. A party that leaves before the run begins may
connect again. The run begins for all when the last party is connected.
"""

from __future__ import annotations

import contextlib
import queue
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Self

from dagora.errors import ProtocolError
from dagora.parties.transport.certificates import Credentials, server_context
from dagora.parties.transport.connection import LINGER, Connection, LostError
from dagora.parties.transport.handshake import close_refused, explain, peer_name, shake_hands
from dagora.parties.transport.tcp import HANDSHAKE_SECONDS, TcpTransport
from dagora.parties.transport.transport import (
    Limits,
    check_name,
    check_port,
    ended,
    in_seconds,
    one_line,
    reason_to_tell,
)
from dagora.parties.transport.wire_format import Kind

HANDSHAKES_AT_ONCE = 64
POLL_SECONDS = 0.02


class Listener:
    """Waits for the parties of a run: those named, or a number of any parties that our CA has signed.

    `on_refusal` is called with one line for each connection that is refused.
    """

    def __init__(
        self,
        credentials: Credentials,
        expected: Sequence[str] | int,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        limits: Limits | None = None,
        timeout: float = 60.0,
        on_refusal: Callable[[str], None] | None = None,
    ) -> None:
        self.name = credentials.name
        self._context = server_context(credentials)
        self._expected = expected if isinstance(expected, int) else tuple(check_name(n) for n in expected)
        self._limits = limits or Limits()
        self._timeout = timeout
        self._on_refusal = on_refusal
        self._refusal = ""
        self._closed = False
        self._arrived: queue.SimpleQueue[Connection | str] = queue.SimpleQueue()
        self._places = threading.Semaphore(HANDSHAKES_AT_ONCE)
        check_port(port)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=128)
        except OSError as error:
            raise ProtocolError(f"cannot listen on {host}:{port}: {explain(error)}; choose another") from None
        self._socket.setblocking(False)
        self.host: str = host
        self.port: int = self._socket.getsockname()[1]

    def accept(self, timeout: float = 60.0) -> TcpTransport:
        """Wait until all parties are connected, then begin the run and stop listening."""
        deadline = time.monotonic() + timeout
        there: dict[str, Connection] = {}
        try:
            while self._missing(there):
                if time.monotonic() > deadline:
                    raise ProtocolError(self._absence(there, timeout))
                self._open_door()
                self._look_after(there)
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
                connection.send_frame(Kind.WELCOME, b"", 0, b"", HANDSHAKE_SECONDS)
        return TcpTransport(self.name, list(there.values()), self._limits, self._timeout)

    def _missing(self, there: dict[str, Connection]) -> int:
        expected = self._expected if isinstance(self._expected, int) else len(self._expected)
        return expected - len(there)

    def _absence(self, there: dict[str, Connection], timeout: float) -> str:
        refused = f" (refused: {self._refusal})" if self._refusal else ""
        if isinstance(self._expected, int):
            return f"{len(there)} of {self._expected} parties came within {in_seconds(timeout)}{refused}"
        absent = ", ".join(f"'{name}'" for name in self._expected if name not in there)
        return f"waited {in_seconds(timeout)} in vain for {absent}{refused}"

    def _open_door(self) -> None:
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        if not poll.poll(POLL_SECONDS * 1000.0) or not self._places.acquire(blocking=False):
            return
        try:
            raw, address = self._socket.accept()
        except OSError:
            self._places.release()
            return
        threading.Thread(target=self._greet, args=(raw, address[:2]), daemon=True).start()

    def _greet(self, raw: socket.socket, address: tuple[str, int]) -> None:
        """Shake hands in a thread of its own, so that a silent caller does not delay the others."""
        where = f"{address[0]}:{address[1]}"
        try:
            tls = shake_hands(raw, self._context, server=True, timeout=HANDSHAKE_SECONDS)
            try:
                connection = Connection(tls, peer_name(tls), self._limits)
            except ProtocolError:
                close_refused(tls)
                raise
            try:
                _await_hello(connection)
            except ProtocolError:
                connection.drop()
                raise
            self._arrived.put(connection)
        except ProtocolError as error:
            self._arrived.put(f"a connection from {where}: {error}")
        except Exception as error:
            raw.close()
            self._arrived.put(f"a connection from {where}: {one_line(str(error))}")
        finally:
            self._places.release()
            if self._closed:
                self._turn_away_latecomers()

    def _look_after(self, there: dict[str, Connection]) -> None:
        for name, connection in list(there.items()):
            if not connection.idle():
                # It left before the run began: it may connect again.
                there.pop(name).drop()
                self._refuse(f"party '{name}': it left before the run began")
        while not self._arrived.empty():
            arrival = self._arrived.get()
            if isinstance(arrival, str):
                self._refuse(arrival)
                continue
            reason = self._objection(arrival.peer, there)
            if reason:
                self._refuse(f"party '{arrival.peer}': {reason}")
                threading.Thread(target=_turn_away, args=(arrival, reason), daemon=True).start()
            else:
                there[arrival.peer] = arrival

    def _objection(self, name: str, there: dict[str, Connection]) -> str:
        if name in there or name == self.name:
            return f"the name '{name}' is taken"
        if not isinstance(self._expected, int) and name not in self._expected:
            return f"no party '{name}' is expected"
        return "" if self._missing(there) else "all parties are there"

    def _refuse(self, line: str) -> None:
        self._refusal = line
        if self._on_refusal is not None:
            self._on_refusal(f"refused {line}")

    def close(self) -> None:
        """Stop listening."""
        self._closed = True
        self._socket.close()
        self._turn_away_latecomers()

    def _turn_away_latecomers(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                arrival = self._arrived.get_nowait()
                if isinstance(arrival, Connection):
                    _turn_away(arrival, "the run goes on without it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _await_hello(connection: Connection) -> None:
    try:
        header, _, payload = connection.read_frame(HANDSHAKE_SECONDS)
    except (LostError, TimeoutError):
        raise ProtocolError("it left before the run began") from None
    except ProtocolError as error:
        raise ProtocolError(f"party '{connection.peer}' {error}") from None
    if header.kind == Kind.ABORT:
        raise ProtocolError(ended(connection.peer, payload.decode(errors="replace")))
    if header.kind != Kind.HELLO:
        raise ProtocolError(f"party '{connection.peer}' did not begin with a hello")


def _turn_away(connection: Connection, reason: str) -> None:
    connection.end(reason)
    connection.finish(time.monotonic() + LINGER)
