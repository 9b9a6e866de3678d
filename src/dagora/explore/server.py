"""The server of `dagora explore`: on loopback, until it is stopped."""

from __future__ import annotations

import logging
import math
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from dagora.base.errors import OptionError
from dagora.explore.doorkeeper import Door
from dagora.explore.routes import application
from dagora.explore.session import Session
from dagora.explore.visitors import Visitor, WaitingRoom

LOOPBACK = "127.0.0.1"
EVERY = 0.1  # seconds between two looks at whether the server has ended
BACKLOG = 64  # connections that are accepted at once, before the first of them can give way
GRACE = 1  # seconds for answers that are under way when the server ends
LATEST = 10.0  # seconds after which nobody waits for its thread any more; it ends with the process


class Server:
    """A server that listens from the start, with a session of its own.

    `port` 0 stands for any that is free. `close` must be called at the end, whatever happens.
    """

    def __init__(self, *, port: int = 0, most_upload: int, jobs: int = 1, reading: Mapping[str, Any]) -> None:
        self._socket = listening(port)
        self.door = Door(self._socket.getsockname()[1], secrets.token_urlsafe(32))
        self.session = Session(jobs, reading)
        config = uvicorn.Config(
            application(self.session, self.door, most_upload),
            access_log=False,  # it would hold the token
            log_level="error",
            lifespan="off",
            http=partial(Visitor, room=WaitingRoom()),
            loop="asyncio",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE,
            backlog=BACKLOG,
        )
        self._server = uvicorn.Server(config)
        self._latest = math.inf
        # Answers that are cut short because the user ends the server are no errors.
        logging.getLogger("uvicorn.error").addFilter(lambda _record: not self._server.should_exit)

    def open(self, data: Path) -> None:
        """Take a file as the table."""
        self.session.open(data, self.session.reading)

    def run(self, ready: Callable[[str], None]) -> None:
        """Answer until `stop`; `ready` is told the address as soon as it can be opened."""
        # In the main thread it would take over the signals, which are the command's.
        thread = threading.Thread(target=self._server.run, args=([self._socket],), name="server", daemon=True)
        thread.start()
        ready(self.door.address)  # the socket listens already: whoever comes early waits for a moment
        while thread.is_alive() and time.monotonic() < self._latest:
            thread.join(EVERY)

    def stop(self) -> None:
        """End soon; safe to call from a signal handler or another thread."""
        self.session.closed = True  # ends answers that would go on
        self._latest = time.monotonic() + LATEST
        self._server.should_exit = True

    def close(self) -> None:
        """Stop listening, end the process that learns, remove everything that was written."""
        self._socket.close()
        self.session.close()


def listening(port: int) -> socket.socket:
    """A socket that listens on loopback and nowhere else."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((LOOPBACK, port))
    except OSError as error:
        made.close()
        raise OptionError(
            f"port {port} cannot be used ({error.strerror}): leave --port out for any that is free"
        ) from None
    made.listen(BACKLOG)
    return made
