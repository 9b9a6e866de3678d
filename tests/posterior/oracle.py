"""Exact posteriors by enumeration, the oracle of every sampler; scores to sample from, and made-up draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.special import logsumexp

from dagora.base.budget import Budget
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.bits import unpack
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_parent_sets
from dagora.learners.run import Run
from dagora.posterior.draws import Draws
from dagora.posterior.space.priors import GraphPrior, prior_named
from dagora.posterior.summary.mixing import diagnose
from dagora.posterior.summary.posterior import Posterior
from dagora.scores.local_score import LocalScore, ScoreCapabilities
from dagora.stats.table import TableStatistics

Graph = tuple[int, ...]


class RandomScore:
    """Independent random log weights, one per family; counts how many families were asked for."""

    capabilities = ScoreCapabilities()

    def __init__(self, nodes: int, spread: float, seed: int = 0, level: float = 0.0) -> None:
        self.schema = Schema(Variable(f"x{i}", Kind.CONTINUOUS) for i in range(nodes))
        self.n_rows = 10
        self._values = level + spread * np.random.default_rng(seed).normal(size=(nodes, 1 << nodes))
        self.asked: list[tuple[int, tuple[int, ...]]] = []

    def families(self, families: Sequence[tuple[int, Sequence[int]]]) -> np.ndarray:
        self.asked += [(child, tuple(parents)) for child, parents in families]
        return np.array([self._values[c, sum(1 << p for p in parents)] for c, parents in families])


class TwoModes:
    """Two graphs hold nearly all weight: every node has all nodes before it as parents, or all after it."""

    capabilities = ScoreCapabilities()

    def __init__(self, nodes: int, weight: float = 40.0) -> None:
        self.schema = Schema(Variable(f"x{i}", Kind.CONTINUOUS) for i in range(nodes))
        self.n_rows = 10
        self._weight = weight

    def families(self, families: Sequence[tuple[int, Sequence[int]]]) -> np.ndarray:
        return np.array([self._score(child, set(parents)) for child, parents in families])

    def _score(self, child: int, parents: set[int]) -> float:
        if parents and parents in (set(range(child)), set(range(child + 1, len(self.schema)))):
            return self._weight
        return -5.0 * len(parents)


class ToldBudget(Budget):
    """A budget with time for everything, whose parts end when they are told."""

    def __init__(self) -> None:
        super().__init__(600.0)
        self.share = Budget()

    def part(self, share: float) -> Budget:
        return self.share


def gaussian(nodes: int, rows: int, strength: float, seed: int = 0) -> TableStatistics:
    """Rows of a chain x0 → x1 → …, or of noise where the strength is 0."""
    values = np.random.default_rng(seed).normal(size=(rows, nodes))
    for j in range(1, nodes):
        values[:, j] += strength * values[:, j - 1]
    return TableStatistics(Table.from_numpy(values))


def discrete(nodes: int, rows: int, copied: float, seed: int = 0) -> TableStatistics:
    """Binary rows in which a column repeats the one before it with some probability."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size=(rows, nodes))
    for j in range(1, nodes):
        codes[:, j] = np.where(rng.random(rows) < copied, codes[:, j - 1], codes[:, j])
    names = [f"x{i}" for i in range(nodes)]
    return TableStatistics(Table.from_numpy(codes, names=names, discrete=names))


@cache
def graphs(nodes: int) -> tuple[Graph, ...]:
    """All DAGs, a bit mask of parents per node."""
    return tuple(all_parent_sets(nodes))


def members(mask: int) -> tuple[int, ...]:
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def family_weights(
    score: object, nodes: int, prior: GraphPrior | None = None
) -> dict[tuple[int, int], float]:
    """Log weight of every family (child, mask of parents)."""
    keys = [(i, mask) for i in range(nodes) for mask in range(1 << nodes) if not mask >> i & 1]
    values = score.families([(i, members(mask)) for i, mask in keys])
    factors = (prior or prior_named("uniform")).log_factor(np.array([m.bit_count() for _, m in keys]), nodes)
    return dict(zip(keys, values + factors, strict=True))


def posterior(
    weights: dict[tuple[int, int], float], nodes: int, *, orders: bool = False
) -> dict[Graph, float]:
    """Probability of every DAG; with `orders` times the number of orders it agrees with."""
    found = {}
    for graph in graphs(nodes):
        value = sum(weights.get((i, mask), -math.inf) for i, mask in enumerate(graph))
        found[graph] = value + (math.log(linear_extensions(graph)) if orders else 0.0)
    most = max(found.values())
    total = sum(math.exp(value - most) for value in found.values())
    return {graph: math.exp(value - most) / total for graph, value in found.items()}


