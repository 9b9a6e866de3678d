"""128-bit blocks inside numba kernels: one vector register each, loaded from and stored to arrays of uint64.

A block is two words in memory, w₀ then w₁, each little endian, so 16 bytes read in order are one AES block.
In arrays a block is the last axis of size two; kernels see such arrays flat and count in blocks. Compiled
code keeps a block in one vector register, where a pair of integers would move between register files at every
step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model
from numpy.typing import NDArray

Words = NDArray[np.uint64]

VECTOR = ir.VectorType(ir.IntType(64), 2)
_LANE = ir.IntType(32)


class Block128:
    """A block for the type checker; values exist only in compiled code."""

    def __xor__(self, other: Block128) -> Block128:
        """Return the sum of two blocks."""
        raise NotImplementedError

    def __and__(self, other: Block128) -> Block128:
        """Return the bits common to two blocks."""
        raise NotImplementedError


class BlockType(types.Type):  # type: ignore[misc]
    """A block for numba."""

    def __init__(self) -> None:
        super().__init__(name="Block")


block_type = BlockType()


@register_model(BlockType)
class _BlockModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: BlockType) -> None:  # noqa: ANN401
        super().__init__(manager, kind, VECTOR)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:  # noqa: ANN401
    data = context.make_array(array_type)(context, builder, array).data
    word = builder.gep(data, [builder.shl(index, index.type(1))])
    return builder.bitcast(word, VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def _load(_typing: object, words: Any, _index: object) -> tuple[Any, Callable[..., Any]]:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        # Arrays of uint64 promise eight bytes of alignment, not sixteen.
        return builder.load(_pointer(context, builder, signature.args[0], *arguments), align=8)

    return block_type(words, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store(_typing: object, words: Any, _index: object, _block: object) -> tuple[Any, Callable[..., Any]]:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        array, index, block = arguments
        builder.store(block, _pointer(context, builder, signature.args[0], array, index), align=8)
        return context.get_dummy_value()

    return types.void(words, types.intp, block_type), generate


@intrinsic  # type: ignore[untyped-decorator]
def _make(_typing: object, _low: object, _high: object) -> tuple[Any, Callable[..., Any]]:
    def generate(_context: object, builder: Any, _signature: object, arguments: Any) -> Any:  # noqa: ANN401
        block = ir.Constant(VECTOR, ir.Undefined)
        for lane, word in enumerate(arguments):
            block = builder.insert_element(block, word, _LANE(lane))
        return block

    return block_type(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _word(_typing: object, _block: object, _lane: object) -> tuple[Any, Callable[..., Any]]:
    def generate(_context: object, builder: Any, _signature: object, arguments: Any) -> Any:  # noqa: ANN401
        return builder.extract_element(arguments[0], builder.trunc(arguments[1], _LANE))

    return types.uint64(block_type, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _permute_mask(_typing: object, _block: object) -> tuple[Any, Callable[..., Any]]:
    def generate(_context: object, builder: Any, _signature: object, arguments: Any) -> Any:  # noqa: ANN401
        lanes = ir.Constant(ir.VectorType(_LANE, 2), [0, 0])
        low = builder.shuffle_vector(arguments[0], ir.Constant(VECTOR, ir.Undefined), lanes)
        bit = builder.and_(low, ir.Constant(VECTOR, [1, 1]))
        return builder.sub(ir.Constant(VECTOR, [0, 0]), bit)

    return block_type(block_type), generate


def _binary(instruction: str) -> Callable[..., Block128]:
    @intrinsic  # type: ignore[untyped-decorator]
    def combine(_typing: object, _left: object, _right: object) -> tuple[Any, Callable[..., Any]]:
        def generate(_context: object, builder: Any, _signature: object, arguments: Any) -> Any:  # noqa: ANN401
            return getattr(builder, instruction)(*arguments)

        return block_type(block_type, block_type), generate

    return cast("Callable[..., Block128]", combine)


_xor, _and = _binary("xor"), _binary("and_")


@overload(operator.ixor, strict=False)  # type: ignore[untyped-decorator]
@overload(operator.xor, strict=False)  # type: ignore[untyped-decorator]
def _operator_xor(left: object, right: object) -> Callable[..., Block128] | None:
    if isinstance(left, BlockType) and isinstance(right, BlockType):
        return lambda left, right: _xor(left, right)  # noqa: PLW0108 - numba wants a Python function
    return None


@overload(operator.and_, strict=False)  # type: ignore[untyped-decorator]
def _operator_and(left: object, right: object) -> Callable[..., Block128] | None:
    if isinstance(left, BlockType) and isinstance(right, BlockType):
        return lambda left, right: _and(left, right)  # noqa: PLW0108
    return None


# Inside kernels only: `words` is a flat array, `index` counts blocks.
load = cast("Callable[[Words, int], Block128]", _load)
store = cast("Callable[[Words, int, Block128], None]", _store)
make = cast("Callable[[np.uint64, np.uint64], Block128]", _make)
word = cast("Callable[[Block128, int], np.uint64]", _word)
# All ones where the lowest bit of the block is set, else all zeros: the permute bit as a mask.
permute_mask = cast("Callable[[Block128], Block128]", _permute_mask)
