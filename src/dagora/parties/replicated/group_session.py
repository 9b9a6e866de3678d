"""A session of private K2 of three and more owners: `join_group` is one owner's side over any transport.

`run_all_owners` runs all in this process, as threads, with the messages of a real run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dagora.base.budget import Budget
from dagora.base.events import Observer, ignore
from dagora.learners.result import Result
from dagora.parties.replicated.group_k2 import group_k2
from dagora.parties.replicated.terms import GroupProposal, GroupTerms, check_owners, combine
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.vertical.private_k2 import PartyData
from dagora.parties.vertical.private_session import close_at_end, party_result, run_in_threads
from dagora.parties.vertical.session_log import OpenSession, SessionLog

if TYPE_CHECKING:
    from dagora.parties.transport.transport import Transport


def join_group(
    transport: Transport,
    owners: Sequence[str],
    party_data: PartyData,
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
    clock, cpu_before = Budget(), time.process_time()
    with close_at_end(transport):
        session = None if log is None else OpenSession(log)

        def begin(terms: GroupTerms) -> None:
            if session is not None:
                session.begin(describe_group_terms(terms, transport))
            if on_terms is not None:
                on_terms(terms)

        try:
            learned = group_k2(transport, owners, party_data, proposal, on_event=on_event, on_terms=begin)
        except BaseException:
            if session is not None:
                session.end("failed")
            raise
        if session is not None:
            session.outcome, session.leakage = learned.outcome, learned.leakage
            session.end("finished")
    terms = learned.terms
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
    return party_result(transport, party_data, learned.outcome, settings, clock, cpu_before)


def describe_group_terms(terms: GroupTerms, transport: Transport) -> dict[str, Any]:
    """The terms of a group for the log of the owner of a transport."""
    own = [terms.names[variable] for variable in terms.variables_of(transport.name)]
    return {
        "owners": list(terms.owners),
        "computing": list(terms.computing),
        "certificates": dict(transport.fingerprints),
        "own": own,
        "other": [name for name in terms.names if name not in own],
        "order": [terms.names[variable] for variable in terms.order],
        "max_parents": terms.max_parents,
        "score": terms.score,
        "mode": "hidden",
    }


def run_all_owners(
    brought: Mapping[str, PartyData], proposal: GroupProposal, *, on_event: Observer = ignore
) -> Result:
    """Run all owners as threads, and return the result of the first."""
    owners = check_owners(tuple(brought))
    # Bad terms are refused at once, in one line.
    combine({name: data.table.names for name, data in brought.items()}, proposal, {})
    # The first use compiles kernels, which takes longer than the default time limit.
    network = memory_network(owners, timeout=600.0)
    others = GroupProposal(min_rows=proposal.min_rows)
    return run_in_threads(
        [
            partial(
                join_group,
                network[name],
                owners,
                data,
                proposal if name == owners[0] else others,
                on_event=on_event if name == owners[0] else ignore,
            )
            for name, data in brought.items()
        ]
    )[0]
