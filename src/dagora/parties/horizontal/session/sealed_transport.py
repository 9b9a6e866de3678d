"""A transport whose questions and answers are sealed: whoever carries them sees their sizes and no more.

Over Flower every message lies in a database that neither the coordinator nor a site needs to own. Plan, keys
and roster travel open, and are signed. Questions and answers are sealed with the keys of the roster
(`secure_sum.sealing`), and none is sent or taken before these are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.session.questions import ANSWER, ASK
from dagora.parties.transport.transport import Payload, Transport
from dagora.parties.transport.wrapped_transport import WrappedTransport

if TYPE_CHECKING:
    from dagora.parties.horizontal.secure_sum.sealing import Seal

SEALED = frozenset({ASK, ANSWER})


class SealedTransport(WrappedTransport):
    """Another transport, with seals between this party and its peers once they have keys."""

    def __init__(self, inner: Transport) -> None:
        super().__init__(inner)
        self._to: dict[str, Seal] = {}
        self._from: dict[str, Seal] = {}

    def agree(self, peer: str, secret: bytes, session: bytes) -> None:
        """Seal what goes to and comes from a peer, with the secret shared with it."""
        from dagora.parties.horizontal.secure_sum.sealing import Seal

        self._to[peer] = Seal(secret, session, self.name, peer)
        self._from[peer] = Seal(secret, session, peer, self.name)

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Send a message."""
        if tag in SEALED:
            payload = self._seal(self._to, to, tag).close(tag, bytes(payload))
        super().send(to, tag, payload)

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag."""
        message = super().receive(sender, tag, timeout)
        return self._seal(self._from, sender, tag).open(tag, message) if tag in SEALED else message

    def _seal(self, seals: Mapping[str, Seal], peer: str, tag: str) -> Seal:
        if peer not in seals:
            raise ProtocolError(f"'{tag}' needs keys, and there are none for party '{peer}' yet")
        return seals[peer]
