"""Several transports of one party as one, for networks that are no star: parties that connect among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from dagora.base.errors import ProtocolError
from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.transport import Payload, Transport, encode_tag, reason_to_tell
from dagora.parties.transport.wire_format import wire_size


class JoinedTransport:
    """Sends to and receives from each peer on the line that leads to it.

    >>> from dagora.parties.transport.in_memory import memory_network
    >>> one, two = memory_network(["a", "b"]), memory_network(["a", "c"])
    >>> joined = JoinedTransport([one["a"], two["a"]])
    >>> two["c"].send("a", "greeting", b"hello")
    >>> joined.peers, joined.receive("c", "greeting")
    (('b', 'c'), b'hello')
    """

    def __init__(self, lines: Sequence[Transport]) -> None:
        self.name = lines[0].name
        self._lines = list(lines)
        self._line_to = {peer: line for line in lines for peer in line.peers}
        self.peers = tuple(sorted(self._line_to))
        if any(line.name != self.name for line in lines) or sum(len(line.peers) for line in lines) != len(
            self.peers
        ):
            raise ProtocolError("lines of one party to different peers can be joined, no others")
        self.fingerprints = {peer: shown for line in lines for peer, shown in line.fingerprints.items()}
        self.ledger = Ledger(self.name)

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Send a message on the peer's line."""
        self._line(to).send(to, tag, payload)
        size = memoryview(payload).nbytes
        self.ledger.count_sent(to, tag, payload=size, wire=wire_size(encode_tag(tag), size))

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag."""
        payload = self._line(sender).receive(sender, tag, timeout)
        self.ledger.count_received(
            sender, tag, payload=len(payload), wire=wire_size(encode_tag(tag), len(payload))
        )
        return payload

    def _line(self, peer: str) -> Transport:
        if peer not in self._line_to:
            known = ", ".join(f"'{name}'" for name in self.peers)
            raise ProtocolError(f"party '{self.name}' has no line to '{peer}', only to {known}")
        return self._line_to[peer]

    def close(self, reason: str | None = None) -> None:
        """Leave all lines, with a reason if this is not a normal end."""
        for line in self._lines:
            line.close(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))
