"""The site's end of a run through Flower: a daemon on a local socket, with the rows, the keys and the log.

A visit of the SuperNode's app brings a batch and waits until the site has answered all it can, that is, until
the site itself waits for the next message or has ended. Nothing runs on a timer: a site that nobody visits
waits, at most `idle` seconds.

One run at a time. A new hello ends a run that is still open, since its coordinator may be gone for good.
"""

from __future__ import annotations

import contextlib
import math
import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Self

from dagora.base.errors import OptionError, PartyTimeoutError, ProtocolError
from dagora.parties.horizontal.flower.daemon_caller import DaemonCaller
from dagora.parties.horizontal.flower.local_socket import HANDSHAKE_SECONDS, DaemonAddress, DaemonConnection
from dagora.parties.horizontal.flower.relay import (
    Envelope,
    Hello,
    RelayBatch,
    Welcome,
    decode_request,
    encode_batch,
    encode_welcome,
)
from dagora.parties.horizontal.session.replies import refusal
from dagora.parties.transport.door import ListenerDoor, Refusal
from dagora.parties.transport.inbox import SLICE, Inbox, InboxClosedError
from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.listener import BACKLOG, RefusalLog
from dagora.parties.transport.transport import (
    MessageLimits,
    Payload,
    abort_message,
    check_name,
    encode_tag,
    in_seconds,
    left_message,
    lost_message,
    one_line,
    reason_to_tell,
)
from dagora.parties.transport.wire_format import wire_size

LINGER = 5.0  # seconds for the last answer to be fetched
VISITS_AT_ONCE = 16  # threads, at most, of visitors that know the token: further ones are hung up on
LOOK_SECONDS = 0.1  # how late a closed daemon notices


