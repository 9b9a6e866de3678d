"""Candidates as a score: the score of a family is that of its best candidate subset.

So every search on scores can run on a `.jkl` file. A parent set that is not listed was dropped because a
subset scores at least as much, and here it gets that subset's score. It never scores more than the subset, so
no search prefers it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.data.schema import Kind, Schema, Variable
from dagora.graph.bit_kernels import first_subset
from dagora.graph.bits import pack
from dagora.learners.candidates.candidates import Candidates
from dagora.scores.local_score import Family, ScoreCapabilities


class CandidateScore:
    """The LocalScore that candidates define."""

    capabilities = ScoreCapabilities()

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._schema = Schema(Variable(name, Kind.DISCRETE) for name in candidates.names)

    @property
    def schema(self) -> Schema:
        """The variables, of which only the names are known."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """Unknown, so 0."""
        return 0

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Score of each family's best candidate subset; −∞ where no candidate fits."""
        flat = self._candidates.flat
        members = np.zeros((len(families), len(self._schema)), dtype=np.bool_)
        for row, (_, parents) in enumerate(families):
            members[row, list(parents)] = True
        masks = pack(members)
        values = np.full(len(families), -np.inf)
        for k, (child, _) in enumerate(families):
            row = first_subset(flat.masks, flat.offsets[child], flat.offsets[child + 1], masks[k])
            if row < flat.offsets[child + 1]:
                values[k] = flat.scores[row]
        return values
