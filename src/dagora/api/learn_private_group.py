"""Learn from columns of three and more owners, none of whom shows them: private K2 on replicated shares.

`join_group` is one owner's side over any transport. `learn_private_group` runs all in this process, as
threads, with the messages of a real run.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from dagora.api.learn_federated import with_traffic
from dagora.api.learn_private import METHOD, leaving, read_party_data
from dagora.base.events import Budget, Observer, ignore
from dagora.base.version import versions
from dagora.data.columns.reading_options import takes_reading
from dagora.learners.result import Result
from dagora.parties.processes.peak_memory import peak_megabytes
from dagora.parties.replicated.group_k2 import GroupOutcome, group_k2
from dagora.parties.replicated.terms import LEAST_ROWS, GroupProposal, GroupTerms, check_owners, combine
from dagora.parties.vertical.private_k2 import PartyData
from dagora.parties.vertical.session_log import now

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dagora.parties.transport.transport import Transport
    from dagora.parties.vertical.session_log import SessionLog


class LoggedSession:
    """An owner's two lines in its log: when the terms are agreed, and when the session ends."""

    def __init__(self, log: SessionLog | None, transport: Transport) -> None:
        self._log = log
        self._name = transport.name
        self._shown = dict(transport.fingerprints)
        self._number = secrets.token_hex(8)
        self._begun = False

    def begin(self, terms: GroupTerms) -> None:
        """Log the terms, or refuse; nothing that depends on rows has been sent yet."""
        if self._log is None:
            return
        own = [terms.names[variable] for variable in terms.variables_of(self._name)]
        self._log.check(own)
        self._log.append(
            {
                "session": self._number,
                "time": now(),
                "owners": list(terms.owners),
                "computing": list(terms.computing),
                "certificates": self._shown,
                "own": own,
                "other": [name for name in terms.names if name not in own],
                "order": [terms.names[variable] for variable in terms.order],
                "max_parents": terms.max_parents,
                "score": terms.score,
                "mode": "hidden",
            }
        )
        self._begun = True

    def end(self, status: str, learned: GroupOutcome | None = None) -> None:
        """Log how the session ended; nothing if it never began."""
        if self._log is None or not self._begun:
            return
        content: dict[str, Any] = {"session": self._number, "ended": now(), "status": status}
        if learned is not None:
            content["rows"] = int(learned.outcome.stats["rows"])
            content["edges"] = [list(edge) for edge in learned.outcome.graph.edges]
            content["revealed"] = list(learned.leakage)
        self._log.append(content)


def join_group(
    transport: Transport,
    owners: Sequence[str],
    brought: PartyData,
    proposal: GroupProposal,
    *,
    on_event: Observer = ignore,
    on_terms: Callable[[GroupTerms], None] | None = None,
    log: SessionLog | None = None,
) -> Result:
    """Learn with the other owners, and close the transport at the end, with the reason of an error.

    The first of the owners is the host. Once the terms are agreed, `log` records this owner's session, or
    refuses it beyond the limit.
    """
    clock, used = Budget(), time.process_time()
    with ExitStack() as stack:
        stack.enter_context(leaving(transport))
        session = LoggedSession(log, transport)

        def agreed(terms: GroupTerms) -> None:
            session.begin(terms)
            if on_terms is not None:
                on_terms(terms)

        try:
            learned = group_k2(transport, owners, brought, proposal, on_event=on_event, on_terms=agreed)
        except BaseException:
            session.end("failed")
            raise
        session.end("finished", learned)
    terms, overview = learned.terms, brought.table.overview
    stats = {**learned.outcome.stats, "cpu_time": round(time.process_time() - used, 4)}
    if (memory := peak_megabytes()) is not None:
        stats["peak_megabytes"] = round(memory, 1)
    settings = {
        "owner": transport.name,
        "owners": list(terms.owners),
        "computing": list(terms.computing),
        "order": [terms.names[variable] for variable in terms.order],
        "columns": {owner: list(columns) for owner, columns in zip(terms.owners, terms.columns, strict=True)},
        "max_parents": terms.max_parents,
        "score": terms.score,
        "mode": "hidden",
        "min_rows": terms.min_rows,
        "leakage": list(learned.leakage),
    }
    dropped = overview.dropped_rows if overview else ""
    result = Result(
        graph=learned.outcome.graph,
        method=METHOD,
        status=learned.outcome.status,
        message="; ".join(filter(None, (learned.outcome.message, dropped))),
        score_name=terms.score,
        seconds=clock.elapsed,
        stats=stats,
        settings=settings,
        versions=versions(),
        data=overview.to_dict() if overview else {},
        warnings=overview.warnings if overview else (),
    )
    return with_traffic(result, transport.ledger.books())


