"""How owners find each other: all connect to the host, and to the other two that compute.

What two of the three say to each other must not pass through the third, which could add it to its own parts
and see everything; so they talk on connections of their own. All owners connect to the host first. It tells
them the roster; the second and the third of it begin to listen and tell the host where; the host passes these
addresses on. Who is at the other end is proved by certificates, not by addresses.

    meeting/roster     <  names of the owners, the host first
    meeting/address    >  where the second and the third listen (empty for others)
    meeting/addresses  <  those two
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from dagora.base.errors import OptionError, ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.replicated.replicated_party import PARTIES
from dagora.parties.replicated.terms import check_owners
from dagora.parties.transport.certificates import Credentials
from dagora.parties.transport.joined import JoinedTransport
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import Transport, reason_to_tell

TAG = "meeting"
_ADDRESS = re.compile(r"([A-Za-z0-9._:-]{1,255}):([0-9]{1,5})")


def receive_owners(
    listener: Listener, owners: Sequence[str], *, wait: float
) -> tuple[Transport, tuple[str, ...]]:
    """The host's side: wait for all others and tell them of each other."""
    transport = listener.accept(timeout=wait)
    try:
        channels = [Channel(transport, name, TAG) for name in owners[1:]]
        for channel in channels:
            channel.send("roster", owners=list(owners))
        told = [channel.receive("address", {"address": str})["address"] for channel in channels]
        addresses = told[: PARTIES - 1]
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
    host: str,
    port: int,
    *,
    where: str = "127.0.0.1",
    own_port: int = 0,
    wait: float = 60.0,
    timeout: float = 60.0,
    on_refusal: Callable[[str], None] | None = None,
) -> tuple[Transport, tuple[str, ...]]:
    """Another owner's side: connect to the host at host:port, then to those that compute.

    If this owner computes, it listens at `where`, which is what the others are told.
    """
    with ExitStack() as stack:
        first = connect(credentials, host, port, wait=wait, timeout=timeout)
        lines: list[Transport] = [first]
        stack.push(lambda _kind, error, _trace: _leave(lines, error))
        (hosting,) = first.peers
        channel = Channel(first, hosting, TAG)
        owners = _read_roster(channel, credentials.name)
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
        told = channel.receive("addresses", {"addresses": list})["addresses"]
        if len(told) != PARTIES - 1 or not all(isinstance(each, str) for each in told):
            channel.refuse("addresses", "they are not two addresses")
        for name, address in list(zip(owners[1:PARTIES], told, strict=True))[: place - 1]:
            found = _ADDRESS.fullmatch(address)
            if found is None:
                channel.refuse("addresses", "they are not two addresses")
            lines.append(connect(credentials, found[1], int(found[2]), peer=name, wait=wait, timeout=timeout))
        if listener is not None and expected:
            lines.append(listener.accept(timeout=wait))
        stack.pop_all()
    if listener is not None:
        listener.close()
    return JoinedTransport(lines), owners


def _leave(lines: Sequence[Transport], error: BaseException | None) -> None:
    for line in lines:
        line.close(reason_to_tell(error))


def _read_roster(channel: Channel, own: str) -> tuple[str, ...]:
    owners = channel.receive("roster", {"owners": list})["owners"]
    try:
        if not all(isinstance(name, str) for name in owners):
            channel.refuse("roster", "its owners are not names")
        roster = check_owners(owners)
    except (OptionError, ProtocolError) as error:
        raise ProtocolError(
            f"party '{channel.peer}', 'meeting/roster': {error}", party=channel.peer
        ) from None
    if roster[0] != channel.peer or own not in roster[1:]:
        channel.refuse("roster", f"it does not begin with '{channel.peer}' or lacks '{own}'")
    return roster
