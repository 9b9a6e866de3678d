"""Constants of Ed25519, and recorded runs of both base transfers."""

import hashlib

from dagora.parties.crypto.channel import Channel
from tests.parties.pairs import both, wires

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
BASE = (4 * pow(5, -1, P) % P).to_bytes(32, "little")
ORDER_TWO = (P - 1).to_bytes(32, "little")


def scalar(value):
    """An integer modulo the order, as 32 bytes."""
    return (value % ORDER).to_bytes(32, "little")


def hashed_source(label):
    """A source of bytes: hashes of a label and a counter, of which 64 bytes are a number below the order."""
    count = 0

    def random(size):
        nonlocal count
        count += 1
        digest = hashlib.sha256(f"{label} {count}".encode()).digest()
        return digest[:31] + bytes(33) if size == 64 else digest[:size]

    return random


def recorded_run(transfer):
    """Digests of all bytes on the wire and of all seeds of six transfers with fixed keys, and one seed."""
    pair = wires()
    pairs, seeds = both(
        pair,
        lambda wire: transfer.send_seeds(
            Channel.to_peer(wire, None, "transfer"), 6, random=hashed_source("sender")
        ),
        lambda wire: transfer.receive_seeds(
            Channel.to_peer(wire, None, "transfer"), [0, 1, 1, 0, 1, 0], random=hashed_source("receiver")
        ),
    )
    sent = b"".join(payload for wire in pair for _, _, payload in wire.sent)
    both_seeds = b"".join(zero + one for zero, one in pairs)
    return hashlib.sha256(sent).hexdigest(), hashlib.sha256(both_seeds).hexdigest(), seeds[1].hex()