class DaemonTransport:
    """A site's connection to the coordinator of one run; the site itself is one thread."""

    def __init__(
        self,
        name: str,
        run: bytes,
        *,
        coordinator: str = "coordinator",
        limits: MessageLimits | None = None,
        timeout: float = 60.0,
        idle: float = math.inf,
    ) -> None:
        self.name = check_name(name)
        self.peers = (coordinator,)
        self.fingerprints: Mapping[str, str] = {}  # Flower has certificates of its own
        self.ledger = Ledger(name)
        self.run = run
        self._coordinator = coordinator
        self._limits = limits or MessageLimits()
        self._timeout = timeout
        self._idle = idle
        self._inbox = Inbox(name, self.peers, self._limits)
        self._outbox: list[Envelope] = []
        self._sequences: dict[str, int] = {}
        self._visiting = threading.Lock()
        self._number = 0
        self._changed = threading.Condition()
        self._news = 0  # grows with whatever may end a wait of the site
        self._waiting = False  # True while the site waits for a message that is not there
        self._ending: str | None = None  # the reason for which the site has closed, "" for none
        self._delivered = False  # True once the visitor has the site's last answer

    @property
    def is_over(self) -> bool:
        """Return True if the site has left this run."""
        return self._ending is not None

    # --- the site's side

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Keep a message for the answer to the present visit."""
        encoded = encode_tag(tag)
        self._inbox.check(to)
        content = bytes(payload)
        with self._changed:
            size = len(content) + sum(len(message.payload) + len(message.tag) for message in self._outbox)
            if size > self._limits.message_bytes:
                raise ProtocolError(
                    f"message '{tag}' of {len(content)} bytes passes the limit "
                    f"of {self._limits.message_bytes}"
                )
            sequence = self._sequences.get(tag, 0)
            self._sequences[tag] = sequence + 1
            self._outbox.append(Envelope(tag, sequence, content))
        self.ledger.count_sent(to, tag, payload=len(content), wire=wire_size(encoded, len(content)))

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the coordinator's next message under this tag."""
        encoded = encode_tag(tag)
        limit = self._timeout if timeout is None else timeout
        started = time.monotonic()
        while True:
            news = self._news
            try:
                payload = self._inbox.get(sender, tag, 0.0)
                break
            except PartyTimeoutError:
                waited = time.monotonic() - started
            if waited >= limit:
                raise PartyTimeoutError(
                    f"party '{sender}' sent no '{tag}' within {in_seconds(limit)}", party=sender
                )
            if waited >= self._idle:
                self.break_off(f": no message through Flower within {in_seconds(self._idle)}")
                continue
            self._wait_for_news(news, min(limit, self._idle) - waited)
        self.ledger.count_received(sender, tag, payload=len(payload), wire=wire_size(encoded, len(payload)))
        return payload

    def _wait_for_news(self, known: int, seconds: float) -> None:
        with self._changed:
            # What came between the look into the inbox and here is seen in the next round.
            if self._news == known:
                self._waiting = True
                self._changed.notify_all()
                self._changed.wait(min(seconds, SLICE))

    def close(self, reason: str | None = None) -> None:
        """Leave; a visit that waits takes the last messages with it."""
        with self._changed:
            if self.is_over:
                return
            self._ending = one_line(reason or "")
            self._inbox.close()
            self._changed.notify_all()
            # Without a visit nobody can take the answer; the next visit gets it as long as the daemon lives.
            if self._visiting.locked():
                self._changed.wait_for(lambda: self._delivered, LINGER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))

    # --- the visitor's side

    def answer_batch(self, batch: RelayBatch) -> RelayBatch:
        """Take in a batch and return what the site answers."""
        if not self._visiting.acquire(blocking=False):
            raise ProtocolError("the run is being answered already")
        try:
            if batch.number != self._number:
                raise ProtocolError(f"batch {self._number} is expected, not {batch.number}")
            self._number += 1
            self._take_in(batch)
            with self._changed:
                self._waiting = False
                self._news += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self.is_over, batch.seconds)
                messages, self._outbox = tuple(self._outbox), []
                busy = not self._waiting and not self.is_over
                return RelayBatch(
                    self.run, batch.number, messages, busy=busy, ended=self.is_over, reason=self._ending or ""
                )
        finally:
            self._visiting.release()

    def _take_in(self, batch: RelayBatch) -> None:
        with contextlib.suppress(InboxClosedError, ProtocolError):
            # A message that breaks the rules is noted in the inbox, and ends the run at the site.
            for message in batch.messages:
                self._inbox.put(
                    self._coordinator, message.tag, message.sequence, message.payload, timeout=0.0
                )
        if batch.ended:
            fault = (
                abort_message(self._coordinator, batch.reason)
                if batch.reason
                else left_message(self._coordinator)
            )
            self._inbox.fail(self._coordinator, fault, at_once=bool(batch.reason))

    def confirm_delivery(self) -> None:
        """Note that the visitor has the last answer."""
        with self._changed:
            self._delivered = self.is_over
            self._changed.notify_all()

    def break_off(self, detail: str) -> None:
        """End the run at the site: the coordinator cannot be reached any more."""
        self._inbox.fail(self._coordinator, lost_message(self._coordinator, detail), at_once=True)
        with self._changed:
            self._news += 1
            self._changed.notify_all()


