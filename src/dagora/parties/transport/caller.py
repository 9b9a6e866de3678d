"""A connection that has been accepted and is not in yet: handshake, then hello, without ever waiting.

`advance` does what can be done now. It returns the connection once the hello is there, raises `ProtocolError`
if the caller is to be refused, and otherwise leaves in `events` what to wait for. Before its hello a caller
may announce nothing larger than a reason to leave.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import time
from enum import IntEnum
from pathlib import Path

from dagora.base.errors import ProtocolError
from dagora.parties.transport.connection import Connection
from dagora.parties.transport.handshake import explain, peer_name
from dagora.parties.transport.transport import MessageLimits, abort_message
from dagora.parties.transport.wire_format import BEFORE_THE_RUN, HEADER, FrameKind, parse


class CallerStage(IntEnum):
    """The progress of a caller, from silence to a certificate of our CA."""

    LEAVING = 0  # refused: its reason is on the way to it
    SILENT = 1
    TALKING = 2  # it has sent a part of its TLS hello
    GREETED = 3  # it has sent all of it, and was answered
    PROVED = 4  # it has shown a certificate of our CA


class Caller:
    """One connection from its acceptance to its hello."""

    def __init__(self, tls: ssl.SSLSocket, address: tuple[str, int], own: Path | None = None) -> None:
        self.tls = tls
        self.descriptor = tls.fileno()  # kept: a closed socket has none
        self._own = own
        self.host = address[0]
        self.where = f"{address[0]}:{address[1]}"
        self.came = time.monotonic()
        self._reach(CallerStage.SILENT)
        self.events = selectors.EVENT_READ
        self.name = ""
        self._heard = bytearray()

    @classmethod
    def accept(
        cls, raw: socket.socket, address: tuple[str, int], context: ssl.SSLContext, own: Path
    ) -> Caller:
        """Accept a caller, to which our `own` certificate is shown; `ProtocolError` if it has left."""
        try:
            raw.setblocking(False)
            raw.getpeername()  # fails for a caller that has left, while its socket can still be closed
            tls = context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
        except (OSError, ValueError) as error:
            raw.close()
            raise ProtocolError(explain(error)) from None
        return cls(tls, address, own)

    def _reach(self, stage: CallerStage) -> None:
        self.stage, self.since = stage, time.monotonic()

    def advance(self, limits: MessageLimits) -> Connection | None:
        """Do what can be done without waiting."""
        self.events = selectors.EVENT_READ
        try:
            if self.stage is CallerStage.LEAVING:
                self._discard()
                return None
            if self.stage is CallerStage.SILENT:
                if not socket.socket.recv(self.tls, 1, socket.MSG_PEEK):
                    raise ProtocolError("it closed the connection")
                self._reach(CallerStage.TALKING)
            if self.stage is not CallerStage.PROVED:
                self._shake_hands()
            return self._read_hello(limits)
        except (ssl.SSLWantReadError, BlockingIOError):
            return None
        except ssl.SSLWantWriteError:
            self.events = selectors.EVENT_WRITE
            return None
        except (OSError, ValueError) as error:
            raise ProtocolError(
                "it left before the run began"
                if self.stage is CallerStage.PROVED
                else explain(error, self._own)
            ) from None

    def _shake_hands(self) -> None:
        try:
            self.tls.do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            if self.stage is CallerStage.TALKING and self.tls.shared_ciphers() is not None:
                self._reach(CallerStage.GREETED)
            raise
        self.name = peer_name(self.tls)
        self._reach(CallerStage.PROVED)

    def _read_hello(self, limits: MessageLimits) -> Connection:
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
        return Connection(self.tls, self.name, limits)

    def _hear(self, size: int) -> None:
        while len(self._heard) < size:
            part = self.tls.recv(size - len(self._heard))
            if not part:
                raise ProtocolError("it left before the run began")
            self._heard += part

    def _discard(self) -> None:
        # On the socket below TLS: what the peer still sends is discarded unread.
        if not socket.socket.recv(self.tls, 1 << 16):
            raise ProtocolError("it closed the connection")

    def leave(self) -> None:
        """Stop sending, so that what was sent last arrives; `advance` waits until the peer has closed too."""
        self._reach(CallerStage.LEAVING)
        self.events = selectors.EVENT_READ
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self.tls, socket.SHUT_WR)

    def close(self) -> None:
        """Let go of the socket."""
        self.tls.close()
