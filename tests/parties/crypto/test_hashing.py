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
