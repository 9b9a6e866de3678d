"""The coordinator's side of the secure sum: it passes on shares it cannot read, and opens only sums.

The sum of the masked vectors that arrived still contains the survivors' self-masks, and their pairwise masks
with the lost sites. At least `threshold` survivors send shares of the survivors' seeds and of the lost sites'
mask keys, from which the coordinator computes these masks and removes them. Sites may be lost without harm
until the first sum is opened. After that, a sum for which a vector is missing stays closed; if all vectors
arrived and a site is lost afterwards, this sum is still opened and is the last.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.errors import ProtocolError
from dagora.parties.horizontal.replies import collect, listen, tell
from dagora.parties.horizontal.secure_sum.masks import Context, KeyPair, pair_masks, self_mask
from dagora.parties.horizontal.secure_sum.roster import (
    CHALLENGE_BYTES,
    ENTRY,
    Entry,
    Roster,
    encode_roster,
    least_threshold,
    usual_threshold,
)
from dagora.parties.horizontal.secure_sum.shamir import SECRET_BYTES, combine, unpack
from dagora.parties.horizontal.secure_sum.site import MINIMUM_SITES, epoch_rounds
from dagora.parties.transport.messages import Array, encode
from dagora.parties.transport.transport import Transport


@dataclass(frozen=True)
class Opened:
    """A sum, and the sites whose vectors are in it."""

    values: NDArray[np.uint64]
    sites: tuple[str, ...]


class SecureSum:
    """Sums of the sites' vectors modulo 2⁶⁴.

    Waits `patience` seconds for each step. At least `threshold` sites (more than two thirds by default) must
    stay until a sum is opened, and at least `minimum` must be in it. `on_loss` is called with one line for
    each lost site.
    """

    def __init__(
        self,
        transport: Transport,
        sites: Sequence[str],
        *,
        minimum: int = MINIMUM_SITES,
        threshold: int | None = None,
        patience: float = 600.0,
        on_loss: Callable[[str], None] | None = None,
    ) -> None:
        self._transport = transport
        self._minimum = minimum
        self._threshold = threshold
        self._patience = patience
        self._on_loss = on_loss
        self._expected = tuple(sorted(set(sites)))
        self._members = self._expected
        self._lost: dict[str, str] = {}
        self._round = 0
        self._epoch = 0
        self._shared = 0
        self._end = ""
        self._check_enough(self._expected, minimum)

    @property
    def members(self) -> tuple[str, ...]:
        """The sites whose masks are in the next sum, including sites known to be lost."""
        return self._members

    @property
    def present(self) -> tuple[str, ...]:
        """The sites that are not lost."""
        return tuple(name for name in self._members if name not in self._lost)

    @property
    def opened(self) -> bool:
        """Whether a sum was opened; from then on the loss of a site ends the run."""
        return self._round > 0

    def set_up(self) -> None:
        """Pass the sites' keys and their first shares on to each other."""
        challenge = secrets.token_bytes(CHALLENGE_BYTES)
        self.lose(self._tell(dict.fromkeys(self.present, encode({"challenge": challenge})), "sum/begin"))
        keys = collect(self._transport, self.present, "sum/keys", ENTRY, self._patience)
        self.lose(keys.lost)
        self._check_enough(self.present, self._minimum)
        entries = {name: Entry(**content) for name, content in keys.contents.items()}
        for name, entry in entries.items():
            if entry.name != name:
                raise ProtocolError(f"site '{name}' sent keys under another name", party=name)
        threshold = self._threshold or usual_threshold(len(entries))
        if not least_threshold(len(entries)) <= threshold <= len(entries):
            raise ProtocolError(f"a threshold of {threshold} does not fit {len(entries)} sites")
        payload = encode_roster(challenge, threshold, entries)
        self._roster = Roster.decode(payload, "the roster")
        self._members = self._roster.names
        self._least = max(threshold, self._minimum)
        self.lose(self._tell(dict.fromkeys(self._members, payload), "sum/roster"))
        self._pass_shares_on()

    def _pass_shares_on(self) -> None:
        epoch, first = self._epoch, self._epoch == 0
        fields = {"signature": bytes, "sealed": dict}
        sent = collect(self._transport, self.present, f"sum/share/{epoch}", fields, self._patience)
        self.lose(sent.lost)
        if first:
            self._members = self.present
            self._check_enough(self._members, self._least)
        for name, content in sent.contents.items():
            if set(self._members) - {name} - set(content["sealed"]):
                raise ProtocolError(f"site '{name}' did not share with all others", party=name)
        signatures = {name: content["signature"] for name, content in sent.contents.items()} if first else {}
        messages = {}
        for name in self.present:
            boxes = {other: sent.contents[other]["sealed"][name] for other in self._members if other != name}
            messages[name] = encode({"sealed": boxes, "signatures": signatures})
        self.lose(self._tell(messages, f"sum/shares/{epoch}"))
        self._shared += epoch_rounds(epoch)
        self._epoch += 1

    def sum(self, label: str, ask: Callable[[str], None] | None = None) -> Opened:
        """Open the sum of the sites' next vectors; all sites must use the same label.

        `ask(site)` is called for each site first, to send the question.
        """
        if self._end:
            raise ProtocolError(self._end)
        try:
            return self._open(label, ask)
        except ProtocolError as error:
            # Sites may be in the middle of this sum, so no other can follow it.
            self._end = self._end or str(error)
            raise

    def _open(self, label: str, ask: Callable[[str], None] | None) -> Opened:
        self._ask(ask)
        if self._round == self._shared:
            self._pass_shares_on()
        total, survivors = self._add_vectors(label)
        round_, lost = self._round, [name for name in self._members if name not in survivors]
        context = Context(self._roster.session, round_, self._members, label, total.shape)
        message = encode({"round": round_, "survivors": list(survivors), "lost": lost})
        # Lost sites are told too: one that was only slow learns that it is left out.
        unreached = self._tell(dict.fromkeys(self._members, message), f"sum/{round_}/open")
        # From here on the sites count this sum as opened.
        self._round += 1
        self._members = survivors
        self.lose({name: reason for name, reason in unreached.items() if name in survivors}, last=True)
        seeds, keys = self._collect_shares(round_, survivors, lost)
        for name in survivors:
            total -= self_mask(self._recover(seeds[name], name), context)
        for name in lost:
            # What the survivors added for it is the negative of what it would have added for them.
            total += self._masks_of(name, self._recover(keys[name], name), survivors, context)
        return Opened(total, survivors)

    def _ask(self, ask: Callable[[str], None] | None) -> None:
        if ask is None:
            return
        for name in self.present:
            try:
                ask(name)
            except ProtocolError as error:
                self.lose({name: str(error)})

    def _add_vectors(self, label: str) -> tuple[NDArray[np.uint64], tuple[str, ...]]:
        """Add up the masked vectors as they arrive, and return their sum and their sites."""
        lost: dict[str, str] = {}
        total: NDArray[np.uint64] | None = None
        survivors: list[str] = []
        tag, fields = f"sum/{self._round}/input", {"masked": Array("u8")}
        for name, content in listen(self._transport, self.present, tag, fields, self._patience, lost):
            vector = content["masked"]
            if total is None:
                total = np.zeros_like(vector)
            elif total.shape != vector.shape:
                task = label.rpartition("/")[0] or label
                raise ProtocolError(
                    f"sites '{survivors[0]}' and '{name}' answer '{task}' with different shapes", party=name
                )
            total += vector
            survivors.append(name)
        self.lose(lost)
        self._check_enough(survivors, self._least)
        assert total is not None
        return total, tuple(survivors)

    def _collect_shares(
        self, round_: int, survivors: Sequence[str], lost: Sequence[str]
    ) -> tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]]:
        fields = {"seeds": bytes, "keys": bytes}
        got = collect(self._transport, self.present, f"sum/{round_}/shares", fields, self._patience)
        self.lose(got.lost, last=True)
        self._check_enough(tuple(got.contents), self._roster.threshold)
        seeds: dict[str, dict[int, int]] = {name: {} for name in survivors}
        keys: dict[str, dict[int, int]] = {name: {} for name in lost}
        for name, content in got.contents.items():
            point = self._roster.point(name)
            for table, kind in ((seeds, "seeds"), (keys, "keys")):
                try:
                    shares = unpack(content[kind], len(table))
                except ValueError as error:
                    raise ProtocolError(f"site '{name}' sent invalid shares: {error}", party=name) from None
                for owner, share in zip(table, shares, strict=True):
                    table[owner][point] = share
        return seeds, keys

    def _recover(self, shares: Mapping[int, int], owner: str) -> bytes:
        """Recover a secret from shares; if there are more than needed, the first and the last must agree."""
        items = sorted(shares.items())
        secret = combine(dict(items[: self._roster.threshold]))
        if secret != combine(dict(items[-self._roster.threshold :])) or secret >> (8 * SECRET_BYTES):
            raise ProtocolError(f"the shares of a secret of site '{owner}' do not fit together")
        return secret.to_bytes(SECRET_BYTES, "little")

    def _masks_of(
        self, name: str, key: bytes, survivors: Sequence[str], context: Context
    ) -> NDArray[np.uint64]:
        """A lost site's pairwise masks with the survivors."""
        pair = KeyPair.from_private(key)
        if pair.public != self._roster.entries[name].mask_key:
            raise ProtocolError(f"the shares of the key of site '{name}' do not fit together")
        shared = {other: pair.agree(self._roster.entries[other].mask_key) for other in survivors}
        return pair_masks(name, shared, context)

    def lose(self, lost: Mapping[str, str], *, last: bool = False) -> None:
        """Note lost sites with the reason; after a sum was opened this ends the run.

        With `last` the current sum is still opened, and the next one is refused.
        """
        for name, reason in lost.items():
            if name in self._lost:
                continue
            self._lost[name] = reason
            if self._on_loss is not None:
                self._on_loss(f"site '{name}' was lost: {reason}")
            if self.opened and not self._end:
                self._end = (
                    f"site '{name}' was lost after sums with it were opened ({reason}); the run ends here, "
                    "since sums without it would show its part: start again"
                )
        if self._end and not last:
            raise ProtocolError(self._end)

    def check_present(self) -> None:
        """Refuse to continue with too few sites."""
        self._check_enough(self.present, self._minimum)

    def _tell(self, messages: Mapping[str, bytes], tag: str) -> dict[str, str]:
        return tell(self._transport, messages, tag)

    def _check_enough(self, sites: Sequence[str], least: int) -> None:
        if len(sites) >= least:
            return
        gone = "; ".join(self._lost.values())
        because = f" (lost: {gone})" if gone else ""
        self._end = f"{len(sites)} sites are too few for a secure sum: {least} are needed{because}"
        raise ProtocolError(self._end)
