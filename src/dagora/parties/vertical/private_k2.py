"""Private K2 of two owners, from the agreement to the graph; both sides run the same code with their role.

    agreement      names, numbers of levels, order, limit, score, mode, encryption; digests of them
    transfer       128 base transfers, from which all later ones are extended
    intersection   which keys both have; both sort the common rows by key
    moments        dot products of product columns, as shares
    search         K2 on the shares by garbled circuits, hidden or adaptive
    parameters     of families of both, if agreed: shares of counts, or probabilities (`parameters`)
    result         both compare hashes of their edges and of what was opened

The sizes of all messages after the agreement follow from the terms, the two numbers of keys and the number of
common keys; in adaptive mode also from the winners, which both learn. The setting is that of Wright & Yang
2004, and adaptive mode reveals what their protocol does, but it is another protocol: they compare sums of
shares of ln x and x ln x (Lindell & Pinkas 2000), here circuits compute ln x! and compare.

All this is against semi-honest parties. Security against a malicious one, if agreed, is another protocol with
the same beginning and the same graph: `dual_execution`.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DisagreementError
from dagora.base.events import Event, Observer, ignore
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.learners.outcome import Outcome
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling.yao import Evaluator, Garbler, Party
from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender
from dagora.parties.transport.messages import encode
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.agreement import AgreedTerms, Role, TermsProposal, agree, check_own_levels
from dagora.parties.vertical.columns import absent_levels, column_levels, indicator_columns
from dagora.parties.vertical.costs import check_gates, widths_for
from dagora.parties.vertical.dual_execution import (
    CheckedTransfers,
    dual_search,
    input_bits,
    same_number_of_rows,
)
from dagora.parties.vertical.intersection import intersect, key_texts
from dagora.parties.vertical.moments import share_moments
from dagora.parties.vertical.parameter_circuits import FEWEST
from dagora.parties.vertical.parameters import FoundParameters, check_level_names, find_parameters
from dagora.parties.vertical.round_counter import RoundCounter
from dagora.parties.vertical.secret_search import FoundParents, adaptive_search, hidden_search
from dagora.parties.vertical.widths import most_rows

RandomBytes = Callable[[int], bytes]
MOST_ROWS = most_rows(2)


@dataclass(frozen=True, eq=False)
class PartyData:
    """A party's data: a table of columns with 2 to 5 levels, and a key for each row.

    `source` begins the message of an error about the keys.
    """

    table: Table
    keys: Sequence[object]
    source: str = "the key column"


@dataclass(frozen=True, eq=False)
class PrivateOutcome:
    """The outcome at one party, the agreed terms, what each learned, and warnings for this party alone."""

    outcome: Outcome
    terms: AgreedTerms
    leakage: tuple[str, ...]
    parameters: FoundParameters
    warnings: tuple[str, ...] = ()


@dataclass
class PhaseClock:
    """Measures the seconds of each phase; the ledger counts its bytes under the same name."""

    transport: Transport
    on_event: Observer
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a block and count its bytes."""
        self.on_event(Event(name, 0))
        started = time.monotonic()
        with self.transport.ledger.phase(name):
            yield
        self.seconds[name] = time.monotonic() - started

    def statistics(self) -> dict[str, float]:
        """Seconds and bytes of each phase."""
        stats = {f"{name}_seconds": round(seconds, 4) for name, seconds in self.seconds.items()}
        for name, traffic in self.transport.ledger.books().phases.items():
            stats[f"{name}_bytes_sent"] = float(traffic.wire_sent)
            stats[f"{name}_bytes_received"] = float(traffic.wire_received)
        return stats


