"""Random numbers inside kernels."""

from collections import Counter
from itertools import permutations

import numpy as np

from dagora.kernels.random import random_state, shuffle


def test_a_shuffle_gives_every_order_equally_often() -> None:
    state = random_state(0, 1)
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(6000):
        order = np.arange(3)
        shuffle(order, state)
        found[tuple(order.tolist())] += 1
    assert set(found) == set(permutations(range(3)))
    # 1000 of each are expected; the standard deviation is 29.
    assert all(abs(times - 1000) < 120 for times in found.values())
