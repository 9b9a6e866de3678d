"""Parties as threads of one process: the same contract as `tcp`, without sockets.

For tests, simulations in one process, and the development of protocols. Nothing is encrypted.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Self

from dagora.base.errors import PartyTimeoutError, ProtocolError
from dagora.parties.transport.inbox import Inbox, InboxClosedError
from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.transport import (
    MessageLimits,
    Payload,
    abort_message,
    check_name,
    encode_tag,
    left_message,
    lost_message,
    reason_to_tell,
)
from dagora.parties.transport.wire_format import wire_size


def memory_network(
    names: Sequence[str],
    *,
    hub: str | None = None,
    limits: MessageLimits | None = None,
    timeout: float = 60.0,
) -> dict[str, MemoryTransport]:
    """Connect named parties, all with all, or all with the hub only (as over TCP).

    >>> network = memory_network(["a", "b"])
    >>> network["a"].send("b", "greeting", b"hello")
    >>> network["b"].receive("a", "greeting")
    b'hello'
    """
    if len(set(names)) != len(names):
        raise ProtocolError("two parties have the same name")
    limits = limits or MessageLimits()
    network: dict[str, MemoryTransport] = {}
    for name in names:
        peers = [other for other in names if other != name and hub in (None, name, other)]
        network[check_name(name)] = MemoryTransport(name, peers, network, limits, timeout)
    return network


class MemoryTransport:
    """One party of an in-memory network."""

    def __init__(
        self,
        name: str,
        peers: Sequence[str],
        network: dict[str, MemoryTransport],
        limits: MessageLimits,
        timeout: float,
    ) -> None:
        self.name = name
        self.peers = tuple(sorted(peers))
        self.fingerprints: dict[str, str] = {}
        self.ledger = Ledger(name)
        self._network = network
        self._limits = limits
        self._timeout = timeout
        self._inbox = Inbox(name, peers, limits)
        self._sending = {peer: threading.Lock() for peer in peers}
        self._sequences: dict[tuple[str, str], int] = {}
        self._closed = False

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Put a message into the peer's inbox; waits while the inbox is full."""
        encoded = encode_tag(tag)
        self._inbox.check(to)
        content = bytes(payload)
        if len(content) > self._limits.message_bytes:
            raise ProtocolError(
                f"message '{tag}' of {len(content)} bytes passes the limit of {self._limits.message_bytes}"
            )
        with self._sending[to]:
            sequence = self._sequences.get((to, tag), 0)
            self._sequences[to, tag] = sequence + 1
            self._deliver(to, tag, sequence, content)
        self.ledger.count_sent(to, tag, payload=len(content), wire=wire_size(encoded, len(content)))

    def _deliver(self, to: str, tag: str, sequence: int, content: bytes) -> None:
        try:
            self._network[to]._inbox.put(self.name, tag, sequence, content, self._timeout)  # noqa: SLF001
        except InboxClosedError:
            self._inbox.fail(to, left_message(to), at_once=False)
            self._inbox.check(to)
        except PartyTimeoutError as error:
            # As over TCP, a message that was abandoned half way ends the connection.
            self._network[to]._inbox.fail(self.name, lost_message(self.name), at_once=False)  # noqa: SLF001
            self._inbox.fail(to, str(error), at_once=False)
            self._inbox.check(to)
        except ProtocolError as error:
            self._inbox.fail(to, abort_message(to, str(error)), at_once=True)
            self._inbox.check(to)

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag."""
        encoded = encode_tag(tag)
        payload = self._inbox.get(sender, tag, self._timeout if timeout is None else timeout)
        self.ledger.count_received(sender, tag, payload=len(payload), wire=wire_size(encoded, len(payload)))
        return payload

    def close(self, reason: str | None = None) -> None:
        """Leave, with a reason if this is not a normal end."""
        if reason is None:
            self._leave(left_message(self.name), at_once=False)
        else:
            self._leave(abort_message(self.name, reason), at_once=True)

    def _leave(self, fault: str, *, at_once: bool) -> None:
        if self._closed:
            return
        self._closed = True
        for peer in self.peers:
            self._network[peer]._inbox.fail(self.name, fault, at_once=at_once)  # noqa: SLF001
        self._inbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))