def private_k2(
    transport: Transport,
    role: Role,
    party_data: PartyData,
    proposal: TermsProposal,
    *,
    on_event: Observer = ignore,
    on_offer: Callable[[AgreedTerms], None] | None = None,
    on_terms: Callable[[AgreedTerms], None] | None = None,
    random: RandomBytes = secrets.token_bytes,
) -> PrivateOutcome:
    """Learn with the only peer of the transport, which calls the same with the other role.

    The caller closes the transport, with the reason if this raises. `on_offer` is called with the terms
    before this party agrees to them, and `on_terms` with the agreed terms before anything that depends on
    rows is sent; both may raise to end the run.
    """
    check_before_contact(party_data, proposal)
    levels = column_levels(party_data.table)
    columns = indicator_columns(party_data.table)
    line = RoundCounter(transport)
    clock = PhaseClock(line, on_event)
    with clock.phase("agreement"):
        terms = agree(
            line, role, party_data.table.names, proposal, levels=levels, on_offer=on_offer
        )  # fmt: skip
        if on_terms is not None:
            on_terms(terms)
    if terms.security == "malicious":
        return malicious_k2(line, role, party_data, columns, terms, clock, random)
    with clock.phase("transfer"):
        # One set-up serves both uses: the host is the receiver of the intersection and the garbler.
        sender = TransferSender(line, random=random) if role == "host" else None
        receiver = None if role == "host" else TransferReceiver(line, random=random)
    with clock.phase("intersection"):
        rows = intersect(
            line,
            party_data.keys,
            "receiver" if role == "host" else "sender",
            column=party_data.source,
            transfer=sender or receiver,
            random=random,
        )
        check_rows(terms, len(rows))
        check_gates(terms, len(rows))
    widths = widths_for(terms, len(rows))
    with clock.phase("moments"):
        common = np.ascontiguousarray(columns[:, rows])
        moments = share_moments(line, role, terms, common, widths, on_event=on_event, random=random)
    with clock.phase("search"):
        party: Party
        if sender is not None:
            party = Garbler(line, sender, random=random)
        else:
            assert receiver is not None
            party = Evaluator(line, receiver)
        search = hidden_search if terms.mode == "hidden" else adaptive_search
        found = search(party, terms, widths, moments, on_event)
    graph = DAG.from_parents(terms.names, found.parents)
    parameters = FoundParameters()
    if terms.parameters != "none":
        with clock.phase("parameters"):
            names = [variable.levels for variable in party_data.table.schema]
            parameters = find_parameters(
                line, party, terms, widths, moments, found.parents, names, random
            )  # fmt: skip
    with clock.phase("result"):
        confirm(line, role, terms, graph, parameters)
    found.ands += parameters.ands
    stats = work_statistics(clock, line, found, len(rows))
    return PrivateOutcome(
        Outcome(graph, "finished", conclusion(terms, len(rows)), None, stats),
        terms,
        leakage(terms, len(rows), parameters),
        parameters,
        absent_levels(party_data.table, rows),
    )


def malicious_k2(
    line: RoundCounter,
    role: Role,
    party_data: PartyData,
    columns: NDArray[np.uint8],
    terms: AgreedTerms,
    clock: PhaseClock,
    random: RandomBytes,
) -> PrivateOutcome:
    """Learn by dual execution, once the terms are agreed."""
    with clock.phase("rows"):
        rows = same_number_of_rows(line, role, len(party_data.keys))
        check_rows(terms, rows)
        check_gates(terms, rows)
    inputs = input_bits(party_data.keys, columns)
    with clock.phase("transfer"):
        transfers = CheckedTransfers.set_up(line, role, random)
    with clock.phase("search"):
        found = dual_search(
            line,
            role,
            terms,
            widths_for(terms, rows),
            transfers,
            inputs,
            on_event=clock.on_event,
            random=random,
        )
    graph = DAG.from_parents(terms.names, found.parents)
    stats = work_statistics(clock, line, found, rows)
    outcome = Outcome(graph, "finished", conclusion(terms, rows), None, stats)
    return PrivateOutcome(outcome, terms, malicious_leakage(rows), FoundParameters())


def check_before_contact(party_data: PartyData, proposal: TermsProposal) -> None:
    """Refuse one's own columns, keys and names of levels while nothing has been sent."""
    key_texts(party_data.keys, party_data.source)
    check_own_levels(proposal, party_data.table.names, column_levels(party_data.table))
    if proposal.parameters == "open":
        for variable in party_data.table.schema:
            check_level_names(variable.name, variable.levels)


def check_rows(terms: AgreedTerms, rows: int) -> None:
    """Refuse too few common rows, or more than shares can count; both parties see the number."""
    if rows == 0:
        raise DisagreementError("the two parties have no key in common: is it the same key on both sides?")
    if rows < terms.min_rows:
        have = "one key" if rows == 1 else f"{rows} keys"
        raise DisagreementError(
            f"the two parties have {have} in common: at least {terms.min_rows} are needed"
        )
    if rows > (most := most_rows(max(terms.levels))):
        raise DisagreementError(f"{rows} common rows are too many (at most {most}): take a sample")


