"""A visitor of a site's daemon until it has proved that it knows the token.

The daemon speaks first, a greeting with a random number, and a visitor answers at once. Whoever does not is
treated as at every door (`dagora.base.crowds`): other users of the machine can reach a daemon at a port.
"""

from __future__ import annotations

import contextlib
import secrets
import socket

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.flower.local_socket import (
    GREETING,
    NONCE_BYTES,
    PROOF_BYTES,
    DaemonConnection,
    answer_proof,
)
from dagora.parties.transport.caller import Caller
from dagora.parties.transport.handshake import explain


class DaemonCaller(Caller[DaemonConnection]):
    """A visitor that was greeted with `nonce`."""

    def __init__(self, line: socket.socket, address: tuple[str, int], token: bytes, nonce: bytes) -> None:
        super().__init__(line, address)
        self._token = token
        self._nonce = nonce
        self._heard = bytearray()

    @classmethod
    def accept(cls, line: socket.socket, address: tuple[str, int], token: bytes) -> DaemonCaller:
        """Greet a visitor; `ProtocolError` if it has left."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        try:
            line.setblocking(False)
            line.send(GREETING + nonce)  # a new connection has room for it
        except OSError as error:
            line.close()
            raise ProtocolError(explain(error)) from None
        return cls(line, address, token, nonce)

    def _come_in(self) -> DaemonConnection:
        missing = NONCE_BYTES + PROOF_BYTES - len(self._heard)
        part = self.line.recv(missing)
        if not part:
            raise ProtocolError("it left before it had said what it wants")
        self._heard += part
        if len(part) < missing:
            raise BlockingIOError
        answer = answer_proof(self._token, self._nonce, bytes(self._heard))
        with contextlib.suppress(BlockingIOError):
            # Of the same length if the proof is wrong, so that the visitor can say what is wrong.
            self.line.send(answer or bytes(PROOF_BYTES))
        if not answer:
            raise ProtocolError("it does not know the token")
        return DaemonConnection(self.line)
