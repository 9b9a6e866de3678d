"""One column of the lasso, solved exactly on second moments.

For child j, with S = XᵀX/n and the entries of w outside `free` fixed at zero:

    minimise  ½ (S_jj − 2 S_jᵀw + wᵀSw) + ½ Σ_i ridge_i w_i² + penalty · ‖w‖₁

This is a primal active-set method (compare the feature-sign search of Lee, Battle, Raina & Ng 2007). With the
signs of the active weights fixed, the solution is one Cholesky solve. A step towards it stops where the first
weight changes its sign; that variable leaves the active set. When no weight moves any more, the variables
that violate the optimality conditions most enter. Started from a nearby solution, this takes a few small
solves, whatever the condition number of S; coordinate descent takes thousands of sweeps on badly conditioned
data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.scores.gaussian import COLLINEAR

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Optimality conditions count as satisfied if they are violated by less than this share of the moments' scale.
SLACK = 1e-10
# The most variables that enter the active set at once.
MOST_ENTERING = 16


@inlined
def subtract_row(values: Vector, factor: float, row: Vector) -> None:
    """Subtract a multiple of a row; indices from zero on let the compiler use vector instructions."""
    for c in range(len(values)):
        values[c] -= factor * row[c]


@kernel
def extend_factor(
    moments: Matrix, ridge: Vector, active: NDArray[np.int64], factor: Matrix, start: int, stop: int
) -> int:
    """Compute columns `start` to `stop` of the active block's factor U, UᵀU; return the first collinear one.

    Where no column is collinear with those before it, returns `stop`. Inner loops run along rows of U, which
    lie side by side in memory.
    """
    entries = np.empty(stop)
    for a in range(start, stop):
        i = active[a]
        left = moments[i, i] + ridge[i]
        for b in range(a):
            entries[b] = moments[i, active[b]]
        for b in range(a):
            entry = entries[b] / factor[b, b]
            subtract_row(entries[b + 1 : a], entry, factor[b, b + 1 : a])
            factor[b, a] = entry
            left -= entry * entry
        if left <= COLLINEAR * moments[i, i]:
            return a
        factor[a, a] = np.sqrt(left)
    return stop


@kernel
def remove_from_factor(factor: Matrix, size: int, position: int) -> None:
    """Remove one of `size` columns from the active block's factor, by rotations of its rows.

    >>> moments = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 1.0], [0.5, 1.0, 4.0]])
    >>> factor = np.linalg.cholesky(moments).T.copy()
    >>> remove_from_factor(factor, 3, 0)
    >>> (np.triu(factor[:2, :2]).T @ np.triu(factor[:2, :2])).round(9).tolist()
    [[3.0, 1.0], [1.0, 4.0]]
    """
    for a in range(position):
        row = factor[a]
        for c in range(position, size - 1):
            row[c] = row[c + 1]
    for a in range(position, size - 1):
        # Rows a and a + 1, whose columns lie one to the right of where they belong.
        upper, lower = factor[a], factor[a + 1]
        one, two = upper[a + 1], lower[a + 1]
        length = np.sqrt(one * one + two * two)
        cosine, sine = one / length, two / length
        for c in range(a, size - 1):
            one, two = upper[c + 1], lower[c + 1]
            upper[c] = cosine * one + sine * two
            lower[c + 1] = cosine * two - sine * one


@kernel
def solve_factor(factor: Matrix, size: int, right: Vector) -> None:
    """Solve UᵀU x = right in place, U being the first `size` columns of the factor."""
    for a in range(size):
        right[a] /= factor[a, a]
        subtract_row(right[a + 1 : size], right[a], factor[a, a + 1 : size])
    solve_upper(factor, size, right)


@kernel
def solve_upper(factor: Matrix, size: int, right: Vector) -> None:
    """Solve U x = right in place."""
    for a in range(size - 1, -1, -1):
        row, known = factor[a, a + 1 : size], right[a + 1 : size]
        value = right[a]
        for c in range(len(row)):
            value -= row[c] * known[c]
        right[a] = value / factor[a, a]


@kernel
def residual_gradient(moments: Matrix, child: int, weights: Vector, gradient: Vector) -> None:
    """Write S w − S_j, the gradient of the squared loss, to `gradient`."""
    d = len(weights)
    for i in range(d):
        gradient[i] = -moments[child, i]
    add_rows(gradient, weights, moments, 0)


@kernel
def add_rows(values: Vector, factors: Vector, rows: Matrix, start: int) -> None:
    """Add a multiple of each row from `start` on to `values`; rows with the factor zero are skipped."""
    d = len(values)
    active = np.empty(len(factors), dtype=np.int64)
    size = 0
    for a in range(len(factors)):
        if factors[a] != 0.0:
            active[size] = a
            size += 1
    # Four rows at a time: the values are read and written a quarter as often.
    whole = size - size % 4
    for k in range(0, whole, 4):
        a, b, c, e = active[k], active[k + 1], active[k + 2], active[k + 3]
        one, two, three, four = rows[start + a], rows[start + b], rows[start + c], rows[start + e]
        p, q, r, s = factors[a], factors[b], factors[c], factors[e]
        for i in range(d):
            values[i] = values[i] + p * one[i] + q * two[i] + r * three[i] + s * four[i]
    for k in range(whole, size):
        row, factor = rows[start + active[k]], factors[active[k]]
        for i in range(d):
            values[i] += factor * row[i]


@kernel
def slide(
    factor: Matrix,
    position: int,
    active: NDArray[np.int64],
    sign: Vector,
    weights: Vector,
    penalty: float,
    share: Vector,
) -> tuple[int, float]:
    """Shift weight between a collinear column and the columns it combines until one weight is zero.

    Column i = active[position] is Σ share_a · column a. Adding t to w_i and subtracting t · share_a from each
    w_a leaves the fit as it is and changes the penalty only. |w_i| grows if that lowers the sum of absolute
    weights, and shrinks otherwise. Returns the position whose weight is now zero, and how far w_i moved.
    """
    i = active[position]
    for a in range(position):
        share[a] = factor[a, position]
    solve_upper(factor, position, share)
    gain = 1.0
    for a in range(position):
        gain -= sign[i] * share[a] * sign[active[a]]
    outward = penalty > 0.0 and gain < -SLACK
    way = sign[i] if outward else -sign[i]
    leaving, step = position, np.inf if outward else abs(weights[i])
    for a in range(position):
        fall = way * share[a] * sign[active[a]]
        if fall > 0.0 and abs(weights[active[a]]) < step * fall:
            leaving, step = a, abs(weights[active[a]]) / fall
    if leaving == position and outward:
        return position, 0.0
    weights[i] += way * step
    for a in range(position):
        weights[active[a]] -= way * step * share[a]
    return leaving, step


@kernel
def solve_lasso(
    moments: Matrix,
    child: int,
    free: NDArray[np.bool_],
    penalty: float,
    ridge: Vector,
    weights: Vector,
    gradient: Vector,
    factor: Matrix,
) -> float:
    """Solve one column in place, starting from `weights`; return the objective without the ridge term.

    `gradient` receives the gradient of the squared loss; `factor` is working memory of d × d numbers.

    >>> moments = np.array([[1.0, 0.8], [0.8, 1.0]])
    >>> weights, gradient, free = np.zeros(2), np.empty(2), np.array([True, False])
    >>> round(solve_lasso(moments, 1, free, 0.1, np.zeros(2), weights, gradient, np.empty((2, 2))), 6)
    0.255
    >>> weights  # 0.8 − 0.1
    array([0.7, 0. ])
    """
    return solve_lasso_entering(moments, child, free, penalty, ridge, weights, gradient, factor, -1)


@kernel
def solve_lasso_entering(
    moments: Matrix,
    child: int,
    free: NDArray[np.bool_],
    penalty: float,
    ridge: Vector,
    weights: Vector,
    gradient: Vector,
    factor: Matrix,
    newcomer: int,
) -> float:
    """Do what `solve_lasso` does, with `newcomer` active from the start; −1: nobody.

    For weights that are solved, with their gradient, but for one variable that violates its condition: it
    need not be found.
    """
    d = len(weights)
    active = np.empty(d, dtype=np.int64)
    target = np.empty(d)
    blocked = np.zeros(d, dtype=np.bool_)
    sign = np.zeros(d)
    size = 0
    for i in range(d):
        if weights[i] != 0.0:
            if free[i]:
                active[size] = i
                sign[i] = np.sign(weights[i])
                size += 1
            else:
                weights[i] = 0.0
    factored = 0
    entering = np.empty(MOST_ENTERING, dtype=np.int64)
    entered = 0
    if newcomer >= 0 and weights[newcomer] == 0.0 and gradient[newcomer] != 0.0:
        active[size] = newcomer
        sign[newcomer] = -np.sign(gradient[newcomer])
        size += 1
        entering[0] = newcomer
        entered = 1
    excess = np.empty(d)
    own = np.sqrt(moments[child, child])
    for _ in range(100 + 20 * d):
        while size > 0:
            holds = extend_factor(moments, ridge, active, factor, factored, size)
            factored = holds
            if holds < size:
                # This column is a combination of the active ones before it, so one of them is redundant.
                leaving, step = slide(factor, holds, active, sign, weights, penalty, target)
                # The column that leaves is a combination of the others. It stays out until a weight moves.
                blocked[active[leaving]] = True
                size = drop_position(active, weights, leaving, size)
                factored = min(factored, leaving)
                continue
            for a in range(size):
                i = active[a]
                target[a] = moments[child, i] - penalty * sign[i]
            solve_factor(factor, size, target)
            step, leaving = 1.0, -1
            if penalty > 0.0:
                for a in range(size):
                    i = active[a]
                    if target[a] * sign[i] <= 0.0:
                        reach = weights[i] / (weights[i] - target[a]) if weights[i] != target[a] else 0.0
                        if reach < step or leaving < 0:
                            step, leaving = reach, a
            for a in range(size):
                i = active[a]
                weights[i] += step * (target[a] - weights[i])
            if leaving < 0:
                break
            if step > 0.0:
                blocked[:] = False
            blocked[active[leaving]] = step == 0.0  # it entered by rounding: out until a weight moves
            size = drop_position(active, weights, leaving, size)
            factored = min(factored, leaving)
        moved = entered == 0
        for k in range(entered):
            moved = moved or weights[entering[k]] != 0.0
        if moved:
            blocked[:] = False
        residual_gradient(moments, child, weights, gradient)
        worst = 0.0
        for i in range(d):
            if free[i] and not blocked[i] and weights[i] == 0.0:
                excess[i] = abs(gradient[i]) - penalty - SLACK * own * np.sqrt(moments[i, i])
                worst = max(worst, excess[i])
            else:
                excess[i] = 0.0
        if worst <= 0.0:
            break
        # Several enter at once: those that violate the conditions at least half as much as the worst.
        entered = 0
        for i in range(d):
            if excess[i] >= 0.5 * worst and entered < MOST_ENTERING:
                entering[entered] = i
                entered += 1
                active[size] = i
                sign[i] = -np.sign(gradient[i])
                size += 1
    loss = moments[child, child]
    absolute = 0.0
    for a in range(size):
        i = active[a]
        loss += weights[i] * (gradient[i] - moments[child, i])
        absolute += abs(weights[i])
    return float(0.5 * max(loss, 0.0) + penalty * absolute)


@kernel
def drop_position(active: NDArray[np.int64], weights: Vector, position: int, size: int) -> int:
    """Remove the variable at a position from the active set; return the set's new size."""
    weights[active[position]] = 0.0
    for a in range(position, size - 1):
        active[a] = active[a + 1]
    return size - 1