@takes_reading("drop", "missing", "na")
def learn_private_group(
    tables: Mapping[str, object],
    key: str,
    *,
    order: str | Iterable[str] | None = None,
    max_parents: int = 3,
    score: str = "f",
    min_rows: int = LEAST_ROWS,
    on_event: Observer = ignore,
    **reading: Any,  # noqa: ANN401
) -> Result:
    """Learn from the tables of three and more owners that have the same keys, as the owners would.

    The first three owners compute; any two of them together could see everything.

    Parameters
    ----------
    tables : mapping from str to path, data frame or Table
        Each owner's name and table. Every column but the key has two levels.
    key : str
        Column of all tables that identifies a row.
    order : str or list of str, optional
        The variables, parents first. Default: owner by owner.
    max_parents : int, default 3
        Most parents of a variable.
    score : str, default "f"
        "f" (exact) or "g" (by Stirling's formula).
    min_rows : int, default 10
        Fewest rows that are enough.
    on_event : callable, optional
        Called with every `Event` of progress, for example a `ProgressBar`.
    {reading}

    Returns
    -------
    Result
        That of the first owner.

    Examples
    --------
    >>> from dagora.data.table import Table
    >>> def owned(name, flip):
    ...     rows = [[number, number // 2 % 2 ^ (number % flip == 0)] for number in range(40)]
    ...     return Table.from_numpy(rows, names=["id", name], discrete=["id", name])
    >>> tables = {"ann": owned("a", 50), "bob": owned("b", 9), "cleo": owned("c", 11)}
    >>> learn_private_group(tables, key="id").graph.edges
    (('a', 'b'), ('a', 'c'))
    """
    written = order if order is None or isinstance(order, str) else ",".join(map(str, order))
    brought = {name: read_party_data(table, key, **reading) for name, table in tables.items()}
    return run_all_owners(brought, GroupProposal(written, max_parents, score, min_rows), on_event=on_event)


def run_all_owners(
    brought: Mapping[str, PartyData], proposal: GroupProposal, *, on_event: Observer = ignore
) -> Result:
    """Run all owners as threads; raises the error of the one that failed first."""
    from dagora.parties.transport.in_memory import memory_network

    owners = check_owners(tuple(brought))
    # Bad terms are refused at once, in one line.
    combine({name: data.table.names for name, data in brought.items()}, proposal, {})
    # The first use compiles kernels, which takes longer than the default time limit.
    network = memory_network(owners, timeout=600.0)
    others = GroupProposal(min_rows=proposal.min_rows)
    with ThreadPoolExecutor(len(owners)) as pool:
        working = [
            pool.submit(
                copy_context().run,
                partial(
                    join_group,
                    network[name],
                    owners,
                    data,
                    proposal if name == owners[0] else others,
                    on_event=on_event if name == owners[0] else ignore,
                ),
            )
            for name, data in brought.items()
        ]
        failed = [error for each in working if (error := each.exception()) is not None]
    if failed:
        # The owner that failed first knows more than those that were told of it.
        raise min(failed, key=lambda error: "ended the run" in str(error))
    return working[0].result()
