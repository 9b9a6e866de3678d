"""Learn from many samples, with progress, a time limit, and a file to continue from.

A sample has its own random numbers and is learned by one process, so the graphs do not depend on the number
of processes, on whether these are here or on a cluster, nor on where a run was interrupted.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import filterfalse
from typing import Any

import numpy as np

from dagora.base.budget import Budget
from dagora.base.dask_cluster import TaskBudget, workers_of
from dagora.base.errors import DataError
from dagora.base.events import Event, Observer
from dagora.graph.bits import words_for
from dagora.learners.request import PreparedRequest
from dagora.posterior.resample.helpers import learned_by_many
from dagora.posterior.resample.one_sample import SampleGraph, Way, learn_sample
from dagora.posterior.resample.sample_file import SampleFile, fingerprint
from dagora.posterior.resample.sample_process import Answered, SampleWork, answer, learned_from

# Of a time limit, the share that learning from all rows may take where samples follow.
FIRST = 0.5


def before_samples(budget: Budget) -> Budget:
    """The budget of learning from all rows: with a time limit, some time is left for the samples.

    >>> before_samples(Budget(10)).limit <= 5, before_samples(Budget()).limit
    (True, None)
    """
    return budget if budget.limit is None else budget.part(FIRST)


def identity(prepared: PreparedRequest, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The settings that samples in one file share: all but their number and the time."""
    searching = prepared.searching
    return {
        "method": searching.entry.name,
        "score": None if searching.score is None else searching.score.name,
        "seed": seed,
        **{key: value for key, value in settings.items() if key not in {"samples", "time_limit"}},
        "data": fingerprint(prepared.source.statistics),
    }


def run_samples(
    prepared: PreparedRequest,
    way: Way,
    samples: int,
    seed: int,
    *,
    budget: Budget,
    jobs: int,
    cluster: object,
    file: SampleFile,
    on_event: Observer,
) -> tuple[dict[int, SampleGraph], int]:
    """Learned samples by number, as many as time allows, and how many of them were in the file.

    They are learned on a `cluster`, where one is given, else by `jobs` processes.
    """
    nodes = len(prepared.nodes)
    kept = file.read(nodes, directed=prepared.searching.entry.returns == "dag")
    found = {number: learned for number, learned in kept.items() if number < samples}
    before = len(found)
    nothing = np.zeros((nodes, words_for(nodes)), dtype=np.uint64)
    missing = filterfalse(frozenset(found).__contains__, range(samples))
    on_event(Event("bootstrap", before, total=samples))
    try:
        processes = min(jobs, samples - before)
        on_cluster = cluster if before < samples else None
        for number, learned in learned_samples(prepared, way, seed, missing, budget, processes, on_cluster):
            found[number] = learned
            on_event(Event("bootstrap", len(found), total=samples))
            file.save(found, nothing)
    finally:
        if len(found) > before:
            file.save(found, nothing, last=True)
    if found and all(learned.marks is None for learned in found.values()):
        raise DataError(f"no sample of the rows could be learned from: {found[min(found)].refused}")
    return found, before


def learned_samples(
    prepared: PreparedRequest,
    way: Way,
    seed: int,
    numbers: Iterable[int],
    budget: Budget,
    jobs: int,
    cluster: object = None,
) -> Iterator[tuple[int, SampleGraph]]:
    """Samples as they are finished, on a cluster or by at most as many `jobs` as there are samples."""
    work = SampleWork(prepared, way, seed)
    if cluster is not None:
        yield from learned_on_cluster(work, numbers, budget, cluster)
        return
    # Two processes can hardly share a GPU's memory.
    alone = not sys.executable or "gpu" in prepared.searching.method_options.values()
    if jobs > 1 and not alone:
        yield from learned_by_many(work, numbers, budget, jobs)
        return
    for number in numbers:
        learned = learn_sample(prepared, way, seed, number, budget)
        if learned is None:
            return
        yield number, learned


def learned_on_cluster(
    work: SampleWork,
    numbers: Iterable[int],
    budget: Budget,
    cluster: Any,  # noqa: ANN401 (Dask need not be installed)
) -> Iterator[tuple[int, SampleGraph]]:
    """Samples as the workers of a Dask cluster finish them: rows are sent once, then numbers of samples."""
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
