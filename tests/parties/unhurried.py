"""Parties that a busy machine cannot put out: nothing is lost for want of a second, and waits end when told.

A test that lets a listener wait in vain would otherwise need a wait that is long enough for those who come, on
however busy a machine, and short enough to sit through.
"""

import time
from types import SimpleNamespace

import pytest

from dagora.parties.transport.connection import Connection
from dagora.parties.transport.listener import Listener
from tests.parties.network import PATIENCE, eventually


def take_time(patch: pytest.MonkeyPatch) -> None:
    """Give the parties of this process all the time a test has to shake hands and to hear each other's end."""
    for module in ("connection", "tcp", "listener"):
        patch.setattr(f"dagora.parties.transport.{module}.LINGER", PATIENCE)
    for module in ("tcp", "listener"):
        patch.setattr(f"dagora.parties.transport.{module}.HANDSHAKE_SECONDS", PATIENCE)
    for name in ("FIRST_BYTE_SECONDS", "HELLO_SECONDS"):
        patch.setattr(f"dagora.parties.transport.door.{name}", PATIENCE)


class Attendance:
    """Who has come to the listener of this process, and a clock of its own that can be put forward."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._there: set[str] = set()
        self._ahead = 0.0
        look_after = Listener._look_after

        def look(listener: Listener, there: dict[str, Connection]) -> None:
            look_after(listener, there)
            self._there = set(there)

        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + self._ahead)
        patch.setattr(Listener, "_look_after", look)
        patch.setattr("dagora.parties.transport.listener.time", clock)

    def wait_for(self, *names: str) -> None:
        """Wait until these parties are there."""
        eventually(lambda: self._there >= set(names))

    def give_up(self) -> None:
        """Let `PATIENCE` seconds pass for the listener."""
        self._ahead += PATIENCE
