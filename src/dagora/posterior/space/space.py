"""The search space of a sampler: which parents each node may have at all.

The core of a node holds the parents that may occur in any combination: all 2^k families are scored in
advance. To each, any one parent of `extras` may be added (the plus-one space of Kuipers, Suter & Moffa 2022).
With every other node in the core nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagora.graph.knowledge import Knowledge
from dagora.scores.local_score import LocalScore

Parents = tuple[int, ...]

# Up to this many variables no parent set is left out by default: 12 · 2^11 = 24 576 families.
MOST_IN_FULL = 12
# The same for scores that take tens of milliseconds per family: 7 · 2^6 = 448 families.
MOST_IN_FULL_IF_EXPENSIVE = 7
# Windows of time: their chains run over the present step alone, so that only scoring limits the families.
MOST_FAMILIES_IN_TIME = 1 << 20


def most_in_full(score: LocalScore) -> int:
    """The largest number of variables for which every family is scored."""
    return MOST_IN_FULL_IF_EXPENSIVE if score.capabilities.is_expensive else MOST_IN_FULL


def none_left_out(score: LocalScore, knowledge: Knowledge) -> bool:
    """True if few enough families are there to score all: columns of earlier steps have one each."""
    nodes, most = len(score.schema), most_in_full(score)
    present = int(np.count_nonzero(~knowledge.without_parents(score.schema.names)))
    quick = not (score.capabilities.is_expensive or score.capabilities.is_slow)
    limit = MOST_FAMILIES_IN_TIME if quick and present < nodes else most << (most - 1)
    return nodes <= most or present << (nodes - 1) <= limit


@dataclass(frozen=True)
class Space:
    """Per node its core and its extras, ascending positions; `note` says how they were found.

    `cut` says that time ran out while the space was found or enlarged: more time might give another.
    """

    cores: tuple[Parents, ...]
    extras: tuple[Parents, ...]
    note: str
    cut: bool = False

    @classmethod
    def full(cls, nodes: int) -> Space:
        """Every parent set.

        >>> Space.full(3).cores
        ((1, 2), (0, 2), (0, 1))
        """
        others = tuple(tuple(j for j in range(nodes) if j != i) for i in range(nodes))
        return cls(others, ((),) * nodes, "every parent set may be drawn")

    @classmethod
    def plus_one(cls, cores: Sequence[Sequence[int]], note: str) -> Space:
        """Cores, and any one parent beyond them."""
        nodes = len(cores)
        kept = tuple(tuple(sorted(core)) for core in cores)
        extras = tuple(
            tuple(j for j in range(nodes) if j != i and j not in core) for i, core in enumerate(kept)
        )
        return cls(kept, extras, note)

    @property
    def complete(self) -> bool:
        """True if no parent set is left out."""
        return all(len(core) == len(self.cores) - 1 for core in self.cores)

    def families(self) -> int:
        """The number of parent sets over all nodes."""
        return sum((1 + len(extra)) << len(core) for core, extra in zip(self.cores, self.extras, strict=True))
