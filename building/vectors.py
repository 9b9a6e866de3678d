"""Write the test vectors of docs/audit: of every primitive, and of one whole run of each protocol.

    python -m building.vectors docs/audit/vectors

All randomness is SHAKE-256 of a name and a count (`Source`), so that the same bytes come out on every
machine. `docs/audit/check_vectors.py`, which imports nothing of dagora, computes them again.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.parties.crypto.aes import encrypt_blocks, expand_key
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.encryption.paillier import PaillierSecretKey, random_prime
from dagora.parties.crypto.encryption.rlwe import RlweSecretKey
from dagora.parties.crypto.garbling.circuit import AND, Circuit
from dagora.parties.crypto.garbling.half_gates import garble
from dagora.parties.crypto.garbling.output_check import open_outputs
from dagora.parties.crypto.hashing import hash_blocks
from dagora.parties.crypto.transfer import base_transfer, endemic_transfer
from dagora.parties.crypto.transfer.checked_transfer import CheckedReceiver, CheckedSender
from dagora.parties.crypto.transfer.column_hash import hash_columns
from dagora.parties.crypto.transfer.oblivious_prf import receive_values, send_function
from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.log import site_log
from dagora.parties.horizontal.log.site_log import MemoryLog, open_log
from dagora.parties.horizontal.plan.coded_rows import CodedRows
from dagora.parties.horizontal.plan.drafting import codebook_of, draft_trial
from dagora.parties.horizontal.policy.drafted_policy import trial_policy
from dagora.parties.horizontal.secure_sum.identity import KnownKeys
from dagora.parties.horizontal.secure_sum.masks import (
    KeyPair,
    MaskContext,
    keystream,
    pair_masks,
    pair_secret,
)
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.session.federation import Site
from dagora.parties.horizontal.session.fourth_sums import fourth_sums
from dagora.parties.horizontal.session.serving import serve_site
from dagora.parties.privacy.discrete_gaussian import discrete_gaussian
from dagora.parties.replicated.group_k2 import group_k2
from dagora.parties.replicated.replicated_party import ReplicatedParty
from dagora.parties.replicated.terms import GroupProposal
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.messages import encode
from dagora.parties.transport.transport import Payload, Transport
from dagora.parties.transport.wire_format import FrameKind, pack
from dagora.parties.vertical.agreement import TermsProposal
from dagora.parties.vertical.private_k2 import PartyData, private_k2

Vector = dict[str, Any]
COORDINATOR = "coordinator"
SITES = ("east", "north", "south")
PATIENCE = 600.0  # kernels may have to be compiled
LONGEST = 400  # bytes of a message that are written out; of a longer one, the hash


class Source:
    """Bytes that anybody can compute: of the k-th call, SHAKE-256 of the name and k."""

    def __init__(self, name: str) -> None:
        self._name, self._calls = name, 0

    def __call__(self, size: int) -> bytes:
        """The next bytes."""
        self._calls += 1
        return hashlib.shake_256(f"dagora vectors, {self._name}, {self._calls}".encode()).digest(size)

    def words(self, *shape: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """The next words of 64 bits, as an array."""
        return np.frombuffer(self(8 * int(np.prod(shape))), dtype="<u8").reshape(shape).astype(np.uint64)


class Wire:
    """A transport that keeps what its party sends."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.sent: list[tuple[str, str, bytes]] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._inner, name)

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Send, and keep."""
        self.sent.append((to, tag, bytes(payload)))
        self._inner.send(to, tag, payload)


def run_parties(parties: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Run each party in a thread of its name; return what they return."""
    found: dict[str, Any] = {}

    def work(name: str) -> None:
        found[name] = parties[name]()

    threads = [threading.Thread(target=work, args=(name,), name=name, daemon=True) for name in parties]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    if len(found) < len(parties):
        sys.exit(f"a party of the vectors failed: only {sorted(found)} ended")
    return found


