"""Private K2 of three and more owners, from the agreement to the graph; all run the same code.

    agreement   names, order, limit, score, least number of rows (`terms`)
    rows        the same number of rows at all, and the same keys (`same_rows`)
    moments     columns of all owners as shares of three of them; products and dot products (`moments`)
    search      the circuits of `vertical.k2_schedule`, layer by layer (`evaluation`)
    result      the host sends the other owners the edges; all compare hashes

The three that compute turn their parts m_0 + m_1 + m_2 of a moment to bits by the circuit that adds two
numbers: party 0 knows m_0 + m_1 and enters it, and the bits of m_2 are part 2 of themselves. The sizes of all
messages follow from the terms and the number of rows.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DisagreementError
from dagora.base.events import Observer, ignore
from dagora.graph.dag import DAG
from dagora.learners.outcome import Outcome
from dagora.parties.crypto.channel import Channel
from dagora.parties.replicated.evaluation import SharedBits
from dagora.parties.replicated.layers import sort_into_layers
from dagora.parties.replicated.moments import ColumnPlan, plan_columns, send_columns, share_moments
from dagora.parties.replicated.replicated_party import RandomBytes, ReplicatedParty
from dagora.parties.replicated.same_rows import hash_of_keys, have_same_rows, send_hash
from dagora.parties.replicated.terms import GroupProposal, GroupTerms, agree, raise_refusal
from dagora.parties.transport.messages import Array, encode
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.agreement import binary_columns
from dagora.parties.vertical.circuit_plan import count_ands
from dagora.parties.vertical.counts import to_bits
from dagora.parties.vertical.intersection import key_texts
from dagora.parties.vertical.k2_schedule import hidden_plan
from dagora.parties.vertical.private_k2 import MOST_ROWS, PartyData, PhaseClock
from dagora.parties.vertical.round_counter import RoundCounter
from dagora.parties.vertical.widths import BitWidths

OTHER_KEYS = "the owners do not have the same keys: each must bring the same rows, in any sequence"


@dataclass(frozen=True, eq=False)
class GroupOutcome:
    """The outcome at one owner, the agreed terms, and what the owners learned."""

    outcome: Outcome
    terms: GroupTerms
    leakage: tuple[str, ...]


def group_k2(
    transport: Transport,
    owners: Sequence[str],
    party_data: PartyData,
    proposal: GroupProposal,
    *,
    on_event: Observer = ignore,
    on_terms: Callable[[GroupTerms], None] | None = None,
    random: RandomBytes = secrets.token_bytes,
) -> GroupOutcome:
    """Learn with the other owners, who call the same; the host is the first of them.

    The caller closes the transport, with the reason if this raises. `on_terms` is called with the agreed
    terms before anything that depends on rows is sent, and may raise to end the run.
    """
    columns = binary_columns(party_data.table)
    texts = key_texts(party_data.keys, party_data.source)
    sequence = sorted(range(len(texts)), key=texts.__getitem__)
    line = RoundCounter(transport)
    clock = PhaseClock(line, on_event)
    with clock.phase("agreement"):
        terms = agree(line, owners, party_data.table.names, proposal)
        if on_terms is not None:
            on_terms(terms)
    party = None
    with clock.phase("rows"):
        compare_numbers(line, terms, len(texts))
        if transport.name in terms.computing:
            party = ReplicatedParty(line, terms.computing, terms=terms.digest(), random=random)
        check_keys(line, party, terms, hash_of_keys([texts[k] for k in sequence]), random)
    rows = len(texts)
    widths = BitWidths(rows, terms.limit, "g" if terms.score == "g" else "f")
    sorted_bits = np.ascontiguousarray(columns[:, sequence])
    plan = plan_columns(terms, rows, widths)
    found: NDArray[np.uint8] | None = None
    work: dict[str, float] = {}
    if party is None:
        with clock.phase("moments"):
            send_columns(line, plan, sorted_bits, random=random)
    else:
        found, work = compute(line, party, plan, widths, sorted_bits, clock, on_event, random)
    with clock.phase("result"):
        graph = share_result(line, terms, found)
    stats = {"rows": float(rows), "rounds": float(line.rounds), **work, **clock.statistics()}
    message = f"K2 in the agreed order on {rows} rows of {len(terms.owners)} owners, with score {terms.score}"
    return GroupOutcome(Outcome(graph, "finished", message, None, stats), terms, leakage(terms, rows))


def compare_numbers(transport: Transport, terms: GroupTerms, rows: int) -> None:
    """Make sure that all have the same number of rows, enough and not too many; the host asks."""
    if transport.name != terms.host:
        channel = Channel(transport, terms.host, "rows")
        channel.send("number", rows=rows)
        raise_refusal(channel, "number", channel.receive("number", {"refusal": str})["refusal"])
        return
    channels = [Channel(transport, name, "rows") for name in terms.owners[1:]]
    numbers = {terms.host: rows}
    for channel in channels:
        numbers[channel.peer] = channel.receive("number", {"rows": int})["rows"]
    refusal = ""
    other = next((name for name, number in numbers.items() if number != rows), None)
    if any(not 0 <= number < 1 << 40 for number in numbers.values()):
        refusal = "an owner sent a number of rows that is out of range"
    elif other is not None:
        refusal = (
            f"'{terms.host}' has {rows} rows and '{other}' has {numbers[other]}: "
            "each must bring the same rows, in any sequence"
        )
    elif rows < terms.min_rows:
        refusal = f"the owners have {rows} rows, fewer than the {terms.min_rows} that were asked for"
    elif rows > MOST_ROWS:
        refusal = f"{rows} rows are too many (at most {MOST_ROWS}): take a sample"
    for channel in channels:
        channel.send("number", refusal=refusal)
    if refusal:
        raise DisagreementError(refusal)


def check_keys(
    transport: Transport,
    party: ReplicatedParty | None,
    terms: GroupTerms,
    bits: NDArray[np.uint8],
    random: RandomBytes,
) -> None:
    """Make sure that all have the same keys; the host sends the answer to owners that do not compute."""
    if party is None:
        send_hash(transport, terms, bits, random=random)
        same = Channel(transport, terms.host, "rows").receive("same", {"same": bool})["same"]
    else:
        same = have_same_rows(transport, party, terms, bits, random=random)
        if party.position == 0:
            for name in terms.owners[len(terms.computing) :]:
                Channel(transport, name, "rows").send("same", same=same)
    if not same:
        raise DisagreementError(OTHER_KEYS)


def compute(
    transport: Transport,
    party: ReplicatedParty,
    columns: ColumnPlan,
    widths: BitWidths,
    bits: NDArray[np.uint8],
    clock: PhaseClock,
    on_event: Observer,
    random: RandomBytes,
) -> tuple[NDArray[np.uint8], dict[str, float]]:
    """Compute as one of the three: edges as pairs (parent, child), and AND gates and layers."""
    with clock.phase("moments"):
        parts = share_moments(transport, party, columns, bits, random=random, on_event=on_event)
    with clock.phase("search"):
        plan = hidden_plan(widths, columns.terms.order)
        program = sort_into_layers(plan.stages, plan.n_slots)
        shared = SharedBits(party, program)
        first, second = (
            np.array([part[tuple(sorted(members))] for members in plan.sets], dtype=np.uint64)
            for part in parts
        )
        known = to_bits(first + second, widths.bits) if party.position == 0 else None
        shared.enter(plan.shares[0], 0, known)
        none = np.zeros(plan.shares[1].shape, dtype=np.uint8)
        if party.position == 0:
            shared.put(plan.shares[1], none, none)
        elif party.position == 1:
            shared.put(plan.shares[1], none, to_bits(second, widths.bits))
        else:
            shared.put(plan.shares[1], to_bits(first, widths.bits), none)
        shared.put_public(plan.public, plan.public_bits)
        shared.run(on_event)
        marks = shared.open(plan.marks)
    edges = np.array([edge for edge, mark in zip(plan.edges, marks, strict=True) if mark])
    work = {"ands": float(count_ands(plan.stages)), "layers": float(program.depth)}
    return edges.reshape(-1, 2).astype(np.uint32), work


def share_result(transport: Transport, terms: GroupTerms, found: NDArray[np.integer] | None) -> DAG:
    """Return the graph, which the host sends to those that did not compute, and which all compare."""
    outside = terms.owners[len(terms.computing) :]
    if transport.name == terms.host:
        for name in outside:
            Channel(transport, name, "result").send("edges", edges=np.asarray(found, dtype=np.uint32))
    if found is None:
        found = receive_edges(Channel(transport, terms.host, "result"), terms)
    parents: list[list[int]] = [[] for _ in terms.names]
    for parent, child in found.tolist():
        parents[child].append(parent)
    graph = DAG.from_parents(terms.names, parents)
    content = encode({"terms": terms.digest(), "edges": [list(edge) for edge in graph.edges]})
    digests = {name: hashlib.sha256(name.encode() + b" " + content).digest() for name in terms.owners}
    if transport.name != terms.host:
        channel = Channel(transport, terms.host, "result")
        channel.send("hash", digest=digests[transport.name])
        compare_graphs(channel, digests)
        return graph
    channels = [Channel(transport, name, "result") for name in terms.owners[1:]]
    for channel in channels:
        compare_graphs(channel, digests)
    # Last of all, so that nobody ends well unless all have come this far.
    for channel in channels:
        channel.send("hash", digest=digests[terms.host])
    return graph


def compare_graphs(channel: Channel, digests: dict[str, bytes]) -> None:
    """Make sure that the peer has the graph that we have."""
    if channel.receive("hash", {"digest": bytes})["digest"] != digests[channel.peer]:
        channel.refuse("hash", "it found another graph than we did")


def receive_edges(channel: Channel, terms: GroupTerms) -> NDArray[np.integer]:
    """Receive the edges from the host; each must go forward in the order, once."""
    edges = channel.receive("edges", {"edges": Array("<u4", (None, 2))})["edges"]
    place = {variable: k for k, variable in enumerate(terms.order)}
    pairs = [tuple(pair) for pair in edges.tolist()]
    if (
        len(set(pairs)) != len(pairs)
        or any(parent not in place or child not in place for parent, child in pairs)
        or any(place[parent] >= place[child] for parent, child in pairs)
    ):
        channel.refuse("edges", "they do not follow the order of the variables")
    return np.asarray(edges)


def leakage(terms: GroupTerms, rows: int) -> tuple[str, ...]:
    """The sentences that say what the owners learned."""
    one, two, three = terms.computing
    sentences = []
    sentences.append(
        f"All {len(terms.owners)} owners learned the names of all columns, the number of rows ({rows}), and "
        "that they have the same keys."
    )
    sentences.append(
        "From the columns all learned the edges of the result, and nothing about how it was found."
    )
    sentences.append(
        f"{one}, {two} and {three} computed on shares of all columns. None of them alone learned a value, a "
        "count or a score of another owner, if all followed the protocol (semi-honest; 128 bits "
        f"computational). Any two of {one}, {two} and {three} together can see every column of everybody."
    )
    sentences.append(
        "What follows from the result and one's own columns is not hidden, and each further run with other "
        "columns reveals more."
    )
    return tuple(sentences)
