"""A transport around another one: what it does not change is the other's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.transport import Payload, Transport, reason_to_tell


class WrappedTransport:
    """Passes everything on to another transport."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

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

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag."""
        return self._inner.receive(sender, tag, timeout)

    def close(self, reason: str | None = None) -> None:
        """Leave, with a reason if this is not a normal end."""
        self._inner.close(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))
