"""A test that all owners have the same keys, which reveals yes or no and nothing else about the keys.

Two owners can find their common keys (`vertical.intersection`). For three, common keys pair by pair would
reveal more to each pair than the keys of all, and K2 must not use rows that only some have. So here every
owner must bring the same rows, in any sequence: all sort them by key. Each hashes its sorted keys to 128 bits
and shares the bits; the three compare them in a circuit and open one bit. A hash that an owner could see
would let it try sets of keys at leisure, such as its own without some of them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.garbling.builder import Bit, Builder
from dagora.parties.crypto.garbling.circuit import Circuit
from dagora.parties.replicated.evaluation import SharedBits
from dagora.parties.replicated.layers import sort_into_layers
from dagora.parties.replicated.replicated_party import PARTIES, RandomBytes, ReplicatedParty
from dagora.parties.replicated.terms import GroupTerms
from dagora.parties.transport.messages import Array
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.circuit_plan import Planner

HASH_BYTES = 16  # 128 bits: different rows have the same hash by chance never
HASH_BITS = 8 * HASH_BYTES
TAG = "rows"


def hash_of_keys(sorted_keys: Sequence[str]) -> NDArray[np.uint8]:
    """The bits of a hash of keys in their order."""
    parts = hashlib.blake2b(b"dagora rows of a group", digest_size=HASH_BYTES)
    for key in sorted_keys:
        content = key.encode()
        parts.update(len(content).to_bytes(8, "little") + content)
    return np.unpackbits(np.frombuffer(parts.digest(), dtype=np.uint8))


def send_hash(
    transport: Transport, terms: GroupTerms, bits: NDArray[np.uint8], *, random: RandomBytes
) -> list[NDArray[np.uint8]]:
    """Share the bits of a hash among the three; returns the three parts, packed."""
    content = np.packbits(bits)
    x0, x1 = (np.frombuffer(random(HASH_BYTES), dtype=np.uint8) for _ in range(2))
    parts = [x0, x1, content ^ x0 ^ x1]
    for position, name in enumerate(terms.computing):
        if name != transport.name:
            both = np.stack([parts[position], parts[(position + 1) % PARTIES]])
            Channel(transport, name, TAG).send("hash", parts=both)
    return parts


def have_same_rows(
    transport: Transport,
    party: ReplicatedParty,
    terms: GroupTerms,
    bits: NDArray[np.uint8],
    *,
    random: RandomBytes = secrets.token_bytes,
) -> bool:
    """Return True if all owners' hashes are the same; called by the three computing parties."""
    own = send_hash(transport, terms, bits, random=random)
    planner = Planner()
    slots = planner.reserve(len(terms.owners), HASH_BITS)
    same = planner.run(all_equal(len(terms.owners)), slots.reshape(-1, 1))
    shared = SharedBits(party, sort_into_layers(planner.stages, planner.n_slots))
    for name, places in zip(terms.owners, slots, strict=True):
        if name == transport.name:
            both = np.stack([own[party.position], own[(party.position + 1) % PARTIES]])
        else:
            channel = Channel(transport, name, TAG)
            both = channel.receive("hash", {"parts": Array("u1", (2, HASH_BYTES))})["parts"]
        shared.put(places, *np.unpackbits(both, axis=1))
    shared.run()
    return bool(shared.open(same[0])[0])


@lru_cache(maxsize=8)
def all_equal(owners: int) -> Circuit:
    """The bit that is set if all words of the hash's length are equal; a tree of ANDs, so few layers."""
    build = Builder()
    first, *others = build.words(owners, HASH_BITS)
    level: list[Bit] = [
        build.invert(build.xor(a, b)) for other in others for a, b in zip(first, other, strict=True)
    ]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [build.conjunction(a, b) for a, b in pairs] + (level[-1:] if len(level) % 2 else [])
    return build.circuit(level)