def two(sender: Callable[[Wire], Any], receiver: Callable[[Wire], Any]) -> tuple[Any, Any, list[Vector]]:
    """Run two parties; return what they return, and the messages."""
    network = memory_network(["sender", "receiver"], timeout=PATIENCE)
    wires = {name: Wire(network[name]) for name in network}
    found = run_parties(
        {"sender": lambda: sender(wires["sender"]), "receiver": lambda: receiver(wires["receiver"])}
    )
    return found["sender"], found["receiver"], messages(wires)


def messages(wires: Mapping[str, Wire], longest: int = LONGEST) -> list[Vector]:
    """The messages of each sender in the order in which it sent them."""
    return [
        {
            "from": name,
            "to": to,
            "tag": tag,
            "size": len(payload),
            **({"bytes": payload.hex()} if len(payload) <= longest else {"sha256": digest(payload)}),
        }
        for name, wire in wires.items()
        for to, tag, payload in wire.sent
    ]


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def in_hex(array: np.ndarray[Any, Any]) -> str:
    """An array's elements, little endian, in hexadecimal digits."""
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes().hex()


# --- primitives


def wire_vectors() -> Vector:
    """A message with every kind of value, and the frame around it."""
    content = {
        "nothing": None, "yes": True, "no": False, "number": -300, "large": 1 << 70, "real": 0.5,
        "text": "naïve", "bytes": b"\x00\xff", "list": [1, "two"], "named": {"n": 3},
        "array": np.array([[1, 2], [3, 4]], dtype=np.uint64),
    }  # fmt: skip
    payload = encode(content)
    frame = pack(FrameKind.MESSAGE, b"ask", 7, len(payload)) + payload
    return {"payload": payload.hex(), "frame": frame.hex(), "tag": "ask", "sequence": 7}


def mask_vectors() -> Vector:
    """The masks of two sites in one round."""
    draw = Source("masks")
    private = [draw(32), draw(32)]
    pairs = [key_pair(key) for key in private]
    context = MaskContext(draw(32), 3, "ab" * 32, (5,))
    secret = pair_secret(pairs[0], "east", "north", pairs[1].public)
    return {
        "private_keys": [key.hex() for key in private],
        "names": ["east", "north"],
        "session": context.session.hex(),
        "round": context.round,
        "label": context.label,
        "size": 5,
        "pair_secret": secret.hex(),
        "mask_of_east": in_hex(pair_masks("east", {"north": secret}, context)),
        "keystream_of_the_secret": in_hex(keystream(secret, (5,))),
    }


def key_pair(private: bytes) -> KeyPair:
    """The X25519 key pair of a private key."""
    return KeyPair(private, X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw())


def aes_vectors() -> Vector:
    """AES-128 on single blocks, and the hash of labels made from it."""
    draw = Source("aes")
    key, blocks = draw(16), draw.words(6, 2)
    return {
        "key": key.hex(),
        "blocks": in_hex(blocks),
        "encrypted": in_hex(encrypt_blocks(expand_key(key), blocks)),
        "first_tweak": 1000,
        "hashed": in_hex(hash_blocks(expand_key(key), blocks, np.uint64(1000))),
    }


def gate_vectors() -> Vector:
    """One AND gate, garbled."""
    draw = Source("gate")
    key, zeros, delta = draw(16), draw.words(2, 1, 2), draw.words(2)
    delta[0] |= np.uint64(1)
    wire = [np.array([k], dtype=np.int32) for k in range(3)]
    gate = Circuit(2, np.array([AND], dtype=np.uint8), *wire)
    output, tables = garble(gate, zeros, delta, 40, keys=expand_key(key))
    return {
        "key": key.hex(),
        "delta": in_hex(delta),
        "zero_labels": in_hex(zeros),
        "first_tweak": 40,
        "tables": in_hex(tables),
        "zero_label_of_output": in_hex(output),
    }


def seed_vectors(module: Any, name: str) -> Vector:  # noqa: ANN401
    """A few transfers of seeds by public keys."""
    choices = [0, 1, 1]
    pairs, chosen, sent = two(
        lambda wire: module.send_seeds(
            Channel(wire, "receiver", "seeds"), 3, random=Source(f"{name} sender")
        ),
        lambda wire: module.receive_seeds(
            Channel(wire, "sender", "seeds"), choices, random=Source(f"{name} receiver")
        ),
    )
    return {
        "choices": choices,
        "pairs": [[seed.hex() for seed in pair] for pair in pairs],
        "chosen": [seed.hex() for seed in chosen],
        "messages": sent,
    }


