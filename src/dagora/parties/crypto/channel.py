"""Messages of named values between two parties, under a common tag.

What the peer sends is checked against the expected fields; an error is one line that names the peer and the
step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.parties.transport.messages import Array, Field, Value, decode, encode
from dagora.parties.transport.transport import Transport

# Most rows of a table in one message.
ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Channel:
    """Messages to and from one peer; `tag` goes before the tag of each step.

    >>> from dagora.parties.transport.in_memory import memory_network
    >>> network = memory_network(["a", "b"])
    >>> a, b = (Channel.to_peer(network[name], None, "hello") for name in "ab")
    >>> a.send("size", n=3)
    >>> b.receive("size", {"n": int})["n"]
    3
    """

    transport: Transport
    peer: str
    tag: str

    @classmethod
    def to_peer(cls, transport: Transport, peer: str | None, tag: str) -> Channel:
        """Open a channel to the named peer, or to the only one."""
        if peer is None:
            if len(transport.peers) != 1:
                raise ProtocolError(
                    f"two parties compute together, not {len(transport.peers) + 1}: name the peer"
                )
            peer = transport.peers[0]
        return cls(transport, peer, tag)

    def send(self, step: str, **values: Value) -> None:
        """Send named values as one message."""
        self.transport.send(self.peer, f"{self.tag}/{step}", encode(values))

    def receive(self, step: str, fields: Mapping[str, Field]) -> dict[str, Any]:
        """Take the peer's next message of this step, which must have exactly these fields."""
        payload = self.transport.receive(self.peer, f"{self.tag}/{step}")
        try:
            return decode(payload, fields, what=f"party '{self.peer}', '{self.tag}/{step}'")
        except ProtocolError as error:
            raise ProtocolError(str(error), party=self.peer) from None

    def send_rows(self, step: str, rows: NDArray[np.uint64]) -> None:
        """Send a table of words in messages of bounded size."""
        for first in range(0, len(rows), ROWS):
            self.send(step, rows=rows[first : first + ROWS])

    def receive_rows(self, step: str, count: int, width: int) -> Iterator[NDArray[np.uint64]]:
        """Receive such a table in pieces: memory grows with what arrives, not with what was announced."""
        for first in range(0, count, ROWS):
            shape = (min(ROWS, count - first), width)
            rows: NDArray[np.uint64] = self.receive(step, {"rows": Array("u8", shape)})["rows"]
            yield rows

    def refuse(self, step: str, reason: str) -> NoReturn:
        """End the protocol because of what the peer sent in this step."""
        raise ProtocolError(f"party '{self.peer}', '{self.tag}/{step}': {reason}", party=self.peer)
