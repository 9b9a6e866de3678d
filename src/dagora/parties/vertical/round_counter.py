"""Counts the rounds of a protocol of two parties: how often a party received after it had sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.transport import Payload, Transport, reason_to_tell


class RoundCounter:
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
        self._inner = inner
        self._spoke = False
        self.rounds = 0

    @property
    def name(self) -> str:
        """This party."""
        return self._inner.name

    @property
    def peers(self) -> Sequence[str]:
        """The parties that messages can be sent to."""
        return self._inner.peers

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """The fingerprints of the peers' certificates."""
        return self._inner.fingerprints

    @property
    def ledger(self) -> Ledger:
        """The traffic so far."""
        return self._inner.ledger

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Send a message."""
        self._inner.send(to, tag, payload)
        self._spoke = True

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag."""
        payload = self._inner.receive(sender, tag, timeout)
        self.rounds += self._spoke
        self._spoke = False
        return payload

    def close(self, reason: str | None = None) -> None:
        """Leave, with a reason if this is not a normal end."""
        self._inner.close(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))
