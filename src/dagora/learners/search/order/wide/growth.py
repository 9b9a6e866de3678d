"""Parents that a column grows from those before it in an order, kept so that a move is quickly weighed.

Each column keeps the columns that it added, with the Cholesky factor of their block. So k² operations tell
whether one more allowed column would have been added on the way: in most cases it would not, and nothing has
to be grown again. (The trees of `moment_trees` keep what was grown for every set; with thousands of columns
they do not fit into memory.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.local_score import PivotForm
from dagora.scores.pivot_form import family_score, highest_cost

Ints = NDArray[np.int64]
ShortInts = NDArray[np.int32]
Floats = NDArray[np.float64]

# A column that lowers a residual by this share less than the one that was added may have been added instead:
# both numbers are rounded.
ROUNDING = 1e-9


class GrownParents(NamedTuple):
    """The columns that each column has grown from those before it.

    Row u of `path` holds the `depth[u]` columns that u added, first to last; `factor[u]` is the Cholesky
    factor of their block, `slope[u]` the row of u below it: the square of `slope[u, k]` is by how much step k
    lowered the residual, and `needed[u]` by how much one more column would have to. `value[u]` is the score
    after shrinkage.
    """

    path: ShortInts
    depth: Ints
    factor: Floats
    slope: Floats
    needed: Floats
    value: Floats

    @classmethod
    def of(cls, columns: int, room: int) -> GrownParents:
        """For so many columns, of which each may add `room` others."""
        needed, value = np.zeros((2, columns))
        return cls(
            path=np.zeros((columns, room), dtype=np.int32),
            depth=np.zeros(columns, dtype=np.int64),
            factor=np.zeros((columns, room, room)),
            slope=np.zeros((columns, room)),
            needed=needed,
            value=value,
        )


class GrowthLimits(NamedTuple):
    """Pairs that must not be joined, if there are any; the most parents; the gain that counts as none."""

    apart: NDArray[np.bool_]
    any_apart: bool
    max_parents: int
    tolerance: float


@inlined
def residual_to_beat(form: PivotForm, limits: GrowthLimits, child: int, depth: int, rest: float) -> float:
    """The residual below which one more parent gains; −1 where no more can be added."""
    if depth >= limits.max_parents or form.size[form.group[child], depth + 1] == -np.inf:
        return -1.0
    now = family_score(form, child, depth, 0.0, rest)
    return highest_cost(form, child, depth + 1, 0.0, now + limits.tolerance)


@inlined
def would_add(
    form: PivotForm, limits: GrowthLimits, growth: GrownParents, row: Floats, child: int, new: int
) -> bool:
    """Return True if a child would add a column that it was not allowed so far; in doubt, too.

    `row` is room for a row of the factor.
    """
    if limits.any_apart and limits.apart[child, new]:
        return False
    group = form.group[child]
    floor = COLLINEAR * form.matrix[group, new, new]
    left, shared = form.matrix[group, new, new], form.matrix[group, new, child]
    for a in range(growth.depth[child]):
        if left <= floor:
            return False
        if shared * shared >= (1 - ROUNDING) * growth.slope[child, a] ** 2 * left:
            return True
        entry = form.matrix[group, new, growth.path[child, a]]
        for b in range(a):
            entry -= growth.factor[child, a, b] * row[b]
        entry /= growth.factor[child, a, a]
        row[a] = entry
        left -= entry * entry
        shared -= entry * growth.slope[child, a]
    return bool(left > floor and shared * shared >= (1 - ROUNDING) * growth.needed[child] * left)


@inlined
def has_added(growth: GrownParents, child: int, column: int) -> bool:
    """Return True if a child has added a column."""
    for k in range(growth.depth[child]):  # noqa: SIM110 - numba compiles loops, no generators
        if growth.path[child, k] == column:
            return True
    return False
