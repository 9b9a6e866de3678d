"""ADMM over sites that have series: DYNOTEARS by consensus, as Ng & Zhang (2022) sketch in section 5.2.

    minimise  Σ_k ½ tr (J − B_k)ᵀ S_k (J − B_k) + λ_W ‖W‖₁ + λ_A ‖A‖₁   subject to   h(W) = 0,  B_k = (W; A)

S_k are the second moments of the windows (x_t, …, x_{t−p}) of site k's series about the means of all windows,
divided by the number of windows of all sites, and J = (I; 0). The paper says that its method applies, with a
global variable of weights within a step and from earlier steps, and h on the former alone; it prints no
algorithm for it. Here it is that of `admm`: the coordinator's update splits into that of W, as there, and
that of A, which has no cycles and a closed form. Schedules, units, thresholds and the last rounds are those
of `admm`, too, with a threshold of its own for weights from earlier steps.

A site shows the covariance of its windows. `dynotears` over sites learns the same from one secure sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.graph.dag import DAG
from dagora.learners.optimise.acyclic_support import acyclic_support, dropped_edges_warning
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.time.dynotears import check_window, edges_in_time, windows_covariance
from dagora.parties.horizontal.learners.acyclic_prox import ProxPenalties, ProxSolution, acyclic_prox, cycles
from dagora.parties.horizontal.learners.admm import FAINT, OUR_TOLERANCE, threshold_consensus
from dagora.parties.horizontal.learners.admm_site import LAGGED_LOSS, LAGGED_STEP
from dagora.parties.horizontal.learners.consensus import (
    FIRST_RHO1,
    PATH_TOLERANCE,
    Consensus,
    agree_on_weights,
    describe_ending,
    final_loss,
    finite_residual,
    follow_balanced_schedule,
)
from dagora.parties.horizontal.session.federation import Federation
from dagora.parties.horizontal.session.secure_statistics import SecureSeriesStatistics

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]

MOST_ROUNDS = 1000  # bounds a run that does not converge


@dataclass(frozen=True)
class DynamicServer:
    """The coordinator's update: W has h, A has none; the window's columns are divided by `unit`.

    `required` has a 1 for each required edge within a step.
    """

    unit: Vector
    required: Vector
    lambda_lagged: float

    @property
    def own(self) -> Vector:
        """Factors that convert weights to the original units: unit_j / unit_i for i → j."""
        return np.outer(1.0 / self.unit, self.unit[: len(self.required)])

    def update(
        self, start: Vector, target: Vector, q: float, penalties: ProxPenalties, free: Support
    ) -> ProxSolution:
        """Solve (5) with losses and penalties in the original units of the columns."""
        d, own = len(self.required), self.own
        near = q * np.square(self.unit[:d])
        within = replace(penalties, lambda1=penalties.lambda1 * own[:d], present=self.required)
        now, left = acyclic_prox(start[None, :d], target[None, :d], near, within, free[:d])
        earlier = ProxPenalties(self.lambda_lagged * own[d:])
        before, _ = acyclic_prox(start[None, d:], target[None, d:], near, earlier, free[d:])
        return ProxSolution(np.concatenate([now[0], before[0]]), left)

    def cycles(self, weights: Vector) -> float:
        """Compute h of the weights within a step."""
        return cycles(weights[None, : len(self.required)], self.required)


def admm_dynamic(
    federation: Federation,
    run: Run,
    *,
    lags: int = 1,
    lambda1: float = 0.05,
    lambda_lagged: float = 0.05,
    threshold: float = 0.3,
    threshold_lagged: float = 0.1,
    max_rounds: int | None = None,
    tolerance: float | None = None,
) -> Outcome:
    """Learn a weighted graph in time; its nodes are those of a window, [i, j] of its weights is i → j."""
    check_window(len(federation.schema), lags, "admm-dynamic")
    windows = SecureSeriesStatistics(federation, lags).lagged(lags)
    covariance = windows_covariance(windows, standardise=False, owner="the method admm-dynamic")
    d = len(windows.variables)
    allowed, required = (matrix[:, :d] for matrix in edges_in_time(run.knowledge, windows.variables, lags))
    unit = np.sqrt(np.diag(covariance))
    server = DynamicServer(unit, required[:d].astype(np.float64), lambda_lagged)
    consensus = Consensus(
        federation,
        run,
        task=LAGGED_STEP,
        begin={"n": windows.n_rows, "mean": windows.moments().mean, "unit": unit},
        weight_unit=1.0,
        weights=np.zeros(allowed.shape),
        rho=1.0 / len(federation.parties),  # the mean eigenvalue of S_k
        max_rounds=max_rounds or MOST_ROUNDS,
    )
    given = ProxPenalties(lambda1, rho1=FIRST_RHO1 * float(unit[:d].min()) ** 2)
    tolerance = OUR_TOLERANCE if tolerance is None else tolerance
    follow_balanced_schedule(consensus, server, given, allowed, max(tolerance, PATH_TOLERANCE))
    path_rounds, path_weights = consensus.rounds, consensus.weights * server.own
    h = server.cycles(consensus.weights)
    thresholds = np.repeat([threshold, threshold_lagged], [d, len(unit) - d])[:, None]
    late = consensus.is_over
    raw, least = (path_weights, thresholds) if late else (consensus.weights, np.full_like(thresholds, FAINT))
    within, dropped = acyclic_support(raw[:d], float(least[0, 0]), required[:d])
    earlier = (np.abs(raw[d:]) >= least[d:]) & (raw[d:] != 0)
    support = np.concatenate([within, earlier | required[d:]])
    dropped = [edge for edge in dropped if abs(path_weights[edge]) >= threshold]
    if not late:
        support = threshold_consensus(consensus, server, given, support, required, thresholds)
        agree_on_weights(consensus, server, given, support, tolerance)
    consensus.weights = np.where(support, consensus.weights, 0.0)
    weights = consensus.weights * server.own
    loss = final_loss(consensus, LAGGED_LOSS, consensus.weights)
    price = lambda1 * np.abs(weights[:d]).sum() + lambda_lagged * np.abs(weights[d:]).sum()
    status, message = describe_ending(consensus, tolerance)
    return Outcome(
        graph=DAG.from_numpy(widen_to_window(support), windows.schema.names),
        status=status,
        message=f"{message}; {windows.n_rows} windows of {lags + 1} steps",
        score=None if loss is None else -(loss + float(price)),
        stats={
            "rounds": float(consensus.rounds),
            "path_rounds": float(path_rounds),
            "h": h,
            "primal_residual": finite_residual(consensus.primal),
            "dual_residual": finite_residual(consensus.dual),
            "rho": consensus.rho,
            "parties": float(len(federation.parties)),
            "windows": float(windows.n_rows),
            "dropped_edges": float(len(dropped)),
            "edges_within": float(support[:d].sum()),
            "edges_lagged": float(support[d:].sum()),
        },
        weights=widen_to_window(weights),
        warnings=dropped_edges_warning(windows.variables, path_weights[:d], dropped),
    )


def widen_to_window(matrix: NDArray[Any]) -> NDArray[Any]:
    """A matrix over the columns of a window and the variables, as one over all columns of the window.

    >>> widen_to_window(np.array([[1], [2]]))
    array([[1, 0],
           [2, 0]])
    """
    rows, columns = matrix.shape
    return np.concatenate([matrix, np.zeros((rows, rows - columns), dtype=matrix.dtype)], axis=1)
