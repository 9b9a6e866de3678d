"""The socket between a site's daemon and the app that a SuperNode runs: one request and one answer per visit.

Both read the same token file, and prove to each other that they know the token without sending it: each
answers the other's random number with an HMAC. Then a request goes in and an answer comes out, each as a
length (u64, little endian) and bytes.

This module is all that the app needs, and it is started anew for every message: it imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import socket
import stat
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from dagora.base.errors import OptionError, ProtocolError

GREETING = b"dagora daemon 1\n"
NONCE_BYTES = 32  # never drawn twice
PROOF_BYTES = 32  # of HMAC-SHA256
LEAST_TOKEN = 32  # characters; in hexadecimal digits that is 128 bits
HANDSHAKE_SECONDS = 10.0  # both ends are on one machine
MAX_FRAME = (1 << 28) + (1 << 16)  # the largest message and the head of its batch
CHUNK = 1 << 16  # bytes that are sent or received at a time
LOOPBACK = ("127.0.0.1", "localhost")

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class DaemonAddress:
    """The address of a daemon: a socket file, or a port of this machine."""

    path: str = ""
    port: int = 0

    def __str__(self) -> str:
        return self.path or f"127.0.0.1:{self.port}"

    @property
    def family(self) -> socket.AddressFamily:
        """Kind of the socket."""
        return socket.AF_UNIX if self.path else socket.AF_INET

    @property
    def address(self) -> str | tuple[str, int]:
        """The address as the system takes it."""
        return self.path or ("127.0.0.1", self.port)


def parse_daemon_address(text: str) -> DaemonAddress:
    """Read the name of a socket file, or 127.0.0.1:PORT; other machines cannot reach a daemon.

    >>> parse_daemon_address("127.0.0.1:7200"), str(parse_daemon_address("/run/site.sock"))
    (DaemonAddress(path='', port=7200), '/run/site.sock')
    >>> parse_daemon_address("10.0.0.1:7200")
    Traceback (most recent call last):
    dagora.OptionError: '10.0.0.1:7200' is not on this machine: give a socket file or 127.0.0.1:PORT
    """
    host, colon, port = text.rpartition(":")
    if colon and port.isascii() and port.isdigit() and "/" not in text:
        if host not in LOOPBACK:
            raise OptionError(f"'{text}' is not on this machine: give a socket file or 127.0.0.1:PORT")
        if len(port) > 5 or int(port) >= 1 << 16:
            raise OptionError(f"'{text}' has no port from 0 to 65535")
        return DaemonAddress(port=int(port))
    if not text or "\0" in text or len(os.fsencode(text)) > 100:
        raise OptionError("a socket file needs a name of at most 100 bytes; 127.0.0.1:PORT is an alternative")
    return DaemonAddress(path=text)


def make_token(file: Path) -> None:
    """Write a new token that only this user can read, if there is none."""
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as handle:
            handle.write(secrets.token_hex(32) + "\n")


def read_token(file: Path) -> bytes:
    """Read a token; one that everybody can read is refused."""
    try:
        with file.open("rb") as handle:
            if os.fstat(handle.fileno()).st_mode & (stat.S_IROTH | stat.S_IWOTH):
                raise OptionError(
                    f"{file}: everybody can read this token; `chmod o-rwx` it, or make a new one"
                )
            token = handle.read(1024).strip()
    except OSError as error:
        raise OptionError(f"{file}: cannot read the token: {error.strerror}") from None
    if len(token) < LEAST_TOKEN:
        raise OptionError(f"{file}: a token has at least {LEAST_TOKEN} characters; remove it for a new one")
    return token


def visit(place: DaemonAddress, token: bytes, request: bytes, seconds: float) -> bytes:
    """Bring a request to the daemon and wait `seconds` for its answer."""
    line = DaemonConnection(socket.socket(place.family, socket.SOCK_STREAM))
    try:
        line.allow(HANDSHAKE_SECONDS)
        line.socket.connect(place.address)
        line.prove_as_relay(token)
        line.allow(HANDSHAKE_SECONDS + seconds)
        line.send(request)
        return line.receive()
    except TimeoutError:
        raise ProtocolError(f"the site's daemon at {place} did not answer in time") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it closed the connection"
        raise ProtocolError(f"the site's daemon at {place} does not answer: {reason.lower()}") from None
    finally:
        line.socket.close()


class DaemonConnection:
    """One visit: frames on a connected socket, with one time limit for all of a step."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self._deadline = 0.0

    def allow(self, seconds: float) -> None:
        """Set the time limit of all that follows."""
        self._deadline = time.monotonic() + seconds
        self.socket.settimeout(seconds)

    def prove_as_relay(self, token: bytes) -> None:
        """Show that we know the token, and check that the daemon does."""
        greeting = self._exactly(len(GREETING) + NONCE_BYTES)
        if not greeting.startswith(GREETING):
            raise ProtocolError("whoever listens there is not a daemon of dagora")
        theirs, ours = greeting[len(GREETING) :], secrets.token_bytes(NONCE_BYTES)
        self._write(ours + _proof(token, b"relay", theirs + ours))
        if not hmac.compare_digest(self._exactly(PROOF_BYTES), _proof(token, b"daemon", theirs + ours)):
            raise ProtocolError("the site's daemon has another token: give the SuperNode the daemon's file")

    def send(self, content: bytes) -> None:
        """Send one frame."""
        self._write(_LENGTH.pack(len(content)))
        self._write(content)

    def receive(self) -> bytes:
        """Receive one frame."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > MAX_FRAME:
            raise ProtocolError(f"a message of {length} bytes was announced; the limit is {MAX_FRAME}")
        return self._exactly(length)

    def _write(self, content: bytes) -> None:
        view = memoryview(content)
        while view:
            self._check_time()
            view = view[self.socket.send(view[:CHUNK]) :]

    def _exactly(self, length: int) -> bytes:
        # Memory grows with what arrives, not with what was announced.
        content = bytearray()
        while len(content) < length:
            self._check_time()
            part = self.socket.recv(min(CHUNK, length - len(content)))
            if not part:
                raise EOFError
            content += part
        return bytes(content)

    def _check_time(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0.0:
            raise TimeoutError
        self.socket.settimeout(left)


def answer_proof(token: bytes, nonce: bytes, answer: bytes) -> bytes:
    """The daemon's proof for a visitor that has answered its `nonce` rightly; empty for any other."""
    theirs, proof = answer[:NONCE_BYTES], answer[NONCE_BYTES:]
    known = hmac.compare_digest(proof, _proof(token, b"relay", nonce + theirs))
    return _proof(token, b"daemon", nonce + theirs) if known else b""


def _proof(token: bytes, role: bytes, nonces: bytes) -> bytes:
    return hmac.digest(token, b"dagora " + role + b"\n" + nonces, "sha256")
