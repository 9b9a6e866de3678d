"""Progress of a running optimiser: its events, the edges of its weights so far, and its time limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Edges, Event
from dagora.graph.dag import DAG
from dagora.learners.optimise.acyclic_support import acyclic_support
from dagora.learners.run import Run

Matrix = NDArray[np.float64]

PHASE = "augmented Lagrangian"
# Seconds between two progress events within one minimisation.
EVENT_INTERVAL = 0.5
# Makes the edges of weights, by name.
EdgeMaker = Callable[[Matrix], Edges]


def watcher(run: Run) -> Callable[[float], bool]:
    """A function that takes h at every evaluation, reports progress, and returns True when time is up."""
    last_event, evaluations = run.budget.elapsed, 0

    def watch(h: float) -> bool:
        nonlocal last_event, evaluations
        evaluations += 1
        if run.budget.elapsed - last_event > EVENT_INTERVAL:
            last_event = run.budget.elapsed
            run.on_event(Event(PHASE, evaluations, message=f"h = {h:.2g}"))
        return run.budget.exhausted

    return watch


def edges_of(names: Sequence[str], threshold: float, required: NDArray[np.bool_], weights: Matrix) -> Edges:
    """The edges of at least the threshold, without the weakest ones on cycles, so that they are a DAG.

    >>> weights = np.array([[0.0, 2.0, 0.1], [1.0, 0.0, -3.0], [0.0, 0.0, 0.0]])
    >>> edges_of("abc", 0.3, np.zeros((3, 3), dtype=bool), weights)
    (('a', 'b'), ('b', 'c'))
    """
    return DAG.from_numpy(acyclic_support(weights, threshold, required)[0], names).edges


def lazy_edges(edge_maker: EdgeMaker | None, weights: Callable[[], Matrix]) -> Callable[[], Edges] | None:
    """The edges of the weights so far, for an event; they are computed only when an observer calls it."""
    return None if edge_maker is None else partial(fetch_edges, edge_maker, weights)


def fetch_edges(edge_maker: EdgeMaker, weights: Callable[[], Matrix]) -> Edges:
    """Fetch weights and make their edges."""
    return edge_maker(weights())