def extension_vectors() -> Vector:
    """Random transfers by the extension, whose base transfers are those of `seed_vectors`."""
    choices = np.array([0, 1, 1, 0, 1], dtype=np.uint8)
    pairs, chosen, sent = two(
        lambda wire: TransferSender(wire, random=Source("extension sender")).random_transfer(len(choices)),
        lambda wire: TransferReceiver(wire, random=Source("extension receiver")).random_transfer(choices),
    )
    return {"choices": choices.tolist(), "pairs": in_hex(pairs), "chosen": in_hex(chosen), "messages": sent}


def checked_vectors() -> Vector:
    """Transfers with the check against a receiver that cheats."""
    choices = np.array([1, 0, 1], dtype=np.uint8)

    def send(wire: Wire) -> Any:  # noqa: ANN401
        sender = CheckedSender(wire, random=Source("checked sender"))
        return sender.delta, sender.fresh_labels(len(choices))

    (delta, zeros), labels, sent = two(
        send,
        lambda wire: CheckedReceiver(wire, random=Source("checked receiver")).receive_fresh_labels(choices),
    )
    return {
        "choices": choices.tolist(),
        "delta": in_hex(delta),
        "zero_labels": in_hex(zeros),
        "labels": in_hex(labels),
        "messages": sent,
    }


def column_hash_vectors() -> Vector:
    """The hash of columns in GF(2¹²⁸)."""
    draw = Source("columns")
    columns, key = draw.words(2, 6), draw(16)
    return {"columns": in_hex(columns), "key": key.hex(), "hashes": in_hex(hash_columns(columns, key))}


def function_vectors() -> Vector:
    """The oblivious pseudorandom function on three inputs."""
    inputs, session = Source("inputs").words(3, 2), b"vectors"

    def send(wire: Wire) -> Any:  # noqa: ANN401
        transfer = TransferReceiver(wire, random=Source("function transfer of the sender"))
        channel = Channel(wire, "receiver", "function")
        return send_function(channel, transfer, session, len(inputs), random=Source("function sender"))

    def receive(wire: Wire) -> Any:  # noqa: ANN401
        transfer = TransferSender(wire, random=Source("function transfer of the receiver"))
        return receive_values(Channel(wire, "sender", "function"), transfer, session, inputs)

    key, values, sent = two(send, receive)
    return {
        "session": session.hex(),
        "inputs": in_hex(inputs),
        "choice": in_hex(key.choice),
        "rows_of_the_key": in_hex(key.rows),
        "values": in_hex(values),
        "messages": sent,
    }


def output_vectors() -> Vector:
    """The comparison at the end of dual execution, of two outputs that are 1 and 0."""
    draw, bits = Source("outputs"), np.array([1, 0], dtype=np.uint8)
    zeros, deltas = draw.words(2, 2, 2), draw.words(2, 2)
    evaluated = [zeros[1 - side] ^ (bits[:, None] * deltas[1 - side]) for side in (0, 1)]

    def side(number: int, peer: str) -> Callable[[Wire], Any]:
        return lambda wire: open_outputs(
            Channel(wire, peer, "outputs"), number, zeros[number], deltas[number], evaluated[number],
            random=Source(f"outputs of side {number}"),
        )  # fmt: skip

    opened, _, sent = two(side(0, "receiver"), side(1, "sender"))
    return {
        "zero_labels": [in_hex(some) for some in zeros],
        "deltas": [in_hex(some) for some in deltas],
        "opened": opened.tolist(),
        "messages": sent,
    }


def encryption_vectors() -> Vector:
    """A small Paillier key, and a block of bits under Ring-LWE."""
    p, q = (int(random_prime(128, draw)) for draw in [Source("paillier")] * 2)
    key = PaillierSecretKey(p, q, Source("paillier encryption"))
    cipher = key.encrypt(123456789)
    lattice = RlweSecretKey(Source("lattice"))
    bits = np.frombuffer(Source("bits")(64), dtype=np.uint8)[None] & 1
    return {
        "paillier": {"p": str(p), "q": str(q), "message": 123456789, "ciphertext": str(cipher)},
        "rlwe": {
            "bits": bits[0].tolist(),
            "plain_bits": 16,
            "public_key_sha256": digest(lattice.public.packed.tobytes()),
            "ciphertext_sha256": digest(lattice.encrypt(bits, 16).tobytes()),
        },
    }


