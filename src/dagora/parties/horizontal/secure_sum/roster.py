"""The roster of a session of secure sums: which sites take part, with which keys, and how sites check it.

Each site makes two X25519 key pairs per session, one to encrypt shares and one for masks, and signs both
public keys together with the coordinator's challenge. The coordinator passes on all of them in one message,
the roster; a site encrypts nothing before it has checked every signature. Then each site signs the roster
that it saw, which contains fresh keys of all sites. So all sites see the same roster, and no entry can be
replayed from an earlier session. The digest of the roster identifies the session in every key that is derived
later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from dagora.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.identity import Identity
from dagora.parties.horizontal.secure_sum.masks import KEY_BYTES
from dagora.parties.transport.messages import decode, encode
from dagora.parties.transport.transport import check_name, one_line

CHALLENGE_BYTES = 32
ENTRY = {"name": str, "share_key": bytes, "mask_key": bytes, "signature": bytes, "certificate": bytes}


@dataclass(frozen=True, slots=True)
class Entry:
    """A site's public keys of one session, signed."""

    name: str
    share_key: bytes
    mask_key: bytes
    signature: bytes
    certificate: bytes

    @classmethod
    def make(cls, identity: Identity, challenge: bytes, share_key: bytes, mask_key: bytes) -> Entry:
        """Sign a site's own keys."""
        signature = identity.sign(_statement(identity.name, challenge, share_key, mask_key))
        return cls(identity.name, share_key, mask_key, signature, identity.certificate)

    @classmethod
    def decode(cls, payload: bytes, what: str) -> Entry:
        """Read an entry, its signature unchecked."""
        entry = cls(**decode(payload, ENTRY, what=what))
        if len(entry.share_key) != KEY_BYTES or len(entry.mask_key) != KEY_BYTES:
            raise ProtocolError(f"{what}: a public key has {KEY_BYTES} bytes")
        return entry

    def encode(self) -> bytes:
        """Return the entry as bytes."""
        return encode({field: getattr(self, field) for field in ENTRY})

    def check(self, identity: Identity, challenge: bytes) -> None:
        """Refuse keys that their site did not sign for this session."""
        statement = _statement(self.name, challenge, self.share_key, self.mask_key)
        if not identity.verify(self.name, statement, self.signature, self.certificate):
            raise ProtocolError(
                f"the keys of site '{one_line(self.name)}' are not signed by it for this session"
            )


def _statement(name: str, challenge: bytes, share_key: bytes, mask_key: bytes) -> bytes:
    keys = {"share_key": share_key, "mask_key": mask_key}
    return b"dagora secure sum: keys\0" + encode({"name": name, "challenge": challenge, **keys})


@dataclass(frozen=True)
class Roster:
    """The sites of a session, sorted by name, and how many must stay for a sum to be opened."""

    entries: Mapping[str, Entry]
    challenge: bytes
    threshold: int
    session: bytes

    @property
    def names(self) -> tuple[str, ...]:
        """The sites."""
        return tuple(self.entries)

    def point(self, name: str) -> int:
        """The point at which a site's shares are evaluated."""
        return self.names.index(name) + 1

    @classmethod
    def decode(cls, payload: bytes, what: str) -> Roster:
        """Read a roster and check its form; the signatures are checked by `check`."""
        fields = decode(payload, {"challenge": bytes, "threshold": int, "entries": list}, what=what)
        entries = []
        for content in fields["entries"]:
            if not isinstance(content, bytes):
                raise ProtocolError(f"{what}: its entries must be bytes")
            entries.append(Entry.decode(content, what))
        names = [check_name(entry.name) for entry in entries]
        if names != sorted(set(names)):
            raise ProtocolError(f"{what}: it must name each site once, in order")
        keys = [key for entry in entries for key in (entry.share_key, entry.mask_key)]
        if len(set(keys)) != len(keys):
            raise ProtocolError(f"{what}: two of its keys are the same")
        by_name = dict(zip(names, entries, strict=True))
        return cls(by_name, fields["challenge"], fields["threshold"], sha256(payload).digest())

    def statement(self) -> bytes:
        """What each site signs to confirm that it saw this roster."""
        return b"dagora secure sum: roster\0" + self.session

    def check(self, identity: Identity, own: Entry, challenge: bytes, coordinator: str) -> None:
        """Refuse a roster that a site cannot trust."""
        if self.entries.get(own.name) != own:
            raise ProtocolError("the roster does not hold this site's own keys")
        if self.challenge != challenge:
            raise ProtocolError("the roster belongs to another session")
        if coordinator in self.entries:
            raise ProtocolError("the coordinator cannot be one of the sites")
        if not least_threshold(len(self.entries)) <= self.threshold <= len(self.entries):
            raise ProtocolError(f"a threshold of {self.threshold} does not protect {len(self.entries)} sites")
        for entry in self.entries.values():
            entry.check(identity, challenge)


def encode_roster(challenge: bytes, threshold: int, entries: Mapping[str, Entry]) -> bytes:
    """Write a roster, the same bytes for all sites."""
    contents = [entries[name].encode() for name in sorted(entries)]
    return encode({"challenge": challenge, "threshold": threshold, "entries": contents})


def least_threshold(sites: int) -> int:
    """More than half: two groups that were told different things cannot both have enough shares.

    >>> [least_threshold(sites) for sites in (2, 3, 4)]
    [2, 2, 3]
    """
    return sites // 2 + 1


def usual_threshold(sites: int) -> int:
    """More than two thirds: safe even if up to a third of the sites help a lying coordinator.

    >>> [usual_threshold(sites) for sites in (2, 3, 4, 10)]
    [2, 3, 3, 7]
    """
    return 2 * sites // 3 + 1
