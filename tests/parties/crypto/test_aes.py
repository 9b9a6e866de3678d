import os
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dagora.base.errors import OptionError
from dagora.parties.crypto import aes
from dagora.parties.crypto.aes import cpu_has_aes, encrypt_blocks, expand_key
from tests.parties.crypto.garbled import WAYS, words

# FIPS 197, appendices B and C.1.
KNOWN = [
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


def oracle(key, blocks):
    content = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(blocks.tobytes())
    return np.frombuffer(content, dtype=np.uint64).reshape(blocks.shape)


@pytest.mark.parametrize("instructions", WAYS)
@pytest.mark.parametrize(("key", "plain", "cipher"), KNOWN)
def test_known_answers(key, plain, cipher, instructions):
    keys = expand_key(bytes.fromhex(key), instructions=instructions)
    blocks = np.frombuffer(bytes.fromhex(plain), dtype=np.uint64).reshape(1, 2).copy()
    assert encrypt_blocks(keys, blocks).tobytes().hex() == cipher


@pytest.mark.parametrize("instructions", WAYS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 1000])
def test_every_block_as_another_library_does(count, instructions):
    rng = np.random.default_rng(count)
    for _ in range(5):
        key = rng.bytes(16)
        blocks = words(rng, count, 2)
        assert np.array_equal(
            encrypt_blocks(expand_key(key, instructions=instructions), blocks), oracle(key, blocks)
        )


def test_shape_is_kept():
    blocks = words(np.random.default_rng(0), 3, 5, 2)
    key = bytes(16)
    assert np.array_equal(encrypt_blocks(expand_key(key), blocks), oracle(key, blocks))


def test_type_of_the_round_keys_tells_the_way():
    assert expand_key(bytes(16), instructions=False).dtype == np.uint32
    assert expand_key(bytes(16)).dtype == (np.uint64 if cpu_has_aes() else np.uint32)


def test_a_cpu_without_instructions_takes_tables_and_says_so(monkeypatch):
    monkeypatch.setattr(aes, "cpu_has_aes", lambda: False)
    assert expand_key(bytes(16)).dtype == np.uint32
    with pytest.raises(OptionError, match="no AES instructions"):
        expand_key(bytes(16), instructions=True)


def test_short_key_is_refused():
    with pytest.raises(OptionError, match="16 bytes, not 15"):
        expand_key(bytes(15))


# --- ARM, without an ARM: the sequence of instructions, run on their definitions


class ArmMachine:
    """Stands for the code builder; blocks are arrays of 16 bytes, column by column."""

    def __init__(self):
        names = ("llvm.aarch64.crypto.aese", "llvm.aarch64.crypto.aesmc")
        self.module = type("Module", (), {"globals": {name: name.rpartition(".")[2] for name in names}})

    def bitcast(self, block, _kind):
        return block

    def xor(self, left, right):
        return left ^ right

    def call(self, name, arguments):
        if name == "aese":
            state = aes.S_BOX[arguments[0] ^ arguments[1]].reshape(4, 4)
            return np.stack([np.roll(state[:, row], -row) for row in range(4)], axis=1).reshape(16)
        mixed = np.empty((4, 4), dtype=np.uint8)
        twice = [aes._double(x) for x in range(256)]
        for column, (p, q, r, s) in enumerate(arguments[0].reshape(4, 4).tolist()):
            mixed[column] = [
                twice[x] ^ twice[y] ^ y ^ z ^ w
                for x, y, z, w in ((p, q, r, s), (q, r, s, p), (r, s, p, q), (s, p, q, r))
            ]
        return mixed.reshape(16)


@pytest.mark.parametrize(("key", "plain", "cipher"), KNOWN)
def test_arm_sequence(key, plain, cipher):
    keys = list(expand_key(bytes.fromhex(key), instructions=False).view(np.uint8))
    block = np.frombuffer(bytes.fromhex(plain), dtype=np.uint8)
    [result] = aes._rounds_arm(ArmMachine(), keys, [block])
    assert result.tobytes().hex() == cipher


# --- what lies in numba's cache

PROGRAM = """
import numba, numpy as np
from dagora.parties.crypto import aes
keys = aes.expand_key(bytes(range(16)))
blocks = np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), dtype=np.uint64).reshape(1, 2).copy()
def again():
    kernel = numba.njit(cache=True, nogil=True)(aes.encrypt_blocks.py_func)
    assert kernel(keys, blocks).tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    return sum(kernel.stats.cache_hits.values())
print(aes.cpu_has_aes(), keys.dtype, again(), again())
"""


@pytest.mark.slow
@pytest.mark.skipif(not cpu_has_aes(), reason="needs a CPU with AES instructions to go without them")
def test_cached_kernels_of_another_cpu_are_not_loaded(tmp_path):
    """On a shared disk, a kernel with AES instructions must not reach a CPU without them."""

    def run(**environment):
        shown = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)} | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return shown.stdout.split()

    assert run() == ["True", "uint64", "0", "1"]
    assert run(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == ["False", "uint32", "0", "1"]