def noise_vectors() -> Vector:
    """Draws of the discrete Gaussian."""
    key = Source("noise")(32)
    drawn = discrete_gaussian(key, Fraction(25, 2), 20)
    return {"key": key.hex(), "variance": "25/2", "draws": drawn.tolist()}


def fourth_vectors() -> Vector:
    """Sums of products of up to four of three columns, over 50 rows of integers up to 2²⁰."""
    bits, shape = 20, (3, 50)
    drawn = np.frombuffer(Source("fourth")(4 * 150), dtype="<u4").astype(np.int64)
    numbers = (drawn % ((1 << bits + 1) + 1) - (1 << bits)).reshape(shape)
    schema = Schema([Variable(name, Kind.CONTINUOUS) for name in "xyz"])
    rows = CodedRows(schema, np.zeros(shape, dtype=np.uint16), numbers, bits)
    sums = fourth_sums(rows, [(2, 0, 1)])
    return {"bits": bits, "columns": numbers.tolist(), "set": [2, 0, 1], "sums": sums.tolist()}


def zero_vectors() -> Vector:
    """The parts of zero of three parties."""
    names = ("ann", "bob", "cleo")
    network = memory_network(names, timeout=PATIENCE)

    def part(name: str) -> str:
        party = ReplicatedParty(network[name], names, random=Source(f"zero {name}"))
        return in_hex(party.zero_integers((4,), np.dtype(np.uint32)))

    found = run_parties({name: lambda name=name: part(name) for name in names})
    seeds = [Source(f"zero {name}")(16).hex() for name in names]
    return {"seeds": seeds, "parts": [found[name] for name in names]}


