"""Counts the rounds of a protocol of two parties: how often a party received after it had sent."""

from __future__ import annotations

from dagora.parties.transport.transport import Payload, Transport
from dagora.parties.transport.wrapped_transport import WrappedTransport


class RoundCounter(WrappedTransport):
    """A transport that counts how often it turns from sending to receiving; a round trip counts as one.

    >>> from dagora.parties.transport.in_memory import memory_network
    >>> network = memory_network(["a", "b"])
    >>> line = RoundCounter(network["a"])
    >>> for tag in ("first", "second"):
    ...     network["b"].send("a", tag, b"")
    ...     line.send("b", tag, b"")
    ...     _ = line.receive("b", tag)
    >>> line.rounds
    2
    """

    def __init__(self, inner: Transport) -> None:
        super().__init__(inner)
        self._spoke = False
        self.rounds = 0

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Send a message."""
        super().send(to, tag, payload)
        self._spoke = True

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag."""
        payload = super().receive(sender, tag, timeout)
        self.rounds += self._spoke
        self._spoke = False
        return payload
