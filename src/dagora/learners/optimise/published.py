"""Algorithm 1 of Zheng, Aragam, Ravikumar & Xing (2018), "DAGs with NO TEARS", and nothing after it.

    minimise  F(W) = loss(W) + λ ‖W‖₁             (equation 2; the program is equation 8)
    subject to  h(W) = tr e^(W∘W) − d = 0          (equation 5; its gradient is equation 6)

Equation 11 is the augmented Lagrangian, L(W, α) = F(W) + (ρ/2) h(W)² + α h(W). From W₀ = 0, α = 0, ρ = 1,
round t of the algorithm

- (a) minimises L from W_t, and again from W_t with ten times the ρ until h(W_{t+1}) ≤ c h(W_t), c = ¼;
- (b) adds ρ h(W_{t+1}) to α (equation 13);
- (c) ends it when h(W_{t+1}) ≤ ε = 10⁻⁸ (section 4.3), or when ρ has reached 10¹⁶.

c, the growth of ρ and its limit are those of the authors' public code; the paper leaves them open. The last W
is W_ECP. Its weights below ω in absolute value become zero (section 4.3), which gives Ŵ. Neither
need be a DAG.

Step (a), section 4.2, has two inner solvers. `proximal` is the paper's: L-BFGS for λ = 0, and for λ > 0 a
proximal quasi-Newton method with an active set (`quasi_newton`; its line search, restarts and tolerance are
ours, of which the paper says little). `split` is that of the authors' public code for every λ: W is split
into W⁺ − W⁻ with both parts ≥ 0, so that ‖W‖₁ is the linear function Σ (W⁺ + W⁻), and SciPy's L-BFGS-B
minimises over the parts with its own tolerances. Where L overflows, L-BFGS-B gets `OUTSIDE` in its place,
because its line search cannot go on from infinity. (Where counts are large, the Poisson loss is so steep that
L-BFGS-B does not leave W = 0.)
Least squares are computed from second moments, which changes nothing but the time; columns are centred, of
which the paper says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.learners.optimise.acyclicity import trace_exponential, with_required_edges
from dagora.learners.optimise.losses import Loss
from dagora.learners.optimise.method_of_multipliers import GROWTH, H_TOLERANCE, PROGRESS, RHO_MAX
from dagora.learners.optimise.progress import EVENT_INTERVAL, PHASE, EdgeMaker, lazy_edges
from dagora.learners.optimise.quasi_newton import minimise
from dagora.learners.run import Run

# The value for L-BFGS-B where the Lagrangian is infinite: above any Lagrangian on the way.
OUTSIDE = 1e50
# L-BFGS-B takes slopes up to this for zero: its default `gtol`.
SLIGHT = 1e-5

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Support = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PublishedSolution:
    """W_ECP with its h and F, the last ρ, the work done, and why the algorithm ended.

    It `converged` if h ≤ 10⁻⁸, unless it is `stuck` at W = 0 although some slope is above λ.
    """

    weights: Matrix
    h: float
    objective: float
    rho: float
    rounds: int
    evaluations: int
    stuck: bool = False

    @property
    def converged(self) -> bool:
        """True if h is at most its tolerance and the weights are a solution."""
        return self.h <= H_TOLERANCE and not self.stuck

    @property
    def reason(self) -> str:
        """The reason for the end, as a message."""
        if self.stuck:
            return "the inner solver found no step from W = 0, though there is a slope"
        if self.converged:
            return f"h = {self.h:.1e} is at most {H_TOLERANCE:g} after {self.rounds} rounds"
        return f"ρ reached {RHO_MAX:g} with h = {self.h:.1e}"


def published_algorithm(
    loss: Loss,
    run: Run,
    *,
    lambda1: float,
    allowed: Support,
    required: Support,
    edge_maker: EdgeMaker | None = None,
    inner: str = "split",
) -> PublishedSolution:
    """Run algorithm 1 up to W_ECP; when the budget is spent, the last weights are returned.

    The paper has no knowledge of edges. Here the weight of an edge that is not `allowed` stays 0, and h
    counts a `required` one as present, however small its weight. `edge_maker` makes the edges in events.

    >>> from dagora.learners.optimise.losses import LeastSquares
    >>> covariance = np.array([[1.0, 2.0], [2.0, 5.0]])  # b = 2a + noise of variance 1
    >>> free, none = ~np.eye(2, dtype=bool), np.zeros((2, 2), dtype=bool)
    >>> found = published_algorithm(LeastSquares(covariance), Run(), lambda1=0.1, allowed=free, required=none)
    >>> found.weights.round(2).tolist(), found.converged
    ([[0.0, 1.9], [0.0, 0.0]], True)
    """
    lagrangian = INNER[inner](loss, run, lambda1, allowed, required, edge_maker)
    entries, h = lagrangian.start, np.inf
    alpha, rho, rounds = 0.0, 1.0, 0
    while h > H_TOLERANCE and rho < RHO_MAX and not run.budget.exhausted:
        found, found_h = lagrangian.minimise(entries, alpha, rho)
        while found_h > PROGRESS * h and rho < RHO_MAX and not run.budget.exhausted:
            rho *= GROWTH
            found, found_h = lagrangian.minimise(entries, alpha, rho)
        entries, h = found, found_h
        alpha += rho * h
        rounds += 1
    weights = lagrangian.weights(entries)
    objective = loss.value(weights) + lambda1 * float(np.abs(weights).sum())
    steepest = np.abs(loss.value_and_gradient(weights)[1][lagrangian.free]).max(initial=0.0)
    stuck = not weights.any() and bool(steepest > lambda1 + SLIGHT)
    return PublishedSolution(
        weights, lagrangian.h(weights), objective, rho, rounds, lagrangian.evaluations, stuck
    )


class Lagrangian:
    """The augmented Lagrangian as a function of the allowed entries of W, its penalty apart."""

    copies = 1  # variables for each entry

    def __init__(
        self,
        loss: Loss,
        run: Run,
        lambda1: float,
        allowed: Support,
        required: Support,
        edge_maker: EdgeMaker | None = None,
    ) -> None:
        self.loss, self.run, self.lambda1, self.edge_maker = loss, run, lambda1, edge_maker
        self.free = allowed & ~np.eye(len(allowed), dtype=np.bool_)
        self.size = int(self.free.sum())
        self.start: Vector = np.zeros(self.copies * self.size)
        self.acyclicity = with_required_edges(trace_exponential, required)
        self.evaluations = 0
        self.last_event = run.budget.elapsed

    def weights(self, entries: Vector) -> Matrix:
        """W."""
        weights = np.zeros(self.free.shape)
        weights[self.free] = entries
        return weights

    def h(self, weights: Matrix) -> float:
        """The measure of cycles; 0 for a DAG."""
        return self.acyclicity(weights)[0]

    def minimise(self, entries: Vector, alpha: float, rho: float) -> tuple[Vector, float]:
        """Minimise from `entries`, by proximal quasi-Newton or for λ = 0 by L-BFGS; return the last and h."""
        found = minimise(
            lambda point: self.without_penalty(self.weights(point), alpha, rho),
            entries,
            np.ones(self.size, dtype=np.bool_),
            self.lambda1,
            tolerance=SLIGHT,
            stop=lambda point: self.ends(point, rho),
        )
        return found.point, self.report(found.point, rho)

    def without_penalty(self, weights: Matrix, alpha: float, rho: float) -> tuple[float, Vector]:
        """The Lagrangian without λ ‖W‖₁, and its slopes in the allowed entries of W; infinity outside."""
        self.evaluations += 1
        h, h_slopes = self.acyclicity(weights)
        loss, loss_slopes = self.loss.value_and_gradient(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            value = loss + (0.5 * rho * h + alpha) * h
            slopes = (loss_slopes + (rho * h + alpha) * h_slopes)[self.free]
        if not (value < OUTSIDE and np.isfinite(slopes).all()):
            return np.inf, np.zeros_like(slopes)
        return value, slopes

    def ends(self, entries: Vector, rho: float) -> bool:
        """Tell how far it is, now and then; true if the budget is spent."""
        if self.run.budget.elapsed - self.last_event > EVENT_INTERVAL:
            self.report(entries, rho)
        return self.run.budget.exhausted

    def report(self, entries: Vector, rho: float) -> float:
        """Tell how far it is; return h."""
        self.last_event = self.run.budget.elapsed
        h = self.h(self.weights(entries))
        edges = lazy_edges(self.edge_maker, lambda: self.weights(entries))
        self.run.on_event(Event(PHASE, self.evaluations, message=f"h = {h:.2g}, ρ = {rho:.0e}", edges=edges))
        return h


class SplitLagrangian(Lagrangian):
    """The augmented Lagrangian as a function of the allowed entries of W⁺, followed by those of W⁻."""

    copies = 2

    def weights(self, entries: Vector) -> Matrix:
        """W = W⁺ − W⁻."""
        return super().weights(entries[: self.size] - entries[self.size :])

    def minimise(self, entries: Vector, alpha: float, rho: float) -> tuple[Vector, float]:
        """Minimise by L-BFGS-B from `entries`; return the last ones and their h."""
        from scipy.optimize import Bounds, minimize

        def value_and_slopes(parts: Vector) -> tuple[float, Vector]:
            value, slopes = self.without_penalty(self.weights(parts), alpha, rho)
            if not (value := value + self.lambda1 * float(parts.sum())) < OUTSIDE:
                return OUTSIDE, np.zeros_like(parts)
            return value, np.concatenate([self.lambda1 + slopes, self.lambda1 - slopes])

        def after_step(parts: Vector) -> None:
            if self.ends(parts, rho):
                raise StopIteration

        ended = minimize(
            value_and_slopes, entries, jac=True, method="L-BFGS-B",
            bounds=Bounds(0.0, np.inf), callback=after_step,
        )  # fmt: skip
        return ended.x, self.report(ended.x, rho)


INNER: dict[str, type[Lagrangian]] = {"split": SplitLagrangian, "proximal": Lagrangian}
