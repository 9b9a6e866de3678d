"""One TLS connection between two parties: frames out, and a thread that reads frames into the inbox.

OpenSSL's connection object must not be used by two threads at once, and a blocking read would hold a lock
that a write needs. So the socket does not block: each TLS call is short and under a lock, and the wait for
the network happens outside it with `poll`. Only the reading thread closes the descriptor, so no other thread
can use one that the system has since given to another file.

A goodbye or an abort frame is the last frame in its direction. A stream that ends without one counts as a
lost connection, so a stream that was cut short is always noticed. A party that ends sends its last frame,
closes its sending side, and reads on until the peer has closed too: closing with unread data would destroy
the last frames on their way.
"""

from __future__ import annotations

import contextlib
import io
import select
import socket
import ssl
import threading
import time

from dagora.base.errors import ProtocolError
from dagora.parties.transport.handshake import peer_fingerprint
from dagora.parties.transport.inbox import Inbox, InboxClosedError
from dagora.parties.transport.transport import (
    MessageLimits,
    abort_message,
    in_seconds,
    left_message,
    lost_message,
    one_line,
)
from dagora.parties.transport.wire_format import (
    HEADER,
    FrameHeader,
    FrameKind,
    pack,
    parse,
    parse_tag,
    wire_size,
)

CHUNK = 1 << 16  # frames up to this size go out in one call
LINGER = 1.0  # seconds to wait for the peer's end
MIDDLE = " in the middle of a message"
SLICE = 0.1  # seconds between checks whether the reading thread has closed the connection


class LostError(Exception):
    """The stream ended or broke; the text says where."""


