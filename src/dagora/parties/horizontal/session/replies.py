"""The coordinator's view of many sites at once: replies, refusals, silence.

A site that disappears or stays silent is lost, which a protocol may survive. A site that refuses gives its
reason in one line, and a site whose message cannot be read is named: both end the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dagora.base.errors import PartyTimeoutError, ProtocolError
from dagora.parties.transport.messages import Field, decode, encode
from dagora.parties.transport.transport import Transport, one_line, silence_message

# There is one way to write a message, so all refusals begin with these bytes.
_REFUSAL = encode({"refusal": ""})[:-4]


@dataclass
class Replies:
    """The content of each reply and, for each lost site, the reason."""

    contents: dict[str, dict[str, Any]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def tell(transport: Transport, messages: Mapping[str, bytes], tag: str) -> dict[str, str]:
    """Send each site its message; return the sites that cannot be reached, with the reason."""
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
    """Wait for one message from each site, `patience` seconds in all; raises a site's refusal."""
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
    """Like `collect`, but yields one reply after the other, for replies too large to keep; fills `lost`."""
    deadline = time.monotonic() + patience
    for site in sites:
        try:
            payload = transport.receive(site, tag, max(0.0, deadline - time.monotonic()))
        except PartyTimeoutError:
            # All sites share one time limit, so the message names the whole of it, not the rest.
            lost[site] = silence_message(site, tag, patience)
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
    """Read a reply; raises a refusal."""
    if payload.startswith(_REFUSAL):
        line = decode(payload, {"refusal": str}, what=what)["refusal"]
        raise ProtocolError(f"{what}: {one_line(line)}")
    return decode(payload, fields, what=what)


def refusal(line: str) -> bytes:
    """Write a refusal, which can be sent in place of any reply."""
    return encode({"refusal": line})
