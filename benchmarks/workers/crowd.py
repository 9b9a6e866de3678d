"""A crowd at a listener's door: connections that never finish, each opened again when it is closed.

    python benchmarks/workers/crowd.py PORT KIND COUNT SECONDS [CREDENTIALS]

KIND is `silent` (says nothing), `passing` (says nothing, and COUNT come per second, whatever happens), `half`
(half a TLS hello), `greeting` (a whole one, and no more), `drip` (a hello, byte by byte), `garbage` (no TLS),
or `proved` (TLS with the certificate in the folder CREDENTIALS, but no hello of ours). Prints a line when all
are open. It ends by itself after SECONDS, or when nobody listens.
"""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
import ssl
import sys
import time
from pathlib import Path

HERE = "127.0.0.1"
DRIP_SECONDS = 0.2


def client_hello() -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    return out.read()


def tls_context(folder: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(Path(folder, "ca.pem"))
    context.load_cert_chain(Path(folder, "party.pem"), Path(folder, "party.key"))
    return context


class Crowd:
    def __init__(self, port: int, kind: str, context: ssl.SSLContext | None) -> None:
        self.port, self.kind, self.context = port, kind, context
        self.hello = client_hello()
        self.selector = selectors.DefaultSelector()
        self.open: dict[socket.socket, int] = {}
        self.opened = 0
        self.over = False

    def come(self) -> None:
        try:
            line = socket.create_connection((HERE, self.port), timeout=1.0)
        except OSError as error:
            self.over = error.errno == errno.ECONNREFUSED
            return
        line.setblocking(False)
        if self.context is not None:
            line = self.context.wrap_socket(line, do_handshake_on_connect=False)
        self.opened += 1
        self.open[line] = 0
        self.selector.register(line, selectors.EVENT_READ)
        first = {"half": self.hello[: len(self.hello) // 2], "greeting": self.hello, "garbage": b"x" * 100}
        self.talk(line, first.get(self.kind, b""))

    def talk(self, line: socket.socket, words: bytes) -> None:
        try:
            if isinstance(line, ssl.SSLSocket):
                line.do_handshake()
            elif words:
                line.send(words)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            pass
        except OSError:
            self.go(line)

    def listen(self, line: socket.socket) -> None:
        with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            try:
                if isinstance(line, ssl.SSLSocket):
                    line.do_handshake()
                if not line.recv(1 << 16):
                    self.go(line)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                raise
            except OSError:
                self.go(line)

    def go(self, line: socket.socket) -> None:
        if line in self.open:
            self.selector.unregister(line)
            del self.open[line]
            line.close()

    def drip(self) -> None:
        for line, said in list(self.open.items()):
            self.open[line] = said + 1
            self.talk(line, self.hello[said : said + 1])

    def stay(self, count: int, seconds: float) -> None:
        deadline, next_drip, told = time.monotonic() + seconds, 0.0, False
        while time.monotonic() < deadline and not self.over:
            while len(self.open) < count and not self.over and time.monotonic() < deadline:
                self.come()
                if self.opened >= count and not told:
                    told = True
                    print(f"{self.opened} came", flush=True)
                if self.opened % 20 == 0:
                    self.hear(0.0)
            if self.kind == "drip" and time.monotonic() > next_drip:
                next_drip = time.monotonic() + DRIP_SECONDS
                self.drip()
            self.hear(0.01)

    def pass_by(self, count: int, seconds: float) -> None:
        begun = time.monotonic()
        while (gone := time.monotonic() - begun) < seconds and not self.over:
            for _ in range(int(gone * count) - self.opened):
                self.come()
                if self.opened == count:
                    print(f"{self.opened} came", flush=True)
            for line in list(self.open)[:-count]:
                self.go(line)
            time.sleep(0.005)

    def hear(self, seconds: float) -> None:
        for key, _ in self.selector.select(seconds):
            self.listen(key.fileobj)


def main() -> None:
    port, kind, count, seconds, *folder = sys.argv[1:]
    crowd = Crowd(int(port), kind, tls_context(folder[0]) if folder else None)
    act = crowd.pass_by if kind == "passing" else crowd.stay
    act(int(count), float(seconds))
    print(f"{crowd.opened} came in all", flush=True)


if __name__ == "__main__":
    main()
