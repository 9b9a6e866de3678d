"""Parties as processes on one or several machines: TLS 1.3 over TCP, certificates on both sides.

The network is a star: one `Listener` (the coordinator, or the host of two parties; see `listener`) waits, and
each other party `connect`s to it. A party's name is the common name of its certificate, which the common CA
has signed.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from dagora.base.errors import ProtocolError
from dagora.parties.transport.certificates import Credentials, client_context
from dagora.parties.transport.connection import LINGER, Connection, LostError
from dagora.parties.transport.handshake import (
    HungUpError,
    close_after_refusal,
    explain,
    hung_up,
    peer_name,
    shake_hands,
)
from dagora.parties.transport.inbox import Inbox
from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.transport import (
    MessageLimits,
    Payload,
    abort_message,
    check_port,
    encode_tag,
    in_seconds,
    lost_message,
    one_line,
    reason_to_tell,
)
from dagora.parties.transport.wire_format import BEFORE_THE_RUN, FrameKind, wire_size

HANDSHAKE_SECONDS = 10.0  # twice the listener's limit, so that its refusal comes first
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.8  # seconds between attempts
REACH_AGAIN = 1.0  # seconds to find a listener again that has closed the connection


class TcpTransport:
    """One party's TLS connections to its peers; `fingerprints` has those of their certificates."""

    def __init__(
        self, name: str, connections: Sequence[Connection], limits: MessageLimits, timeout: float
    ) -> None:
        self.name = name
        self.peers = tuple(sorted(connection.peer for connection in connections))
        self.ledger = Ledger(name)
        self.fingerprints = {connection.peer: connection.fingerprint for connection in connections}
        self._connections = {connection.peer: connection for connection in connections}
        self._limits = limits
        self._timeout = timeout
        self._inbox = Inbox(name, self.peers, limits)
        self._closed = False
        for connection in connections:
            connection.start(self._inbox)

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Send a message; returns when the system has taken all of it."""
        encoded = encode_tag(tag)
        self._inbox.check(to)
        view = memoryview(payload).cast("B")
        if len(view) > self._limits.message_bytes:
            raise ProtocolError(
                f"message '{tag}' of {len(view)} bytes passes the limit of {self._limits.message_bytes}"
            )
        connection = self._connections[to]
        try:
            wire = connection.send(encoded, view, self._timeout)
        except LostError as error:
            detail = str(error)
            if not detail:
                # The peer may have sent a reason before it closed.
                connection.join(LINGER)
            self._inbox.fail(to, f"party '{to}' {detail}" if detail else lost_message(to), at_once=False)
            self._inbox.check(to)
            raise ProtocolError(lost_message(to), party=to) from None
        self.ledger.count_sent(to, tag, payload=len(view), wire=wire)

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag."""
        encoded = encode_tag(tag)
        payload = self._inbox.get(sender, tag, self._timeout if timeout is None else timeout)
        self.ledger.count_received(sender, tag, payload=len(payload), wire=wire_size(encoded, len(payload)))
        return payload

    def close(self, reason: str | None = None) -> None:
        """Leave, with a reason if this is not a normal end; waits up to a second for the peers."""
        if self._closed:
            return
        self._closed = True
        self._inbox.close()
        for connection in self._connections.values():
            connection.end(reason)
        deadline = time.monotonic() + LINGER
        for connection in self._connections.values():
            connection.finish(deadline)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))


