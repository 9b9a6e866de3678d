"""What the coordinator hears from many sites at once: replies, refusals, silence.

A site that vanishes or stays silent is lost, which a protocol may survive. A site that refuses says why in
one line, and a site that sends what cannot be understood is named: both end the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dagora.errors import PartyTimeoutError, ProtocolError
from dagora.parties.transport.messages import Field, decode, encode
from dagora.parties.transport.transport import Transport, one_line, silent

# Equal messages have equal bytes: all refusals begin like this.
_REFUSAL = encode({"refusal": ""})[:-4]


@dataclass
class Replies:
    """What came, and who was lost with the reason why, by site."""

    contents: dict[str, dict[str, Any]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def tell(transport: Transport, messages: Mapping[str, bytes], tag: str) -> dict[str, str]:
    """Send each site its message; returns the sites that are gone, with the reason."""
    lost = {}
    for site, message in messages.items():
        try:
            transport.send(site, tag, message)
        except ProtocolError as error:
            lost[site] = str(error)
    return lost


def collect(
    transport: Transport, sites: Iterable[str], tag: str, fields: Mapping[str, Field], patience: float
) -> Replies:
    """Wait for one message of each site, `patience` seconds in all; a refusal is raised."""
    replies = Replies()
    for site, content in listen(transport, sites, tag, fields, patience, replies.lost):
        replies.contents[site] = content
    return replies


def listen(
    transport: Transport,
    sites: Iterable[str],
    tag: str,
    fields: Mapping[str, Field],
    patience: float,
    lost: dict[str, str],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same, one reply after the other, for those too large to be kept; fills `lost`."""
    deadline = time.monotonic() + patience
    for site in sites:
        try:
            payload = transport.receive(site, tag, max(0.0, deadline - time.monotonic()))
        except PartyTimeoutError:
            # All share one patience: what is left of it when this site's turn comes says nothing.
            lost[site] = silent(site, tag, patience)
            continue
        except ProtocolError as error:
            lost[site] = str(error)
            continue
        try:
            content = read_reply(payload, fields, f"site '{site}'")
        except ProtocolError as error:
            raise ProtocolError(str(error), party=site) from None
        yield site, content


def read_reply(payload: bytes, fields: Mapping[str, Field], what: str) -> dict[str, Any]:
    """Read a reply; a refusal is raised."""
    if payload.startswith(_REFUSAL):
        line = decode(payload, {"refusal": str}, what=what)["refusal"]
        raise ProtocolError(f"{what}: {one_line(line)}")
    return decode(payload, fields, what=what)


def refusal(line: str) -> bytes:
    """Write a refusal, to be sent in place of any reply."""
    return encode({"refusal": line})
