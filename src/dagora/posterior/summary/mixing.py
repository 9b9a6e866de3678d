"""Reliability of the draws of a posterior: R-hat, effective draws, and agreement on every edge.

Thresholds follow Vehtari et al. (2021): R-hat of the log score up to 1.01, a hundred effective draws per
chain. The largest R-hat over hundreds of edges exceeds 1.01 by chance even if the chains have converged, so
edges may have up to 1.05; with few draws the limits are those that chance would break (`agreement`). Chains
above a threshold always lead to a warning. A chain that kept a single graph has shown nothing: if it cannot
leave that graph, it looks just as if the posterior had no other.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import amount
from dagora.base.wording import option
from dagora.graph.bits import unpack
from dagora.posterior.draws import Draws
from dagora.posterior.summary.agreement import (
    CHANCE,
    MATERIAL,
    Agreement,
    EdgeGap,
    agreement,
    limit_beyond_chance,
)
from dagora.posterior.summary.diagnostics import (
    FEWEST_DRAWS,
    bulk_ess,
    pareto_shape,
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
# Edges apart that are listed, and those that a warning names.
MOST_LISTED, MOST_NAMED = 20, 3

MIXED, NOT_MIXED, UNKNOWN, INDEPENDENT = "mixed", "not mixed", "mixing unknown", "independent"
PARTICLES = "particles"


@dataclass(frozen=True)
class Diagnostics:
    """R-hat and effective draws of the log score; the worst of each over all edges, and the edge it is.

    `edge_gap` is the largest difference between two chains in how often they have an edge, `edges_apart` the
    number of edges on which chains disagree, and `apart` lists the worst of them. `still` are the chains,
    counted from 1, that kept a single graph. `limit_rhat` and `limit_edge_rhat` are what R-hat may be.
    `weight_ess` says how many draws the weights are worth, and `weight_shape` how heavy their tail is; both
    are None if all draws have the same weight.
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
    edge_gap: float = 0.0
    edges_apart: int = 0
    apart: tuple[EdgeGap, ...] = ()
    still: tuple[int, ...] = ()
    limit_rhat: float = LIMIT_RHAT
    limit_edge_rhat: float = LIMIT_EDGE_RHAT
    weight_ess: float | None = None
    weight_shape: float | None = None
    particles: bool = False

    @property
    def verdict(self) -> str:
        """`mixed`, `not mixed`, `mixing unknown` if draws cannot show it; `independent`, `particles`."""
        if self.independent:
            return INDEPENDENT
        if self.particles:
            return PARTICLES
        if self.draws < FEWEST_DRAWS:
            return UNKNOWN
        if not self.rhat <= self.limit_rhat or self.edges_apart:
            return NOT_MIXED
        return UNKNOWN if self.still or self.chains == 1 else MIXED

    def to_dict(self) -> dict[str, Any]:
        """JSON form; a number that is not finite becomes null."""
        finite = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(self).items()
        }
        return {"verdict": self.verdict, **finite}

    def __str__(self) -> str:
        size = f"{amount(self.chains, 'chain')} × {amount(self.draws, 'draw')}"
        if self.draws < FEWEST_DRAWS:
            return f"{size}: too few to tell"
        text = (
            f"{size}; log score: R-hat {self.rhat:.3f}, effective draws "
            f"{self.bulk_ess:.0f} (bulk) and {self.tail_ess:.0f} (tail); edges: R-hat up to "
            f"{self.edge_rhat:.3f}, effective draws at least {self.edge_ess:.0f}, chains at most "
            f"{self.edge_gap:.3f} apart"
        )
        return text if self.weight_ess is None else f"{text}; weights worth {self.weight_ess:.0f} draws"


