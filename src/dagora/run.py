"""What every learner gets besides data: knowledge, a seed, a budget, a number of jobs, an observer."""

from __future__ import annotations

from dataclasses import dataclass, field

from dagora.events import Budget, Observer, ignore
from dagora.graph.knowledge import Knowledge


@dataclass(frozen=True)
class Run:
    """Knowledge, seed, budget, jobs and observer of one run."""

    knowledge: Knowledge = field(default_factory=Knowledge)
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    on_event: Observer = ignore
