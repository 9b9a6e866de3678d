"""A session of private K2: read a party's table, learn with the other owner, and return this party's result.

`join_private` is one party's side over any transport; `run_both_parties` runs both in this process, as
threads, with the messages of a real run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.budget import Budget
from dagora.base.errors import DisagreementError, OptionError, announce
from dagora.base.events import Observer, ignore
from dagora.base.files import naming, write_whole
from dagora.base.memory import peak_megabytes
from dagora.base.version import versions
from dagora.base.wording import option
from dagora.data.keys import split_key
from dagora.learners.outcome import Outcome
from dagora.learners.result import Result
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.ledger import add_traffic
from dagora.parties.vertical.agreement import AgreedTerms, Role, TermsProposal
from dagora.parties.vertical.columns import column_levels, without_unused_levels
from dagora.parties.vertical.intersection import key_texts
from dagora.parties.vertical.parameter_output import shares_file, shares_text, tables_of
from dagora.parties.vertical.private_k2 import PartyData, private_k2
from dagora.parties.vertical.session_log import describe_terms

if TYPE_CHECKING:
    from dagora.parties.transport.transport import Transport
    from dagora.parties.vertical.session_log import SessionLog

METHOD = "private-k2"


def read_party_data(
    data: object,
    key: str,
    **reading: Any,  # noqa: ANN401
) -> PartyData:
    """Read a file, a data frame or a table with a key column, and refuse what private K2 cannot use.

    `missing` is "error", "drop" (leave out rows with a missing value) or "level" (missing becomes a level);
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
    party_data: PartyData,
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
    clock, cpu_before = Budget(), time.process_time()
    with ExitStack() as stack:
        stack.enter_context(close_at_end(transport))
        session = None if log is None else stack.enter_context(log.session())

        def check_offer(terms: AgreedTerms) -> None:
            if terms.parameters == "shares" and shares is None:
                raise OptionError(f"{option('parameters', 'shares')} needs a file: give {option('shares')}")
            if on_offer is not None:
                on_offer(terms)

        def begin(terms: AgreedTerms) -> None:
            if session is not None:
                peer = transport.peers[0]
                session.begin(describe_terms(terms, role, peer, transport.fingerprints.get(peer)))
            if on_terms is not None:
                on_terms(terms)

        learned = private_k2(
            transport, role, party_data, proposal, on_event=on_event, on_offer=check_offer, on_terms=begin
        )
        if session is not None:
            session.outcome, session.leakage = learned.outcome, learned.leakage
    if shares is not None and learned.terms.parameters == "shares":
        write_whole(shares, shares_text(role, learned), private=True)
    terms = learned.terms
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
    return party_result(
        transport, party_data, learned.outcome, settings, clock, cpu_before, warnings=learned.warnings
    )


def party_result(
    transport: Transport,
    party_data: PartyData,
    outcome: Outcome,
    settings: dict[str, Any],
    clock: Budget,
    cpu_before: float,
    warnings: tuple[str, ...] = (),
) -> Result:
    """The result of one party: with how its data were read, its time, its memory and its traffic."""
    overview = party_data.table.overview
    stats = {**outcome.stats, "cpu_time": round(time.process_time() - cpu_before, 4)}
    if (memory := peak_megabytes()) is not None:
        stats["peak_megabytes"] = round(memory, 1)
    result = Result(
        graph=outcome.graph,
        method=METHOD,
        status=outcome.status,
        message="; ".join(filter(None, (outcome.message, overview.dropped_rows if overview else ""))),
        score_name=settings["score"],
        seconds=clock.elapsed,
        stats=stats,
        settings=settings,
        versions=versions(),
        class_only=False,  # the order that the owners agreed on directs every edge
        data=overview.to_dict() if overview else {},
        warnings=(*(overview.warnings if overview else ()), *warnings),
    )
    return add_traffic(result, transport.ledger.books())


@contextmanager
def close_at_end(transport: Transport) -> Iterator[None]:
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


def run_both_parties(
    host: PartyData,
    guest: PartyData,
    proposal: TermsProposal,
    *,
    on_event: Observer = ignore,
    shares: str | Path | None = None,
) -> Result:
    """Run both parties as threads, and return the result of the host."""
    # The first use compiles kernels, which takes longer than the default time limit.
    network = memory_network(["host", "guest"], timeout=600.0)
    roles: tuple[tuple[Role, PartyData, Observer], ...] = (("host", host, on_event), ("guest", guest, ignore))
    results = run_in_threads(
        [
            partial(
                join_private,
                network[role],
                role,
                data,
                proposal,
                on_event=watch,
                shares=None if shares is None else shares_file(shares, role),
            )
            for role, data, watch in roles
        ]
    )
    for (_, data, _), result in zip(roles, results, strict=True):
        known = data.table.overview.warnings if data.table.overview else ()
        announce(warning for warning in result.warnings if warning not in known)
    return results[0]


def run_in_threads(parties: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run each party as a thread; raise the error of the one that failed first."""
    with ThreadPoolExecutor(len(parties)) as pool:
        running = [pool.submit(copy_context().run, party) for party in parties]
        failed = [error for each in running if (error := each.exception()) is not None]
    if failed:
        # The party that failed first knows more than those that were told of it.
        raise min(failed, key=lambda error: "ended the run" in str(error))
    return [each.result() for each in running]
