"""A coordinator's session with the columns that all sites agree on, and the moments of all their rows."""

from __future__ import annotations

from functools import cached_property

from dagora.data.schema import Schema
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.statistics.agreement import agree
from dagora.parties.horizontal.statistics.moments import ask_moments, ask_size_and_orders
from dagora.stats.statistics import Moments


class AgreedSession(CoordinatorSession):
    """The `Federation` over a transport."""

    @cached_property
    def schema(self) -> Schema:
        """The columns that all sites agree on."""
        return agree(self)

    def moments(self) -> Moments:
        """Moments of the continuous columns of all rows."""
        return ask_moments(self, *ask_size_and_orders(self))
