"""Networks of parties for tests: the same star in memory and over TLS, and threads that cannot hang a test."""

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from dagora.parties.transport.certificates import Credentials
from dagora.parties.transport.in_memory import MemoryTransport, memory_network
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import MessageLimits, Transport, lost_message
from dagora.parties.transport.wire_format import FrameKind

PATIENCE = 60.0


def start(function: Callable, *arguments: object, **options: object) -> Future:
    """Run in a thread that does not keep the interpreter alive; ask the answer with `.result(PATIENCE)`."""
    answer: Future = Future()

    def work() -> None:
        try:
            answer.set_result(function(*arguments, **options))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return answer


def eventually(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


def hung_up_on(caller: socket.socket) -> bool:
    """Return True if the other side has closed a connection, once all that it said was read."""
    caller.setblocking(False)
    try:
        while caller.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def vanish(transport: Transport) -> None:
    """Let a party disappear without a word, as in a crash."""
    if isinstance(transport, MemoryTransport):
        transport._leave(lost_message(transport.name), at_once=False)
        return
    transport._closed = True
    for connection in transport._connections.values():
        connection.drop()
    transport._inbox.close()


@dataclass
class Network:
    """Parties 'host', 'b', 'c', …: the host talks with all others."""

    kind: str
    credentials: dict[str, Credentials]
    opened: list[Transport] = field(default_factory=list)

    def open(
        self, *names: str, limits: MessageLimits | None = None, timeout: float = 10.0
    ) -> list[Transport]:
        if self.kind == "memory":
            network = memory_network(names, hub=names[0], limits=limits, timeout=timeout)
            parties = [network[name] for name in names]
        else:
            listener = Listener(self.credentials[names[0]], names[1:], limits=limits, timeout=timeout)
            others = [
                start(
                    connect, self.credentials[n], "127.0.0.1", listener.port, limits=limits, timeout=timeout
                )
                for n in names[1:]
            ]
            parties = [listener.accept(PATIENCE), *(other.result(PATIENCE) for other in others)]
        self.opened += parties
        return parties

    def inject(self, sender: Transport, to: str, tag: str, sequence: int, payload: bytes) -> None:
        """Send a message with a sequence number of our choice, as a misbehaving peer could."""
        if self.kind == "memory":
            sender._deliver(to, tag, sequence, payload)
        else:
            sender._connections[to].send_frame(FrameKind.MESSAGE, tag.encode(), sequence, payload, 5.0)

    def close(self) -> None:
        for party in self.opened:
            vanish(party)
