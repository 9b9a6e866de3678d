"""Private K2 against an owner that cheats: dual execution, with all counting inside of the circuits.

The whole computation is one function of both owners' columns and of hashes of their keys: rows are counted,
K2 searches, and the marks of edges come out if both hashes are the same. It is garbled twice: in one run the
host garbles and the guest evaluates, in the other the roles are reversed; each party's bits enter the run
that it evaluates by a transfer with a check (`checked_transfer`). Nothing is opened until both runs are
complete, and then only if they agree (`output_check`).

    rows       <>  number of keys: both bring the same rows, as common keys are not computed in this mode
    checked-…  <>  base transfers, for either direction; transfers of input bits, and their check
    garbled-…  >   labels of the garbler's bits, tables
    outputs    <>  commitments, hashes of labels, proofs

What holds against an owner that does anything (Huang, Katz & Evans 2012): the other ends with the graph of K2
on its own columns and those that the cheater put into the run that it evaluated, or with an error and without
a result; and the cheater learns that graph and at most one bit more, the answer of the other's columns to a
question of the cheater's choice (whether the runs agree). What the honest party sends before the proofs
depends on its secrets only under encryption, and it ends early only for reasons that anybody sees: sizes,
fingerprints of circuits, the check of transfers (of the cheater's choices). The run may be ended by the
cheater once it knows the graph and the other does not, and also once it knows the bit: it can wait for the
honest proof, then leave with any reason, or bring other keys. So the message of every failure once inputs
have entered ends with what the other may have learned (`note_possible_leakage`). The bit may be about
columns and about keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DisagreementError, ProtocolError
from dagora.base.events import Event, Observer, ignore
from dagora.base.wording import option
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling.circuit import Circuit
from dagora.parties.crypto.garbling.output_check import open_outputs
from dagora.parties.crypto.garbling.yao import Evaluator, Garbler, Party
from dagora.parties.crypto.transfer.checked_transfer import CheckedReceiver, CheckedSender
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.agreement import AgreedTerms, Role
from dagora.parties.vertical.columns import indicators
from dagora.parties.vertical.costs import malicious_gates
from dagora.parties.vertical.counting_circuits import (
    KEY_BITS,
    accumulation,
    blocks_of_rows,
    outputs_if_same_keys,
    row_products,
    tally,
)
from dagora.parties.vertical.intersection import key_texts
from dagora.parties.vertical.k2_schedule import HiddenPlan, hidden_plan
from dagora.parties.vertical.secret_search import PHASE, FoundParents, SecretMemory
from dagora.parties.vertical.widths import BitWidths

Bits = NDArray[np.uint8]
Words = NDArray[np.uint64]
RandomBytes = Callable[[int], bytes]

ROLES: tuple[Role, Role] = ("host", "guest")
MAY_BE_KNOWN = "; the other may have learned the graph and one bit (SECURITY.md)"


@dataclass(frozen=True, eq=False)
class SecretFunction:
    """The function that both garble: public circuits for given terms and a number of rows.

    `columns` are the numbers of indicators of host and guest. A party's inputs are its indicators of all
    rows, then the hash of its keys.
    """

    rows: int
    widths: BitWidths
    plan: HiddenPlan
    products: Circuit
    columns: tuple[int, int]

    @property
    def bits(self) -> tuple[int, int]:
        """Input bits of host and guest."""
        host, guest = (count * self.rows + KEY_BITS for count in self.columns)
        return host, guest

    @classmethod
    def of(cls, terms: AgreedTerms, widths: BitWidths) -> SecretFunction:
        """The function of the agreed terms; widths know the number of rows."""
        plan = hidden_plan(widths, terms.order, terms.levels, shared=False)
        groups = indicators(terms.levels)
        total, host = groups[-1].stop, groups[len(terms.host)].start
        products = row_products(terms.levels, plan.sets)
        return cls(widths.rows, widths, plan, products, (host, total - host))

    def run(self, party: Party, side: int, inputs: Bits, progress: GateProgress) -> Words:
        """Labels of the outputs at one party, [1 + edges, 2]: whether the keys are the same, then the marks.

        Both call this with the inputs of their side; whoever garbles, the calls are the same.
        """
        entered = [
            party.own_inputs(inputs[None]) if owner == side else party.peer_inputs(1, self.bits[owner])
            for owner in (0, 1)
        ]
        columns = np.concatenate(
            [
                labels[0, : count * self.rows].reshape(count, self.rows, 2)
                for labels, count in zip(entered, self.columns, strict=True)
            ]
        )
        secrets = SecretMemory(party, side, self.plan.n_slots)
        secrets.memory[self.plan.shares[0]] = self._count(party, columns, progress)
        secrets.memory[self.plan.public] = party.constants(self.plan.public_bits, 1)[:, 0]
        for stage in self.plan.stages:
            secrets.run(stage)
            progress.add(stage.n_and)
        hashes = [labels[0, -KEY_BITS:] for labels in entered]
        circuit = outputs_if_same_keys(len(self.plan.marks))
        opened = np.concatenate([*hashes, secrets.memory[self.plan.marks]])[:, None]
        progress.add(circuit.n_and)
        return party.run(circuit, opened)[:, 0]

    def _count(self, party: Party, columns: Words, progress: GateProgress) -> Words:
        """Labels [bit, set] of the moments, one block of rows after the other."""
        bits, sets = self.widths.bits, len(self.plan.sets)
        zeros = party.constants(np.zeros(bits * sets, dtype=np.uint8), 1)
        total: Words = zeros.reshape(bits, sets, 2)
        for block in blocks_of_rows(self.rows, sets):
            products = party.run(self.products, columns[:, block.start : block.stop])
            counts = party.run(tally(len(block)), products.swapaxes(0, 1))
            circuit = accumulation(bits, len(counts))
            total = party.run(circuit, np.concatenate([total, counts]))
            ands = self.products.n_and * len(block) + sets * (tally(len(block)).n_and + circuit.n_and)
            progress.add(ands)
        return total


@dataclass
class GateProgress:
    """AND gates of both runs so far."""

    total: int
    on_event: Observer = ignore
    done: int = field(default=0, init=False)

    def add(self, gates: int) -> None:
        """Count gates, and report."""
        self.done += gates
        self.on_event(Event(PHASE, self.done, total=self.total))


@dataclass(frozen=True, eq=False)
class CheckedTransfers:
    """A party's checked transfers: of what it garbles, and of what it evaluates."""

    sender: CheckedSender
    receiver: CheckedReceiver

    @classmethod
    def set_up(cls, transport: Transport, role: Role, random: RandomBytes) -> CheckedTransfers:
        """Both directions, that in which the host garbles first."""
        if role == "host":
            sender = CheckedSender(transport, tag="checked-host", random=random)
            return cls(sender, CheckedReceiver(transport, tag="checked-guest", random=random))
        receiver = CheckedReceiver(transport, tag="checked-host", random=random)
        return cls(CheckedSender(transport, tag="checked-guest", random=random), receiver)