def log_vectors() -> Vector:
    """Two lines of a site's log."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.jsonl")
        with (
            mock.patch.object(site_log, "now", return_value="2026-01-01T00:00:00.000+00:00"),
            open_log(path) as log,
        ):
            log.add("refused", {"reason": "an example"})
            log.add("end", {"reason": "done"})
        return {"lines": path.read_text(encoding="utf-8").splitlines()}


# --- whole runs


def federated_run() -> Vector:
    """Three sites are asked for two sums of counts; their keys and all messages are written out."""
    tables = {
        name: Table.from_numpy((np.arange(8)[:, None] * [1, 3] + k) % 5 % 2, names=["a", "b"])
        for k, name in enumerate(SITES)
    }
    names = (COORDINATOR, *SITES)
    signing = {name: Ed25519PrivateKey.from_private_bytes(Source(f"signs {name}")(32)) for name in names}
    public = {name: key.public_key() for name, key in signing.items()}
    identities = {name: KnownKeys(name, signing[name], public) for name in names}
    prints = {name: each.fingerprint(each.certificate) for name, each in identities.items()}
    sites = {name: prints[name] for name in SITES}
    plan = draft_trial(codebook_of(tables), sites, "hill-climb", prints[COORDINATOR], largest_rows=24)
    network = memory_network(names, hub=COORDINATOR, timeout=PATIENCE)
    wires = {name: Wire(network[name]) for name in names}
    questions = [[()], [(0,), (0, 1)]]

    def serve(name: str) -> None:
        site = Site(name, tables[name])
        serve_site(wires[name], site, trial_policy(plan), identities[name], MemoryLog(), TASKS)

    def ask() -> list[list[int]]:
        with CoordinatorSession(
            wires[COORDINATOR], plan, identities[COORDINATOR], patience=PATIENCE
        ) as session:
            session.agree()
            return [np.asarray(session.counts(sets)).ravel().tolist() for sets in questions]

    def make(_: type[KeyPair]) -> KeyPair:
        return key_pair(Source(f"agrees {threading.current_thread().name}")(32))

    parties: dict[str, Callable[[], Any]] = {name: lambda name=name: serve(name) for name in SITES}
    with mock.patch.object(KeyPair, "make", classmethod(make)):
        found = run_parties({COORDINATOR: ask, **parties})
    return {
        "private_keys": {name: Source(f"agrees {name}")(32).hex() for name in names},
        "rows": {name: [table.codes(0).tolist(), table.codes(1).tolist()] for name, table in tables.items()},
        "questions": [[list(some) for some in sets] for sets in questions],
        "sums": found[COORDINATOR],
        "messages": messages(wires, longest=1 << 20),
    }


def owners_rows() -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[str]]:
    """Forty rows of three columns that depend on each other, and their keys."""
    bits = np.frombuffer(Source("rows")(120), dtype=np.uint8).reshape(40, 3) & 1
    bits[:, 1] ^= np.where(np.arange(40) % 5 == 0, bits[:, 0] ^ bits[:, 1] ^ 1, bits[:, 0] ^ bits[:, 1])
    return bits.astype(np.int64), [f"person {row}" for row in range(40)]


def party_data(columns: Sequence[int]) -> PartyData:
    """The columns of one owner."""
    rows, keys = owners_rows()
    names = [f"x{column}" for column in columns]
    return PartyData(Table.from_numpy(rows[:, list(columns)], names=names, discrete=names), keys)


def owners_run(security: str) -> Vector:
    """Two owners, of columns x0 and of x1 and x2."""
    proposal = TermsProposal(max_parents=1, security=security)  # type: ignore[arg-type]
    network = memory_network(["host", "guest"], timeout=PATIENCE)
    wires = {name: Wire(network[name]) for name in ("host", "guest")}
    brought = {"host": party_data([0]), "guest": party_data([1, 2])}
    asked = {"host": proposal, "guest": TermsProposal(security=security)}  # type: ignore[arg-type]
    found = run_parties(
        {
            name: lambda name=name: private_k2(
                wires[name], name, brought[name], asked[name], random=Source(f"{security} {name}")
            )
            for name in wires
        }
    )
    return run_vector(found["host"].outcome.graph.edges, wires)


def group_run() -> Vector:
    """Three owners of a column each."""
    names = ("ann", "bob", "cleo")
    network = memory_network(names, timeout=PATIENCE)
    wires = {name: Wire(network[name]) for name in names}
    found = run_parties(
        {
            name: lambda k=k, name=name: group_k2(
                wires[name], names, party_data([k]), GroupProposal(max_parents=1 if k == 0 else None),
                random=Source(f"group {name}"),
            )
            for k, name in enumerate(names)
        }
    )  # fmt: skip
    return run_vector(found["ann"].outcome.graph.edges, wires)


def run_vector(edges: Sequence[tuple[str, str]], wires: Mapping[str, Wire]) -> Vector:
    """Rows, order, edges and messages of a run of K2."""
    rows, keys = owners_rows()
    return {
        "rows": rows.tolist(),
        "keys": keys,
        "max_parents": 1,
        "edges": [list(edge) for edge in edges],
        "messages": messages(wires),
    }


def all_vectors() -> dict[str, Vector]:
    """The content of each file."""
    primitives = {
        "wire": wire_vectors(),
        "masks": mask_vectors(),
        "aes": aes_vectors(),
        "gate": gate_vectors(),
        "base_transfer": seed_vectors(base_transfer, "base"),
        "endemic_transfer": seed_vectors(endemic_transfer, "endemic"),
        "extension": extension_vectors(),
        "checked_transfer": checked_vectors(),
        "column_hash": column_hash_vectors(),
        "function": function_vectors(),
        "outputs": output_vectors(),
        "encryption": encryption_vectors(),
        "noise": noise_vectors(),
        "fourth": fourth_vectors(),
        "zero": zero_vectors(),
        "log": log_vectors(),
    }
    return {
        "primitives": primitives,
        "federated": federated_run(),
        "private": owners_run("semi-honest"),
        "private-malicious": owners_run("malicious"),
        "private-group": group_run(),
    }


def main(folder: str) -> None:
    """Write every file."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in all_vectors().items():
        Path(folder, f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
