"""AES-128 inside numba kernels (FIPS 197): by the CPU's AES instructions, or by tables where it has none.

The type of the round keys decides which of the two runs, and so does the signature under which numba caches a
compiled kernel: uint64[11, 2] means instructions (x86 AES-NI, ARMv8 Crypto), uint32[11, 4] means tables.
`expand_key` chooses by the CPU that numba compiles for, so a kernel with instructions never runs on a CPU
that lacks them, whatever the cache contains. Blocks are encrypted in fours, round by round, because an AES
instruction takes several cycles but a new one can begin every cycle or half cycle.

The tables are read at addresses that depend on the data, which a side channel could observe; side channels
are outside our security claim. The instructions take constant time.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.kernels.decorators import kernel
from dagora.parties.crypto.blocks import (
    VECTOR,
    Block128,
    BlockType,
    Words,
    block_type,
    load,
    make,
    store,
    word,
)

RoundKeys = NDArray[np.uint64] | NDArray[np.uint32]
Four = tuple[Block128, Block128, Block128, Block128]

ROUNDS = 10  # of AES-128 (FIPS 197)
X86 = ("x86_64", "AMD64", "i386", "i686")
ARM = ("aarch64", "arm64", "ARM64")


@lru_cache(maxsize=1)
def cpu_has_aes() -> bool:
    """Return True if numba compiles for a CPU with AES instructions (its variables can turn them off)."""
    from numba.core.registry import cpu_target

    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    if platform.machine() not in X86 + ARM or sys.byteorder != "little":
        return False
    # Every Apple processor has them, but the system does not list them for LLVM.
    return "+aes" in features.split(",") or name.startswith("apple-")


# --- the key schedule and the tables (FIPS 197, sections 4.2 and 5)


def _double(x: int) -> int:
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def _s_box() -> NDArray[np.uint8]:
    """Multiplicative inverse in GF(2⁸), then an affine map; 3 generates the multiplicative group."""
    powers = [1]
    while len(powers) < 255:
        powers.append(powers[-1] ^ _double(powers[-1]))
    box = np.full(256, 0x63, dtype=np.uint8)
    for exponent, x in enumerate(powers):
        inverse = powers[-exponent % 255]
        turned = inverse * 0x0101  # two copies side by side: a rotation is a shift
        rotations = inverse ^ (turned >> 4) ^ (turned >> 5) ^ (turned >> 6) ^ (turned >> 7)
        box[x] = (rotations & 0xFF) ^ 0x63
    return box


S_BOX = _s_box()


def _column_tables() -> NDArray[np.uint32]:
    """SubBytes and MixColumns of one byte, for each of the four rows it can stand in."""
    s = S_BOX.astype(np.uint32)
    twice = (s << 1) ^ np.where(s & 0x80, 0x11B, 0).astype(np.uint32)
    first = twice | s << 8 | s << 16 | (s ^ twice) << 24
    rows = [first] + [first << 8 * row | first >> (32 - 8 * row) for row in (1, 2, 3)]
    return np.array(rows, dtype=np.uint32)


T0, T1, T2, T3 = _column_tables()


def expand_key(key: bytes, *, instructions: bool | None = None) -> RoundKeys:
    """Return the round keys of a 128-bit key; `instructions` forces instructions or tables, for tests.

    >>> expand_key(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"), instructions=False)[10].tobytes().hex()
    'd014f9a8c9ee2589e13f0cc8b6630ca6'
    """
    if len(key) != 16:
        raise OptionError(f"a key of AES-128 has 16 bytes, not {len(key)}")
    if instructions is None:
        instructions = cpu_has_aes()
    elif instructions and not cpu_has_aes():
        raise OptionError("this CPU has no AES instructions")
    columns = [key[i : i + 4] for i in range(0, 16, 4)]
    constant = 1
    while len(columns) < 4 * (ROUNDS + 1):
        last = columns[-1]
        if len(columns) % 4 == 0:
            last = bytes(S_BOX[list(last[1:] + last[:1])])
            last = bytes((last[0] ^ constant, *last[1:]))
            constant = _double(constant)
        columns.append(bytes(x ^ y for x, y in zip(columns[-4], last, strict=True)))
    flat = np.frombuffer(b"".join(columns), dtype="<u4").astype(np.uint32)
    return flat.view(np.uint64).reshape(11, 2) if instructions else flat.reshape(11, 4)


# --- instructions


def _declare(builder: Any, name: str, kind: Any, arity: int) -> Any:  # noqa: ANN401
    module = builder.module
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(kind, [kind] * arity), name)


def _rounds_x86(builder: Any, keys: list[Any], blocks: list[Any]) -> list[Any]:  # noqa: ANN401
    middle = _declare(builder, "llvm.x86.aesni.aesenc", VECTOR, 2)
    last = _declare(builder, "llvm.x86.aesni.aesenclast", VECTOR, 2)
    blocks = [builder.xor(block, keys[0]) for block in blocks]
    for key in keys[1:ROUNDS]:
        blocks = [builder.call(middle, [block, key]) for block in blocks]
    return [builder.call(last, [block, keys[ROUNDS]]) for block in blocks]


def _rounds_arm(builder: Any, keys: list[Any], blocks: list[Any]) -> list[Any]:  # noqa: ANN401
    # ARM's instruction adds the key before the substitution, and mixes columns in a second one.
    octets = ir.VectorType(ir.IntType(8), 16)
    substitute = _declare(builder, "llvm.aarch64.crypto.aese", octets, 2)
    mix = _declare(builder, "llvm.aarch64.crypto.aesmc", octets, 1)
    keys = [builder.bitcast(key, octets) for key in keys]
    blocks = [builder.bitcast(block, octets) for block in blocks]
    for key in keys[: ROUNDS - 1]:
        blocks = [builder.call(mix, [builder.call(substitute, [block, key])]) for block in blocks]
    blocks = [builder.call(substitute, [block, keys[ROUNDS - 1]]) for block in blocks]
    return [builder.bitcast(builder.xor(block, keys[ROUNDS]), VECTOR) for block in blocks]


@intrinsic  # type: ignore[untyped-decorator]
def _encrypt4_by_instructions(
    _typing: object, _keys: object, _w: object, _x: object, _y: object, _z: object
) -> tuple[Any, Callable[..., Any]]:
    rounds = _rounds_x86 if platform.machine() in X86 else _rounds_arm
    four = types.UniTuple(block_type, 4)

    def generate(context: Any, builder: Any, _signature: object, arguments: Any) -> Any:  # noqa: ANN401
        keys = [builder.extract_value(arguments[0], i) for i in range(ROUNDS + 1)]
        return context.make_tuple(builder, four, rounds(builder, keys, list(arguments[1:])))

    return four(types.UniTuple(block_type, ROUNDS + 1), *[block_type] * 4), generate


_four_by_instructions = cast("Callable[..., Four]", _encrypt4_by_instructions)


# --- tables


@kernel
def _encrypt_by_tables(keys: NDArray[np.uint32], block: Block128) -> Block128:
    low, high = word(block, 0), word(block, 1)
    a, b = np.uint32(low) ^ keys[0, 0], np.uint32(low >> np.uint64(32)) ^ keys[0, 1]
    c, d = np.uint32(high) ^ keys[0, 2], np.uint32(high >> np.uint64(32)) ^ keys[0, 3]
    for i in range(1, ROUNDS):
        e = _mix_column(a, b, c, d) ^ keys[i, 0]
        f = _mix_column(b, c, d, a) ^ keys[i, 1]
        g = _mix_column(c, d, a, b) ^ keys[i, 2]
        h = _mix_column(d, a, b, c) ^ keys[i, 3]
        a, b, c, d = e, f, g, h
    low = _last_columns(a, b, c, d, keys[ROUNDS, 0], keys[ROUNDS, 1])
    high = _last_columns(c, d, a, b, keys[ROUNDS, 2], keys[ROUNDS, 3])
    return make(low, high)


@kernel
def _mix_column(a: np.uint32, b: np.uint32, c: np.uint32, d: np.uint32) -> np.uint32:
    """A column after a round: ShiftRows takes the byte of each row from another column."""
    e = T0[np.uint8(a)] ^ T1[np.uint8(b >> 8)] ^ T2[np.uint8(c >> 16)] ^ T3[np.uint8(d >> 24)]
    return np.uint32(e)


@kernel
def _last_columns(
    a: np.uint32, b: np.uint32, c: np.uint32, d: np.uint32, key: np.uint32, next_key: np.uint32
) -> np.uint64:
    """Two columns of the last round, which does not mix them."""
    first = np.uint64(_substitute_bytes(a, b, c, d) ^ key)
    return first | np.uint64(_substitute_bytes(b, c, d, a) ^ next_key) << np.uint64(32)


@kernel
def _substitute_bytes(a: np.uint32, b: np.uint32, c: np.uint32, d: np.uint32) -> np.uint32:
    low = S_BOX[np.uint8(a)] | S_BOX[np.uint8(b >> 8)] << 8
    high = S_BOX[np.uint8(c >> 16)] << 16 | S_BOX[np.uint8(d >> 24)] << 24
    return np.uint32(low | high)


# --- what kernels call


def _by_instructions(keys: object) -> bool:
    return (
        bool(keys.dtype == types.uint64)
        if isinstance(keys, types.Array)
        else isinstance(keys, types.UniTuple)
    )


def _registers(keys: RoundKeys) -> RoundKeys:
    raise NotImplementedError


@overload(_registers, strict=False)  # type: ignore[untyped-decorator]
def _load_keys(keys: object) -> Callable[..., object]:
    if not _by_instructions(keys):
        return lambda keys: keys

    def load_all(keys: Words) -> tuple[Block128, ...]:
        k = keys.reshape(22)
        return (
            load(k, 0), load(k, 1), load(k, 2), load(k, 3), load(k, 4), load(k, 5),
            load(k, 6), load(k, 7), load(k, 8), load(k, 9), load(k, 10),
        )  # fmt: skip

    return load_all


def _encrypt4(keys: RoundKeys, w: Block128, x: Block128, y: Block128, z: Block128) -> Four:
    raise NotImplementedError


@overload(_encrypt4, strict=False)  # type: ignore[untyped-decorator]
def _choose(keys: object, w: object, x: object, y: object, z: object) -> Callable[..., Four] | None:
    if not all(isinstance(block, BlockType) for block in (w, x, y, z)):
        return None
    if _by_instructions(keys):
        # numba wants a Python function here.
        return lambda keys, w, x, y, z: _four_by_instructions(keys, w, x, y, z)  # noqa: PLW0108
    return lambda keys, w, x, y, z: (
        _encrypt_by_tables(keys, w),
        _encrypt_by_tables(keys, x),
        _encrypt_by_tables(keys, y),
        _encrypt_by_tables(keys, z),
    )


# Inside kernels: put the round keys where `encrypt4` wants them, once, outside the loop.
prepare = _registers
encrypt4 = _encrypt4


@kernel
def encrypt_blocks(keys: RoundKeys, blocks: Words) -> Words:
    """Encrypt every block of an array whose last axis is the two words of a block."""
    result = np.empty_like(blocks)
    source, target = blocks.reshape(blocks.size), result.reshape(blocks.size)
    ready = prepare(keys)
    count = blocks.size // 2
    for k in range(0, count - 3, 4):
        w, x, y, z = encrypt4(
            ready, load(source, k), load(source, k + 1), load(source, k + 2), load(source, k + 3)
        )
        store(target, k, w)
        store(target, k + 1, x)
        store(target, k + 2, y)
        store(target, k + 3, z)
    for k in range(count - count % 4, count):
        block = load(source, k)
        store(target, k, encrypt4(ready, block, block, block, block)[0])
    return result
