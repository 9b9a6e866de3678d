"""The handshakes of a listener, all in one loop, so that callers who never finish keep nobody out.

A caller has no thread. `dagora.base.crowds` has the rule by which callers give way: here a caller that has
sent something never loses its place to silent ones, and one whose TLS hello was answered never to those with
half a hello. A caller with a certificate of our CA is not dropped, but a second connection under the same
name replaces it. What a caller must say is its own business (`Caller`): Flower daemons have this door, too.
"""

from __future__ import annotations

import errno
import selectors
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from dagora.base.crowds import FIRST_BYTE_SECONDS, HELLO_SECONDS, StageRoom, surplus, weakest
from dagora.base.errors import ProtocolError
from dagora.parties.transport.caller import Caller, CallerStage, name_of
from dagora.parties.transport.transport import in_seconds, one_line

LEAVING_SECONDS = 0.5  # for a refusal to be read by the peer
ACCEPTED_AT_ONCE = 16  # so that a crowd of new callers does not delay the others

# A site sends its whole TLS hello as soon as it is connected, and its certificate a round trip later.
ROOMS = {
    CallerStage.LEAVING: StageRoom(64, 0.25),
    CallerStage.SILENT: StageRoom(192, 0.25),
    CallerStage.TALKING: StageRoom(64, 0.25),
    CallerStage.GREETED: StageRoom(448, 1.0),
}

CROWDED = "it did not finish, and others wait"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused caller; `idle` if it did nothing wrong but wait."""

    where: str
    why: str
    idle: bool = False


class ListenerDoor(Generic[T]):
    """The callers of a listening socket that are not in yet.

    `greet` makes a caller of a socket and its address, or raises `ProtocolError` and closes the socket.
    """

    def __init__(
        self, listening: socket.socket, greet: Callable[[socket.socket, tuple[str, int]], Caller[T]]
    ) -> None:
        self._listening = listening
        self._greet = greet
        self._callers: dict[int, Caller[T]] = {}
        self._news: list[T | Refusal] = []
        self._selector = selectors.DefaultSelector()
        self._accepting = False

    def look(self, seconds: float) -> list[T | Refusal]:
        """Wait until something happens, not longer than `seconds`; return connections and refusals."""
        self._listen(on=True)
        self._serve(seconds)
        news, self._news = self._news, []
        return news

    def _serve(self, seconds: float) -> None:
        ready = {key.fd for key, _ in self._selector.select(seconds)}
        for fd in ready:
            # A caller that was ready may have been dropped since, for another of its name.
            if fd in self._callers:
                self._advance(self._callers[fd])
        # Last, so that nobody is dropped whose answer is here already.
        if self._accepting and self._listening.fileno() in ready:
            self._accept()
        self._end_the_late()
        for stage, room in ROOMS.items():
            self._thin_out(stage, room)

    def _listen(self, *, on: bool) -> None:
        if on and not self._accepting:
            self._selector.register(self._listening, selectors.EVENT_READ)
        elif self._accepting and not on:
            self._selector.unregister(self._listening)
        self._accepting = on

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                raw, address = self._listening.accept()
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE):
                    self._free_a_file()
                return
            where = (str(address[0]), int(address[1])) if isinstance(address, tuple) else ("", 0)
            try:
                caller = self._greet(raw, where)
            except ProtocolError as error:
                self._news.append(Refusal(name_of(where), str(error)))
                continue
            self._follow(caller)
            self._advance(caller)

    def _free_a_file(self) -> None:
        """Drop a caller that is least far: this process may open no more files, and others wait."""
        for stage in ROOMS:
            if there := self._at(stage):
                self._give_up(weakest(there, 0.0), CROWDED)
                return
        time.sleep(LEAVING_SECONDS / 10)  # the files are open elsewhere: no need to look at once

    def _thin_out(self, stage: CallerStage, room: StageRoom) -> None:
        for caller in surplus(self._at(stage), room):
            self._give_up(caller, CROWDED)

    def _at(self, stage: CallerStage) -> list[Caller[T]]:
        return [caller for caller in self._callers.values() if caller.stage is stage]

    def _advance(self, caller: Caller[T]) -> None:
        """Let a caller do its next step; whatever goes wrong in it ends this caller alone."""
        try:
            self._step(caller)
        except Exception as error:
            self._news.append(Refusal(caller.where, one_line(repr(error))))
            self._forget(caller).close()

    def _step(self, caller: Caller[T]) -> None:
        before = caller.stage, caller.events
        try:
            connection = caller.advance()
        except ProtocolError as error:
            if before[0] is CallerStage.LEAVING:
                self._forget(caller).close()
            else:
                self._news.append(Refusal(caller.where, str(error)))
                self._see_off(caller)
            return
        if connection is not None:
            self._forget(caller)
            self._news.append(connection)
            return
        if caller.stage is CallerStage.PROVED and before[0] is not CallerStage.PROVED:
            self._make_way_for(caller)
        if caller.events != before[1]:
            self._selector.modify(caller.descriptor, caller.events)

    def _make_way_for(self, caller: Caller[T]) -> None:
        for other in list(self._callers.values()):
            if other is not caller and other.stage is CallerStage.PROVED and other.name == caller.name:
                self._give_up(other, f"party '{other.name}' came again before it had finished")

    def _end_the_late(self) -> None:
        now = time.monotonic()
        for caller in list(self._callers.values()):
            if caller.stage is CallerStage.LEAVING:
                if now - caller.since > LEAVING_SECONDS:
                    self._forget(caller).close()
                continue
            most = FIRST_BYTE_SECONDS if caller.stage is CallerStage.SILENT else HELLO_SECONDS
            if now - caller.came > most:
                what = "said nothing" if caller.stage is CallerStage.SILENT else "did not finish its greeting"
                self._give_up(caller, f"it {what} within {in_seconds(most)}")

    def _give_up(self, caller: Caller[T], why: str) -> None:
        if caller.stage is not CallerStage.LEAVING:
            self._news.append(Refusal(caller.where, why, idle=True))
        self._forget(caller).close()

    def _follow(self, caller: Caller[T]) -> None:
        self._callers[caller.descriptor] = caller
        self._selector.register(caller.descriptor, caller.events)

    def _forget(self, caller: Caller[T]) -> Caller[T]:
        if self._callers.pop(caller.descriptor, None) is not None:
            self._selector.unregister(caller.descriptor)
        return caller

    def _see_off(self, caller: Caller[T]) -> None:
        caller.leave()
        self._selector.modify(caller.descriptor, caller.events)

    def see_out(self, caller: Caller[T]) -> None:
        """Close a connection that was sent a reason to leave, once the peer has read it."""
        caller.leave()
        self._follow(caller)

    def close(self) -> None:
        """Close all connections; callers that were sent a reason get half a second to read it."""
        self._listen(on=False)
        for caller in list(self._callers.values()):
            if caller.stage is not CallerStage.LEAVING:
                self._forget(caller).close()
        threading.Thread(target=self._see_all_out, daemon=True).start()

    def _see_all_out(self) -> None:
        while self._callers:
            self._serve(LEAVING_SECONDS / 5)
        self._selector.close()
