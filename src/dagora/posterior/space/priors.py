"""Priors over graphs: products over families.

A prior gives every family a log factor that depends only on its number of parents k: `uniform` 0; `fair` −ln
C(n − 1, k), so that every number of parents is as likely as any other; `sparse` −k ln n; `gpn` the constants
that the published code of Gaussian-process networks adds to its scores (the paper does not mention them),
−3.93 for the first parent and −0.69 for each further one. A penalty per edge, in nats, can be added to each.
No prior is normalised: constants cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.options import find

Floats = NDArray[np.float64]
Sizes = NDArray[np.int64]

# Nats; from the constants in the code published with Giudice, Kuipers & Moffa 2023.
GPN_FIRST, GPN_FURTHER = 3.93, 0.69


@dataclass(frozen=True)
class GraphPrior:
    """A named prior; `sentence` says what it assumes, `edge_penalty` nats are subtracted for each edge."""

    name: str
    sentence: str
    edge_penalty: float = 0.0

    def log_factor(self, sizes: Sizes, nodes: int) -> Floats:
        """Log prior of families by their number of parents, up to a constant.

        >>> prior_named("fair").log_factor(np.arange(3), 3).round(3)
        array([ 0.   , -0.693,  0.   ])
        """
        counts = np.asarray(sizes, dtype=np.int64)
        values: Floats = FACTORS[self.name][1](counts, nodes) - self.edge_penalty * counts
        return values


def prior_named(name: str, *, edge_penalty: float = 0.0) -> GraphPrior:
    """Find a prior by its name, with a penalty per edge.

    >>> prior_named("uniform", edge_penalty=1.5).sentence
    'every DAG is as likely as any other, times exp(−1.5) for each edge'
    """
    sentence, _ = find("prior", name, FACTORS)
    if not math.isfinite(edge_penalty):
        raise OptionError(f"option 'edge_penalty' must be a finite number, not {edge_penalty}")
    if edge_penalty:
        sentence = f"{sentence}, times exp({-edge_penalty:.6g}) for each edge".replace("(-", "(−")
    return GraphPrior(name, sentence, float(edge_penalty))


def _uniform(sizes: Sizes, nodes: int) -> Floats:  # noqa: ARG001 - all priors take both
    return np.zeros(sizes.shape)


def _fair(sizes: Sizes, nodes: int) -> Floats:
    if np.any((sizes < 0) | (sizes >= max(nodes, 1))):
        raise ValueError(f"a family has 0 to {nodes - 1} parents")
    by_size = np.array([0.0 - math.log(math.comb(nodes - 1, k)) for k in range(nodes)])
    return np.asarray(by_size[sizes], dtype=np.float64)


def _sparse(sizes: Sizes, nodes: int) -> Floats:
    return np.asarray(-math.log(nodes) * sizes, dtype=np.float64)


def _gpn(sizes: Sizes, nodes: int) -> Floats:  # noqa: ARG001
    return np.where(sizes > 0, -GPN_FIRST - GPN_FURTHER * (sizes - 1.0), 0.0)


FACTORS: dict[str, tuple[str, Callable[[Sizes, int], Floats]]] = {
    "uniform": ("every DAG is as likely as any other", _uniform),
    "fair": (
        "every number of parents is as likely as any other, and so are all parent sets of one size",
        _fair,
    ),
    "sparse": ("every edge costs ln n nats, n the number of variables", _sparse),
    "gpn": (
        f"a first parent costs {GPN_FIRST} nats and each further one {GPN_FURTHER} (published GP networks)",
        _gpn,
    ),
}
PRIORS = tuple(FACTORS)