class Connection:
    """A peer on the other end of a TLS socket whose handshake is done."""

    def __init__(self, tls: ssl.SSLSocket, peer: str, limits: MessageLimits) -> None:
        self.peer = peer
        self.tls = tls
        self.fingerprint = peer_fingerprint(tls)
        self._limits = limits
        self._openssl = threading.Lock()
        self._sending = threading.Lock()
        self._sequences: dict[bytes, int] = {}
        self._reader: threading.Thread | None = None
        self._over = False
        self._gone = False
        tls.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        tls.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # A peer whose machine is gone says nothing: ask after 30 s, and give up after three more of 10 s.
        for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, option):
                tls.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        tls.setblocking(False)

    # --- sending

    def send(self, tag: bytes, payload: memoryview, timeout: float) -> int:
        """Send one message and return its size on the wire; raises `LostError` if that is impossible."""
        with self._sending:
            sequence = self._sequences.get(tag, 0)
            self.send_frame(FrameKind.MESSAGE, tag, sequence, payload, timeout)
            self._sequences[tag] = sequence + 1
        return wire_size(tag, len(payload))

    def send_frame(
        self, kind: FrameKind, tag: bytes, sequence: int, payload: memoryview | bytes, timeout: float
    ) -> None:
        """Write a frame; large payloads are not copied."""
        deadline = time.monotonic() + timeout
        head = pack(kind, tag, sequence, len(payload))
        if len(payload) <= CHUNK:
            self._write(memoryview(head + bytes(payload)), deadline, timeout)
        else:
            self._write(memoryview(head), deadline, timeout)
            self._write(memoryview(payload), deadline, timeout)

    def _write(self, view: memoryview, deadline: float, timeout: float) -> None:
        while view:
            events = select.POLLOUT
            with self._openssl:
                if self._over:
                    raise LostError
                try:
                    # OpenSSL demands the same bytes again after a full socket.
                    view = view[self.tls.send(view[:CHUNK]) :]
                    continue
                except ssl.SSLWantWriteError:
                    pass
                except ssl.SSLWantReadError:
                    events = select.POLLIN
                except (OSError, ValueError) as error:
                    self._over = True
                    raise LostError from error
                descriptor = self.tls.fileno()
            remaining = deadline - time.monotonic()
            if remaining <= 0.0:
                # Half a frame is sent, and nothing valid can follow it.
                self._over = True
                self.drop()
                raise LostError(f"did not accept a message within {in_seconds(timeout)}")
            _wait(descriptor, events, min(remaining, SLICE))

    # --- receiving

    def read_frame(
        self, timeout: float | None = None, limits: MessageLimits | None = None
    ) -> tuple[FrameHeader, str, bytes]:
        """Read the next frame; raises `ProtocolError` for an invalid one and `LostError` at the end."""
        deadline = None if timeout is None else time.monotonic() + timeout
        head = bytearray(HEADER.size)
        self._read(head, deadline, "")
        header = parse(head, limits or self._limits)
        tag = bytearray(header.tag_length)
        self._read(tag, deadline, MIDDLE)
        return header, parse_tag(tag), self._read_payload(header.payload_length, deadline, MIDDLE)

    def _read_payload(self, length: int, deadline: float | None, place: str) -> bytes:
        # BytesIO grows with what arrives, not with what was announced, and returns its bytes without a copy.
        content = io.BytesIO()
        scratch = memoryview(bytearray(min(length, CHUNK)))
        while (missing := length - content.tell()) > 0:
            content.write(scratch[: self._read_part(scratch[:missing], deadline, place)])
        return content.getvalue()

    def _read(self, buffer: bytearray, deadline: float | None, place: str) -> None:
        view = memoryview(buffer)
        while view:
            view = view[self._read_part(view, deadline, place) :]
            place = MIDDLE

    def _read_part(self, view: memoryview, deadline: float | None, place: str) -> int:
        """Wait for some bytes and return how many; `LostError` at the end of the stream."""
        while True:
            with self._openssl:
                try:
                    got = self.tls.recv_into(view)
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    pass
                except (OSError, ValueError) as error:
                    raise LostError(place) from error
                else:
                    if got == 0:
                        raise LostError(place)
                    return got
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0.0:
                raise TimeoutError
            _wait(self.tls.fileno(), select.POLLIN, remaining)

    def start(self, inbox: Inbox) -> None:
        """Begin to deliver what arrives."""
        self._reader = threading.Thread(
            target=self._deliver, args=(inbox,), name=f"reader of {self.peer}", daemon=True
        )
        self._reader.start()

    def _deliver(self, inbox: Inbox) -> None:
        try:
            while self._deliver_one(inbox):
                pass
        except ProtocolError as error:
            # Errors of the wire format do not name the party; those of the inbox do.
            text = str(error) if error.party else f"party '{self.peer}' {error}"
            inbox.fail(self.peer, text, at_once=True)
            self._say(FrameKind.ABORT, text)
            self._drain(time.monotonic() + LINGER)
        except InboxClosedError:
            self._drain(time.monotonic() + LINGER)
        except LostError as error:
            inbox.fail(self.peer, lost_message(self.peer, str(error)), at_once=False)
        except Exception as error:
            # A thread that dies silently would leave a receiver waiting; out of memory is the likely cause.
            inbox.fail(
                self.peer, f"reading from party '{self.peer}' failed: {one_line(repr(error))}", at_once=True
            )
        finally:
            self._over = True
            self._close()

    def _deliver_one(self, inbox: Inbox) -> bool:
        header, tag, payload = self.read_frame()
        if header.kind == FrameKind.MESSAGE:
            inbox.put(self.peer, tag, header.sequence, payload)
            return True
        if header.kind in (FrameKind.HELLO, FrameKind.WELCOME):
            raise ProtocolError("began the run twice")
        if header.kind == FrameKind.ABORT:
            inbox.fail(self.peer, abort_message(self.peer, payload.decode(errors="replace")), at_once=True)
        else:
            inbox.fail(self.peer, left_message(self.peer), at_once=False)
        return False

    def _drain(self, deadline: float) -> None:
        scratch = bytearray(CHUNK)
        with contextlib.suppress(LostError, TimeoutError):
            while time.monotonic() < deadline:
                self._read(scratch, deadline, "")

    # --- ending

    def end(self, reason: str | None = None) -> None:
        """Say goodbye, or why the run cannot go on, and stop sending; `finish` waits for the peer."""
        self._say(*((FrameKind.GOODBYE, "") if reason is None else (FrameKind.ABORT, one_line(reason))))

    def _say(self, kind: FrameKind, text: str) -> None:
        if self._over or not self._sending.acquire(timeout=LINGER):
            self.drop()
            return
        try:
            with contextlib.suppress(LostError):
                self.send_frame(kind, b"", 0, text.encode(), LINGER)
            self._shutdown(socket.SHUT_WR)
        finally:
            self._over = True
            self._sending.release()

    def finish(self, deadline: float) -> None:
        """Wait until the peer has closed too, then let go of the socket."""
        if self._reader is None:
            self._drain(deadline)
            self._close()
            return
        self._reader.join(max(0.0, deadline - time.monotonic()))
        self.drop()
        self._reader.join(LINGER)

    def join(self, seconds: float) -> None:
        """Give the reading thread time to find out why the connection broke."""
        if self._reader is not None and self._reader is not threading.current_thread():
            self._reader.join(seconds)

    def drop(self) -> None:
        """Break the connection without a last frame."""
        self._over = True
        self._shutdown(socket.SHUT_RDWR)
        if self._reader is None:
            self._close()

    def idle(self) -> bool:
        """Return True if the peer is connected and has sent nothing, as it must before the run begins."""
        return not self.tls.pending() and not _wait(self.tls.fileno(), select.POLLIN, 0.0)

    def _close(self) -> None:
        with self._openssl:
            self._gone = True
            self.tls.close()

    def _shutdown(self, how: int) -> None:
        with self._openssl, contextlib.suppress(OSError):
            if not self._gone:
                # Not SSLSocket.shutdown, after which the socket would read unencrypted bytes.
                socket.socket.shutdown(self.tls, how)


def _wait(descriptor: int, events: int, seconds: float | None) -> bool:
    if descriptor < 0:
        return True
    poll = select.poll()
    poll.register(descriptor, events)
    return bool(poll.poll(None if seconds is None else max(0.0, seconds) * 1000.0))
