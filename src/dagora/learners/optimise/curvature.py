"""An L-BFGS model of a smooth function with an L1 penalty, and the coordinate descent that minimises it.

The L-BFGS matrix of m steps s and changes of gradient y is, in compact form, B = γI − Q M⁻¹ Qᵀ with
Q = [γS, Y], M = [[γSᵀS, L], [Lᵀ, −D]], γ = yᵀy / sᵀy (Byrd, Nocedal and Schnabel 1994, theorem 2.3).
Coordinate descent on gᵀd + ½ dᵀBd + λ‖w + d‖₁ moves d_j by z = −c + S(c − b/a, λ/a) with a = B_jj,
b = g_j + (Bd)_j, c = w_j + d_j and S the soft threshold (Zheng et al. 2018, equation 17), at O(m) per
coordinate, because M⁻¹Qᵀd is updated with every move.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

Vector = NDArray[np.float64]

# Steps that the model remembers, the usual number for L-BFGS.
MEMORY = 10
# Largest number of sweeps of coordinate descent over the active set. They end when no slope of the model
# moves by more than this share of the steepest slope: the next step has a new model anyway.
SWEEPS = 25
MODEL_ACCURACY = 0.1


@dataclass
class Curvature:
    """The L-BFGS matrix of the last few steps, each scaled to length 1 (which does not change the matrix)."""

    moves: list[Vector] = field(default_factory=list)
    turns: list[Vector] = field(default_factory=list)
    scale: float = 0.0

    @property
    def is_empty(self) -> bool:
        """True if no step has been added yet."""
        return not self.moves

    def add(self, move: Vector, turn: Vector) -> None:
        """Add a step and the change of the gradient along it, if the curvature along it is positive."""
        length = float(np.linalg.norm(move))
        along = float(move @ turn)
        if not along > 1e-10 * length * float(np.linalg.norm(turn)):
            return
        self.moves = [*self.moves, move / length][-MEMORY:]
        self.turns = [*self.turns, turn / length][-MEMORY:]
        self.scale = float(turn @ turn) / along

    def compact(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows of Q, and M⁻¹."""
        moves, turns = np.array(self.moves), np.array(self.turns)
        mixed = moves @ turns.T
        size = len(moves)
        middle = np.empty((2 * size, 2 * size))
        middle[:size, :size] = self.scale * (moves @ moves.T)
        middle[:size, size:] = np.tril(mixed, -1)
        middle[size:, :size] = middle[:size, size:].T
        middle[size:, size:] = -np.diag(np.diag(mixed))
        inverse: NDArray[np.float64] = np.linalg.inv(middle).astype(np.float64, copy=False)
        return np.vstack([self.scale * moves, turns]), inverse

    def direction(
        self, point: Vector, gradient: Vector, active: NDArray[np.intp], lambda1: float, steepest: float
    ) -> Vector:
        """The minimiser of the model over the active entries."""
        factors, products = np.zeros((len(active), 0)), np.zeros((len(active), 0))
        scale = self.scale or float(np.linalg.norm(gradient[active]))
        if not self.is_empty:
            try:
                rows, inverse = self.compact()
                factors = np.ascontiguousarray(rows[:, active].T)
                products = np.ascontiguousarray(factors @ inverse)
            except np.linalg.LinAlgError:
                self.moves, self.turns = [], []
        direction = np.zeros_like(point)
        direction[active] = descend(
            point[active],
            gradient[active],
            factors,
            products,
            scale,
            lambda1,
            SWEEPS,
            MODEL_ACCURACY * steepest,
        )
        return direction


@kernel
def descend(
    point: Vector,
    gradient: Vector,
    factors: NDArray[np.float64],
    products: NDArray[np.float64],
    scale: float,
    lambda1: float,
    sweeps: int,
    accuracy: float,
) -> Vector:
    """Coordinate descent on the model; `factors` holds the rows of Q, `products` those of Q M⁻¹.

    Without remembered steps (no columns in Q) B = γI and each coordinate is solved at once: at w = 0 with γ =
    2, λ = 1 and the gradient (−5, 0.5), the first moves by soft(5, 1)/2 = 2 and the second stays, since |0.5|
    ≤ λ.

    >>> nothing = np.zeros((2, 0))
    >>> descend(np.zeros(2), np.array([-5.0, 0.5]), nothing, nothing, 2.0, 1.0, SWEEPS, 1e-9) + 0.0
    array([2., 0.])
    """
    size, rank = factors.shape
    direction = np.zeros(size)
    carried = np.zeros(rank)  # M⁻¹ Qᵀ d
    diagonal = np.empty(size)
    for j in range(size):
        own = scale
        for k in range(rank):
            own -= factors[j, k] * products[j, k]
        # B is positive definite, but rounding may make its diagonal too small.
        diagonal[j] = max(own, 1e-8 * scale)
    order = np.arange(size)
    count = size
    for turn in range(sweeps):
        largest = 0.0
        place = 0
        while place < count:
            j = order[place]
            b = gradient[j] + scale * direction[j]
            for k in range(rank):
                b -= factors[j, k] * carried[k]
            c = point[j] + direction[j]
            # Shrinking: a weight that is zero with a slope well below λ is skipped until the others converge.
            if turn > 0 and c == 0.0 and abs(b) < lambda1 - accuracy:
                count -= 1
                order[place] = order[count]
                order[count] = j
                continue
            a = diagonal[j]
            pull = c - b / a
            target = max(abs(pull) - lambda1 / a, 0.0)
            if pull < 0:
                target = -target
            z = target - c
            if z != 0.0:
                direction[j] += z
                for k in range(rank):
                    carried[k] += z * products[j, k]
                largest = max(largest, a * abs(z))
            place += 1
        if largest <= accuracy:
            if count == size:
                break
            count = size
    # A weight that the model sets to zero must become exactly zero, whatever the rounding.
    for j in range(size):
        if abs(point[j] + direction[j]) <= 1e-15 * abs(point[j]):
            direction[j] = -point[j]
    return direction
