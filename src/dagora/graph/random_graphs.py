"""Random DAGs: Erdős–Rényi and scale-free (Barabási and Albert 1999), the graphs methods are compared on.

Nodes are named x0, x1, … and shuffled, so that the order of the columns says nothing about the order of the
graph. `degree` K means about K · D edges on D nodes ("ER4", "SF4" in the literature).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.graph.dag import DAG

KINDS = ("er", "sf")


def random_dag(
    kind: str, nodes: int, degree: float, seed: int | np.random.Generator = 0, *, exact: bool = False
) -> DAG:
    """Draw a random DAG.

    Parameters
    ----------
    kind : str
        "er" (Erdős-Rényi): pairs are joined independently, with probability min(1, 2 · degree / (nodes − 1)).
        "sf" (scale-free): each new node points at `degree` distinct earlier ones, drawn in proportion to one
        plus the number of edges that point at them, so a few hubs have very many parents (Zheng et al. 2018).
    nodes : int
        Number of nodes, 1 or more.
    degree : float
        Expected number of edges per node, 0 or more; a whole number for "sf".
    seed : int or numpy Generator, default 0
        The same seed gives the same graph.
    exact : bool, default False
        For "er": draw among graphs with degree · nodes edges, rounded, all equally likely.

    Returns
    -------
    DAG
        The nodes are in random order.

    Examples
    --------
    >>> random_dag("er", 20, 2, seed=1) == random_dag("er", 20, 2, seed=1)
    True
    >>> len(random_dag("sf", 20, 2, seed=1).edges)
    37
    >>> [len(random_dag("er", 20, 1, seed, exact=True).edges) for seed in range(3)]
    [20, 20, 20]
    """
    if kind not in KINDS:
        raise OptionError(f"unknown kind of random graph '{kind}': use {' or '.join(KINDS)}")
    if isinstance(nodes, bool) or not isinstance(nodes, int | np.integer) or nodes < 1:
        raise OptionError(option="nodes", value=nodes, must="be a whole number, 1 or more")
    if (
        isinstance(degree, bool)
        or not isinstance(degree, int | float | np.number)
        or not 0 <= degree < np.inf
    ):
        raise OptionError(option="degree", value=degree, must="be a number, 0 or more")
    if kind == "sf" and degree != int(degree):
        raise OptionError(option="degree", value=degree, must="be a whole number for a scale-free graph")
    if kind == "sf" and exact:
        raise OptionError('exact=True is for kind="er": the number of edges of a scale-free graph is fixed')
    generator = generator_of(seed)
    size = int(nodes)
    if kind == "sf":
        matrix = _scale_free(size, int(degree), generator)
    elif exact:
        matrix = _exact_erdos_renyi(size, float(degree), generator)
    else:
        matrix = _erdos_renyi(size, float(degree), generator)
    positions = generator.permutation(size)
    return DAG.from_numpy(matrix[np.ix_(positions, positions)])


def generator_of(seed: int | np.random.Generator) -> np.random.Generator:
    """A source of random numbers from a seed; refuses what is none."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(option="seed", value=seed, must="be a whole number, 0 or more")
    return np.random.default_rng(int(seed))


def _erdos_renyi(size: int, degree: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    probability = min(1.0, 2 * degree / (size - 1)) if size > 1 else 0.0
    return np.triu(generator.random((size, size)) < probability, k=1)


def _exact_erdos_renyi(size: int, degree: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    tails, heads = np.triu_indices(size, k=1)
    count = min(round(degree * size), len(tails))
    chosen = generator.choice(len(tails), size=count, replace=False)
    matrix = np.zeros((size, size), dtype=np.bool_)
    matrix[tails[chosen], heads[chosen]] = True
    return matrix


def _scale_free(size: int, degree: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    matrix = np.zeros((size, size), dtype=np.bool_)
    if degree == 0:
        return matrix
    attraction = np.ones(size)
    for new in range(1, size):
        if new <= degree:
            targets = np.arange(new)
        else:
            share = attraction[:new] / attraction[:new].sum()
            targets = generator.choice(new, size=degree, replace=False, p=share)
        matrix[new, targets] = True
        attraction[targets] += 1
    return matrix
