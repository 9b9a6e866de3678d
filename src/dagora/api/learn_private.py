"""Learn from columns split between two owners, neither of whom shows them: private K2.

`join_private` is one party's side over any transport. `learn_private` runs both in this process, as threads,
with the messages of a real run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.api.learn_federated import with_traffic
from dagora.api.private_parameters import shares_file, shares_text, tables_of
from dagora.base.errors import DisagreementError, OptionError, announce
from dagora.base.events import Budget, Observer, ignore
from dagora.base.files import naming, write_whole
from dagora.base.version import versions
from dagora.base.wording import option
from dagora.data.columns.reading_options import takes_reading
from dagora.data.keys import split_key
from dagora.learners.result import Result
from dagora.parties.processes.peak_memory import peak_megabytes
from dagora.parties.vertical.agreement import AgreedTerms, Role, TermsProposal
from dagora.parties.vertical.columns import column_levels, without_unused_levels
from dagora.parties.vertical.intersection import key_texts
from dagora.parties.vertical.private_k2 import PartyData, private_k2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dagora.parties.transport.transport import Transport
    from dagora.parties.vertical.session_log import SessionLog

HOST, GUEST = "host", "guest"
METHOD = "private-k2"


def read_party_data(
    data: object,
    key: str,
    **reading: Any,  # noqa: ANN401
) -> PartyData:
    """Read a file, a data frame or a table with a key column, and refuse what private K2 cannot use.

    `missing` is "error", "drop" (leave out rows with a missing cell) or "level" (missing becomes a level);
    `na` is that of `read_table`. Declared levels that no row has are left out.
    """
    table, keys, source = split_key(data, key, **reading)
    table = without_unused_levels(table).announced()
    texts = key_texts(keys, source)
    with naming(data) if isinstance(data, str | Path) else nullcontext():
        column_levels(table)
    return PartyData(table, texts, source)


def join_private(
    transport: Transport,
    role: Role,
    brought: PartyData,
    proposal: TermsProposal,
    *,
    on_event: Observer = ignore,
    on_offer: Callable[[AgreedTerms], None] | None = None,
    on_terms: Callable[[AgreedTerms], None] | None = None,
    log: SessionLog | None = None,
    shares: str | Path | None = None,
) -> Result:
    """Learn with the peer of a transport, and close the transport at the end, with the reason of an error.

    `on_offer` hears of the terms before this party agrees to them, `on_terms` once they are agreed. Then
    `log` records this party's session, or refuses it beyond the limit. `shares` is the file for this party's
    shares of counts, which the terms `parameters="shares"` need.
    """
    clock, used = Budget(), time.process_time()
    with ExitStack() as stack:
        stack.enter_context(leaving(transport))
        peer = transport.peers[0]
        shown = transport.fingerprints.get(peer)
        session = None if log is None else stack.enter_context(log.session(role, peer, shown))

        def offered(terms: AgreedTerms) -> None:
            if terms.parameters == "shares" and shares is None:
                raise OptionError(f"{option('parameters', 'shares')} needs a file: give {option('shares')}")
            if on_offer is not None:
                on_offer(terms)

        def agreed(terms: AgreedTerms) -> None:
            if session is not None:
                session.begin(terms)
            if on_terms is not None:
                on_terms(terms)

        learned = private_k2(
            transport, role, brought, proposal, on_event=on_event, on_offer=offered, on_terms=agreed
        )
        if session is not None:
            session.learned = learned
    if shares is not None and learned.terms.parameters == "shares":
        write_whole(shares, shares_text(role, learned), private=True)
    terms, overview = learned.terms, brought.table.overview
    stats = {**learned.outcome.stats, "cpu_time": round(time.process_time() - used, 4)}
    if (memory := peak_megabytes()) is not None:
        stats["peak_megabytes"] = round(memory, 1)
    settings = {
        "role": role,
        "order": [terms.names[variable] for variable in terms.order],
        "columns": {"host": list(terms.host), "guest": list(terms.guest)},
        "levels": dict(zip(terms.names, terms.levels, strict=True)),
        "max_parents": terms.max_parents,
        "score": terms.score,
        "mode": terms.mode,
        **({} if terms.security == "malicious" else {"crypto": terms.crypto}),
        "parameters": terms.parameters,
        **({"security": terms.security} if terms.security == "malicious" else {}),
        **({"tables": tables_of(learned)} if terms.parameters == "open" else {}),
        "leakage": list(learned.leakage),
    }
    result = Result(
        graph=learned.outcome.graph,
        method=METHOD,
        status=learned.outcome.status,
        message="; ".join(filter(None, (learned.outcome.message, overview.dropped_rows if overview else ""))),
        score_name=terms.score,
        seconds=clock.elapsed,
        stats=stats,
        settings=settings,
        versions=versions(),
        data=overview.to_dict() if overview else {},
        warnings=(*(overview.warnings if overview else ()), *learned.warnings),
    )
    return with_traffic(result, transport.ledger.books())


@contextmanager
def leaving(transport: Transport) -> Iterator[None]:
    """Close a transport at the end, with the reason of an error.

    Both parties can find a disagreement from the messages they exchanged. So the one that finds it first
    closes without a reason: the other still receives all messages and finds the same disagreement by itself.
    """
    with transport:
        try:
            yield
        except DisagreementError:
            transport.close()
            raise


@takes_reading("drop", "missing", "na")
def learn_private(
    host_table: object,
    guest_table: object,
    key: str,
    *,
    order: str | Iterable[str] | None = None,
    max_parents: int = 3,
    score: str = "f",
    mode: str = "hidden",
    crypto: str = "rlwe",
    min_rows: int = 2,
    parameters: str = "none",
    shares: str | Path | None = None,
    security: str = "semi-honest",
    on_event: Observer = ignore,
    **reading: Any,  # noqa: ANN401
) -> Result:
    """Learn from two tables that share a key, as two owners would who do not show them to each other.

    Parameters
    ----------
    host_table : path, data frame or Table
        The table of the first owner. Every column but the key has 2 to 5 levels.
    guest_table : path, data frame or Table
        The table of the second owner.
    key : str
        Column of both tables that identifies a row; common rows are used.
    order : str or list of str, optional
        The variables, parents first. Default: the host's columns, then the guest's.
    max_parents : int, default 3
        Most parents of a variable.
    score : str, default "f"
        "f" (exact) or "g" (by Stirling's formula).
    mode : str, default "hidden"
        "hidden" (only the graph is revealed) or "adaptive" (the steps of the search as well).
    crypto : str, default "rlwe"
        "rlwe" or "paillier": encryption for dot products.
    min_rows : int, default 2
        Fewest common rows that are enough.
    parameters : str, default "none"
        "none", "shares" (each party writes its shares of counts to a file) or "open" (tables are opened:
        `settings["tables"]` of the result).
    shares : path, optional
        The file for shares, with .host or .guest before its ending.
    security : str, default "semi-honest"
        "semi-honest" or "malicious": also against a party that cheats, which learns one bit more at most;
        both tables must have the same keys.
    on_event : callable, optional
        Called with every `Event` of progress, for example a `ProgressBar`.
    {reading}

    Returns
    -------
    Result
        That of the host.

    Examples
    --------
    >>> from dagora.data.table import Table
    >>> rows = [[number, number % 2] for number in range(20)]
    >>> a = Table.from_numpy(rows, names=["id", "a"], discrete=["id", "a"])
    >>> b = Table.from_numpy(rows[5:], names=["id", "b"], discrete=["id", "b"])
    >>> result = learn_private(a, b, key="id")
    >>> result.graph.edges, result.stats["rows"]
    ((('a', 'b'),), 15.0)
    """
    if shares is not None and parameters != "shares":
        raise OptionError(
            f"{option('shares')} names a file for shares: give {option('parameters', 'shares')} too"
        )
    written = order if order is None or isinstance(order, str) else ",".join(map(str, order))
    proposal = TermsProposal(
        written, max_parents, score, mode, crypto, min_rows=min_rows, parameters=parameters, security=security
    )
    host, guest = (read_party_data(table, key, **reading) for table in (host_table, guest_table))
    return run_both_parties(host, guest, proposal, on_event=on_event, shares=shares)


def run_both_parties(
    host: PartyData,
    guest: PartyData,
    proposal: TermsProposal,
    *,
    on_event: Observer = ignore,
    shares: str | Path | None = None,
) -> Result:
    """Run both parties as threads; raises the error of the one that failed first."""
    from dagora.parties.transport.in_memory import memory_network

    files = {name: None if shares is None else shares_file(shares, name) for name in (HOST, GUEST)}
    # The first use compiles kernels, which takes longer than the default time limit.
    network = memory_network([HOST, GUEST], timeout=600.0)
    roles: tuple[tuple[Role, PartyData, Observer], ...] = (("host", host, on_event), ("guest", guest, ignore))
    with ThreadPoolExecutor(2) as pool:
        parties = [
            pool.submit(
                copy_context().run,
                partial(
                    join_private, network[role], role, data, proposal, on_event=watch, shares=files[role]
                ),
            )
            for role, data, watch in roles
        ]
        failed = [error for party in parties if (error := party.exception()) is not None]
    if failed:
        # The party that failed first knows more than the one that was told of it.
        raise min(failed, key=lambda error: "ended the run" in str(error))
    for brought, party in zip((host, guest), parties, strict=True):
        told = brought.table.overview.warnings if brought.table.overview else ()
        announce(warning for warning in party.result().warnings if warning not in told)
    return parties[0].result()