def confirm(
    transport: Transport, role: Role, terms: AgreedTerms, graph: DAG, parameters: FoundParameters
) -> None:
    """Make sure that both have the same graph and the same opened parameters."""
    channel = Channel.to_peer(transport, None, "result")
    opened = [None if table is None else table.tolist() for table in parameters.opened.values()]
    edges = [list(edge) for edge in graph.edges]
    content = encode({"terms": terms.digest(), "edges": edges, "opened": opened})
    ours, theirs = (
        hashlib.sha256(side + content).digest()
        for side in ((b"host", b"guest") if role == "host" else (b"guest", b"host"))
    )
    channel.send("hash", digest=ours)
    if channel.receive("hash", {"digest": bytes})["digest"] != theirs:
        channel.refuse("hash", "it found another graph than we did, or other parameters")


def conclusion(terms: AgreedTerms, rows: int) -> str:
    """The message of the result."""
    mode = "hidden search" if terms.mode == "hidden" else "adaptive search"
    if terms.security == "malicious":
        mode = "hidden search in two garbled runs that agree,"
    return f"K2 in the agreed order on {rows} common rows, by {mode} with score {terms.score}"


def work_statistics(
    clock: PhaseClock, line: RoundCounter, found: FoundParents, rows: int
) -> dict[str, float]:
    """Statistics of the run: rows, gates, rounds, and seconds and bytes of each phase."""
    stats = {"rows": float(rows), "ands": float(found.ands), "rounds": float(line.rounds)}
    if found.choices:
        stats["choices"] = float(found.choices)
    return stats | clock.statistics()


def leakage(terms: AgreedTerms, rows: int, parameters: FoundParameters) -> tuple[str, ...]:
    """The sentences that say what each party learned."""
    sentences = []
    sentences.append(
        "Both parties learned the names of all columns and how many levels each has, how many keys each has, "
        f"and which {rows} keys they have in common; they learned nothing about other keys."
    )
    if terms.mode == "hidden":
        sentences.append(
            "From the columns both learned the edges of the result, and nothing about how it was found."
        )
    else:
        sentences.append(
            "From the columns both learned the edges of the result, the sequence in which each variable took "
            "its parents, and after which of them the search for more ended."
        )
    if terms.parameters != "none":
        sentences.append(parameter_leakage(terms, parameters))
    beyond = " beyond that" if terms.parameters == "open" else ""
    sentences.append(
        f"Neither learned a value, a count or a score of the other{beyond}, if both followed the protocol "
        "(semi-honest; 128 bits computational, 40 bits statistical)."
    )
    sentences.append(
        "What follows from the result and one's own columns is not hidden, and each further run with other "
        "columns reveals more."
    )
    return tuple(sentences)


def malicious_leakage(rows: int) -> tuple[str, ...]:
    """The sentences that say what each party learned under security against malicious parties."""
    sentences = []
    sentences.append(
        "Both parties learned the names of all columns and how many levels each has, that each has "
        f"{rows} rows, and that their keys are the same."
    )
    sentences.append(
        "From the columns both learned the edges of the result, and nothing about how it was found."
    )
    sentences.append(
        "A party that cheated may have learned one bit more, the answer of the other's columns and keys to a "
        "question of its choice: had it been no, this run would have ended without a result. Beyond that "
        "neither learned a value, a count or a score of the other, whatever it did (labels of 128 bits)."
    )
    sentences.append(
        "What follows from the result and one's own columns is not hidden, and each further run with other "
        "columns reveals more; so does each that ended without a result, for whatever reason."
    )
    return tuple(sentences)


def parameter_leakage(terms: AgreedTerms, parameters: FoundParameters) -> str:
    """The sentence that says what shares of counts or opened probabilities reveal."""
    if terms.parameters == "shares":
        return (
            f"Each has shares of the counts of {len(parameters.shares)} families with columns of both, which "
            "tell nothing alone; whoever gets both files has the counts."
        )
    shown = sum(table is not None for table in parameters.opened.values())
    return (
        f"Of {len(parameters.opened)} families with columns of both, both learned the probabilities of "
        f"{shown} to three digits and the names of their levels, from which counts can be worked out; of the "
        f"others, that a configuration of the parents has fewer than {FEWEST} rows."
    )
