"""A few oblivious transfers by public keys that hold against parties who do anything.

What `base_transfer` does, at about twice its price, by the protocol of Masny & Rindal, Endemic oblivious
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
import secrets
from collections.abc import Sequence

import numpy as np

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer.base_transfer import SEED_BYTES, RandomBytes
from dagora.parties.crypto.transfer.edwards import (
    BASE,
    POINT_BYTES,
    ZERO,
    Multiples,
    Point,
    decode_any,
    random_scalar,
)
from dagora.parties.transport.messages import Array

DOUBLINGS = 3  # the cofactor is 8


def send_seeds(
    channel: Channel, count: int, *, random: RandomBytes = secrets.token_bytes
) -> list[tuple[bytes, bytes]]:
    """Return pairs of seeds, of which the peer's `receive_seeds` gets one each."""
    of_base = Multiples(BASE)
    keys = [random_scalar(random) for _ in range(count)]
    offers = [of_base(key).encode() for key in keys]
    channel.send("offers", points=_rows(offers, 1))
    points = channel.receive("answers", {"points": Array("u1", (count, 2, POINT_BYTES))})["points"]
    pairs = []
    for i, key in enumerate(keys):
        texts = points[i, 0].tobytes(), points[i, 1].tobytes()
        first, second = (_read_point(channel, "answers", text) for text in texts)
        sums = (
            first + _hash_point(channel.tag, i, 0, texts[1]),
            second + _hash_point(channel.tag, i, 1, texts[0]),
        )
        zero, one = (
            _seed(channel.tag, i, bit, offers[i], texts, key * _in_group(total))
            for bit, total in enumerate(sums)
        )
        pairs.append((zero, one))
    return pairs


def receive_seeds(
    channel: Channel, choices: Sequence[int], *, random: RandomBytes = secrets.token_bytes
) -> list[bytes]:
    """Return, of each pair of the peer's `send_seeds`, the seed that the choice bit names."""
    offers = channel.receive("offers", {"points": Array("u1", (len(choices), 1, POINT_BYTES))})["points"]
    of_base = Multiples(BASE)
    answers: list[tuple[bytes, bytes]] = []
    seeds = []
    for i, choice in enumerate(choices):
        offer = offers[i, 0].tobytes()
        offered = _in_group(_read_point(channel, "offers", offer))
        if offered == ZERO:
            channel.refuse("offers", "a public key is of small order")
        key = random_scalar(random)
        other = _hash_point(channel.tag, i, 2, random(POINT_BYTES)).encode()
        chosen = (of_base(key) - _hash_point(channel.tag, i, choice, other)).encode()
        texts = (other, chosen) if choice else (chosen, other)
        answers.append(texts)
        seeds.append(_seed(channel.tag, i, choice, offer, texts, key * offered))
    channel.send("answers", points=_rows([text for texts in answers for text in texts], 2))
    return seeds


def _rows(texts: Sequence[bytes], each: int) -> np.ndarray:
    return np.frombuffer(b"".join(texts), dtype=np.uint8).reshape(-1, each, POINT_BYTES)


def _read_point(channel: Channel, step: str, content: bytes) -> Point:
    try:
        return decode_any(content)
    except ProtocolError as error:
        channel.refuse(step, f"a public key {error}")


def _in_group(point: Point) -> Point:
    """The point times the cofactor, which has no part outside of the group of prime order."""
    for _ in range(DOUBLINGS):
        point = point.double()
    return point


def _hash_point(use: str, index: int, bit: int, content: bytes) -> Point:
    """A point of the group of prime order that nobody knows a logarithm of: hashes until one is a point."""
    digest = hashlib.sha256(f"dagora point: {use}".encode()).digest()
    names = digest + index.to_bytes(8, "little") + bytes([bit])
    attempt = 0
    while True:
        text = hashlib.sha256(names + attempt.to_bytes(4, "little") + content).digest()
        attempt += 1
        try:
            point = _in_group(decode_any(text))
        except ProtocolError:
            continue
        if point != ZERO:
            return point


def _seed(use: str, index: int, bit: int, offer: bytes, texts: tuple[bytes, bytes], shared: Point) -> bytes:
    # Every part has a fixed length; the use is replaced by its digest.
    digest = hashlib.sha256(f"dagora endemic seed: {use}".encode()).digest()
    parts = (digest, index.to_bytes(8, "little"), bytes([bit]), offer, *texts, shared.encode())
    return hashlib.sha256(b"".join(parts)).digest()[:SEED_BYTES]
