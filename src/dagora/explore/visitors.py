"""Connections to the page that have not shown the token: they give way, so that they keep nobody out.

`dagora.base.crowds` has the rule. Whoever has shown the token, in the address or in a header, is in, and may
stay. Everybody else has seconds to ask, gets one answer, and is let go; where there are many of them, new
ones push out those that wait.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from dagora.base.crowds import FIRST_BYTE_SECONDS, HELLO_SECONDS, StageRoom, surplus
from dagora.explore.doorkeeper import VISITOR

SILENT, TALKING = StageRoom(64, 0.25), StageRoom(32, 0.25)  # together far below 256 open files


class WaitingRoom:
    """The connections that have not shown the token."""

    def __init__(self) -> None:
        self.silent: set[Visitor] = set()
        self.talking: set[Visitor] = set()

    def enter(self, visitor: Visitor) -> None:
        """Let a connection wait; others may have to give way."""
        there, room = (self.silent, SILENT) if visitor.silent else (self.talking, TALKING)
        there.add(visitor)
        for one in surplus(there, room):
            one.hang_up()

    def leave(self, visitor: Visitor) -> None:
        """Forget a connection."""
        self.silent.discard(visitor)
        self.talking.discard(visitor)


class Visitor(H11Protocol):  # type: ignore[misc]
    """One connection."""

    host = ""  # all come from this machine

    def __init__(self, *, room: WaitingRoom, app_state: dict[str, Any], **given: Any) -> None:  # noqa: ANN401
        super().__init__(app_state={**app_state, VISITOR: self}, **given)
        self._room = room
        self._timers: list[asyncio.TimerHandle] = []
        self._came = self.since = time.monotonic()  # the clock of the loop, too
        self.silent = True

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for its first byte."""
        super().connection_made(transport)
        self._wait(FIRST_BYTE_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Begin to wait for the rest of its request."""
        if self.silent:
            self.silent = False
            self._wait(HELLO_SECONDS)
        super().data_received(data)

    def _wait(self, seconds: float) -> None:
        self.end_wait()
        self.since = time.monotonic()
        # A timer runs after what can be read or answered at once: nobody gives way whose request is here.
        self._timers = [
            self.loop.call_later(0.0, self._room.enter, self),
            self.loop.call_at(self._came + seconds, self.hang_up),
        ]

    def end_wait(self) -> None:
        """Let it stay, or forget it."""
        self._room.leave(self)
        for timer in self._timers:
            timer.cancel()

    def hang_up(self) -> None:
        """Close the connection at once."""
        self.end_wait()
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.end_wait()
        super().connection_lost(exc)
