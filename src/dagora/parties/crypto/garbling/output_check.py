"""The end of dual execution: two parties who each garbled the same function open its outputs, if they agree.

Each party has garbled the function once, and evaluated once what the other garbled. A garbler that cheats can
make the other evaluate anything. So nobody believes an output before the two computations are compared
(Mohassel & Franklin 2006; Huang, Katz & Evans 2012):

    decoding  <>  a commitment, then hashes of both labels of each output that one has garbled
    proof     <>  a commitment, then a hash of the labels of the outputs in both computations

A party reads the outputs off the hashes of the labels that it has evaluated, and takes, of its own garbling,
the labels of these outputs. The proofs are equal only if both have the same outputs: to make the other's
proof one needs the labels of its outputs in its own, honest garbling, and an evaluator knows one label of
each wire, that of the true output. Commitments keep either from sending back what it received.

A label that fits neither hash makes the proof a random number, so that this looks like different outputs:
what a cheater can learn from the end is one bit, whether the proofs are equal. Everything before the proof
depends on no secret. The cheater sees the outputs of the honest garbling first, and may leave then: there is
no fairness.

SHA-256 is used as a random oracle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.blocks import Words
from dagora.parties.crypto.channel import Channel

Bits = NDArray[np.uint8]
RandomBytes = Callable[[int], bytes]

DIGEST_BYTES = 32  # of SHA-256
DIFFERENT = (
    "the two computations do not agree: the other garbled or evaluated something else, or messages were "
    "damaged; there is no result"
)


def open_outputs(
    channel: Channel, side: int, zeros: Words, delta: Words, evaluated: Words, *, random: RandomBytes
) -> Bits:
    """Outputs on which both computations agree, or an error.

    `side` is 0 at one party and 1 at the other. `zeros`, uint64[outputs, 2], are the labels of zero of what
    this party has garbled under its `delta`; `evaluated` are its labels of what the other has garbled.
    """
    count = len(evaluated)
    own = np.stack([_label_hashes(side, zeros), _label_hashes(side, zeros ^ delta)], axis=1)
    content = _exchange(channel, "decoding", side, own.tobytes(), random)
    offered = np.frombuffer(content, dtype=np.uint8).reshape(count, 2, DIGEST_BYTES)
    fits = (_label_hashes(1 - side, evaluated)[:, None] == offered).all(axis=2)
    bits = np.where(fits[:, 0], 0, 1).astype(np.uint8)
    chosen = zeros ^ (np.uint64(0) - bits.astype(np.uint64))[:, None] & delta
    sound = bool(fits.any(axis=1).all())
    proof = _proof(*((chosen, evaluated) if side == 0 else (evaluated, chosen))) if sound else random(32)
    if _exchange(channel, "proof", side, proof, random) != proof or not sound:
        channel.refuse("proof", DIFFERENT)
    return bits


def _label_hashes(side: int, labels: Words) -> Bits:
    """Hash each label together with the side that garbled it and the number of its output."""
    content = np.ascontiguousarray(labels, dtype="<u8")
    digests = [
        hashlib.sha256(b"dagora output %d %d " % (side, wire) + label.tobytes()).digest()
        for wire, label in enumerate(content)
    ]
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, DIGEST_BYTES)


def _proof(first: Words, second: Words) -> bytes:
    """A hash of the labels of the outputs in both garblings, the same at both parties."""
    parts = [np.ascontiguousarray(labels, dtype="<u8").tobytes() for labels in (first, second)]
    return hashlib.sha256(b"dagora proof " + b"".join(parts)).digest()


def _exchange(channel: Channel, step: str, side: int, content: bytes, random: RandomBytes) -> bytes:
    """Return the peer's content, of the same length, to which it had committed before it saw ours."""
    nonce = random(DIGEST_BYTES)
    channel.send(f"{step}-commitment", digest=_commitment(step, side, nonce, content))
    bound = channel.receive(f"{step}-commitment", {"digest": bytes})["digest"]
    channel.send(step, nonce=nonce, content=content)
    answer = channel.receive(step, {"nonce": bytes, "content": bytes})
    if len(answer["nonce"]) != DIGEST_BYTES or len(answer["content"]) != len(content):
        channel.refuse(step, "has another length than it must have")
    if _commitment(step, 1 - side, answer["nonce"], answer["content"]) != bound:
        channel.refuse(step, "is not what it was bound to")
    other: bytes = answer["content"]
    return other


def _commitment(step: str, side: int, nonce: bytes, content: bytes) -> bytes:
    # Step and side are known, the nonce has a fixed length: no two contents are written the same way.
    return hashlib.sha256(b"dagora commitment %s %d " % (step.encode(), side) + nonce + content).digest()
