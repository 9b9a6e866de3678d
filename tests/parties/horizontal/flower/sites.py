"""Daemons on real local sockets, and an exchange that visits them as the app of a SuperNode does."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dagora.base.errors import ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.flower.coordinator_transport import FlowerTransport, meet
from dagora.parties.horizontal.flower.daemon import Daemon
from dagora.parties.horizontal.flower.local_socket import DaemonAddress, visit
from dagora.parties.horizontal.session.replies import refusal
from tests.parties.horizontal.meeting import COORDINATOR, Meeting
from tests.parties.network import PATIENCE, start

TOKEN = b"t" * 64
# Exchanges of a run with one sum: hello, plan, roster with the question, goodbye. And of an exact method on
# discrete columns with at most two parents: hello, plan, tables of 0 (with the roster), 1, 2 and 3 columns, goodbye.
ONE_SUM, EXACT = 4, 7


@dataclass
class Street:
    """Sites behind nodes 1, 2, …; `dead` nodes do not answer, `log` keeps what went to whom in each exchange."""

    daemons: dict[int, Daemon]
    dead: set[int] = field(default_factory=set)
    log: list[set[str]] = field(default_factory=list)
    token: bytes = TOKEN

    def exchange(self, batches: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        self.log.append({self.daemons[node].name for node in batches})
        alive = {node: batch for node, batch in batches.items() if node not in self.dead}
        visits = {node: start(self._visit, node, batch, max(seconds, 5.0)) for node, batch in alive.items()}
        return {node: visited.result(PATIENCE) for node, visited in visits.items()} if seconds else {}

    def _visit(self, node: int, batch: bytes, seconds: float) -> bytes:
        try:
            return visit(self.daemons[node].place, self.token, batch, seconds)
        except ProtocolError as error:
            return refusal(str(error))

    def meet(
        self, *sites: str, timeout: float = PATIENCE, wait: float = PATIENCE, warnings=None
    ) -> FlowerTransport:
        told = (warnings if warnings is not None else []).append
        return meet(
            COORDINATOR, sites, lambda: list(self.daemons), self.exchange,
            wait=wait, timeout=timeout, on_warning=told,
        )  # fmt: skip

    def meeting(self, tables: Mapping[str, Table], **options: object) -> Meeting:
        """A coordinator's session with all sites, each behind its daemon."""
        host = self.meet(*sorted(tables))
        transports = {COORDINATOR: host, **{name: self.join(name) for name in tables}}
        return Meeting(tables, transports=transports, **options)

    def join(self, name: str, wait: float = PATIENCE):
        """The site's transport in the run that has begun."""
        return next(d for d in self.daemons.values() if d.name == name).next_run(wait)


@contextmanager
def street(folder: Path, *names: str, **options: object) -> Iterator[Street]:
    with ExitStack() as stack:
        place = {name: DaemonAddress(path=str(folder / f"{name}.sock")) for name in names}
        daemons = [stack.enter_context(Daemon(name, place[name], TOKEN, **options)) for name in names]
        yield Street(dict(enumerate(daemons, 1)))
