"""Learn from many samples on threads, with progress, a time limit, and a file to continue from.

A sample has its own random numbers and is learned on one thread, so the graphs do not depend on the number
of threads, nor on where a run was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

from dagora.errors import DataError
from dagora.events import Budget, Event, Observer
from dagora.graph.bits import words_for
from dagora.preparing import Prepared
from dagora.resample.one_sample import Learned, learn_sample
from dagora.resample.sample_file import SampleFile


def run_samples(
    prepared: Prepared,
    way: str,
    samples: int,
    seed: int,
    *,
    budget: Budget,
    jobs: int,
    file: SampleFile,
    on_event: Observer,
) -> tuple[dict[int, Learned], int]:
    """Learned samples by number, as many as time allows, and how many of them were in the file."""
    found = {number: learned for number, learned in file.read().items() if number < samples}
    before = len(found)
    nodes = len(prepared.source.names)
    nothing = np.zeros((nodes, words_for(nodes)), dtype=np.uint64)
    own = budget.at_most(None)  # so that an error can end the other threads
    missing = [number for number in range(samples) if number not in found]
    on_event(Event("bootstrap", before, total=samples))
    try:
        for number, learned in learned_samples(prepared, way, seed, missing, own, jobs):
            found[number] = learned
            on_event(Event("bootstrap", len(found), total=samples))
            file.save(found, nothing)
    finally:
        own.stop("another sample failed")
        if len(found) > before:
            file.save(found, nothing, last=True)
    if found and all(learned.marks is None for learned in found.values()):
        raise DataError(f"no sample of the rows could be learned from: {found[min(found)].refused}")
    return found, before


def learned_samples(
    prepared: Prepared, way: str, seed: int, numbers: Sequence[int], budget: Budget, jobs: int
) -> Iterator[tuple[int, Learned]]:
    """Samples as they are finished."""
    if jobs == 1:
        for number in numbers:
            learned = learn_sample(prepared, way, seed, number, budget)
            if learned is None:
                return
            yield number, learned
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {
            pool.submit(learn_sample, prepared, way, seed, number, budget): number for number in numbers
        }
        try:
            for future in as_completed(waiting):
                if (learned := future.result()) is not None:
                    yield waiting[future], learned
        finally:
            budget.stop("another sample failed")  # the pool waits for the samples under way
