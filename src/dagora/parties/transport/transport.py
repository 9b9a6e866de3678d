"""The contract of a transport: tagged messages between named parties, every byte counted.

A protocol is straight-line code: `send` names the receiver and a tag, `receive` names the sender and the tag
it expects next. A message that comes early under another tag waits for its own `receive`. Messages are
numbered per sender and tag, so a repeated or lost message ends the run. A party that cannot continue closes
with a reason, and every later `receive` from it raises `ProtocolError` with that reason in one line that
names the party. A party that ends well closes without a reason: what it sent before can still be received.

Two implementations keep this contract: `in_memory` (threads of one process) and `tcp` (TLS 1.3). Only `tcp`
protects against the network. Sequence numbers catch mistakes and misbehaving peers in both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from dagora.base.errors import DagoraError, ProtocolError
from dagora.parties.transport.ledger import Ledger

Payload = bytes | bytearray | memoryview

MAX_TAG = 200  # bytes: bounds what is read of a peer before it is checked
MAX_REASON = 500  # characters of a peer's text that reach a terminal

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """Limits on the messages that a party accepts from a peer, checked before memory is allocated.

    A peer whose unreceived messages exceed `backlog_bytes` or `backlog_messages` has to wait. If we wait for
    another tag of the same peer meanwhile, the run ends, since both sides would wait for ever.
    """

    message_bytes: int = 1 << 28
    backlog_bytes: int = 1 << 29
    backlog_messages: int = 100_000
    tags: int = 1 << 17


class Transport(Protocol):
    """One party's connection to its peers."""

    @property
    def name(self) -> str:
        """This party."""

    @property
    def peers(self) -> Sequence[str]:
        """The parties that messages can be sent to, sorted, whether or not they are still connected."""

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """The fingerprints of the peers' certificates, where they have shown one."""

    @property
    def ledger(self) -> Ledger:
        """The traffic so far."""

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Send a message; returns when it is on its way, raises `ProtocolError` if it cannot be sent."""

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag.

        Without a timeout, the transport's own applies; `math.inf` waits for ever. Raises `PartyTimeoutError`
        if nothing came in time, `ProtocolError` if nothing can come any more.
        """

    def close(self, reason: str | None = None) -> None:
        """Leave, with a reason if this party cannot continue. Later calls do nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None: ...


def check_name(name: str) -> str:
    """Return the name of a party, or refuse it: it is used in certificates, file names and messages.

    >>> check_name("clinic-3")
    'clinic-3'
    >>> check_name("../secret")
    Traceback (most recent call last):
    dagora.ProtocolError: '../secret' cannot name a party: use up to 64 letters, digits, '.', '_', '-'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ProtocolError(
            f"{one_line(str(name))!r} cannot name a party: use up to 64 letters, digits, '.', '_', '-'"
        )
    return name


def check_port(port: int) -> int:
    """Return a port, or refuse it; 0 lets the system choose."""
    if not 0 <= port < 1 << 16:
        raise ProtocolError(f"{port} is not a port: use 0 (any that is free) to 65535")
    return port


def encode_tag(tag: str) -> bytes:
    """Return the bytes of a tag, or refuse it."""
    encoded = tag.encode(errors="replace")
    if not (0 < len(encoded) <= MAX_TAG and tag.isprintable()):
        raise ProtocolError(f"'{one_line(tag)[:40]}' is not a tag: use 1 to {MAX_TAG} printable characters")
    return encoded


def one_line(text: str) -> str:
    r"""Make a short printable line of a text from a peer.

    >>> one_line("gone\n\x1b[31m mad")
    'gone [31m mad'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_REASON]


def reason_to_tell(error: BaseException | None) -> str | None:
    """The message about an error that peers are sent; a data error's may quote data and is withheld."""
    if error is None:
        return None
    if isinstance(error, ProtocolError):
        return error.message
    if isinstance(error, DagoraError):
        return "its own data or options were refused; see its own output"
    return "it was interrupted" if isinstance(error, KeyboardInterrupt) else "it failed; see its own output"


def left_message(party: str) -> str:
    """The message for receivers that expect more from a party that has ended well."""
    return f"party '{party}' has left the run"


def abort_message(party: str, reason: str) -> str:
    """The message for receivers when a party could not continue."""
    return f"party '{party}' ended the run: {one_line(reason)}"


def lost_message(party: str, detail: str = "") -> str:
    """The message for receivers when a party disappeared without giving a reason."""
    return f"the connection to party '{party}' was lost{detail}"


def silence_message(party: str, tag: str, timeout: float) -> str:
    """The message for receivers when a party sent nothing within the time limit."""
    return f"party '{party}' sent no '{tag}' within {in_seconds(timeout)}"


def in_seconds(timeout: float) -> str:
    """Write a time limit for a message."""
    return "any time" if math.isinf(timeout) else f"{timeout:.3g} s"
