"""Random numbers inside kernels, from a state of one word that the caller holds.

The generator is splitmix64 (Steele, Lea & Flood 2014). Kernels with separate states do not affect each other,
whichever threads they run on, so the same seed gives the same answer to the last bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel


def random_state(*entropy: int) -> NDArray[np.uint64]:
    """The state of a random stream, from a seed and further numbers that distinguish its users."""
    return np.array([np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]], dtype=np.uint64)


# The increment of splitmix64: 2⁶⁴ divided by the golden ratio.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inlined
def mix_bits(word: np.uint64) -> np.uint64:
    """Mix the bits of a word, one to one (the last steps of splitmix64)."""
    z = word
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@kernel
def next_random(state: NDArray[np.uint64]) -> np.uint64:
    """Draw 64 random bits (splitmix64) and advance the state."""
    state[0] += GOLDEN
    return mix_bits(state[0])


@kernel
def random_below(state: NDArray[np.uint64], bound: int) -> int:
    """Draw an integer from 0 to bound − 1."""
    return int(next_random(state) >> np.uint64(11)) % bound


@kernel
def random_unit(state: NDArray[np.uint64]) -> float:
    """Draw a number u with 0 < u ≤ 1."""
    return (float(next_random(state) >> np.uint64(11)) + 1.0) / 9007199254740992.0


@kernel
def shuffle(order: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
    """Shuffle an order in place (Fisher & Yates)."""
    for i in range(len(order) - 1, 0, -1):
        j = random_below(state, i + 1)
        order[i], order[j] = order[j], order[i]
