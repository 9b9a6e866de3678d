"""Score the families of a search space, small parent sets first: a log weight is score + log prior.

Only permitted families are scored: those with all required parents, no forbidden ones, and not too many.
Scores can be expensive, so the clock is watched. Sizes are finished one after the other: if time runs out,
larger families keep the weight zero, and the answer says which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.errors import DataError
from dagora.events import Event, OutOfTimeError
from dagora.posterior.space.priors import Prior
from dagora.posterior.space.space import Parents
from dagora.run import Run
from dagora.scores.lattice import largest_size
from dagora.scores.local_score import BlockScore, LocalScore

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Families that are handed to a score in one call: at most this many, and about as many as take MOMENT
# seconds.
MOST_TOGETHER = 1 << 17
MOMENT = 0.1


@dataclass(frozen=True)
class Layout:
    """Per child its core, its extras, the parents it must have; and the largest number of parents."""

    cores: tuple[Parents, ...]
    extras: tuple[Parents, ...]
    required: tuple[Parents, ...]
    most: int

    @property
    def rows(self) -> list[tuple[Parents, Parents]]:
        """Core and extras, child by child."""
        return list(zip(self.cores, self.extras, strict=True))


@dataclass(frozen=True)
class Batch:
    """Families of one size, and where their weights stand in the table."""

    children: Ints
    parents: Ints
    places: Ints


def score_families(
    score: LocalScore, layout: Layout, prior: Prior, run: Run, starts: Ints, log_weights: Floats
) -> str:
    """Write the log weights of all permitted families; return which are missing, "" if none are."""
    nodes = len(layout.cores)
    largest = max(len(core) + bool(extra) for core, extra in layout.rows)
    sizes = range(min(layout.most, largest) + 1)
    scoring = Scoring(score, run, sum(count(layout, child, k) for k in sizes for child in range(nodes)))
    least = max(len(required) for required in layout.required)
    for size in sizes:
        factor = prior.log_factor(np.array([size], dtype=np.int64), nodes)[0]
        places: list[Ints] = []
        try:
            # Families up to the size `least` are scored whatever the clock says: without them there is no
            # graph.
            for batch in batches(layout, size, starts):
                log_weights[batch.places] = scoring.scores(batch, hasty=size > least) + factor
                places.append(batch.places)
        except OutOfTimeError:
            for written in places:
                log_weights[written] = -np.inf
            return f"sets of {size} or more parents were left out"
    return ""


class Scoring:
    """Scores batches, reports progress and watches the clock."""

    def __init__(self, score: LocalScore, run: Run, total: int) -> None:
        self._score = score
        self._run = run
        self._done = 0
        self._total = total
        self._together = 16

    def scores(self, batch: Batch, *, hasty: bool) -> Floats:
        """Scores of a batch; with `hasty` it is given up when time is up."""
        size = batch.parents.shape[1]

        def watch(done: int, _: int) -> None:
            self._run.on_event(
                Event("scoring", self._done + done, total=self._total, message=f"sets of {size} parents")
            )
            if hasty and self._run.budget.exhausted and self._done + done < self._total:
                raise OutOfTimeError

        # `block` sorts families by integer keys, which are too short for very large sets.
        if isinstance(self._score, BlockScore) and size < largest_size(len(self._score.schema)):
            values = self._score.block(batch.children, batch.parents, watch)
        else:
            values = np.empty(len(batch.children))
            families = list(zip(batch.children.tolist(), map(tuple, batch.parents.tolist()), strict=True))
            start = 0
            while start < len(families):
                begun = self._run.budget.elapsed
                stop = min(len(families), start + self._together)
                values[start:stop] = self._score.families(families[start:stop])
                if self._run.budget.elapsed - begun < MOMENT / 2:
                    self._together = min(2 * self._together, MOST_TOGETHER)
                elif self._run.budget.elapsed - begun > MOMENT:
                    self._together = max(self._together // 2, 1)
                start = stop
                watch(start, len(families))
        self._done += len(values)
        self._refuse_nonsense(batch, values)
        return values

    def _refuse_nonsense(self, batch: Batch, values: Floats) -> None:
        wrong = np.flatnonzero(np.isnan(values) | (values == np.inf))
        if len(wrong):
            names = self._score.schema.names
            parents = ", ".join(names[j] for j in batch.parents[wrong[0]]) or "no parents"
            raise DataError(
                f"the score of '{names[batch.children[wrong[0]]]}' with {parents} is {values[wrong[0]]}, "
                "which is no log probability: choose another score or look at that column"
            )


def batches(layout: Layout, size: int, starts: Ints) -> Iterator[Batch]:
    """Yield all permitted families of one size, several children together."""
    waiting: list[Batch] = []
    for child in range(len(layout.cores)):
        waiting += families_of(layout, child, size, int(starts[child]))
        if sum(len(batch.children) for batch in waiting) >= MOST_TOGETHER:
            yield joined(waiting)
            waiting = []
    if waiting:
        yield joined(waiting)


def joined(parts: list[Batch]) -> Batch:
    """Several batches of one size as one."""
    return Batch(
        np.concatenate([part.children for part in parts]),
        np.concatenate([part.parents for part in parts]),
        np.concatenate([part.places for part in parts]),
    )


def families_of(layout: Layout, child: int, size: int, start: int) -> Iterator[Batch]:
    """Yield the permitted families of a child: core subsets, then smaller ones with each extra."""
    core, extras = np.array(layout.cores[child], dtype=np.int64), layout.extras[child]
    for row, extra in enumerate((None, *extras)):
        masks = masks_of(layout, child, size - (extra is not None))
        if not len(masks):
            continue
        bits = np.nonzero(masks[:, None] >> np.arange(len(core)) & 1)[1]
        parents = core[bits].reshape(len(masks), -1)
        if extra is not None:
            added = np.full((len(masks), 1), extra, dtype=np.int64)
            parents = np.sort(np.concatenate([parents, added], axis=1), axis=1)
        # Scores are fastest if neighbouring families differ only in their last parent.
        order = np.lexsort(parents.T[::-1]) if size else np.zeros(1, dtype=np.int64)
        places = start + (row << len(core)) + masks
        yield Batch(np.full(len(masks), child, dtype=np.int64), parents[order], places[order])


def masks_of(layout: Layout, child: int, size: int) -> Ints:
    """Core masks of one size that have all required parents."""
    core = layout.cores[child]
    if size < 0 or size > len(core):
        return np.zeros(0, dtype=np.int64)
    needed = sum(1 << core.index(parent) for parent in layout.required[child])
    masks: Ints = np.arange(1 << len(core), dtype=np.int64)
    chosen: Ints = masks[(np.bitwise_count(masks) == size) & (masks & needed == needed)]
    return chosen


def count(layout: Layout, child: int, size: int) -> int:
    """How many permitted families of one size a child has."""
    required = len(layout.required[child])
    free, added = len(layout.cores[child]) - required, size - required
    if added < 0:
        return 0
    return math.comb(free, added) + (len(layout.extras[child]) * math.comb(free, added - 1) if added else 0)
