"""What every learner gets besides data: knowledge, a seed, a budget, jobs, an observer, perhaps a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dagora.base.events import Budget, Observer, ignore
from dagora.graph.knowledge import Knowledge


@dataclass(frozen=True)
class Run:
    """Knowledge, seed, budget, jobs and observer of one run.

    `cluster` is a client of Dask, or the address of a scheduler, whose workers may do what can be done there.
    """

    knowledge: Knowledge = field(default_factory=Knowledge)
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    on_event: Observer = ignore
    cluster: Any = None
