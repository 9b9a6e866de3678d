"""A connection that has been accepted and is not in yet, which never waits.

`advance` does what can be done now. It returns the connection once the caller has shown that it may come in,
raises `ProtocolError` if the caller is to be refused, and otherwise leaves in `events` what to wait for. A
`TlsCaller` shakes hands and says hello, before which it may announce nothing larger than a reason to leave.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import time
from abc import ABC, abstractmethod
from enum import IntEnum
from pathlib import Path
from typing import Generic, TypeVar

from dagora.base.errors import ProtocolError
from dagora.parties.transport.connection import Connection
from dagora.parties.transport.handshake import explain, peer_name
from dagora.parties.transport.transport import MessageLimits, abort_message
from dagora.parties.transport.wire_format import BEFORE_THE_RUN, HEADER, FrameKind, parse

T = TypeVar("T")


class CallerStage(IntEnum):
    """The progress of a caller, from silence to a certificate of our CA."""

    LEAVING = 0  # refused: its reason is on the way to it
    SILENT = 1
    TALKING = 2  # it has sent a part of its TLS hello
    GREETED = 3  # it has sent all of it, and was answered
    PROVED = 4  # it has shown a certificate of our CA


class Caller(ABC, Generic[T]):
    """One connection from its acceptance until it is in."""

    def __init__(self, line: socket.socket, address: tuple[str, int]) -> None:
        self.line = line
        self.descriptor = line.fileno()  # kept: a closed socket has none
        self.host = address[0]
        self.where = name_of(address)
        self.came = time.monotonic()
        self._reach(CallerStage.SILENT)
        self.events = selectors.EVENT_READ
        self.name = ""

    def _reach(self, stage: CallerStage) -> None:
        self.stage, self.since = stage, time.monotonic()

    def advance(self) -> T | None:
        """Do what can be done without waiting."""
        self.events = selectors.EVENT_READ
        try:
            if self.stage is CallerStage.LEAVING:
                self._discard()
                return None
            if self.stage is CallerStage.SILENT:
                if not socket.socket.recv(self.line, 1, socket.MSG_PEEK):
                    raise ProtocolError("it closed the connection")
                self._reach(CallerStage.TALKING)
            return self._come_in()
        except (ssl.SSLWantReadError, BlockingIOError):
            return None
        except ssl.SSLWantWriteError:
            self.events = selectors.EVENT_WRITE
            return None
        except (OSError, ValueError) as error:
            raise ProtocolError(self._explain(error)) from None

    @abstractmethod
    def _come_in(self) -> T:
        """Return the connection of a caller that may come in; raises `BlockingIOError` for want of bytes."""

    def _explain(self, error: Exception) -> str:
        return explain(error)

    def _discard(self) -> None:
        # On the socket below TLS: what the peer still sends is discarded unread.
        if not socket.socket.recv(self.line, 1 << 16):
            raise ProtocolError("it closed the connection")

    def leave(self) -> None:
        """Stop sending, so that what was sent last arrives; `advance` waits until the peer has closed too."""
        self._reach(CallerStage.LEAVING)
        self.events = selectors.EVENT_READ
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self.line, socket.SHUT_WR)

    def close(self) -> None:
        """Let go of the socket."""
        self.line.close()


class TlsCaller(Caller[Connection]):
    """A party with a certificate of our CA, to which our `own` is shown."""

    def __init__(
        self, tls: ssl.SSLSocket, address: tuple[str, int], limits: MessageLimits, own: Path | None = None
    ) -> None:
        super().__init__(tls, address)
        self.tls = tls
        self._limits = limits
        self._own = own
        self._heard = bytearray()

    @classmethod
    def accept(
        cls,
        raw: socket.socket,
        address: tuple[str, int],
        context: ssl.SSLContext,
        own: Path,
        limits: MessageLimits,
    ) -> TlsCaller:
        """Accept a caller; `ProtocolError` if it has left."""
        try:
            raw.setblocking(False)
            raw.getpeername()  # fails for a caller that has left, while its socket can still be closed
            tls = context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
        except (OSError, ValueError) as error:
            raw.close()
            raise ProtocolError(explain(error)) from None
        return cls(tls, address, limits, own)

    def _explain(self, error: Exception) -> str:
        proved = self.stage is CallerStage.PROVED
        return "it left before the run began" if proved else explain(error, self._own)

    def _come_in(self) -> Connection:
        if self.stage is not CallerStage.PROVED:
            self._shake_hands()
        return self._read_hello()

    def _shake_hands(self) -> None:
        try:
            self.tls.do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            if self.stage is CallerStage.TALKING and self.tls.shared_ciphers() is not None:
                self._reach(CallerStage.GREETED)
            raise
        self.name = peer_name(self.tls)
        self._reach(CallerStage.PROVED)

    def _read_hello(self) -> Connection:
        self._hear(HEADER.size)
        try:
            header = parse(self._heard, BEFORE_THE_RUN)
        except ProtocolError as error:
            raise ProtocolError(f"party '{self.name}' {error}") from None
        if header.kind == FrameKind.ABORT:
            self._hear(HEADER.size + header.payload_length)
            raise ProtocolError(abort_message(self.name, self._heard[HEADER.size :].decode(errors="replace")))
        if header.kind != FrameKind.HELLO:
            raise ProtocolError(f"party '{self.name}' did not begin with a hello")
        return Connection(self.tls, self.name, self._limits)

    def _hear(self, size: int) -> None:
        while len(self._heard) < size:
            part = self.tls.recv(size - len(self._heard))
            if not part:
                raise ProtocolError("it left before the run began")
            self._heard += part


def name_of(address: tuple[str, int]) -> str:
    """An address as people write it; nothing for a socket file, where all callers have the same."""
    return f"{address[0]}:{address[1]}" if address[0] else ""
