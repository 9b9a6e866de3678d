"""Connect the owners: all to the host, and all to the other two that compute.

What two of the three say to each other must not pass through the third, which could add it to its own parts
and see everything; so they talk on connections of their own. All owners connect to the host first. It
sends them the roster; the second and the third of it begin to listen and send the host their addresses; the
host passes these on. Who is at the other end is proved by certificates, not by addresses.

    meeting/roster     <  names of the owners, the host first
    meeting/address    >  where the second and the third listen (empty for others)
    meeting/addresses  <  those two
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Self

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.replicated.replicated_party import PARTIES
from dagora.parties.transport.certificates import Credentials
from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import Payload, Transport, encode_tag, reason_to_tell
from dagora.parties.transport.wire_format import wire_size

TAG = "meeting"
_ADDRESS = re.compile(r"([A-Za-z0-9._:-]{1,255}):([0-9]{1,5})")


def receive_owners(
    listener: Listener, owners: Sequence[str], *, wait: float
) -> tuple[Transport, tuple[str, ...]]:
    """Wait for all others as the host, and send each the addresses of the two that listen."""
    transport = listener.accept(timeout=wait)
    try:
        channels = [Channel(transport, name, TAG) for name in owners[1:]]
        for channel in channels:
            channel.send("roster", owners=list(owners))
        addresses = [channel.receive("address", {"address": str})["address"] for channel in channels]
        addresses = addresses[: PARTIES - 1]
        for channel, address in zip(channels, addresses, strict=False):
            if not _ADDRESS.fullmatch(address):
                channel.refuse("address", "it is not where somebody could listen")
        for channel in channels:
            channel.send("addresses", addresses=addresses)
    except BaseException as error:
        transport.close(reason_to_tell(error))
        raise
    return transport, tuple(owners)


def join_owners(
    credentials: Credentials,
    owners: Sequence[str],
    host: str,
    port: int,
    *,
    where: str = "127.0.0.1",
    own_port: int = 0,
    wait: float = 60.0,
    timeout: float = 60.0,
    on_refusal: Callable[[str], None] | None = None,
) -> tuple[Transport, tuple[str, ...]]:
    """Connect as another owner: to the host at host:port, then to those that compute.

    `owners` are those that this owner takes part with, the host first: nobody else, whoever the host is.
    If this owner computes, it listens at `where`, the address that the others get.
    """
    with ExitStack() as stack:
        first = connect(credentials, host, port, peer=owners[0], wait=wait, timeout=timeout)
        lines: list[Transport] = [first]
        stack.push(lambda _kind, error, _trace: _leave(lines, error))
        (hosting,) = first.peers
        channel = Channel(first, hosting, TAG)
        check_roster(channel, owners)
        place = owners.index(credentials.name)
        # The second waits for the third and those that do not compute, the third for the latter.
        expected = owners[place + 1 :] if place == 1 else owners[PARTIES:] if place == 2 else ()
        listener = None
        if 0 < place < PARTIES:
            listener = stack.enter_context(
                Listener(
                    credentials, expected, host=where, port=own_port, timeout=timeout, on_refusal=on_refusal
                )
            )
        channel.send("address", address=f"{where}:{listener.port}" if listener else "")
        addresses = channel.receive("addresses", {"addresses": list})["addresses"]
        if len(addresses) != PARTIES - 1 or not all(isinstance(each, str) for each in addresses):
            channel.refuse("addresses", "they are not two addresses")
        for name, address in list(zip(owners[1:PARTIES], addresses, strict=True))[: place - 1]:
            match = _ADDRESS.fullmatch(address)
            if match is None:
                channel.refuse("addresses", "they are not two addresses")
            lines.append(connect(credentials, match[1], int(match[2]), peer=name, wait=wait, timeout=timeout))
        if listener is not None and expected:
            lines.append(listener.accept(timeout=wait))
        stack.pop_all()
    if listener is not None:
        listener.close()
    return JoinedTransport(lines), tuple(owners)


def _leave(lines: Sequence[Transport], error: BaseException | None) -> None:
    for line in lines:
        line.close(reason_to_tell(error))


def check_roster(channel: Channel, owners: Sequence[str]) -> None:
    """Refuse a host that has other owners than this one was told."""
    told = channel.receive("roster", {"owners": list})["owners"]
    if told != list(owners):
        channel.refuse("roster", f"its owners are not {', '.join(owners)}, in this sequence")


class JoinedTransport:
    """Several transports of one party as one; each message takes the transport that leads to its peer.

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
