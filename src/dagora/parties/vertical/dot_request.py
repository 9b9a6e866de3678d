"""One party's inputs to a run of dot products, the same for either encryption."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event, Observer
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.encryption.ring_samples import RandomBytes

PHASE = "dot products"


@dataclass(frozen=True, slots=True)
class DotRequest:
    """The agreed dot products, seen from one side: `columns` are this party's own."""

    channel: Channel
    columns: NDArray[np.uint8]  # [columns, rows], zeros and ones
    pairs: NDArray[np.int32]  # [pairs, 2]: left column, right column
    modulus: int
    on_event: Observer
    random: RandomBytes

    @property
    def rows(self) -> int:
        """Rows of every column."""
        return int(self.columns.shape[1])

    def report(self, done: int, total: int) -> None:
        """Report to the observer how much of the columns has been encrypted or multiplied."""
        self.on_event(Event(PHASE, done, total=total))
