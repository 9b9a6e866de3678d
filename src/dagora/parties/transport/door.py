"""The handshakes of a listener, all in one loop, so that callers who never finish keep nobody out.

A caller has no thread. It has two seconds for its first byte and five for everything up to its hello. Each
stage of the handshake has a number of places, and only callers of the same stage compete for them: a caller
that has sent something never loses its place to silent ones, and one whose TLS hello was answered never to
those with half a hello. If a stage is full, a caller of the address with most callers is dropped: the oldest
that had the stage's time, or if none had, one at random, so that no flood is certain to keep a slow site out.
A caller with a certificate of our CA is not dropped, but a second connection under the same name replaces it.
"""

from __future__ import annotations

import secrets
import selectors
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import NamedTuple

from dagora.base.errors import ProtocolError
from dagora.parties.transport.caller import Caller, CallerStage
from dagora.parties.transport.certificates import Credentials, server_context
from dagora.parties.transport.connection import Connection
from dagora.parties.transport.transport import MessageLimits, in_seconds, one_line

FIRST_BYTE_SECONDS = 2.0  # larger: silent callers hold places longer; smaller: slow sites are lost
HELLO_SECONDS = 5.0  # the same, for a TLS handshake over a slow line
LEAVING_SECONDS = 0.5  # for a refusal to be read by the peer
ACCEPTED_AT_ONCE = 16  # so that a crowd of new callers does not delay the others
FAIR_SHARE = 16  # callers of one address that are no flood: sites behind a router, or of one machine


class StageRoom(NamedTuple):
    """The most callers of a stage, and the seconds that each should have there."""

    places: int
    seconds: float


# A site sends its whole TLS hello as soon as it is connected, and its certificate a round trip later.
ROOMS = {
    CallerStage.LEAVING: StageRoom(64, 0.25),
    CallerStage.SILENT: StageRoom(192, 0.25),
    CallerStage.TALKING: StageRoom(64, 0.25),
    CallerStage.GREETED: StageRoom(448, 1.0),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused caller; `idle` if it did nothing wrong but wait."""

    where: str
    why: str
    idle: bool = False


class ListenerDoor:
    """The callers of a listening socket whose handshakes are not finished."""

    def __init__(self, listening: socket.socket, credentials: Credentials, limits: MessageLimits) -> None:
        self._listening = listening
        self._own = credentials.certificate
        self._context = server_context(credentials)
        self._limits = limits
        self._callers: dict[int, Caller] = {}
        self._news: list[Connection | Refusal] = []
        self._selector = selectors.DefaultSelector()
        self._accepting = False

    @property
    def n_unfinished(self) -> int:
        """The number of callers that are neither connected nor gone."""
        return len(self._callers)

    def look(self, seconds: float) -> list[Connection | Refusal]:
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
            except OSError:
                return
            try:
                caller = Caller.accept(raw, address[:2], self._context, self._own)
            except ProtocolError as error:
                self._news.append(Refusal(f"{address[0]}:{address[1]}", str(error)))
                continue
            self._follow(caller)
            self._advance(caller)

    def _thin_out(self, stage: CallerStage, room: StageRoom) -> None:
        there = [caller for caller in self._callers.values() if caller.stage is stage]
        while len(there) > room.places:
            weakest = _weakest(_crowd(there), room.seconds)
            there.remove(weakest)
            self._give_up(weakest, "it did not finish, and others wait")

    def _advance(self, caller: Caller) -> None:
        """Let a caller do its next step; whatever goes wrong in it ends this caller alone."""
        try:
            self._step(caller)
        except Exception as error:
            self._news.append(Refusal(caller.where, one_line(repr(error))))
            self._forget(caller).close()

    def _step(self, caller: Caller) -> None:
        before = caller.stage, caller.events
        try:
            connection = caller.advance(self._limits)
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

    def _make_way_for(self, caller: Caller) -> None:
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

    def _give_up(self, caller: Caller, why: str) -> None:
        if caller.stage is not CallerStage.LEAVING:
            self._news.append(Refusal(caller.where, why, idle=True))
        self._forget(caller).close()

    def _follow(self, caller: Caller) -> None:
        self._callers[caller.descriptor] = caller
        self._selector.register(caller.descriptor, caller.events)

    def _forget(self, caller: Caller) -> Caller:
        if self._callers.pop(caller.descriptor, None) is not None:
            self._selector.unregister(caller.descriptor)
        return caller

    def _see_off(self, caller: Caller) -> None:
        caller.leave()
        self._selector.modify(caller.descriptor, caller.events)

    def turn_away(self, connection: Connection, reason: str) -> None:
        """Send a connected party the reason why it is refused, and close its connection."""
        connection.end(reason)
        if connection.tls.fileno() < 0:
            return
        caller = Caller(connection.tls, ("", 0))
        caller.leave()
        self._follow(caller)

    def close(self) -> None:
        """Close all connections; callers that were sent a reason get half a second to read it."""
        self._listen(on=False)
        for caller in list(self._callers.values()):
            if caller.stage is not CallerStage.LEAVING:
                self._forget(caller).close()
        threading.Thread(target=self._see_out, daemon=True).start()

    def _see_out(self) -> None:
        while self._callers:
            self._serve(LEAVING_SECONDS / 5)
        self._selector.close()


def _crowd(callers: list[Caller]) -> list[Caller]:
    """The callers of the address with most of them, if these are more than its share; otherwise all."""
    host, most = max(Counter(caller.host for caller in callers).items(), key=itemgetter(1))
    return [caller for caller in callers if caller.host == host] if most > FAIR_SHARE else callers


def _weakest(callers: list[Caller], seconds: float) -> Caller:
    """The oldest that had so many seconds; if none had, one at random."""
    oldest = min(callers, key=attrgetter("since"))
    return oldest if time.monotonic() - oldest.since >= seconds else secrets.choice(callers)
