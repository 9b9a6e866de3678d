"""A few oblivious transfers by public keys; `oblivious_transfer` extends them to millions.

The sender ends with n pairs of random 16-byte seeds, the receiver with one of each pair, as its choice bit c
says; the sender does not learn c, the receiver nothing of the other seed. With G the base point of the curve:

    sender    a random, A = aG                         >  A
    receiver  b_i random, B_i = b_i G + c_i A          <  B_1 … B_n;  the seed is H(i, A, B_i, b_i A)
    sender    seeds  H(i, A, B_i, a B_i)  and  H(i, A, B_i, a (B_i − A))

B_i is uniform whatever c_i is, so the choice is hidden perfectly. To compute the other seed one would need a²
G from aG (computational Diffie–Hellman, hash as random oracle). The protocol is that of Chou & Orlandi, The
simplest protocol for oblivious transfer, 2015, with two later corrections: the hash includes the index, both
messages and the use, so that every seed depends on the whole transcript; and points must have prime order, so
that no small subgroup reveals a choice. Semi-honest adversaries.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence

import numpy as np

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer.edwards import (
    POINT_BYTES,
    ZERO,
    add,
    check_in_group,
    multiply,
    multiply_base,
    random_scalar,
    subtract,
)
from dagora.parties.transport.messages import Array

SEED_BYTES = 16  # 128 bits of security
# Returns the given number of random bytes; tests pass a source of their own.
RandomBytes = Callable[[int], bytes]


def send_seeds(
    channel: Channel, count: int, *, random: RandomBytes = secrets.token_bytes
) -> list[tuple[bytes, bytes]]:
    """Return pairs of seeds, of which the peer's `receive_seeds` gets one each."""
    secret = random_scalar(random)
    offer = multiply_base(secret)
    channel.send("offer", point=offer)
    # a (B − A) = aB − aA takes a sum per pair, not a second product.
    step = multiply(secret, offer)
    points = channel.receive("answers", {"points": Array("u1", (count, POINT_BYTES))})["points"]
    pairs = []
    for i in range(count):
        answer = _check_key(channel, "answers", points[i].tobytes())
        shared = multiply(secret, answer)
        names = (channel.tag, i, offer, answer)
        pairs.append((_derive_seed(*names, shared), _derive_seed(*names, subtract(shared, step))))
    return pairs


def receive_seeds(
    channel: Channel, choices: Sequence[int], *, random: RandomBytes = secrets.token_bytes
) -> list[bytes]:
    """Return, of each pair of the peer's `send_seeds`, the seed that the choice bit names."""
    offer = _check_key(channel, "offer", channel.receive("offer", {"point": bytes})["point"])
    keys = [random_scalar(random) for _ in choices]
    # A sum for either choice, so that the time of this line does not depend on the choice.
    answers = [add(multiply_base(b), (ZERO, offer)[c]) for b, c in zip(keys, choices, strict=True)]
    points = np.frombuffer(b"".join(answers), dtype=np.uint8).reshape(-1, POINT_BYTES)
    channel.send("answers", points=points)
    return [_derive_seed(channel.tag, i, offer, answers[i], multiply(b, offer)) for i, b in enumerate(keys)]


def _check_key(channel: Channel, step: str, content: bytes) -> bytes:
    """Return a public key of the peer; end the run if it is no point of the group, or zero."""
    try:
        check_in_group(content)
    except ProtocolError as error:
        channel.refuse(step, f"a public key {error}")
    if content == ZERO:
        channel.refuse(step, "a public key is zero")
    return content


def _derive_seed(use: str, index: int, offer: bytes, answer: bytes, shared: bytes) -> bytes:
    # Every part has a fixed length; the use is replaced by its digest.
    digest = hashlib.sha256(f"dagora seed: {use}".encode()).digest()
    parts = (digest, index.to_bytes(8, "little"), offer, answer, shared)
    return hashlib.sha256(b"".join(parts)).digest()[:SEED_BYTES]
