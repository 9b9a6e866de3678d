"""The graph of weights that a solver is still working on, for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Edges
from dagora.graph.dag import DAG
from dagora.learners.optimise.acyclic_support import acyclic_support

Matrix = NDArray[np.float64]

# Makes the edges of weights, by name.
Shown = Callable[[Matrix], Edges]


def edges_of(names: Sequence[str], threshold: float, required: NDArray[np.bool_], weights: Matrix) -> Edges:
    """The edges of at least the threshold, without the weakest ones on cycles, so that they are a DAG.

    >>> weights = np.array([[0.0, 2.0, 0.1], [1.0, 0.0, -3.0], [0.0, 0.0, 0.0]])
    >>> edges_of("abc", 0.3, np.zeros((3, 3), dtype=bool), weights)
    (('a', 'b'), ('b', 'c'))
    """
    return DAG.from_numpy(acyclic_support(weights, threshold, required)[0], names).edges


def on_the_way(shown: Shown | None, weights: Callable[[], Matrix]) -> Callable[[], Edges] | None:
    """What an event says of the weights so far, which are fetched only if somebody asks."""
    return None if shown is None else partial(show, shown, weights)


def show(shown: Shown, weights: Callable[[], Matrix]) -> Edges:
    """Fetch weights and make their edges."""
    return shown(weights())
