"""Samples learned by the workers of a Dask cluster: the rows are sent once, then numbers of samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from dagora.base.dask_cluster import TaskBudget, workers_of
from dagora.base.events import Budget
from dagora.posterior.resample.one_sample import SampleGraph
from dagora.posterior.resample.sample_process import Answered, SampleWork, answer, learned_from


def learned_on_cluster(
    work: SampleWork,
    numbers: Iterable[int],
    budget: Budget,
    cluster: Any,  # noqa: ANN401 (Dask need not be installed)
) -> Iterator[tuple[int, SampleGraph]]:
    """Samples as they are finished by the workers, until time is up."""
    with workers_of(cluster) as workers:
        shared = workers.share(work.ready_to_send())

        def ask(number: int) -> tuple[Any, ...]:
            return answer_there, shared, number, None if math.isinf(budget.left) else budget.left

        for number, answered in workers.answers(ask, numbers, budget):
            learned = learned_from(answered)
            if learned is not None:
                yield number, learned


def answer_there(work: SampleWork, number: int, seconds: float | None) -> Answered:
    """Answer on a worker, as long as somebody waits for it."""
    return answer(work, number, TaskBudget(seconds))
