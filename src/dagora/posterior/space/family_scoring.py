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

from dagora.base.budget import OutOfTimeError
from dagora.base.errors import DataError
from dagora.base.events import Event
from dagora.learners.run import Run
from dagora.posterior.space.priors import GraphPrior
from dagora.posterior.space.space import Parents
from dagora.scores.lattice import largest_size
from dagora.scores.local_score import LocalScore

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Families that are handed to a score in one call: at most this many, and about as many as take MOMENT
# seconds.
MOST_TOGETHER = 1 << 17
MOMENT = 0.1


@dataclass(frozen=True)
class FamilyLayout:
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
class FamilyBatch:
    """Families of one size, and where their weights stand in the table."""

    children: Ints
    parents: Ints
    places: Ints


def score_families(
    score: LocalScore, layout: FamilyLayout, prior: GraphPrior, run: Run, starts: Ints, log_weights: Floats
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

    def scores(self, batch: FamilyBatch, *, hasty: bool) -> Floats:
        """Scores of a batch; with `hasty` it is given up when time is up."""
        size = batch.parents.shape[1]

        def watch(done: int, _: int) -> None:
            self._run.on_event(
                Event("scoring", self._done + done, total=self._total, message=f"sets of {size} parents")
            )
            if hasty and self._run.budget.exhausted and self._done + done < self._total:
                raise OutOfTimeError

        # `block` sorts families by integer keys, which are too short for very large sets.
        block = self._score.capabilities.block
        if block is not None and size < largest_size(len(self._score.schema)):
            values = block(batch.children, batch.parents, watch)
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

    def _refuse_nonsense(self, batch: FamilyBatch, values: Floats) -> None:
        wrong = np.flatnonzero(np.isnan(values) | (values == np.inf))
        if len(wrong):
            names = self._score.schema.names
            parents = ", ".join(names[j] for j in batch.parents[wrong[0]]) or "no parents"
            raise DataError(
                f"the score of '{names[batch.children[wrong[0]]]}' with {parents} is {values[wrong[0]]}, "
                "which is no log probability: choose another score or look at that column"
            )


def batches(layout: FamilyLayout, size: int, starts: Ints) -> Iterator[FamilyBatch]:
    """Yield all permitted families of one size, several children together."""
    # Cores of equal size have the same subsets.
    subsets = {
        (cores, chosen): subsets_of(cores, chosen)
        for cores in {len(core) for core in layout.cores}
        for chosen in (size, size - 1)
        if 0 <= chosen <= cores
    }
    waiting: list[FamilyBatch] = []
    together = 0
    for child in range(len(layout.cores)):
        own = families_of(layout, child, size, int(starts[child]), subsets)
        waiting += own
        together += sum(len(batch.children) for batch in own)
        if together >= MOST_TOGETHER:
            yield join_batches(waiting)
            waiting, together = [], 0
    if waiting:
        yield join_batches(waiting)


def join_batches(parts: list[FamilyBatch]) -> FamilyBatch:
    """Several batches of one size as one."""
    return FamilyBatch(
        np.concatenate([part.children for part in parts]),
        np.concatenate([part.parents for part in parts]),
        np.concatenate([part.places for part in parts]),
    )


def families_of(
    layout: FamilyLayout, child: int, size: int, start: int, subsets: dict[tuple[int, int], tuple[Ints, Ints]]
) -> list[FamilyBatch]:
    """The permitted families of a child: core subsets, then smaller ones with each extra.

    Scores are fastest if neighbouring families differ only in their last parent: the subsets of a core are in
    lexicographic order, and stay so with one more parent in each.
    """
    core, extras = np.array(layout.cores[child], dtype=np.int64), layout.extras[child]
    needed = sum(1 << layout.cores[child].index(parent) for parent in layout.required[child])
    found = []
    for added in (0, 1):
        masks, bits = subsets.get((len(core), size - added), (np.zeros(0, dtype=np.int64),) * 2)
        chosen = np.flatnonzero(masks & needed == needed) if needed else slice(None)
        masks, parents = masks[chosen], core[bits[chosen]]
        rows = len(extras) if added else 1
        if not len(masks) or not rows:
            continue
        places = start + (np.arange(added, added + rows)[:, None] << len(core)) + masks
        if added:
            smaller = np.broadcast_to(parents, (rows, *parents.shape))
            last = np.broadcast_to(np.array(extras, dtype=np.int64)[:, None, None], (rows, len(masks), 1))
            parents = np.sort(np.concatenate([smaller, last], axis=2), axis=2).reshape(-1, size)
        children = np.full(rows * len(masks), child, dtype=np.int64)
        found.append(FamilyBatch(children, parents, places.ravel()))
    return found


def subsets_of(core: int, size: int) -> tuple[Ints, Ints]:
    """The subsets of one size of a core, in lexicographic order: their masks, and their members in a row.

    >>> subsets_of(3, 2)
    (array([3, 5, 6]), array([[0, 1], [0, 2], [1, 2]]))
    """
    masks: Ints = np.arange(1 << core, dtype=np.int64)
    masks = masks[np.bitwise_count(masks) == size]
    members = np.nonzero(masks[:, None] >> np.arange(core) & 1)[1].reshape(len(masks), size)
    order = np.lexsort(members.T[::-1]) if size else np.zeros(1, dtype=np.int64)
    return masks[order], members[order]


def count(layout: FamilyLayout, child: int, size: int) -> int:
    """The number of permitted families of one size of a child."""
    required = len(layout.required[child])
    free, added = len(layout.cores[child]) - required, size - required
    if added < 0:
        return 0
    return math.comb(free, added) + (len(layout.extras[child]) * math.comb(free, added - 1) if added else 0)