def diagnose(draws: Draws) -> Diagnostics:
    """Diagnose draws; edges that are in every draw or in none are the same in all chains.

    Chains given different completions of missing values need not agree: the worst completion counts.
    """
    if draws.completions > 1:
        each = map(diagnose, draws.by_completion())
        return max(each, key=lambda one: (one.verdict == NOT_MIXED, np.nan_to_num(one.rhat, nan=np.inf)))
    # Equivalent graphs have the same score up to rounding, which must not count as a difference between
    # chains.
    log_scores = np.round(draws.log_scores, 6)
    edges = EdgeVerdicts(draws)
    weights = draws.log_weights
    return Diagnostics(
        chains=draws.chains,
        draws=draws.per_chain,
        independent=draws.independent,
        particles=draws.particles,
        rhat=float(rhat(log_scores)),
        bulk_ess=float(bulk_ess(log_scores)),
        tail_ess=float(tail_ess(log_scores)),
        edge_rhat=edges.rhat,
        edge_ess=edges.ess,
        worst_edge=edges.worst,
        edge_gap=edges.gap,
        edges_apart=len(edges.apart),
        apart=tuple(sorted(edges.apart, key=lambda edge: edge.lowest - edge.highest)[:MOST_LISTED]),
        still=still_chains(draws),
        limit_rhat=limit_beyond_chance(LIMIT_RHAT, 2 * draws.chains, draws.per_chain // 2),
        limit_edge_rhat=edges.limit,
        weight_ess=None if weights is None or not weights.size else weight_ess(weights),
        weight_shape=None if weights is None or not weights.size else pareto_shape(weights),
    )


class EdgeVerdicts:
    """The verdicts on every edge that some draws have and others do not."""

    def __init__(self, draws: Draws) -> None:
        enough = draws.per_chain >= FEWEST_DRAWS
        self.rhat = 1.0 if enough else math.nan
        self.ess = float(draws.log_scores.size) if enough else math.nan
        self.gap = 0.0 if enough else math.nan
        self.worst: tuple[str, str] | None = None
        self.apart: list[EdgeGap] = []
        found = list(compared_edges(draws)) if enough else []
        number = sum(len(moving) for _, moving, _ in found)
        self.limit = limit_beyond_chance(LIMIT_EDGE_RHAT, 2 * draws.chains, draws.per_chain // 2, number)
        for child, moving, chains in found:
            names = [(draws.names[int(parent)], draws.names[child]) for parent in moving]
            gaps = chains.highest - chains.lowest
            if chains.rhat.max() > self.rhat:
                self.rhat, self.worst = float(chains.rhat.max()), names[int(chains.rhat.argmax())]
            self.ess = min(self.ess, float(chains.ess.min()))
            self.gap = max(self.gap, float(gaps.max()))
            beyond = (chains.chance < CHANCE / number) & (gaps >= MATERIAL)
            for k in np.flatnonzero(beyond | ~(chains.rhat <= self.limit)):
                self.apart.append(EdgeGap(*names[k], float(chains.lowest[k]), float(chains.highest[k])))


def compared_edges(draws: Draws) -> list[tuple[int, NDArray[np.int64], Agreement]]:
    """Per child the parents that some draws have and others do not, and how the chains agree on them."""
    nodes, shape = len(draws.names), draws.log_scores.shape
    found = []
    for child in range(nodes):
        present = unpack(draws.parents[:, :, child].reshape(draws.log_scores.size, -1), nodes)
        moving = np.flatnonzero(present.any(axis=0) & ~present.all(axis=0))
        if len(moving):
            found.append((child, moving, agreement(present[:, moving].reshape(*shape, -1))))
    return found


def still_chains(draws: Draws) -> tuple[int, ...]:
    """The chains, counted from 1, whose draws are all the same graph."""
    same = (draws.parents == draws.parents[:, :1]).all(axis=(1, 2, 3))
    return tuple(int(k) + 1 for k in np.flatnonzero(same)) if draws.per_chain else ()


def mixing_warnings(found: Diagnostics) -> list[str]:
    """Sentences about what is wrong with the chains; none where there are no chains."""
    if found.independent or found.particles:
        return []
    if found.draws < FEWEST_DRAWS:
        made = amount(found.draws, "draw")
        return [f"too few draws to tell whether the chains have mixed ({made} per chain): take more"]
    messages = []
    if found.chains == 1:
        messages.append(
            f"a single chain cannot show that it missed a region: take several, such as {option('chains', 4)}"
        )
    if found.verdict == NOT_MIXED:
        reasons = "; ".join(apart_in_words(found))
        messages.append(
            f"the chains have not mixed, do not rely on these probabilities: {reasons}; take more draws, a "
            "larger thin or a longer warmup"
        )
    if found.still:
        messages.append(still_in_words(found))
    few = []
    wanted = WANTED_PER_CHAIN * found.chains
    if not min(found.bulk_ess, found.tail_ess) >= wanted:
        few.append(f"{min(found.bulk_ess, found.tail_ess):.0f} for the log score ({wanted} wanted)")
    if not found.edge_ess >= WANTED_FOR_EDGES:
        few.append(f"{found.edge_ess:.0f} for some edge ({WANTED_FOR_EDGES} wanted)")
    if few:
        messages.append(
            f"the draws are worth few independent ones, {' and '.join(few)}: take more, or a larger thin"
        )
    return messages


def apart_in_words(found: Diagnostics) -> list[str]:
    """The edges on which the chains disagree, in words."""
    messages = []
    if not found.rhat <= found.limit_rhat:
        messages.append(f"R-hat of the log score is {found.rhat:.3f} (limit {found.limit_rhat:.3g})")
    if not found.edge_rhat <= found.limit_edge_rhat and found.worst_edge is not None:
        tail, head = found.worst_edge
        messages.append(
            f"R-hat of the edge {tail} → {head} is {found.edge_rhat:.3f} (limit {found.limit_edge_rhat:.3g})"
        )
    if found.edges_apart:
        named = ", ".join(map(str, found.apart[:MOST_NAMED]))
        more = f" and {found.edges_apart - MOST_NAMED} more" if found.edges_apart > MOST_NAMED else ""
        messages.append(f"chains have these edges unequally often: {named}{more}")
    return messages


def still_in_words(found: Diagnostics) -> str:
    """A sentence about chains that kept a single graph."""
    if len(found.still) == found.chains:
        who = "every chain" if found.chains > 1 else "the chain"
    else:
        who = f"chain{'s' * (len(found.still) > 1)} {', '.join(map(str, found.still))} of {found.chains}"
    return (
        f"{who} kept one graph in all {found.draws} draws, which does not show that there is no other: "
        f"compare with {option('method', 'exact')} (few variables), another {option('seed')} or a larger thin"
    )
