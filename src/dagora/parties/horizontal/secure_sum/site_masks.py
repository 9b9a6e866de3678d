"""A site's side of the secure sum: a fresh key for each run, and a mask for each vector.

A site masks one vector per question, in order, so nothing can be replayed: masks of different rounds,
questions, plans or rosters are independent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.plan.plan import Plan
from dagora.parties.horizontal.secure_sum.identity import Identity
from dagora.parties.horizontal.secure_sum.masks import Context, KeyPair, pair_masks, pair_secret
from dagora.parties.horizontal.secure_sum.roster import Entry, Roster


@dataclass
class SiteMasks:
    """The masks of one site in one run."""

    identity: Identity
    plan: Plan
    own: Entry
    keys: KeyPair = field(repr=False)
    session: bytes = b""
    secrets: dict[str, bytes] = field(default_factory=dict, repr=False)
    round: int = 0

    @classmethod
    def begin(cls, identity: Identity, plan: Plan) -> tuple[SiteMasks, Entry]:
        """Make a key, and sign it with the plan."""
        keys = KeyPair.make()
        own = Entry.make(identity, plan, keys.public)
        return cls(identity, plan, own, keys), own

    def check_roster(self, message: bytes, certificate: bytes, coordinator: str) -> SiteMasks:
        """Check that all sites and the coordinator have signed, and agree on a secret with each site."""
        roster, signature = Roster.decode(message, self.plan, "the roster")
        roster.check(self.identity, self.own)
        if not self.identity.verify(coordinator, roster.statement(), signature, certificate):
            raise ProtocolError("the coordinator did not sign the roster")
        others = {name: entry.key for name, entry in roster.entries.items() if name != self.own.name}
        secrets = {name: pair_secret(self.keys, self.own.name, name, key) for name, key in others.items()}
        return replace(self, session=roster.session, secrets=secrets)

    def mask(self, label: str, vector: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The vector with the masks of the next round; `label` is what all sites must have in common."""
        if not self.secrets:
            raise ProtocolError("the coordinator asks for a sum before keys were exchanged")
        context = Context(self.session, self.round, label, vector.shape)
        self.round += 1
        return vector + pair_masks(self.own.name, self.secrets, context)