class Daemon:
    """A listener on a local socket; `next_run` returns the transport of each run that begins."""

    def __init__(
        self,
        name: str,
        place: DaemonAddress,
        token: bytes,
        *,
        idle: float = math.inf,
        limits: MessageLimits | None = None,
        on_refusal: Callable[[str], None] | None = None,
    ) -> None:
        self.name = check_name(name)
        self._idle = idle
        self._limits = limits or MessageLimits()
        self._refusals = RefusalLog(on_refusal)
        self._begun: queue.SimpleQueue[DaemonTransport] = queue.SimpleQueue()
        self._current: DaemonTransport | None = None
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._places = threading.Semaphore(VISITS_AT_ONCE)
        self._closed = False
        self._socket = _listen(place)
        self._door = ListenerDoor(self._socket, partial(DaemonCaller.accept, token=token))
        self.place = place if place.path else DaemonAddress(port=self._socket.getsockname()[1])
        self._watching = threading.Thread(target=self._watch_door, name="daemon", daemon=True)
        self._watching.start()

    def next_run(self, wait: float = math.inf) -> DaemonTransport:
        """Wait until a coordinator begins a run with this site."""
        deadline = time.monotonic() + wait
        while True:
            remaining = deadline - time.monotonic()
            try:
                # In slices, so that Ctrl-C ends the wait on every system.
                return self._begun.get(timeout=max(0.0, min(remaining, SLICE)))
            except queue.Empty:
                if remaining <= 0.0:
                    raise ProtocolError(f"nobody began a run within {in_seconds(wait)}") from None

    def _watch_door(self) -> None:
        while not self._closed:
            for news in self._door.look(LOOK_SECONDS):
                if isinstance(news, Refusal):
                    self._refuse("a visitor", news.why, where=news.where, idle=news.idle)
                elif self._places.acquire(blocking=False):
                    threading.Thread(target=self._receive_visit, args=(news,), daemon=True).start()
                else:
                    news.socket.close()
                    self._refuse("a visitor", f"{VISITS_AT_ONCE} others are being answered")
        self._door.close()

    def _receive_visit(self, line: DaemonConnection) -> None:
        try:
            with line.socket:
                line.allow(HANDSHAKE_SECONDS)
                self._answer(line, decode_request(line.receive(), "coordinator", self._limits))
        except ProtocolError as error:
            self._refuse("a visit", str(error))
        except (OSError, EOFError):
            self._refuse("a visit", "it left before it had said what it wants")
        finally:
            self._places.release()

    def _answer(self, line: DaemonConnection, request: Hello | RelayBatch) -> None:
        transport = self._current
        try:
            if isinstance(request, Hello):
                answer, transport = encode_welcome(self._greet(request)), None
            elif transport is None or transport.run != request.run:
                raise ProtocolError("it takes part in another run, or in none")
            else:
                answer = encode_batch(transport.answer_batch(request))
        except ProtocolError as error:
            self._refuse("a visit", str(error))
            answer, transport = refusal(str(error)), None
        try:
            line.allow(HANDSHAKE_SECONDS)
            line.send(answer)
        except OSError:
            if transport is not None:
                transport.break_off(": its SuperNode left before it had the answer")
            return
        if transport is not None:
            transport.confirm_delivery()

    def _greet(self, hello: Hello) -> Welcome:
        if self.name not in hello.sites:
            return Welcome(self.name, joins=False)
        with self._lock:
            before = self._current
            if before is not None and before.run == hello.run:
                raise ProtocolError("this run has begun already")
            if before is not None and not before.is_over:
                before.break_off(": another run began")
            self._current = DaemonTransport(self.name, hello.run, limits=self._limits, idle=self._idle)
            with contextlib.suppress(queue.Empty):
                self._begun.get_nowait()  # the one before, which the site had not come to
            self._begun.put(self._current)
        return Welcome(self.name, joins=True)

    def _refuse(self, who: str, why: str, *, where: str = "", idle: bool = False) -> None:
        with self._telling:
            self._refusals.add(who, where, why, idle=idle)

    def close(self) -> None:
        """Stop listening, and remove the socket file."""
        self._closed = True
        self._watching.join(HANDSHAKE_SECONDS)
        self._socket.close()
        with self._telling:
            self._refusals.report()
        if self.place.path:
            Path(self.place.path).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _listen(place: DaemonAddress) -> socket.socket:
    listening = socket.socket(place.family, socket.SOCK_STREAM)
    try:
        if place.path:
            _remove_stale_socket(place)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place.address)
        if place.path:
            # Nobody can call before `listen`, so there is no moment in which others could.
            Path(place.path).chmod(0o600)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        reason = (error.strerror or str(error)).lower()
        raise OptionError(f"cannot serve at {place}: {reason}; choose another place") from None
    except BaseException:
        listening.close()
        raise
    return listening


def _remove_stale_socket(place: DaemonAddress) -> None:
    """Remove the socket file of a daemon that was killed."""
    if not Path(place.path).is_socket():
        return
    with socket.socket(place.family, socket.SOCK_STREAM) as caller:
        caller.settimeout(HANDSHAKE_SECONDS)
        try:
            caller.connect(place.address)
        except ConnectionRefusedError:
            Path(place.path).unlink(missing_ok=True)
        else:
            raise OptionError(f"cannot serve at {place}: another daemon does; choose another place")
