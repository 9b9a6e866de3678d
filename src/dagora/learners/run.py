"""The circumstances of a run, which every learner gets beside the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dagora.base.budget import Budget
from dagora.base.events import Observer, ignore
from dagora.graph.knowledge import Knowledge


@dataclass(frozen=True)
class Run:
    """Knowledge, seed, budget, jobs and observer of one run."""

    knowledge: Knowledge = field(default_factory=Knowledge)
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    on_event: Observer = ignore
    cluster: Any = None  # a client of Dask, or the address of a scheduler, whose workers may share the work
