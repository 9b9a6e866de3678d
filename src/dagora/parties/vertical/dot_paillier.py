"""Dot products as shares by Paillier's encryption, as published: the messages around `crypto.paillier`.

Left sends its public key and, some rows at a time, every bit of its columns encrypted; right multiplies the
ciphertexts at which its own bits are one and returns each product masked and re-randomised.
"""

from __future__ import annotations

import numpy as np
from gmpy2 import mpz  # type: ignore[import-untyped]
from numpy.typing import NDArray

from dagora.events import Event, Observer
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.paillier import KEY_BITS, Multiplier, PublicKey, SecretKey
from dagora.parties.crypto.ring_samples import RandomBytes
from dagora.parties.messages import Array

PHASE = "dot products"
CIPHERTEXTS_AT_ONCE = 1024  # seconds of work: the peer waits for a message no longer than that
RESULTS_AT_ONCE = 128


def encrypting(
    channel: Channel,
    columns: NDArray[np.uint8],
    pairs: NDArray[np.int32],
    modulus: int,
    on_event: Observer,
    random: RandomBytes,
) -> NDArray[np.uint64]:
    """Return the left party's shares."""
    key = SecretKey.generate(KEY_BITS, random)
    size = key.public.size
    # Numbers as bytes of fixed length: no size depends on what is inside.
    channel.send(
        "key",
        n=int(key.public.n).to_bytes(KEY_BITS // 8, "big"),
        base=int(key.public.base).to_bytes(size, "big"),
    )
    left = np.unique(pairs[:, 0])
    rows = columns.shape[1]
    step = rows_at_once(len(left))
    for start in range(0, rows, step):
        bits = columns[left, start : start + step]
        content = b"".join(int(key.encrypt(int(bit))).to_bytes(size, "big") for bit in bits.reshape(-1))
        channel.send("columns", columns=np.frombuffer(content, dtype=np.uint8).reshape(*bits.shape, size))
        on_event(Event(PHASE, min(start + step, rows), total=rows))
    shares = np.empty(len(pairs), dtype=np.uint64)
    for start in range(0, len(pairs), RESULTS_AT_ONCE):
        stop = min(start + RESULTS_AT_ONCE, len(pairs))
        message = channel.receive("results", {"results": Array("u1", (stop - start, size))})
        for i, content in enumerate(message["results"], start):
            value = int.from_bytes(content.tobytes(), "big")
            if not 0 < value < key.public.n**2:
                channel.refuse("results", "a ciphertext is not between 0 and n²")
            shares[i] = key.decrypt(mpz(value)) % modulus
    return shares


def multiplying(
    channel: Channel,
    columns: NDArray[np.uint8],
    pairs: NDArray[np.int32],
    modulus: int,
    on_event: Observer,
    random: RandomBytes,
) -> NDArray[np.uint64]:
    """Return the right party's shares."""
    message = channel.receive("key", {"n": bytes, "base": bytes})
    public = PublicKey(*(mpz(int.from_bytes(message[name], "big")) for name in ("n", "base")))
    try:
        public.check(KEY_BITS)
    except ValueError as error:
        channel.refuse("key", str(error))
    multiplier, size = Multiplier(public, random), public.size
    left, index = np.unique(pairs[:, 0], return_inverse=True)
    rows = columns.shape[1]
    step = rows_at_once(len(left))
    totals = [mpz(1)] * len(pairs)
    for start in range(0, rows, step):
        bits = columns[:, start : start + step]
        message = channel.receive("columns", {"columns": Array("u1", (len(left), bits.shape[1], size))})
        try:
            ciphertexts = [[multiplier.read(cell.tobytes()) for cell in row] for row in message["columns"]]
        except ValueError as error:
            channel.refuse("columns", str(error))
        chosen = bits.tolist()
        for k, (i, j) in enumerate(zip(index, pairs[:, 1], strict=True)):
            totals[k] = multiplier.add(totals[k], ciphertexts[i], chosen[j])
        on_event(Event(PHASE, min(start + step, rows), total=rows))
    shares = np.empty(len(pairs), dtype=np.uint64)
    for start in range(0, len(pairs), RESULTS_AT_ONCE):
        content = b""
        for k in range(start, min(start + RESULTS_AT_ONCE, len(pairs))):
            result, shares[k] = multiplier.mask(totals[k], modulus)
            content += int(result).to_bytes(size, "big")
        channel.send("results", results=np.frombuffer(content, dtype=np.uint8).reshape(-1, size))
    return shares


def rows_at_once(columns: int) -> int:
    """Return how many rows go into one message."""
    return max(1, CIPHERTEXTS_AT_ONCE // columns)
