"""The roster of a run: which sites take part, with which keys, and how each site checks it.

Each site makes an X25519 key pair per run and signs its public key together with the digest of the plan: that
is its signature under the plan. The coordinator passes on all of them in one message, with a fresh key of its
own for what is sealed between it and each site (`sealing`), and signs it too. A site sends nothing that
depends on rows before it has checked every signature, and that every certificate is the one whose fingerprint
the plan names. The digest of plan and keys identifies the run in every key that is derived later: sites that
were shown different plans, keys or sites add masks that do not cancel.

A site masks one vector per question, in order, so nothing can be replayed: masks of different rounds,
questions, plans or rosters are independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.plan.plan import RunPlan
from dagora.parties.horizontal.secure_sum.identity import Identity
from dagora.parties.horizontal.secure_sum.masks import (
    KEY_BYTES,
    KeyPair,
    MaskContext,
    pair_masks,
    pair_secret,
)
from dagora.parties.transport.messages import decode, encode
from dagora.parties.transport.transport import one_line

ENTRY = {"name": str, "key": bytes, "certificate": bytes, "signature": bytes}


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A site's public key of one run, signed together with the plan."""

    name: str
    key: bytes
    certificate: bytes
    signature: bytes

    @classmethod
    def make(cls, identity: Identity, plan: RunPlan, key: bytes) -> RosterEntry:
        """Sign a site's own key, and the plan."""
        signature = identity.sign(_statement(identity.name, plan, key))
        return cls(identity.name, key, identity.certificate, signature)

    @classmethod
    def decode(cls, payload: bytes, what: str) -> RosterEntry:
        """Read an entry, its signature unchecked."""
        entry = cls(**decode(payload, ENTRY, what=what))
        if len(entry.key) != KEY_BYTES:
            raise ProtocolError(f"{what}: a public key has {KEY_BYTES} bytes")
        return entry

    def encode(self) -> bytes:
        """Return the entry as bytes."""
        return encode({field: getattr(self, field) for field in ENTRY})

    def check(self, identity: Identity, plan: RunPlan) -> None:
        """Refuse a key that its site did not sign for this plan, or another certificate than the plan's."""
        name = one_line(self.name)
        if identity.fingerprint(self.certificate) != plan.sites.get(self.name):
            raise ProtocolError(f"the certificate of site '{name}' is not the one that the plan names")
        statement = _statement(self.name, plan, self.key)
        if not identity.verify(self.name, statement, self.signature, self.certificate):
            raise ProtocolError(f"site '{name}' did not sign this plan")


def _statement(name: str, plan: RunPlan, key: bytes) -> bytes:
    return b"dagora plan: site\0" + encode({"name": name, "plan": plan.digest, "key": key})


@dataclass(frozen=True)
class Roster:
    """The sites of a run, sorted by name, with their keys, and the coordinator's `key`."""

    plan: RunPlan
    entries: Mapping[str, RosterEntry]
    key: bytes

    @property
    def names(self) -> tuple[str, ...]:
        """The sites."""
        return tuple(self.entries)

    @property
    def session(self) -> bytes:
        """The identifier of the run: a hash of the plan and of all fresh keys."""
        listed = [entry.encode() for entry in self.entries.values()]
        content = encode({"plan": self.plan.digest, "entries": listed, "key": self.key})
        return sha256(b"dagora session\0" + content).digest()

    def statement(self) -> bytes:
        """The bytes that the coordinator signs."""
        return b"dagora plan: coordinator\0" + self.session

    def encode(self, signature: bytes) -> bytes:
        """Write the roster with the coordinator's signature, the same bytes for all sites."""
        listed = [entry.encode() for entry in self.entries.values()]
        return encode({"entries": listed, "key": self.key, "signature": signature})

    @classmethod
    def of(cls, plan: RunPlan, entries: Mapping[str, RosterEntry], key: bytes) -> Roster:
        """The roster of entries by name, and the coordinator's key."""
        return cls(plan, dict(sorted(entries.items())), key)

    @classmethod
    def decode(cls, payload: bytes, plan: RunPlan, what: str) -> tuple[Roster, bytes]:
        """Read a roster and the coordinator's signature; they are checked by `check`."""
        content = decode(payload, {"entries": list, "key": bytes, "signature": bytes}, what=what)
        entries = []
        for listed in content["entries"]:
            if not isinstance(listed, bytes):
                raise ProtocolError(f"{what}: its entries must be bytes")
            entries.append(RosterEntry.decode(listed, what))
        names = [entry.name for entry in entries]
        if names != sorted(set(names)) or set(names) != set(plan.sites):
            raise ProtocolError(f"{what}: it must name the plan's sites once, in order")
        key = content["key"]
        if len({key, *(entry.key for entry in entries)}) != 1 + len(entries):
            raise ProtocolError(f"{what}: two of its keys are the same")
        return cls(plan, dict(zip(names, entries, strict=True)), key), content["signature"]

    def check(self, identity: Identity, own: RosterEntry) -> None:
        """Refuse a roster that a site cannot trust."""
        if self.entries.get(own.name) != own:
            raise ProtocolError("the roster does not hold this site's own key")
        for entry in self.entries.values():
            entry.check(identity, self.plan)


@dataclass
class SiteMasks:
    """The masks of one site in one run."""

    identity: Identity
    plan: RunPlan
    own: RosterEntry
    keys: KeyPair = field(repr=False)
    session: bytes = b""
    secrets: dict[str, bytes] = field(default_factory=dict, repr=False)
    coordinator_secret: bytes = field(default=b"", repr=False)
    round: int = 0

    @classmethod
    def begin(cls, identity: Identity, plan: RunPlan) -> tuple[SiteMasks, RosterEntry]:
        """Make a key, and sign it with the plan."""
        keys = KeyPair.make()
        own = RosterEntry.make(identity, plan, keys.public)
        return cls(identity, plan, own, keys), own

    def check_roster(self, message: bytes, certificate: bytes, coordinator: str) -> SiteMasks:
        """Check that all sites and the coordinator have signed, and agree on a secret with each of them."""
        roster, signature = Roster.decode(message, self.plan, "the roster")
        roster.check(self.identity, self.own)
        if not self.identity.verify(coordinator, roster.statement(), signature, certificate):
            raise ProtocolError("the coordinator did not sign the roster")
        own = self.own.name
        others = {name: entry.key for name, entry in roster.entries.items() if name != own}
        secrets = {name: pair_secret(self.keys, own, name, key) for name, key in others.items()}
        with_coordinator = pair_secret(self.keys, own, coordinator, roster.key)
        return replace(self, session=roster.session, secrets=secrets, coordinator_secret=with_coordinator)

    def mask(self, label: str, vector: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The vector with the masks of the next round; `label` is what all sites must have in common."""
        if not self.secrets:
            raise ProtocolError("the coordinator asks for a sum before keys were exchanged")
        context = MaskContext(self.session, self.round, label, vector.shape)
        self.round += 1
        return vector + pair_masks(self.own.name, self.secrets, context)
