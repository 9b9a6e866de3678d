import numpy as np
import pytest

from dagora.parties.crypto.aes import expand_key
from dagora.parties.crypto.hashing import hash_blocks
from tests.parties.crypto.garbled import WAYS, integer, slow_hash, uniformity, words

KEY = bytes(range(100, 116))


@pytest.mark.parametrize("instructions", WAYS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 9])
def test_formula(count, instructions):
    blocks = words(np.random.default_rng(count), count, 2)
    first = 2**40 + 3
    result = hash_blocks(expand_key(KEY, instructions=instructions), blocks, np.uint64(first))
    assert [integer(h) for h in result] == [
        slow_hash(KEY, integer(x), first + k) for k, x in enumerate(blocks)
    ]


def test_one_block_under_many_tweaks_looks_random():
    hashes = hash_blocks(expand_key(KEY), np.ones((1 << 14, 2), dtype=np.uint64), np.uint64(0))
    assert len(np.unique(hashes[:, 0])) == len(hashes)
    assert uniformity(hashes.tobytes()) > 1e-6


# AES-128 of FIPS 197, appendix B and C.1: an AES that is right, not only the same as ours.
FIPS = [
    (
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3243f6a8885a308d313198a2e0370734",
        "3925841d02dc09fbdc118597196a0b32",
    ),
    (
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ),
]


@pytest.mark.parametrize("instructions", WAYS)
@pytest.mark.parametrize(("key", "block", "cipher"), FIPS)
def test_a_known_answer_of_tmmo(key, block, cipher, instructions):
    """TMMO of Guo, Katz, Wang & Yu: H(x, i) = π(π(x) ⊕ i) ⊕ π(x), by bytes and an AES of another make."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    aes = Cipher(algorithms.AES(bytes.fromhex(key)), modes.ECB())
    inner = aes.encryptor().update(bytes.fromhex(block))
    assert inner.hex() == cipher
    for tweak in (0, 1, 0x0123456789ABCDEF):
        tweaked = bytes(a ^ b for a, b in zip(inner, tweak.to_bytes(16, "little"), strict=True))
        expected = bytes(a ^ b for a, b in zip(aes.encryptor().update(tweaked), inner, strict=True))
        x = np.frombuffer(bytes.fromhex(block), dtype="<u8").reshape(1, 2)
        keys = expand_key(bytes.fromhex(key), instructions=instructions)
        assert hash_blocks(keys, x, np.uint64(tweak)).astype("<u8").tobytes() == expected


FIXED = [
    "443901669e4f1ece11120f3b406d0193",
    "baf1c6a292bf1abbd3771ce60c45aa24",
    "76640d5c979407fbf9a3624cdd249ddd",
]


@pytest.mark.parametrize("instructions", WAYS)
def test_fixed_values_of_the_hash(instructions):
    """Written down once, from `cryptography`: both ways of AES, on any machine, give these for ever."""
    keys = expand_key(bytes(range(16)), instructions=instructions)
    blocks = np.array([[0, 0], [1, 0], [0, 1 << 63]], dtype=np.uint64)
    found = hash_blocks(keys, blocks, np.uint64(7)).astype("<u8")
    assert [block.tobytes().hex() for block in found] == FIXED
