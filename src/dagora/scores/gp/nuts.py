"""The No-U-turn sampler: Hamiltonian paths that stop where they turn back, with an adaptive step size.

Paths are doubled until their ends turn back towards each other; the next draw is taken from the path with
probabilities ∝ density, preferring the newer half. The step size is adapted during warm-up by dual averaging
towards a mean acceptance of 0.8. Coordinates should be white already (unit scale): the mass is the identity.
Hoffman & Gelman 2014, with the multinomial draw of Betancourt 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Slopes = Callable[[Array], tuple[float, Array]]

# Mean acceptance probability that the step size aims at, as in Hoffman & Gelman 2014.
TARGET = 0.8
# A path has at most 2^DEPTH steps.
DEPTH = 8
# A path whose energy error exceeds this many nats has diverged, as in Stan.
DIVERGED = 1000.0


@dataclass(frozen=True)
class NutsState:
    """A place on a path: position, momentum, log density and its gradient."""

    position: Array
    momentum: Array
    value: float
    gradient: Array

    @property
    def energy(self) -> float:
        """Log density of position and momentum."""
        return self.value - 0.5 * float(self.momentum @ self.momentum)


@dataclass
class Tree:
    """A path: both ends, the draw from it, its log weight, the sum of acceptance probabilities of its steps.

    `going` says whether it may be extended.
    """

    left: NutsState
    right: NutsState
    draw: NutsState
    log_weight: float
    accepted: float
    steps: int
    going: bool


def leap(slopes: Slopes, state: NutsState, step: float) -> NutsState:
    """One leapfrog step."""
    momentum = state.momentum + 0.5 * step * state.gradient
    position = state.position + step * momentum
    value, gradient = slopes(position)
    return NutsState(position, momentum + 0.5 * step * gradient, value, gradient)


def ends_move_apart(left: NutsState, right: NutsState) -> bool:
    """Return True while the ends of a path move away from each other."""
    across = right.position - left.position
    return float(across @ left.momentum) > 0 and float(across @ right.momentum) > 0


def grow(
    slopes: Slopes, state: NutsState, step: float, depth: int, start: float, rng: np.random.Generator
) -> Tree:
    """A path of 2^depth steps from a state, forward where the step is positive."""
    if depth == 0:
        new = leap(slopes, state, step)
        gain = new.energy - start if np.isfinite(new.value) else -np.inf
        return Tree(new, new, new, gain, min(1.0, float(np.exp(min(0.0, gain)))), 1, gain > -DIVERGED)
    near = grow(slopes, state, step, depth - 1, start, rng)
    if not near.going:
        return near
    far = grow(slopes, near.right if step > 0 else near.left, step, depth - 1, start, rng)
    return join_trees(near, far, step > 0, rng, eager=False)


def join_trees(near: Tree, far: Tree, forward: bool, rng: np.random.Generator, *, eager: bool) -> Tree:
    """Join two paths end to end; with `eager` the draw prefers the far one (biased progressive sampling)."""
    left, right = (near.left, far.right) if forward else (far.left, near.right)
    total = float(np.logaddexp(near.log_weight, far.log_weight))
    chance = far.log_weight - (near.log_weight if eager else total)
    taken = far.going and np.log(rng.random()) < chance
    return Tree(
        left,
        right,
        far.draw if taken else near.draw,
        total,
        near.accepted + far.accepted,
        near.steps + far.steps,
        far.going and ends_move_apart(left, right),
    )


def sample(slopes: Slopes, start: Array, draws: int, warmup: int, rng: np.random.Generator) -> Array:
    """Draws from a density, after a warm-up that is discarded."""
    value, gradient = slopes(start)
    state = NutsState(start, np.zeros(len(start)), value, gradient)
    step, anchor, mean_log, gap = 0.7, float(np.log(7.0)), 0.0, 0.0
    found = np.empty((draws, len(start)))
    for k in range(warmup + draws):
        state = NutsState(state.position, rng.standard_normal(len(start)), state.value, state.gradient)
        tree = Tree(state, state, state, 0.0, 0.0, 0, going=True)
        for depth in range(DEPTH):
            forward = bool(rng.random() < 0.5)
            end = tree.right if forward else tree.left
            more = grow(slopes, end, step if forward else -step, depth, state.energy, rng)
            tree = join_trees(tree, more, forward, rng, eager=True)
            if not tree.going:
                break
        state = tree.draw
        if k < warmup:
            # Dual averaging with the constants of the paper.
            count = k + 1
            gap += (TARGET - tree.accepted / max(1, tree.steps) - gap) / (count + 10)
            log_step = anchor - np.sqrt(count) / 0.05 * gap
            weight = count**-0.75
            mean_log = weight * log_step + (1 - weight) * mean_log
            step = float(np.exp(mean_log if count == warmup else log_step))
        else:
            found[k - warmup] = state.position
    return found
