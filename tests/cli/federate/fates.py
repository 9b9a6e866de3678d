"""What can happen to one site in the middle of a run whose parties are threads."""

import threading
import time
from collections.abc import Callable

import pytest

from dagora.base.errors import PartyTimeoutError
from dagora.parties.horizontal.session import serving
from dagora.parties.horizontal.session.row_sums import SUMMED
from dagora.parties.transport import tcp
from dagora.parties.transport.certificates import Credentials
from dagora.parties.transport.tcp import TcpTransport
from tests.cli.federate.consortium import COORDINATOR, PATIENCE

GLANCE = 0.05


class Fate:
    """Something that happens to one site at a moment: "plan", or its n-th answer to a kind of question."""

    def __init__(self, patch: pytest.MonkeyPatch, site: str, moment: str, count: int, act: Callable) -> None:
        connect, compute = tcp.connect, serving.code_rows if moment == "plan" else SUMMED[moment]
        asked = []

        def remember(credentials: Credentials, *arguments: object, **options: object) -> object:
            transport = connect(credentials, *arguments, **options)
            if credentials.name == site:
                self.transport = transport
            return transport

        def perhaps(*arguments: object) -> object:
            if threading.current_thread().name == site:
                asked.append(moment)
                if len(asked) == count:
                    act(self.transport)
            return compute(*arguments)

        patch.setattr(tcp, "connect", remember)
        if moment == "plan":
            patch.setattr(serving, "code_rows", perhaps)
        else:
            patch.setitem(SUMMED, moment, perhaps)


class Silence:
    """One site is silent at a moment of its fate, until it is woken.

    The coordinator's patience with it, however long, is over once it is silent: the others need not be quick,
    and nobody sits the patience out.
    """

    def __init__(self, patch: pytest.MonkeyPatch, site: str, moment: str, count: int) -> None:
        self._silent, self._over = threading.Event(), threading.Event()
        Fate(patch, site, moment, count, self._fall_silent)
        receive = TcpTransport.receive

        def hear(transport: TcpTransport, sender: str, tag: str, timeout: float | None = None) -> bytes:
            if (transport.name, sender) != (COORDINATOR, site):
                return receive(transport, sender, tag, timeout)
            deadline = time.monotonic() + (PATIENCE if timeout is None else timeout)
            while True:
                # Asked first, so that what it sent before still counts.
                silent = self._silent.is_set()
                try:
                    return receive(transport, sender, tag, GLANCE)
                except PartyTimeoutError:
                    if silent or time.monotonic() > deadline:
                        raise

        patch.setattr(TcpTransport, "receive", hear)

    def _fall_silent(self, _: TcpTransport) -> None:
        self._silent.set()
        assert self._over.wait(PATIENCE)

    def end(self) -> None:
        """Wake the site."""
        self._over.set()
