"""A hash of labels from fixed-key AES: H(x, i) = π(π(x) ⊕ i) ⊕ π(x), with π = AES under a public key.

This is TMMO of Guo, Katz, Wang & Yu, "Efficient and Secure Multiparty Computation from Fixed-Key Block128
Ciphers" (IEEE S&P 2020): for π a random permutation it is tweakable circular correlation robust, which is
what free XOR and half-gates need (π(x) ⊕ x alone is not). A tweak i is used for at most one pair (x, x ⊕ Δ)
under one key. The adversary's advantage is about p·q / 2¹²⁸ for q hashes and p of its own calls of π; the
parties draw a fresh key of π for each session, so precomputation does not help.
"""

from __future__ import annotations

import numpy as np

from dagora.kernels.decorators import kernel
from dagora.parties.crypto.aes import Four, RoundKeys, encrypt4, prepare
from dagora.parties.crypto.blocks import Block128, Words, load, make, store


@kernel
def hash4(
    ready: RoundKeys,
    w: Block128,
    x: Block128,
    y: Block128,
    z: Block128,
    tweak_w: np.uint64,
    tweak_x: np.uint64,
    tweak_y: np.uint64,
    tweak_z: np.uint64,
) -> Four:
    """Hash four blocks at once, inside kernels; `ready` are the round keys after `prepare`."""
    none = np.uint64(0)
    w, x, y, z = encrypt4(ready, w, x, y, z)
    p, q, r, s = encrypt4(
        ready,
        w ^ make(tweak_w, none),
        x ^ make(tweak_x, none),
        y ^ make(tweak_y, none),
        z ^ make(tweak_z, none),
    )
    return w ^ p, x ^ q, y ^ r, z ^ s


@kernel
def hash_blocks(keys: RoundKeys, blocks: Words, first_tweak: np.uint64) -> Words:
    """Hash every block of an array whose last axis is two words; the tweaks count up in the array's order."""
    result = np.empty_like(blocks)
    source, target = blocks.reshape(blocks.size), result.reshape(blocks.size)
    ready = prepare(keys)
    count = blocks.size // 2
    last = count - 1
    for k in range(0, count, 4):
        # Past the end the last block is hashed again, under its own tweak.
        i, j, m = min(k + 1, last), min(k + 2, last), min(k + 3, last)
        p, q, r, s = hash4(
            ready,
            load(source, k),
            load(source, i),
            load(source, j),
            load(source, m),
            first_tweak + np.uint64(k),
            first_tweak + np.uint64(i),
            first_tweak + np.uint64(j),
            first_tweak + np.uint64(m),
        )
        store(target, k, p)
        store(target, i, q)
        store(target, j, r)
        store(target, m, s)
    return result
