"""Circuits on Python integers: build one from a function of words, run it for many arguments at once."""

from collections.abc import Callable, Sequence

import numpy as np

from dagora.parties.crypto.garbling.builder import Bit, Builder, Word
from dagora.parties.crypto.garbling.circuit import Circuit, evaluate_plain

Outputs = Sequence[Bit]


def build_circuit(widths: Sequence[int], function: Callable[..., Outputs]) -> Circuit:
    build = Builder()
    words: list[Word] = [build.inputs(width) for width in widths]
    return build.circuit(function(build, *words))


def run_on(circuit: Circuit, widths: Sequence[int], arguments: Sequence[Sequence[int]]) -> list[int]:
    """The outputs as one number, for each tuple of arguments (of any sign)."""
    rows = [
        [value >> place & 1 for value in column]
        for width, column in zip(widths, zip(*arguments, strict=True), strict=True)
        for place in range(width)
    ]
    bits = evaluate_plain(circuit, np.array(rows, dtype=np.uint8))
    return [sum(int(bit) << place for place, bit in enumerate(column)) for column in bits.T]


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value
