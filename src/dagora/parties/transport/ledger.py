"""The traffic of a party: messages and bytes per peer and phase, sent and received.

A phase is a round of a protocol; without one, a message counts under its tag up to the first '/'. Payload is
what the protocol sent, and wire adds the frame around it (not TLS's own 22 bytes per 16 KB record). A message
counts as received when the protocol takes it. The numbers depend only on the messages, so they are the same
for the in-memory and the TCP transport.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagora.learners.result import Result


@dataclass(frozen=True, slots=True)
class Traffic:
    """Messages and bytes in both directions."""

    messages_sent: int = 0
    messages_received: int = 0
    payload_sent: int = 0
    payload_received: int = 0
    wire_sent: int = 0
    wire_received: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.messages_sent + other.messages_sent,
            self.messages_received + other.messages_received,
            self.payload_sent + other.payload_sent,
            self.payload_received + other.payload_received,
            self.wire_sent + other.wire_sent,
            self.wire_received + other.wire_received,
        )


@dataclass(frozen=True)
class Books:
    """A snapshot of a ledger: traffic per (phase, peer), phases in the order of their first message.

    >>> a = Books("host", {("schema", "b"): Traffic(1, 0, 10, 0, 40, 0)})
    >>> a.merge(a).total.payload_sent, a.phases["schema"].messages_sent
    (20, 1)
    """

    party: str
    entries: Mapping[tuple[str, str], Traffic] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))

    @property
    def total(self) -> Traffic:
        """Everything together."""
        return sum(self.entries.values(), Traffic())

    @property
    def phases(self) -> dict[str, Traffic]:
        """Traffic per phase, over all peers."""
        return self._sums(0)

    @property
    def peers(self) -> dict[str, Traffic]:
        """Traffic per peer, over all phases."""
        return self._sums(1)

    def _sums(self, part: int) -> dict[str, Traffic]:
        sums: dict[str, Traffic] = {}
        for key, traffic in self.entries.items():
            sums[key[part]] = sums.get(key[part], Traffic()) + traffic
        return sums

    def merge(self, other: Books) -> Books:
        """Add the traffic of another run of this party, or of another party."""
        entries = dict(self.entries)
        for key, traffic in other.entries.items():
            entries[key] = entries.get(key, Traffic()) + traffic
        return Books(self.party if self.party == other.party else "all", entries)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for the `stats` of a result."""
        return {
            "party": self.party,
            "total": asdict(self.total),
            "phases": {name: asdict(traffic) for name, traffic in self.phases.items()},
            "peers": {name: asdict(traffic) for name, traffic in self.peers.items()},
        }


class Ledger:
    """The traffic of one party so far; its threads may write at the same time and share the phase.

    >>> ledger = Ledger("host")
    >>> with ledger.phase("schema"):
    ...     ledger.count_sent("guest", "columns", payload=100, wire=131)
    >>> ledger.count_received("guest", "sums/3", payload=8, wire=38)
    >>> ledger.books().phases["schema"].wire_sent, ledger.books().phases["sums"].payload_received
    (131, 8)
    """

    def __init__(self, party: str) -> None:
        self.party = party
        self._lock = threading.Lock()
        self._phases: list[str] = []
        self._entries: dict[tuple[str, str], Traffic] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count what happens inside under this name; the innermost phase counts."""
        with self._lock:
            self._phases.append(name)
        try:
            yield
        finally:
            with self._lock:
                # Phases of threads may overlap: remove the latest with this name, not simply the last.
                position = len(self._phases) - 1 - self._phases[::-1].index(name)
                del self._phases[position]

    def count_sent(self, peer: str, tag: str, *, payload: int, wire: int) -> None:
        """Count one message to a peer."""
        self._add(peer, tag, Traffic(messages_sent=1, payload_sent=payload, wire_sent=wire))

    def count_received(self, peer: str, tag: str, *, payload: int, wire: int) -> None:
        """Count one message from a peer."""
        self._add(peer, tag, Traffic(messages_received=1, payload_received=payload, wire_received=wire))

    def _add(self, peer: str, tag: str, traffic: Traffic) -> None:
        with self._lock:
            key = (self._phases[-1] if self._phases else tag.partition("/")[0], peer)
            self._entries[key] = self._entries.get(key, Traffic()) + traffic

    def books(self) -> Books:
        """Return a snapshot."""
        with self._lock:
            return Books(self.party, dict(self._entries))


def add_traffic(result: Result, books: Books) -> Result:
    """Add rounds (unless the method counts its own) and bytes per party to the `stats` of a result."""
    stats = {"rounds": result.stats.get("rounds", float(len(books.phases)))}
    for party, traffic in books.peers.items():
        stats[f"bytes_to_{party}"] = float(traffic.wire_sent)
        stats[f"bytes_from_{party}"] = float(traffic.wire_received)
    return replace(result, stats={**result.stats, **stats})
