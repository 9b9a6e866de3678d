"""Orders judged the slow way: every column solved anew, every place tried."""

from itertools import permutations

import numpy as np

from dagora.learners.optimise.path.column_problem import solve_column, workspace_for
from dagora.learners.optimise.path.order_moves import OrderSolution, solve_some
from dagora.learners.optimise.path.smooth_path import PathProgram
from tests.learners.optimise.optimise_oracles import plain_lasso, random_covariance


def random_program(rng, d, lambda1, *, rows=None, profile=False, known=False):
    """A program on random data; with `known` some edges are forbidden and a few, without a cycle, required."""
    moments = random_covariance(rng, d, rows)
    if profile:
        spread = np.sqrt(np.diag(moments))
        moments = moments / np.outer(spread, spread)
    allowed = ~np.eye(d, dtype=bool)
    required = np.zeros((d, d), dtype=bool)
    if known:
        allowed &= rng.random((d, d)) < 0.8
        ranks = rng.permutation(d)
        required = (rng.random((d, d)) < 0.15) & (ranks[:, None] < ranks[None, :])
        allowed = (allowed | required) & ~required.T
    return PathProgram(moments, lambda1, allowed, required, profile)


def obeys(order, required):
    """Whether every required edge leads forward."""
    place = np.argsort(order)
    return all(place[i] < place[j] for i, j in np.argwhere(required))


def obeying_orders(program):
    """All orders that the required edges leave."""
    return [np.array(order) for order in permutations(range(len(program))) if obeys(order, program.required)]


def fit_column(program, child, parents):
    """Weights and loss of a column on given parents: signs by coordinate descent, then a linear system."""
    gram, target = program.moments[np.ix_(parents, parents)], program.moments[parents, child]
    column = np.zeros(len(parents))
    for sweeps in (0, 100, 1000, 20_000):
        signs = np.sign(plain_lasso(gram, target, program.lambda1, sweeps))
        on = np.flatnonzero(signs)
        column[:] = 0.0
        column[on] = np.linalg.solve(gram[np.ix_(on, on)], target[on] - program.lambda1 * signs[on])
        slope = np.abs(target - gram @ column)
        if (np.sign(column) == signs).all() and (slope <= program.lambda1 + 1e-9 * np.abs(target)).all():
            break
    residual = program.moments[child, child] - 2 * column @ target + column @ gram @ column
    return column, 0.5 * residual + program.lambda1 * np.abs(column).sum()


def eliminate(program, child, parents, threshold):
    """Parents that are left when the weakest goes, again and again, until none is weak."""
    parents = list(parents)
    while True:
        column, _ = fit_column(program, child, parents)
        weak = [
            (abs(w), i)
            for w, i in zip(column, parents, strict=True)
            if abs(w) < threshold and not program.required[i, child]
        ]
        if not weak:
            return parents
        parents.remove(min(weak)[1])


def cut_at_once(program, child, parents, threshold):
    """Parents that are left when all that are weak go."""
    column, _ = fit_column(program, child, parents)
    return [
        i for w, i in zip(column, parents, strict=True) if abs(w) >= threshold or program.required[i, child]
    ]


# How much worse than at once one by one may be, as a share of the loss.
SLACK = {"guarded": 0.5, "one-by-one": np.inf, "at-once": -np.inf, "better": 0.0}


def thresholded_column(program, child, parents, threshold, cut):
    """Parents that are left, their weights and the loss."""
    gently, at_once = (
        (left, *fit_column(program, child, left))
        for left in (way(program, child, parents, threshold) for way in (eliminate, cut_at_once))
    )
    if np.isinf(SLACK[cut]):
        return gently if SLACK[cut] > 0 else at_once
    return gently if gently[2] <= at_once[2] * (1 + SLACK[cut]) else at_once


def thresholded(program, support, threshold, cut):
    """Weights that are left on a support."""
    weights = np.zeros((len(program),) * 2)
    for child in range(len(program)):
        parents = list(np.flatnonzero(support[:, child]))
        left, column, _ = thresholded_column(program, child, parents, threshold, cut)
        weights[left, child] = column
    return weights


class FreshSolves:
    """Losses of columns on sets of parents, each solved from zero, once; with a threshold, when thresholded."""

    def __init__(self, program, threshold=0.0, cut="one-by-one"):
        self.program = program
        self.threshold = threshold
        self.cut = cut
        self.known = {}

    def column(self, child, parents):
        key = child, frozenset(int(i) for i in parents if self.program.allowed[i, child])
        if key not in self.known and self.threshold > 0:
            self.known[key] = thresholded_column(
                self.program, child, sorted(key[1]), self.threshold, self.cut
            )[2]
        elif key not in self.known:
            d = len(self.program)
            free = np.zeros(d, dtype=bool)
            free[list(key[1])] = True
            self.known[key] = solve_column(
                self.program.column_problem, child, free, np.zeros(d), np.empty(d), workspace_for(d)
            )[0]
        return self.known[key]

    def order(self, order):
        return sum(self.column(int(y), order[:p]) for p, y in enumerate(order))

    def moves(self, order, x):
        """Every order with x elsewhere that obeys, with its objective."""
        rest = [y for y in order if y != x]
        moved = [np.array([*rest[:place], x, *rest[place:]]) for place in range(len(order))]
        return [(new, self.order(new)) for new in moved if obeys(new, self.program.required)]


def state_of(program, order, start=None, problem=None):
    """A solution as the kernels keep it, for an order."""
    d = len(program)
    columns = np.zeros((d, d)) if start is None else start.copy()
    state = OrderSolution(
        np.array(order, dtype=np.int64), columns, np.empty((d, d)), np.empty(d), np.empty(d)
    )
    solve_some(problem or program.column_problem, state, state.order, workspace_for(d))
    return state


def check_state(program, state, accuracy=1e-8):
    """Fail unless the arrays are a solution of their order."""
    order, columns, gradients, losses, penalties = state
    assert sorted(order) == list(range(len(program)))
    assert obeys(order, program.required)
    fresh = FreshSolves(program)
    place = np.argsort(order)
    for y in range(len(program)):
        may = program.allowed[:, y] & (place < place[y])
        assert not columns[y][~may].any()
        slope = program.moments @ columns[y] - program.moments[y]
        np.testing.assert_allclose(gradients[y], slope, rtol=0, atol=1e-12 * np.abs(program.moments).max())
        residual = program.moments[y, y] + columns[y] @ (slope - program.moments[y])
        scale = residual if program.profile else 1.0
        np.testing.assert_allclose(penalties[y], program.lambda1 * scale, rtol=1e-6)
        value = 0.5 * (np.log(residual) if program.profile else residual)
        value += program.lambda1 * np.abs(columns[y]).sum()
        np.testing.assert_allclose(losses[y], value, rtol=accuracy, atol=accuracy)
        np.testing.assert_allclose(
            losses[y], fresh.column(y, order[: place[y]]), rtol=accuracy, atol=accuracy
        )


def random_obeying(rng, program):
    """A random order that obeys."""
    order = list(rng.permutation(len(program)))
    done = []
    while order:
        x = next(i for i in order if not any(program.required[j, i] for j in order))
        order.remove(x)
        done.append(x)
    return np.array(done)
