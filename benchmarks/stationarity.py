"""Whether the chains draw from the law they promise: edges and graphs against all graphs of 4 and 5 nodes.

Tables of noise, of weak and of strong dependence are scored by BGe, BDeu and Gaussian processes. Partition
MCMC is compared with the list of all graphs (543 and 29 281), order MCMC with the same list in which a graph
counts once for each order it agrees with. The distance that is allowed is the one that independent draws have
on average (the mean deviation of a binomial, De Moivre), as many as the chains are worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from dagora.api.score import make_score
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.chains.order_mcmc import order_mcmc
from dagora.posterior.chains.partition_mcmc import partition_mcmc
from dagora.posterior.draws import Draws
from dagora.posterior.exact.enumeration import Enumeration, enumerate_posterior
from dagora.posterior.summary.mixing import diagnose
from dagora.scores.local_score import LocalScore
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]

CHAINS = 4
POINTS = 256  # of the Gaussian processes' quasi-Monte-Carlo estimate
EDGE_ERROR, TIMES_USUAL = 0.01, 2.0
SAMPLERS: dict[str, Callable[..., Draws]] = {"order": order_mcmc, "partition": partition_mcmc}
# Score, rows and strength of each problem; strength 0 is noise.
STRENGTHS = {"noise": 0.0, "weak": 0.3, "strong": 1.0}
PROBLEMS = (
    *((4, score, how) for score in ("bge", "bdeu", "gp") for how in STRENGTHS),
    *((5, "bge", how) for how in STRENGTHS),
    *((5, score, "weak") for score in ("bdeu", "gp")),
)


@dataclass(frozen=True)
class Agreement:
    """How far one sampler's draws are from the enumerated law."""

    edge_error: float
    distance: float
    usual: float
    effective: float
    empty: float
    empty_drawn: float
    seconds: float

    @property
    def kept(self) -> bool:
        """Whether both promises are."""
        return self.edge_error <= EDGE_ERROR and self.distance <= TIMES_USUAL * self.usual


def make_problem(nodes: int, score: str, how: str) -> LocalScore:
    """A score of rows in which each column depends on the one before, and the last on the first as well."""
    rng = np.random.default_rng([nodes, len(how)])
    strength = STRENGTHS[how]
    if score == "bdeu":
        codes = rng.integers(0, 2, size=(150, nodes))
        for j in range(1, nodes):
            source = codes[:, j - 1] ^ codes[:, 0] if j == nodes - 1 else codes[:, j - 1]
            codes[:, j] = np.where(rng.random(150) < 0.8 * strength, source, codes[:, j])
        names = [f"x{j}" for j in range(nodes)]
        table = Table.from_numpy(codes, names=names, discrete=names)
        return make_score(TableStatistics(table), "bdeu")
    rows = rng.normal(size=(100, nodes))
    for j in range(1, nodes):
        curved = np.sin(2 * rows[:, j - 1]) if score == "gp" else rows[:, j - 1]
        rows[:, j] += strength * (curved + (rows[:, 0] if j == nodes - 1 else 0.0))
    statistics = TableStatistics(Table.from_numpy(rows))
    return make_score(statistics, score, **({"points": POINTS} if score == "gp" else {"prior_scale": "unit"}))


def orders_of(listed: Enumeration) -> Floats:
    """The number of orders that each graph agrees with, built up by what comes first in them."""
    nodes = len(listed.names)
    ways = np.zeros((1 << nodes, len(listed.masks)))
    ways[0] = 1.0
    for placed in range(1 << nodes):
        for node in range(nodes):
            if not placed >> node & 1:
                free = (listed.masks[:, node] & ~placed) == 0
                ways[placed | 1 << node] += ways[placed] * free
    return np.asarray(ways[-1], dtype=np.float64)


def mean_deviation(probabilities: Floats, draws: float) -> Floats:
    """Mean of |share − p| over independent draws, for each p."""
    number = round(draws)
    p = probabilities
    above = np.minimum(np.floor(number * p) + 1, number)
    log_binomial = gammaln(number + 1) - gammaln(above + 1) - gammaln(number - above + 1)
    log_mass = log_binomial + xlogy(above, p) + xlog1py(number - above + 1, -p)
    return np.asarray(2 * above * np.exp(log_mass) / number, dtype=np.float64)


def compare(score: LocalScore, listed: Enumeration, sampler: str, draws: int) -> Agreement:
    """Draw, and hold the draws against the law."""
    if sampler == "order":
        listed = replace(listed, log_scores=listed.log_scores + np.log(orders_of(listed)))
    law = listed.probabilities
    begun = process_time()
    found = SAMPLERS[sampler](score, Run(seed=1), draws=draws // CHAINS, chains=CHAINS)
    seconds = process_time() - begun
    places = listed.find(found.parents).ravel()
    if not np.array_equal(listed.masks[places], found.parents.reshape(len(places), -1)):
        raise RuntimeError(f"{sampler} drew a graph that is no DAG")
    shares = np.bincount(places, minlength=len(law)) / len(places)
    judged = diagnose(found)
    effective = min(judged.bulk_ess, judged.edge_ess, float(len(places)))
    empty = int(np.flatnonzero(~listed.masks.any(axis=1))[0])
    drawn = Enumeration(listed.names, listed.masks, np.log(np.where(shares > 0, shares, 1e-300)))
    return Agreement(
        edge_error=float(np.abs(drawn.edges - listed.edges).max()),
        distance=float(0.5 * np.abs(shares - law).sum()),
        usual=float(0.5 * mean_deviation(law, effective).sum()),
        effective=effective,
        empty=float(law[empty]),
        empty_drawn=float(shares[empty]),
        seconds=seconds,
    )


def measure_all(draws: int, told: Callable[[str], None]) -> list[tuple[int, str, str, str, Agreement]]:
    """Every problem by both samplers: nodes, score, data, sampler, agreement."""
    found = []
    for nodes, name, how in PROBLEMS:
        score = make_problem(nodes, name, how)
        listed = enumerate_posterior(score, Run())
        for sampler in SAMPLERS:
            told(f"{nodes} nodes, {name}, {how}, {sampler}")
            found.append((nodes, name, how, sampler, compare(score, listed, sampler, draws)))
    return found