def connect(
    credentials: Credentials,
    host: str,
    port: int,
    *,
    peer: str | None = None,
    wait: float = 60.0,
    limits: MessageLimits | None = None,
    timeout: float = 60.0,
) -> TcpTransport:
    """Connect to a listener and wait until the run begins.

    For `wait` seconds it retries while nobody listens, so parties may start in any order, and where the
    listener does not answer or closes the connection without a reason, as a crowded one does. A refusal with
    a reason is the end, and so is a listener that has gone. The listener must prove that its name is `peer`;
    without `peer`, any name that the CA has signed is accepted.
    """
    limits = limits or MessageLimits()
    deadline = time.monotonic() + wait
    where = f"{host}:{check_port(port)}"
    context = client_context(credentials)
    fault: HungUpError | None = None
    pause = FIRST_PAUSE
    while True:
        try:
            raw = _reach(host, port, deadline, wait, known=fault is not None)
        except ProtocolError as error:
            raise fault or error from None
        try:
            connection = _greet(raw, context, credentials, limits, where, peer, deadline)
            with _leaving(connection):
                _await_welcome(connection, deadline, wait, where, credentials.certificate)
        except HungUpError as error:
            fault = error
        else:
            return TcpTransport(credentials.name, [connection], limits, timeout)
        if time.monotonic() + pause >= deadline:
            raise ProtocolError(f"{fault} (tried for {in_seconds(wait)})", party=fault.party)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _greet(
    raw: socket.socket,
    context: ssl.SSLContext,
    credentials: Credentials,
    limits: MessageLimits,
    where: str,
    peer: str | None,
    deadline: float,
) -> Connection:
    """Shake hands and say hello."""
    patience = max(0.1, min(HANDSHAKE_SECONDS, deadline - time.monotonic()))
    try:
        tls = shake_hands(raw, context, timeout=patience, own=credentials.certificate)
    except ProtocolError as error:
        raise type(error)(f"{where}: {error}") from None
    try:
        name = peer_name(tls)
        connection = Connection(tls, name, limits)
    except (ProtocolError, OSError) as error:
        close_after_refusal(tls)
        raise ProtocolError(f"{where}: {one_line(str(error))}") from None
    with _leaving(connection):
        if peer is not None and name != peer:
            raise ProtocolError(f"{where}: it is party '{name}', not '{peer}'")
        with contextlib.suppress(LostError):
            # If the listener has refused our certificate, reading the welcome reports it.
            connection.send_frame(FrameKind.HELLO, b"", 0, b"", patience)
    return connection


@contextlib.contextmanager
def _leaving(connection: Connection) -> Iterator[None]:
    """Tell the peer why, if the run cannot begin."""
    try:
        yield
    except BaseException as error:
        connection.end(reason_to_tell(error))
        connection.finish(time.monotonic() + LINGER)
        raise


def _reach(host: str, port: int, deadline: float, wait: float, *, known: bool) -> socket.socket:
    """Connect; where a listener was `known` to be and nobody is any more, the wait is short."""
    gone = min(deadline, time.monotonic() + REACH_AGAIN) if known else deadline
    pause = 0.02
    while True:
        left = deadline - time.monotonic()
        try:
            return socket.create_connection((host, port), timeout=max(0.1, min(left, HANDSHAKE_SECONDS)))
        except (socket.gaierror, UnicodeError):  # a name that no host can have
            raise ProtocolError(f"there is no host '{one_line(host)}'") from None
        except OSError as error:
            latest = deadline if isinstance(error, TimeoutError) else gone
            if latest - time.monotonic() <= pause:
                raise ProtocolError(
                    f"nobody listens at {host}:{port} (tried for {in_seconds(wait)}): {explain(error)}"
                ) from None
        time.sleep(pause)
        pause = min(2 * pause, 0.5)


def _await_welcome(connection: Connection, deadline: float, wait: float, where: str, own: Path) -> None:
    peer = connection.peer
    try:
        header, _, payload = connection.read_frame(max(0.1, deadline - time.monotonic()), BEFORE_THE_RUN)
    except TimeoutError:
        raise ProtocolError(f"party '{peer}' did not begin within {in_seconds(wait)}", party=peer) from None
    except LostError as error:
        # A refused certificate is noticed only here: in TLS 1.3 the client finishes first.
        cause = error.__cause__
        refused = isinstance(cause, ssl.SSLError) and not hung_up(cause)
        text = explain(cause, own) if cause is not None and refused else "it closed the connection"
        kind = ProtocolError if refused else HungUpError
        raise kind(f"party '{peer}' at {where}: {text}", party=peer) from None
    except ProtocolError as error:
        raise ProtocolError(f"party '{peer}' {error}", party=peer) from None
    if header.kind == FrameKind.ABORT:
        raise ProtocolError(abort_message(peer, payload.decode(errors="replace")), party=peer)
    if header.kind != FrameKind.WELCOME:
        raise ProtocolError(f"party '{peer}' spoke before it began the run", party=peer)
