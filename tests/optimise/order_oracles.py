"""Orders judged the slow way: every column solved anew, every place tried."""

from itertools import permutations

import numpy as np

from dagora.optimise.order_moves import OrderSolution, room_for, solve_column, solve_order
from dagora.optimise.path import Program
from tests.optimise.optimise_oracles import random_covariance


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
    return Program(moments, lambda1, allowed, required, profile)


def obeys(order, required):
    """Whether every required edge leads forward."""
    place = np.argsort(order)
    return all(place[i] < place[j] for i, j in np.argwhere(required))


def obeying_orders(program):
    """All orders that the required edges leave."""
    return [np.array(order) for order in permutations(range(len(program))) if obeys(order, program.required)]


class FreshSolves:
    """Losses of columns on sets of parents, each solved from zero, once."""

    def __init__(self, program):
        self.program = program
        self.known = {}

    def column(self, child, parents):
        key = child, frozenset(int(i) for i in parents if self.program.allowed[i, child])
        if key not in self.known:
            d = len(self.program)
            free = np.zeros(d, dtype=bool)
            free[list(key[1])] = True
            self.known[key] = solve_column(
                self.program.terms, child, free, np.zeros(d), np.empty(d), room_for(d)
            )[0]
        return self.known[key]

    def order(self, order):
        return sum(self.column(int(y), order[:p]) for p, y in enumerate(order))

    def moves(self, order, x):
        """Every order with x elsewhere that obeys, with its objective."""
        rest = [y for y in order if y != x]
        moved = [np.array([*rest[:place], x, *rest[place:]]) for place in range(len(order))]
        return [(new, self.order(new)) for new in moved if obeys(new, self.program.required)]


def state_of(program, order, start=None):
    """A solution as the kernels keep it, for an order."""
    d = len(program)
    columns = np.zeros((d, d)) if start is None else start.copy()
    state = OrderSolution(
        np.array(order, dtype=np.int64), columns, np.empty((d, d)), np.empty(d), np.empty(d)
    )
    solve_order(program.terms, state)
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
