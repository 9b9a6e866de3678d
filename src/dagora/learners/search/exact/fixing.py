"""Bounds from prices, and the parent sets that they exclude.

Give every cut Σ a_c(x, P) I(x, P) ≤ b_c a price y_c ≥ 0. Each network keeps the cuts and has one set per
child, so its gain Σ g(x, P(x)) is at most

    bound(y) = Σ_x max_P r(x, P) + Σ_c y_c b_c,    r(x, P) = g(x, P) − Σ_c y_c a_c(x, P),

whatever the prices are: nothing here relies on how exactly a linear program was solved. A network with the
set P of x gains at most bound(y) − (max_P' r(x, P') − r(x, P)). Where that is below the gain of a known
network, the set is in no network that is as good.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Priced(NamedTuple):
    """The bound by some prices, and the part of it that is left with each set chosen."""

    bound: float
    with_set: NDArray[np.float64]


def priced(reduced: NDArray[np.float64], offsets: NDArray[np.int64], paid: float) -> Priced:
    """The bound from the reduced gains r of all sets and the sum `paid` of prices times sides.

    Sets of child x are `offsets[x]` to `offsets[x + 1]`; those that are excluded already have r = −∞.

    >>> priced(np.array([-1.0, -4.0, 0.0, -2.0]), np.array([0, 2, 4]), 0.5)
    Priced(bound=-0.5, with_set=array([-0.5, -3.5, -0.5, -2.5]))
    """
    top = np.maximum.reduceat(reduced, offsets[:-1])
    bound = float(top.sum()) + paid
    return Priced(bound, bound - (np.repeat(top, np.diff(offsets)) - reduced))
