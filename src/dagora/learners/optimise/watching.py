"""Signs of life and the time limit of an optimiser, at every evaluation of its objective."""

from __future__ import annotations

from collections.abc import Callable

from dagora.base.events import Event
from dagora.learners.optimise.augmented_lagrangian import EVENT_INTERVAL, PHASE
from dagora.learners.run import Run


def watcher(run: Run) -> Callable[[float], bool]:
    """Make a function that is given h at every evaluation, reports progress, and returns whether to stop."""
    last_event, evaluations = run.budget.elapsed, 0

    def watch(h: float) -> bool:
        nonlocal last_event, evaluations
        evaluations += 1
        if run.budget.elapsed - last_event > EVENT_INTERVAL:
            last_event = run.budget.elapsed
            run.on_event(Event(PHASE, evaluations, message=f"h = {h:.2g}"))
        return run.budget.exhausted

    return watch
