"""A member of the federation, with a certificate of the authority, wants a listener to end."""

import contextlib
import random
import socket
import ssl
import struct
import time

import pytest

from dagora.parties.transport.certificates import client_context
from dagora.parties.transport.door import ListenerDoor
from dagora.parties.transport.listener import Listener, greeter
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import MessageLimits
from dagora.parties.transport.wire_format import FrameKind, pack
from tests.attacks.fuzz import TRIES, tries
from tests.parties.network import PATIENCE, start

HERE = "127.0.0.1"


class Member:
    """A connection of a member, one step of the handshake at a time."""

    def __init__(self, address: tuple[str, int], credentials: object) -> None:
        self._raw = socket.create_connection(address, timeout=PATIENCE)
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = client_context(credentials)
        context.check_hostname = False
        self._tls = context.wrap_bio(self._in, self._out)

    def shake(self) -> bool:
        """Do what can be done of the handshake now; True when it is done."""
        with contextlib.suppress(BlockingIOError, TimeoutError):
            self._raw.setblocking(False)
            self._in.write(self._raw.recv(1 << 16))
        done = True
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            done = False
        self.flush()
        return done

    def say(self, words: bytes) -> None:
        self._tls.write(words)
        self.flush()

    def flush(self) -> None:
        self._raw.setblocking(True)
        if words := self._out.read():
            self._raw.sendall(words)

    def half_close(self) -> None:
        self._raw.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Close without a goodbye, so that the other side meets an error."""
        self._raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._raw.close()

    def close(self) -> None:
        self._raw.close()


@pytest.fixture
def door(credentials):
    with socket.create_server((HERE, 0), backlog=100) as listening:
        listening.setblocking(False)
        door = ListenerDoor(listening, greeter(credentials["host"], MessageLimits()))
        yield door, listening.getsockname()
        door.close()


def answer(door: ListenerDoor, *callers: Member) -> None:
    """Let callers say their TLS hello and the door answer them."""
    for caller in callers:
        caller.shake()
    for _ in range(10):
        door.look(0.02)


@pytest.mark.parametrize("early", [0, 1])
def test_connections_of_one_name_that_are_ready_in_one_round(door, credentials, early):
    """One has shown its certificate and speaks as the other shows the same: the second replaces it."""
    door, address = door
    callers = [Member(address, credentials["stranger"]) for _ in range(2)]
    answer(door, *callers)
    assert callers[early].shake()
    assert door.look(0.1) == []
    callers[early].say(b"hello?")
    assert callers[1 - early].shake()
    time.sleep(0.1)  # both are ready now
    (refusal,) = door.look(0.2)
    assert "came again" in refusal.why
    assert len(door._callers) == 1
    for caller in callers:
        caller.close()


def act(member: Member, draw: random.Random) -> None:
    """Come as far as it pleases, and leave in one of many ways."""
    for _ in range(draw.randrange(4)):
        if member.shake():
            frames = [pack(FrameKind.HELLO, b"", 0, 0), pack(FrameKind.ABORT, b"", 0, 9) + b"no reason"]
            words = draw.choice([*frames, frames[0] + b"x", draw.randbytes(9), frames[0][:5]])
            member.say(words)
            break
        time.sleep(draw.choice([0, 0.002]))
    draw.choice([member.half_close, member.reset, member.close, lambda: None])()


# Python's ssl leaves its socket to the collector where a caller has left in the midst of `wrap_socket`.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.fuzz
@pytest.mark.full
def test_members_that_come_and_go_at_every_stage(credentials):
    """Reconnecting, half-closing, resetting, saying too much, under names that nobody expects."""
    names = ["stranger", "stranger", "d", "host"]
    with Listener(credentials["host"], ["b", "c"]) as listener:
        wait = 10 * PATIENCE + TRIES
        accepting = start(listener.accept, wait)
        there = start(connect, credentials["c"], HERE, listener.port, wait=wait)
        members: list[Member] = []
        for draw in tries():
            with contextlib.suppress(OSError):  # it was refused
                member = Member((HERE, listener.port), credentials[draw.choice(names)])
                members.append(member)
                act(member, draw)
            while len(members) > 50:
                members.pop(draw.randrange(len(members))).close()
        for member in members:
            member.close()
        site = start(connect, credentials["b"], HERE, listener.port)
        for party in (accepting, there, site):
            with contextlib.closing(party.result(PATIENCE)):
                pass
