"""Messages that have arrived at one party and wait for its `receive`, per sender and tag.

Both transports deliver here, so both keep the same contract: messages are numbered per sender and tag, a
sender with too many unreceived messages has to wait, and the first fault of a sender is kept.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from dagora.base.errors import PartyTimeoutError, ProtocolError
from dagora.parties.transport.transport import MessageLimits, in_seconds, silence_message

# Waiting in slices lets Ctrl-C interrupt an endless wait on every system.
SLICE = 60.0


class InboxClosedError(Exception):
    """This party has left; what arrives now is discarded."""


@dataclass
class _Line:
    """The messages of one sender that wait to be received."""

    queues: dict[str, deque[bytes]] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)
    wanted: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    messages: int = 0
    blocked: int = 0
    fault: str = ""
    at_once: bool = False

    def is_full(self, size: int, limits: MessageLimits) -> bool:
        crowded = self.messages >= limits.backlog_messages or self.bytes + size > limits.backlog_bytes
        return crowded and self.messages > 0

    def starved_tag(self, arriving: str) -> str | None:
        """A tag that a receiver waits for while messages with other tags fill the inbox."""
        missing = (tag for tag, waiters in self.wanted.items() if waiters and tag not in self.queues)
        return next(missing, None) if not self.wanted[arriving] else None


class Inbox:
    """The messages that arrived at `owner`."""

    def __init__(self, owner: str, senders: Iterable[str], limits: MessageLimits) -> None:
        self._owner = owner
        self._limits = limits
        self._lines = {sender: _Line() for sender in senders}
        self._changed = threading.Condition()
        self._closed = False

    def put(self, sender: str, tag: str, sequence: int, payload: bytes, timeout: float | None = None) -> None:
        """Deliver a message; waits while too many of the sender's messages are unreceived.

        Raises `ProtocolError` if the message breaks the rules (the fault is kept), `PartyTimeoutError` if the
        owner did not make room in time, `InboxClosedError` if the owner has left.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            line = self._lines[sender]
            self._check_sequence(sender, line, tag, sequence)
            line.blocked += 1
            try:
                while line.is_full(len(payload), self._limits) and not self._closed:
                    missing = line.starved_tag(tag)
                    if missing is not None:
                        raise self._fault(
                            sender, f"filled the line with '{tag}' while '{missing}' is awaited", at_once=True
                        )
                    left = SLICE if deadline is None else deadline - time.monotonic()
                    if left <= 0.0:
                        raise PartyTimeoutError(
                            f"party '{self._owner}' did not accept '{tag}' "
                            f"within {in_seconds(timeout or 0.0)}",
                            party=self._owner,
                        )
                    self._changed.wait(min(left, SLICE))
            finally:
                line.blocked -= 1
            if self._closed:
                raise InboxClosedError
            line.expected[tag] = sequence + 1
            line.queues.setdefault(tag, deque()).append(payload)
            line.bytes += len(payload)
            line.messages += 1
            self._changed.notify_all()

    def _check_sequence(self, sender: str, line: _Line, tag: str, sequence: int) -> None:
        expected = line.expected.get(tag, 0)
        if sequence < expected:
            raise self._fault(sender, f"repeated message {sequence} of '{tag}'", at_once=True)
        if sequence > expected:
            raise self._fault(sender, f"skipped message {expected} of '{tag}'", at_once=True)
        if expected == 0 and len(line.expected) >= self._limits.tags:
            raise self._fault(sender, f"used more than {self._limits.tags} tags", at_once=True)

    def get(self, sender: str, tag: str, timeout: float) -> bytes:
        """Take the next message of a sender under a tag."""
        deadline = time.monotonic() + timeout
        with self._changed:
            line = self._line(sender)
            line.wanted[tag] += 1
            try:
                while True:
                    self._check(sender, line, waiting=tag in line.queues)
                    if tag in line.queues:
                        return self._take(line, tag)
                    left = deadline - time.monotonic()
                    if left <= 0.0:
                        raise PartyTimeoutError(self._silence(sender, line, tag, timeout), party=sender)
                    if line.blocked:
                        # Wake the sender that fills the inbox: it must see that another tag is awaited.
                        self._changed.notify_all()
                    self._changed.wait(min(left, SLICE))
            finally:
                line.wanted[tag] -= 1
                if not line.wanted[tag]:
                    del line.wanted[tag]

    def _take(self, line: _Line, tag: str) -> bytes:
        queue = line.queues[tag]
        payload = queue.popleft()
        if not queue:
            del line.queues[tag]
        line.bytes -= len(payload)
        line.messages -= 1
        if line.blocked:
            self._changed.notify_all()
        return payload

    @staticmethod
    def _silence(sender: str, line: _Line, tag: str, timeout: float) -> str:
        other = f" (it sent '{next(iter(line.queues))}' instead)" if line.queues else ""
        return silence_message(sender, tag, timeout) + other

    def check(self, sender: str) -> None:
        """Raise the fault of a party, or refuse an unknown name."""
        with self._changed:
            self._check(sender, self._line(sender), waiting=False)

    def _line(self, sender: str) -> _Line:
        if sender not in self._lines:
            known = ", ".join(f"'{name}'" for name in sorted(self._lines)) or "nobody"
            raise ProtocolError(f"party '{self._owner}' has no line to '{sender}', only to {known}")
        return self._lines[sender]

    def _check(self, sender: str, line: _Line, *, waiting: bool) -> None:
        if self._closed:
            raise ProtocolError(f"party '{self._owner}' has closed its lines")
        if line.fault and (line.at_once or not waiting):
            raise ProtocolError(line.fault, party=sender)

    def fail(self, sender: str, fault: str, *, at_once: bool) -> None:
        """Note why nothing more comes from a sender; only the first fault is kept.

        With `at_once` its unreceived messages are discarded, otherwise they can still be received.
        """
        with self._changed:
            self._note(sender, fault, at_once=at_once)

    def _fault(self, sender: str, what: str, *, at_once: bool) -> ProtocolError:
        return ProtocolError(self._note(sender, f"party '{sender}' {what}", at_once=at_once), party=sender)

    def _note(self, sender: str, fault: str, *, at_once: bool) -> str:
        line = self._lines[sender]
        if not line.fault:
            line.fault, line.at_once = fault, at_once
            if at_once:
                line.queues.clear()
                line.bytes = line.messages = 0
            self._changed.notify_all()
        return line.fault

    def close(self) -> None:
        """Discard all messages and wake every waiting thread."""
        with self._changed:
            self._closed = True
            for line in self._lines.values():
                line.queues.clear()
                line.bytes = line.messages = 0
            self._changed.notify_all()
