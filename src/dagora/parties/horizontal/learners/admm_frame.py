"""What both ADMM learners do before the first round and after the last one.

Before: refuse what they cannot obey, ask the sites for the columns, and turn the knowledge into allowed and
required edges. After: ask for the pooled loss of the final weights, and describe the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.options import find
from dagora.base.wording import setting
from dagora.learners.optimise.acyclic_support import refuse_parent_limit
from dagora.learners.run import Run
from dagora.parties.horizontal.checked_fields import shown_reals
from dagora.parties.horizontal.learners.admm_rounds import RHO_MAX, Consensus
from dagora.parties.horizontal.session.federation import Federation
from dagora.parties.horizontal.statistics.columns import CENTRES, Columns, ask_columns

# What both learners add to the paper's algorithm.
CUT_LAST = "edges that close a cycle after the threshold are dropped"

Vector = NDArray[np.float64]
Support = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Problem:
    """The columns that the sites share, and which edges are free and which required."""

    columns: Columns
    free: Support
    required: Support

    @property
    def knowing(self) -> bool:
        """Whether some edge is forbidden or required."""
        return bool(self.required.any() or not (self.free | np.eye(len(self.free), dtype=np.bool_)).all())


def ask_problem(
    federation: Federation, run: Run, method: str, centre: str, *, published: bool = False
) -> Problem:
    """Ask the sites for their columns, centred in the given way; refuse what the method cannot obey."""
    refuse_parent_limit(run.knowledge, method)
    find("centre", centre, dict.fromkeys(CENTRES))
    other = f"without {setting('published', True)}" if published else f"with {setting('centre', 'global')}"
    columns = ask_columns(federation, f"the method {method}", centre, other)
    free = ~run.knowledge.forbidden_matrix(columns.names)
    return Problem(columns, free, run.knowledge.required_matrix(columns.names))


def centre_of(centre: str | None, paper: str) -> str:
    """The authors' centre; another one is refused."""
    if centre not in {None, paper}:
        raise OptionError(
            f"{setting('published', True)} has the authors' {setting('centre', paper)}: leave centre out"
        )
    return paper


def tolerance_of(tolerance: float | None, ours: float, *, published: bool) -> float:
    """The tolerance as given or by default; no residual ends the published rounds, so there it is refused.

    >>> tolerance_of(None, 0.001, published=True), tolerance_of(0.1, 0.001, published=False)
    (0.001, 0.1)
    """
    if published and tolerance is not None:
        raise OptionError(
            f"{setting('published', True)} has no tolerance, penalties end its rounds: leave tolerance out"
        )
    return ours if tolerance is None else tolerance


def final_loss(consensus: Consensus, task: str, weights: Vector) -> float | None:
    """The pooled loss of the final weights; None if there was no round."""
    if consensus.rounds == 0:
        return None
    answers = consensus.federation.gather(task, {"weights": weights})
    return float(np.sum(list(shown_reals(answers, "loss", (1,)).values())))


def describe_published(consensus: Consensus, problem: Problem, *more: str) -> tuple[str, str]:
    """Status, and a message that says how the published rounds ended and what is not as in the paper."""
    unlike = [CUT_LAST, *more, *["edges are forbidden or required"] * problem.knowing]
    status, rounds = "finished", f"{consensus.rounds} rounds"
    if consensus.rho < RHO_MAX and consensus.run.budget.exhausted:
        status, rounds = "time-limit", f"stopped after {rounds}: {consensus.run.budget.reason}"
    elif consensus.rho < RHO_MAX:
        status = "step-limit"
        unlike.append(f"{setting('max_rounds', consensus.max_rounds)} ends it before the penalties do")
    residuals = f"residuals {consensus.primal:.1e} and {consensus.dual:.1e}"
    words = f"algorithm 1 of Ng & Zhang (2022) as published, {rounds}, {residuals}"
    return status, f"{words}; not as in the paper: {', and '.join(unlike)}"


def describe_ending(consensus: Consensus, tolerance: float) -> tuple[str, str]:
    """Status, and a message that says how our rounds ended."""
    rounds = f"{consensus.rounds} rounds"
    residuals = f"residuals {consensus.primal:.1e} and {consensus.dual:.1e}"
    if tolerance < consensus.unsolved < np.inf:
        residuals += f", the coordinator's own weights {consensus.unsolved:.1e} away from a solution"
    if consensus.run.budget.exhausted:
        return "time-limit", f"stopped after {rounds}: {consensus.run.budget.reason}; {residuals}"
    if consensus.settled(tolerance):
        return "finished", f"the sites agree after {rounds}, {residuals}"
    return "step-limit", f"{rounds} did not bring the sites to agree: {residuals}, tolerance {tolerance:g}"


def consensus_stats(
    consensus: Consensus, columns: Columns, *, path_rounds: int, h: float, dropped: int
) -> dict[str, float]:
    """Numbers of a run; `path_rounds` and `h` are those at the end of the schedule."""
    return {
        "rounds": float(consensus.rounds),
        "path_rounds": float(path_rounds),
        "h": h,
        "primal_residual": finite_residual(consensus.primal),
        "dual_residual": finite_residual(consensus.dual),
        "rho": consensus.rho,
        "parties": float(len(consensus.federation.parties)),
        "rows": float(columns.n),
        "dropped_edges": float(dropped),
    }


def finite_residual(residual: float) -> float:
    """The residual, or −1 if there was no round."""
    return residual if np.isfinite(residual) else -1.0
