"""The distribution that chains sample: families of a search space, weighted by score and prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagora.posterior.exact.earlier_steps import WindowWeights
from dagora.posterior.space.family_tables import FamilyTables
from dagora.posterior.space.lookup import Lookup
from dagora.posterior.space.priors import GraphPrior
from dagora.posterior.space.space import Space

SPACE_CUT = "time ran out before the search space was complete"


@dataclass(frozen=True)
class SamplingTarget:
    """A posterior over the graphs of a space, as far as the knowledge permits them.

    `note` describes the space in a sentence, `seconds` is the time that finding and scoring it took.
    `windows` are those of time in which nothing was left out: chains then run over the present step alone.
    `missing` says which families of the space were not scored in time, and `late` why.
    """

    tables: FamilyTables
    lookup: Lookup
    prior: GraphPrior
    space: Space
    names: tuple[str, ...]
    note: str = ""
    seconds: float = 0.0
    windows: WindowWeights | None = None
    missing: str = ""
    late: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what time did not suffice for."""
        messages = [f"{self.late}: {self.missing}"] if self.missing else []
        if self.space.cut:
            messages.append(f"{SPACE_CUT}: with more time, other edges and directions may become probable")
        return tuple(messages)

    @property
    def cut(self) -> str:
        """The reason why chains run on fewer families than they should, in a few words; else empty."""
        return self.late or (SPACE_CUT if self.space.cut else "")

    @property
    def has_one_graph(self) -> bool:
        """True if every variable has a single parent set, so that there is nothing to draw."""
        starts = self.tables.starts
        weighty = np.add.reduceat(np.isfinite(self.tables.log_weights).astype(np.int64), starts)
        return bool((weighty <= 1).all())
