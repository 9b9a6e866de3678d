"""A few oblivious transfers by public keys that hold against parties who do anything.

The same as `base_transfer` at about twice the price, by the protocol of Masny & Rindal, Endemic oblivious
transfer, 2019, with Diffie–Hellman as its key agreement. For each transfer, with H_0 and H_1 hashes onto the
group and c the choice:

    sender    a random, A = aG                                            >  A
    receiver  b random, R_(1−c) a random point, R_c = bG − H_c(R_(1−c))   <  R_0, R_1;  the seed is h(bA)
    sender    seeds  h(a (R_0 + H_0(R_1)))  and  h(a (R_1 + H_1(R_0)))

R_0 and R_1 are uniform and independent whatever c is, so the choice is hidden perfectly. Whoever knows the
logarithm of one of the two sums has fixed the other by a hash, and cannot know its logarithm too: so a
simulator that answers the hashes finds the choice of a receiver that cheats (random oracles, decisional
Diffie–Hellman). "Endemic": a party that cheats may have a say in its own seeds, which the extension of
transfers may know anyway. (Chou & Orlandi's protocol has no such simulator without a stronger assumption.)

Points from the peer are multiplied by the cofactor 8, so that none has a part outside of the group of prime
order. The receiver's random point is a hash of random bytes: it knows no logarithm.
"""

from __future__ import annotations

import hashlib
import itertools
import secrets
from collections.abc import Sequence

import numpy as np

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer.base_transfer import SEED_BYTES, RandomBytes
from dagora.parties.crypto.transfer.edwards import (
    POINT_BYTES,
    ZERO,
    add,
    check_on_curve,
    clear_cofactor,
    multiply,
    multiply_base,
    random_scalar,
    subtract,
)
from dagora.parties.transport.messages import Array


def send_seeds(
    channel: Channel, count: int, *, random: RandomBytes = secrets.token_bytes
) -> list[tuple[bytes, bytes]]:
    """Return pairs of seeds, of which the peer's `receive_seeds` gets one each."""
    keys = [random_scalar(random) for _ in range(count)]
    offers = [multiply_base(key) for key in keys]
    channel.send("offers", points=_rows(offers, 1))
    points = channel.receive("answers", {"points": Array("u1", (count, 2, POINT_BYTES))})["points"]
    pairs = []
    for i, key in enumerate(keys):
        first, second = (_check_key(channel, "answers", point.tobytes()) for point in points[i])
        sums = (
            add(first, _hash_point(channel.tag, i, 0, second)),
            add(second, _hash_point(channel.tag, i, 1, first)),
        )
        shared = (multiply(key, clear_cofactor(total)) for total in sums)
        names = (offers[i], (first, second))
        zero, one = (_derive_seed(channel.tag, i, bit, *names, point) for bit, point in enumerate(shared))
        pairs.append((zero, one))
    return pairs


def receive_seeds(
    channel: Channel, choices: Sequence[int], *, random: RandomBytes = secrets.token_bytes
) -> list[bytes]:
    """Return, of each pair of the peer's `send_seeds`, the seed that the choice bit names."""
    offers = channel.receive("offers", {"points": Array("u1", (len(choices), 1, POINT_BYTES))})["points"]
    answers: list[tuple[bytes, bytes]] = []
    seeds = []
    for i, choice in enumerate(choices):
        offer = _check_key(channel, "offers", offers[i, 0].tobytes())
        offered = clear_cofactor(offer)
        if offered == ZERO:
            channel.refuse("offers", "a public key is of small order")
        key = random_scalar(random)
        other = _hash_point(channel.tag, i, 2, random(POINT_BYTES))
        chosen = subtract(multiply_base(key), _hash_point(channel.tag, i, choice, other))
        # With both of the sender's hashes the number of attempts does not depend on the choice.
        _hash_point(channel.tag, i, 1 - choice, chosen)
        texts = (other, chosen) if choice else (chosen, other)
        answers.append(texts)
        seeds.append(_derive_seed(channel.tag, i, choice, offer, texts, multiply(key, offered)))
    channel.send("answers", points=_rows([text for texts in answers for text in texts], 2))
    return seeds


def _rows(texts: Sequence[bytes], each: int) -> np.ndarray:
    return np.frombuffer(b"".join(texts), dtype=np.uint8).reshape(-1, each, POINT_BYTES)


def _check_key(channel: Channel, step: str, content: bytes) -> bytes:
    """Return a public key of the peer; end the run if it is no point of the curve."""
    try:
        return check_on_curve(content)
    except ProtocolError as error:
        channel.refuse(step, f"a public key {error}")


def _hash_point(use: str, index: int, bit: int, content: bytes) -> bytes:
    """Hash onto the group of prime order, until a hash is a point; nobody knows a logarithm of the result."""
    digest = hashlib.sha256(f"dagora point: {use}".encode()).digest()
    names = digest + index.to_bytes(8, "little") + bytes([bit])
    for attempt in itertools.count():
        text = hashlib.sha256(names + attempt.to_bytes(4, "little") + content).digest()
        try:
            point = clear_cofactor(check_on_curve(text))
        except ProtocolError:
            continue
        if point != ZERO:
            break
    return point


def _derive_seed(
    use: str, index: int, bit: int, offer: bytes, texts: tuple[bytes, bytes], shared: bytes
) -> bytes:
    # Every part has a fixed length; the use is replaced by its digest.
    digest = hashlib.sha256(f"dagora endemic seed: {use}".encode()).digest()
    parts = (digest, index.to_bytes(8, "little"), bytes([bit]), offer, *texts, shared)
    return hashlib.sha256(b"".join(parts)).digest()[:SEED_BYTES]