def same_number_of_rows(transport: Transport, role: Role, keys: int) -> int:
    """The number of rows of both, or a disagreement that both see."""
    channel = Channel.to_peer(transport, None, "rows")
    channel.send("count", keys=keys)
    other = channel.receive("count", {"keys": int})["keys"]
    if not 0 <= other < 1 << 30:
        channel.refuse("count", "is no number of keys")
    if other != keys:
        host, guest = (keys, other) if role == "host" else (other, keys)
        raise DisagreementError(
            f"the host has {host} keys and the guest {guest}: with {option('security', 'malicious')} both "
            "bring the same rows"
        )
    return keys


def input_bits(keys: Sequence[object], columns: Bits) -> Bits:
    """A party's inputs: its indicators, rows in the order of their keys, and the hash of the keys."""
    texts = key_texts(keys)
    order = sorted(range(len(texts)), key=texts.__getitem__)
    content = hashlib.sha256(b"dagora rows ")
    for row in order:
        text = texts[row].encode()
        content.update(len(text).to_bytes(8, "little") + text)
    digest = np.frombuffer(content.digest()[: KEY_BITS // 8], dtype=np.uint8)
    return np.concatenate([columns[:, order].reshape(-1), np.unpackbits(digest)])


@contextmanager
def note_possible_leakage() -> Iterator[None]:
    """Add to the message of any failure of the protocol what a cheater may have learned by then.

    The failure itself does not show it: whoever cheats chooses how the run ends.
    """
    try:
        yield
    except ProtocolError as error:
        error.consequence = MAY_BE_KNOWN
        raise


@note_possible_leakage()
def dual_search(
    transport: Transport,
    role: Role,
    terms: AgreedTerms,
    widths: BitWidths,
    transfers: CheckedTransfers,
    inputs: Bits,
    *,
    on_event: Observer = ignore,
    random: RandomBytes,
) -> FoundParents:
    """Parents of each variable, by two garbled runs that agree; their AND gates are those of both runs."""
    side = ROLES.index(role)
    function = SecretFunction.of(terms, widths)
    progress = GateProgress(malicious_gates(widths, terms), on_event)
    labels: dict[Role, Words] = {}
    for garbler in ROLES:
        tag = f"garbled-{garbler}"
        party: Party
        if garbler == role:
            party = Garbler(transport, transfers.sender, tag=tag, random=random)
        else:
            party = Evaluator(transport, transfers.receiver, tag=tag)
        labels[garbler] = function.run(party, side, inputs, progress)
    opened = open_outputs(
        Channel.to_peer(transport, None, "outputs"),
        side,
        labels[role],
        transfers.sender.delta,
        labels[ROLES[1 - side]],
        random=random,
    )
    if not opened[0]:
        raise DisagreementError(
            "the keys of the two parties are not the same: with "
            f"{option('security', 'malicious')} both bring the same rows"
        )
    parents: list[list[int]] = [[] for _ in terms.names]
    for (parent, child), mark in zip(function.plan.edges, opened[1:], strict=True):
        if mark:
            parents[child].append(parent)
    return FoundParents(parents, progress.done)
