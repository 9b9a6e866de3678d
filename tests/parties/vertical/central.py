"""What private K2 must agree with: moments by counting rows, scores by formula, the central search."""

from collections.abc import Iterable, Sequence

import numpy as np

import dagora
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.learners.search.k2 import run_k2
from dagora.scores.local_score import TIE


def moments_of(data: np.ndarray, families: Iterable[Iterable[int]]) -> np.ndarray:
    """Moments[mask, family] of families of equal size."""
    return np.array(
        [
            [
                data[:, [v for k, v in enumerate(members) if mask >> k & 1]].all(axis=1).sum()
                for mask in range(1 << len(members))
            ]
            for members in map(list, families)
        ],
        dtype=np.uint64,
    ).T


def naive_score(counts: np.ndarray, score: str) -> float:
    """f or g of the counts of a family, those of the child's zeros first."""
    from scipy.special import gammaln, xlogy

    def term(x: np.ndarray) -> np.ndarray:
        if score == "f":
            return gammaln(x + 1.0)
        return np.where(x > 0, xlogy(x + 0.5, np.maximum(x, 1)) - x, 0.0)

    zeros, ones = np.split(counts.astype(float), 2)
    return float((term(zeros) + term(ones) - term(zeros + ones + 1.0)).sum())


def binary_table(data: np.ndarray) -> Table:
    """A table in which both levels of each column are declared, also where one does not occur."""
    names = [f"x{column}" for column in range(data.shape[1])]
    ends = np.array([[0] * len(names), [1] * len(names)])
    table = Table.from_numpy(np.concatenate([data, ends]), names=names, discrete=names)
    return table.take(np.arange(len(data)))


def central_edges(data: np.ndarray, order: Sequence[int], limit: int) -> set[tuple[int, int]]:
    """Edges that the library learns with the exact score."""
    table = binary_table(data)
    written = ",".join(table.schema.names[column] for column in order)
    result = dagora.learn(table, "k2", score="k2", order=written, knowledge=Knowledge(max_parents=limit))
    return {(int(tail[1:]), int(head[1:])) for tail, head in result.graph.edges}


def formula_edges(data: np.ndarray, order: Sequence[int], limit: int, score: str) -> set[tuple[int, int]]:
    """Edges by the shared control flow on scores by formula, for the paper's g."""

    def value(child: int, parents: Sequence[int]) -> float:
        members = [*parents, child]
        patterns = (data[:, members] << np.arange(len(members))).sum(axis=1)
        return naive_score(np.bincount(patterns, minlength=1 << len(members)), score)

    def choose(child: int, parents: Sequence[int], candidates: Sequence[int]) -> int | None:
        own = value(child, parents)
        values = np.array([value(child, [*parents, candidate]) for candidate in candidates])
        if not values.max() > own + TIE * abs(own):
            return None
        return candidates[int(np.flatnonzero(values >= values.max() - TIE * abs(values.max()))[0])]

    found = run_k2(order, limit, choose)
    return {(parent, child) for child, parents in enumerate(found) for parent in parents}