def enumerate_graphs(score: LocalScore, prior: str = "uniform") -> tuple[np.ndarray, np.ndarray]:
    """Masks of parents (graphs, nodes) of all DAGs, and their log scores with the log prior."""
    nodes = len(score.schema.names)
    weights = family_weights(score, nodes, prior_named(prior))
    listed = graphs(nodes)
    log_scores = [sum(weights[child, mask] for child, mask in enumerate(graph)) for graph in listed]
    return np.array(listed, dtype=np.uint64), np.array(log_scores)


@cache
def linear_extensions(graph: Graph) -> int:
    """In how many orders every parent comes before its child."""
    nodes = len(graph)
    ways = Counter({0: 1})
    for _ in range(nodes):
        following: Counter[int] = Counter()
        for placed, count in ways.items():
            for i in range(nodes):
                if not placed >> i & 1 and graph[i] & ~placed == 0:
                    following[placed | 1 << i] += count
        ways = following
    return ways[(1 << nodes) - 1]


def edge_matrix(law: dict[Graph, float], nodes: int) -> np.ndarray:
    """Probability of each edge, [i, j] is i → j."""
    edges = np.zeros((nodes, nodes))
    for graph, probability in law.items():
        for j, mask in enumerate(graph):
            for i in members(mask):
                edges[i, j] += probability
    return edges


def drawn_graphs(draws: Draws) -> Counter[Graph]:
    """How often each graph was drawn."""
    rows = draws.parents.reshape(-1, draws.parents.shape[2], draws.parents.shape[3])
    return Counter(map(tuple, rows[:, :, 0].astype(int).tolist()))


def drawn_edges(draws: Draws) -> np.ndarray:
    """Share of draws with each edge, [i, j] is i → j."""
    nodes = len(draws.names)
    rows = draws.parents.reshape(-1, draws.parents.shape[3])
    return unpack(rows, nodes).reshape(-1, nodes, nodes).mean(axis=0).T


def total_variation(draws: Draws, law: dict[Graph, float]) -> tuple[float, float]:
    """Distance of the drawn graphs from a law, and what as many independent draws would have on average."""
    counts = drawn_graphs(draws)
    assert set(counts) <= set(law), "a graph was drawn that is no DAG of the space"
    size = sum(counts.values())
    distance = 0.5 * sum(abs(counts[graph] / size - p) for graph, p in law.items())
    # E|count/size − p| of a binomial, by its normal approximation, and never more than 2p.
    usual = 0.5 * sum(min(math.sqrt(2 * p * (1 - p) / (math.pi * size)), 2 * p) for p in law.values())
    return distance, usual


def ordered_partitions(nodes: int) -> list[tuple[int, ...]]:
    """All ordered partitions as labels: 1, 3, 13, 75 of them."""
    return [
        labels
        for labels in itertools.product(range(nodes), repeat=nodes)
        if set(labels) == set(range(max(labels) + 1))
    ]


def partition_of(graph: Graph) -> tuple[int, ...]:
    """The block of each node: the length of the longest path that ends there."""
    labels = [0] * len(graph)
    for _ in graph:
        labels = [max((labels[p] + 1 for p in members(mask)), default=0) for mask in graph]
    return tuple(labels)


def matrices(masks: np.ndarray) -> np.ndarray:
    """Adjacency matrices [graph, parent, child]."""
    nodes = masks.shape[1]
    return (masks[:, None, :] >> np.arange(nodes, dtype=np.uint64)[None, :, None] & np.uint64(1)).astype(bool)


def enumeration(score: LocalScore, run: Run, *, draws: int, chains: int, prior: str = "uniform") -> Draws:
    """A sampler: independent draws from the enumerated posterior, without telling edges exactly."""
    masks, log_scores = enumerate_graphs(score, prior)
    probability = np.exp(log_scores - logsumexp(log_scores))
    chosen = np.random.default_rng(run.seed).choice(
        len(masks), size=(chains, draws), p=probability / probability.sum()
    )
    return Draws(
        names=score.schema.names,
        parents=masks[chosen][..., None],
        log_scores=log_scores[chosen],
        prior=prior_named(prior).sentence,
        space="every graph",
        status="finished",
        message="all graphs were listed",
        stats={"graphs": float(len(masks))},
    )


def draws_of(graphs: Sequence[Sequence[DAG]], **more: object) -> Draws:
    """Draws that are given graphs, chain by chain; the log score of a graph is minus its number of edges."""
    rows = np.array([[graph.parent_rows for graph in chain] for chain in graphs], dtype=np.uint64)
    values = {
        "names": graphs[0][0].nodes,
        "parents": rows,
        "log_scores": np.array([[-float(len(graph.edges)) for graph in chain] for chain in graphs]),
        "prior": "any",
        "space": "all",
        "status": "finished",
        "message": "made up",
        **more,
    }
    return Draws(**values)


def posterior_of(draws: Draws, **more: object) -> Posterior:
    return Posterior(draws, diagnose(draws), "made-up", score_name="none", **more)
