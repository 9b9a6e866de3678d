"""A site's side of the secure sum: it masks its vector, and helps to remove the masks that do not cancel.

    sum/begin          <  challenge            sum/R/input   >  masked vector
    sum/keys           >  its public keys      sum/R/open    <  survivors, lost
    sum/roster         <  everyone's           sum/R/shares  >  shares of seeds and keys
    sum/share/E        >  its secrets' shares, one sealed message for each other site
    sum/shares/E       <  the others', sealed for it

A self-mask's seed is revealed when its round is opened, so each round has a seed of its own. The seeds of all
rounds of an epoch are shared at its beginning. Epochs have 4, 16, then 64 rounds: a single question costs
little, and with many questions the sharing is a small part of the work. The coordinator decides when a step
happens; a site does each step once, in order, so nothing can be replayed.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.errors import ProtocolError
from dagora.parties.horizontal.replies import refusal
from dagora.parties.horizontal.secure_sum.identity import Identity
from dagora.parties.horizontal.secure_sum.masks import Context, KeyPair, pair_masks, seal, self_mask, unseal
from dagora.parties.horizontal.secure_sum.roster import CHALLENGE_BYTES, Entry, Roster
from dagora.parties.horizontal.secure_sum.shamir import SECRET_BYTES, pack, split, unpack
from dagora.parties.horizontal.secure_sum.vault import Vault
from dagora.parties.transport.messages import Field, decode, encode
from dagora.parties.transport.transport import Transport, one_line

MINIMUM_SITES = 3
LONGEST_EPOCH = 64


def epoch_rounds(epoch: int) -> int:
    """The number of rounds of an epoch.

    >>> [epoch_rounds(epoch) for epoch in range(4)]
    [4, 16, 64, 64]
    """
    return 4 ** (epoch + 1) if epoch < 2 else LONGEST_EPOCH


def sealing_info(session: bytes, epoch: int, sender: str, receiver: str) -> bytes:
    """Context of the key for sealed shares: they open only for this session, epoch, sender and receiver."""
    return encode({"use": "shares", "session": session, "epoch": epoch, "from": sender, "to": receiver})


class SumSite:
    """One site of a secure sum.

    It waits `patience` seconds for each of the coordinator's steps, and refuses sessions of fewer than
    `minimum` sites: from the sum of two sites each can compute the other's part.
    """

    def __init__(
        self,
        transport: Transport,
        identity: Identity,
        *,
        coordinator: str = "coordinator",
        minimum: int = MINIMUM_SITES,
        patience: float = 1200.0,
    ) -> None:
        if identity.name != transport.name:
            raise ProtocolError(f"site '{transport.name}' cannot sign as '{identity.name}'")
        if minimum < 2:
            raise ProtocolError("a sum hides nothing with fewer than 2 sites")
        self._transport = transport
        self._identity = identity
        self._name = identity.name
        self._coordinator = coordinator
        self._minimum = minimum
        self._patience = patience
        self._round = 0
        self._epoch = 0
        self._shared = 0
        self._seeds: dict[int, bytes] = {}

    @property
    def members(self) -> tuple[str, ...]:
        """The sites whose vectors are in the sums."""
        return self._vault.members

    def set_up(self) -> None:
        """Exchange keys and the shares of the first epoch, once."""
        if self._epoch:
            raise ProtocolError("refused: the coordinator asks for new keys in the middle of a run")
        challenge = self._receive("sum/begin", {"challenge": bytes})["challenge"]
        if len(challenge) != CHALLENGE_BYTES:
            raise ProtocolError(f"a challenge has {CHALLENGE_BYTES} bytes")
        share_keys, mask_keys = KeyPair.make(), KeyPair.make()
        own = Entry.make(self._identity, challenge, share_keys.public, mask_keys.public)
        self._send("sum/keys", own.encode())
        roster = Roster.decode(self._receive_bytes("sum/roster"), "the roster")
        roster.check(self._identity, own, challenge, self._coordinator)
        if len(roster.names) < self._minimum:
            raise ProtocolError(
                f"{len(roster.names)} sites are too few: at least {self._minimum} must take part"
            )
        self._roster = roster
        self._sealing = self._agree({n: entry.share_key for n, entry in roster.entries.items()}, share_keys)
        self._masking = self._agree({n: entry.mask_key for n, entry in roster.entries.items()}, mask_keys)
        self._vault = Vault(self._name, roster.names, threshold=roster.threshold, minimum=self._minimum)
        self._share(mask_keys.private)

    def _agree(self, public: Mapping[str, bytes], own: KeyPair) -> dict[str, bytes]:
        return {name: own.agree(key) for name, key in public.items() if name != self._name}

    def _share(self, mask_key: bytes = b"") -> None:
        """Share the seeds of the next epoch, and once the mask key."""
        epoch, rounds = self._epoch, epoch_rounds(self._epoch)
        seeds = [secrets.token_bytes(SECRET_BYTES) for _ in range(rounds)]
        numbers = [int.from_bytes(secret, "little") for secret in ([mask_key] if mask_key else []) + seeds]
        count = len(numbers)
        # One row per secret, one column per holder.
        table = [split(number, self._roster.threshold, len(self._roster.names)) for number in numbers]
        mine = {name: [row[self._roster.point(name) - 1] for row in table] for name in self.members}
        sealed = {
            name: seal(self._sealing[name], self._info(epoch, self._name, name), pack(mine[name]))
            for name in self.members
            if name != self._name
        }
        signature = self._identity.sign(self._roster.statement()) if mask_key else b""
        self._send(f"sum/share/{epoch}", encode({"signature": signature, "sealed": sealed}))
        held = {self._name: mine[self._name], **self._receive_shares(epoch, count)}
        if mask_key:
            self._vault.members = tuple(sorted(held))
            self._vault.keep_keys({name: shares[0] for name, shares in held.items()})
        for i in range(rounds):
            self._seeds[self._shared + i] = seeds[i]
            self._vault.keep_seeds(
                self._shared + i, {name: shares[count - rounds + i] for name, shares in held.items()}
            )
        self._shared += rounds
        self._epoch += 1

    def _receive_shares(self, epoch: int, count: int) -> dict[str, list[int]]:
        fields: dict[str, Field] = {"sealed": dict, "signatures": dict}
        content = self._receive(f"sum/shares/{epoch}", fields)
        sealed, signatures = content["sealed"], content["signatures"]
        self._check_sharers({*sealed, self._name}, first=epoch == 0)
        held = {}
        for name, box in sealed.items():
            if epoch == 0:
                self._check_signature(name, signatures.get(name))
            secret, info = self._sealing[name], self._info(epoch, name, self._name)
            opened = unseal(secret, info, box) if isinstance(box, bytes) else None
            try:
                if opened is None:
                    raise ValueError
                held[name] = unpack(opened, count)
            except ValueError:
                raise ProtocolError(f"the shares of site '{name}' were changed on the way") from None
        return held

    def _check_sharers(self, sharers: set[str], *, first: bool) -> None:
        if first and sharers <= set(self.members):
            least = max(self._roster.threshold, self._minimum)
            if len(sharers) < least:
                raise ProtocolError(f"only {len(sharers)} sites have shared their secrets; {least} must")
        elif sharers != set(self.members):
            raise ProtocolError("the shares passed on are not those of the session's sites")

    def _check_signature(self, name: str, signature: object) -> None:
        certificate = self._roster.entries[name].certificate
        valid = isinstance(signature, bytes) and self._identity.verify(
            name, self._roster.statement(), signature, certificate
        )
        if not valid:
            raise ProtocolError(f"site '{name}' did not sign the roster that this site was shown")

    def _info(self, epoch: int, sender: str, receiver: str) -> bytes:
        return sealing_info(self._roster.session, epoch, sender, receiver)

    def answer(self, label: str, vector: NDArray[np.uint64]) -> None:
        """Put a vector into the next sum; `label` must be the same at all sites and the coordinator."""
        if self._round == self._shared:
            self._share()
        round_ = self._round
        self._round += 1
        context = Context(self._roster.session, round_, self.members, label, vector.shape)
        others = {name: self._masking[name] for name in self.members if name != self._name}
        masked = np.array(vector, dtype=np.uint64)
        masked += self_mask(self._seeds.pop(round_), context)
        masked += pair_masks(self._name, others, context)
        self._vault.answered(round_)
        self._send(f"sum/{round_}/input", encode({"masked": masked}))
        fields: dict[str, Field] = {"round": int, "survivors": list, "lost": list}
        asked = self._receive(f"sum/{round_}/open", fields)
        survivors, lost = (_names(asked[kind]) for kind in ("survivors", "lost"))
        seeds, keys = self._vault.open(asked["round"], survivors, lost)
        self._send(f"sum/{round_}/shares", encode({"seeds": pack(seeds), "keys": pack(keys)}))

    def refuse(self, line: str) -> None:
        """Send a reason in place of the next sum's vector."""
        due = self._round == self._shared
        self._send(f"sum/share/{self._epoch}" if due else f"sum/{self._round}/input", refusal(line))

    def _send(self, tag: str, payload: bytes) -> None:
        self._transport.send(self._coordinator, tag, payload)

    def _receive_bytes(self, tag: str) -> bytes:
        return self._transport.receive(self._coordinator, tag, self._patience)

    def _receive(self, tag: str, fields: Mapping[str, Field]) -> dict[str, Any]:
        return decode(self._receive_bytes(tag), fields, what=f"'{self._coordinator}', '{tag}'")


def _names(listed: list[object]) -> list[str]:
    if not all(isinstance(name, str) for name in listed):
        raise ProtocolError("the coordinator does not name sites")
    return [one_line(str(name)) for name in listed]
