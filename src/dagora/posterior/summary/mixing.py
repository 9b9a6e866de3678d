"""Whether the draws of a posterior can be trusted: R-hat and effective draws of log scores and edges.

Thresholds follow Vehtari et al. (2021): R-hat of the log score up to 1.01, a hundred effective draws per
chain. The largest R-hat over hundreds of edges exceeds 1.01 by chance even if the chains have converged, so
edges may have up to 1.05. Chains above a threshold always lead to a warning.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dagora.graph.bits import unpack
from dagora.posterior.draws import Draws
from dagora.posterior.summary.diagnostics import (
    FEWEST_DRAWS,
    bulk_ess,
    mean_ess,
    pareto_shape,
    plain_rhat,
    rhat,
    tail_ess,
    weight_ess,
)

# R-hat and effective draws as Vehtari et al. (2021) recommend, with more slack for the largest of many edges
# (see above); the last one is for the Pareto shape of weights (Vehtari et al. 2024; see `diagnostics`).
LIMIT_RHAT = 1.01
LIMIT_EDGE_RHAT = 1.05
WANTED_PER_CHAIN = 100
WANTED_FOR_EDGES = 100
LIMIT_SHAPE = 0.7


@dataclass(frozen=True)
class Diagnostics:
    """R-hat and effective draws of the log score; the worst of each over all edges, and the edge it is.

    `weight_ess` says how many draws the weights are worth, and `weight_shape` how heavy their tail is; both
    are None if all draws weigh the same.
    """

    chains: int
    draws: int
    independent: bool
    rhat: float
    bulk_ess: float
    tail_ess: float
    edge_rhat: float
    edge_ess: float
    worst_edge: tuple[str, str] | None
    weight_ess: float | None = None
    weight_shape: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON form; a number that is not finite becomes null."""
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(self).items()
        }

    def __str__(self) -> str:
        size = f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')}"
        if self.draws < FEWEST_DRAWS:
            return f"{size}: too few to tell"
        text = (
            f"{size}; log score: R-hat {self.rhat:.3f}, effective draws "
            f"{self.bulk_ess:.0f} (bulk) and {self.tail_ess:.0f} (tail); edges: R-hat up to "
            f"{self.edge_rhat:.3f}, effective draws at least {self.edge_ess:.0f}"
        )
        return text if self.weight_ess is None else f"{text}; weights worth {self.weight_ess:.0f} draws"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "draw"), counted(3, "draw")
    ('1 draw', '3 draws')
    """
    return f"{number} {noun}" + "s" * (number != 1)


def diagnose(draws: Draws) -> Diagnostics:
    """Diagnose draws; edges that are in every draw or in none count as mixed."""
    # Equivalent graphs have the same score up to rounding, which must not count as a difference between
    # chains.
    log_scores = np.round(draws.log_scores, 6)
    worst_rhat, worst_ess, worst = (1.0, float(log_scores.size), None)
    if draws.per_chain < FEWEST_DRAWS:
        worst_rhat = worst_ess = math.nan
    nodes = len(draws.names)
    for child in range(nodes if draws.per_chain >= FEWEST_DRAWS else 0):
        rows = draws.parents[:, :, child].reshape(log_scores.size, -1)
        present = unpack(rows, nodes)
        moving = np.flatnonzero(present.any(axis=0) & ~present.all(axis=0))
        if not len(moving):
            continue
        values = present[:, moving].reshape(*log_scores.shape, -1)
        rhats = plain_rhat(values)
        if rhats.max() > worst_rhat:
            worst_rhat = float(rhats.max())
            worst = (draws.names[int(moving[rhats.argmax()])], draws.names[child])
        worst_ess = min(worst_ess, float(mean_ess(values).min()))
    weights = draws.log_weights
    return Diagnostics(
        chains=draws.chains,
        draws=draws.per_chain,
        independent=draws.independent,
        rhat=float(rhat(log_scores)),
        bulk_ess=float(bulk_ess(log_scores)),
        tail_ess=float(tail_ess(log_scores)),
        edge_rhat=worst_rhat,
        edge_ess=worst_ess,
        worst_edge=worst,
        weight_ess=None if weights is None or not weights.size else weight_ess(weights),
        weight_shape=None if weights is None or not weights.size else pareto_shape(weights),
    )


def mixing_warnings(found: Diagnostics) -> list[str]:
    """Sentences about what is wrong with the chains; none for independent draws."""
    if found.independent:
        return []
    if found.draws < FEWEST_DRAWS:
        made = counted(found.draws, "draw")
        return [f"too few draws to tell whether the chains have mixed ({made} per chain): take more"]
    said = []
    if found.chains == 1:
        said.append("a single chain cannot show that it missed a region: take several chains, such as 4")
    apart = []
    if not found.rhat <= LIMIT_RHAT:
        apart.append(f"R-hat of the log score is {found.rhat:.3f} (limit {LIMIT_RHAT})")
    if not found.edge_rhat <= LIMIT_EDGE_RHAT and found.worst_edge is not None:
        tail, head = found.worst_edge
        apart.append(f"R-hat of the edge {tail} → {head} is {found.edge_rhat:.3f} (limit {LIMIT_EDGE_RHAT})")
    if apart:
        said.append(
            f"the chains have not mixed, do not rely on these probabilities: {', '.join(apart)}; take more "
            "draws, a larger thin or a longer warmup"
        )
    few = []
    wanted = WANTED_PER_CHAIN * found.chains
    if not min(found.bulk_ess, found.tail_ess) >= wanted:
        few.append(f"{min(found.bulk_ess, found.tail_ess):.0f} for the log score ({wanted} wanted)")
    if not found.edge_ess >= WANTED_FOR_EDGES:
        few.append(f"{found.edge_ess:.0f} for some edge ({WANTED_FOR_EDGES} wanted)")
    if few:
        said.append(
            f"the draws are worth few independent ones, {' and '.join(few)}: take more, or a larger thin"
        )
    return said
