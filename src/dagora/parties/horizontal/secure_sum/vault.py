"""The shares a site holds of the others' secrets, and the rules by which it gives them out.

To open a sum the coordinator names the survivors, whose masked vectors are in the sum, and the lost sites,
whose vectors are not. The site then gives its shares of the survivors' self-mask seeds of this round, and of
the lost sites' mask keys. Shares of both kinds would reveal a site's vector, so no site's seed and key may
ever both be given out, not even in different rounds, since a mask key is used in every round of the session.
Therefore sites may be lost only at the first opening. It destroys the shares of all mask keys, and from then
on a sum is opened for exactly the same sites or not at all. So nobody can take the difference of two sums
with and without a site.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dagora.errors import ProtocolError
from dagora.parties.transport.transport import one_line


class Vault:
    """What one site holds for the sites of a session."""

    def __init__(self, owner: str, members: Sequence[str], *, threshold: int, minimum: int) -> None:
        self.members = tuple(members)
        self._owner = owner
        self._least = max(threshold, minimum)
        self._keys: dict[str, int] = {}
        self._seeds: dict[int, dict[str, int]] = {}
        self._answered = -1
        self._opened = -1

    def keep_keys(self, shares: Mapping[str, int]) -> None:
        """Keep this site's shares of the mask keys."""
        self._keys = dict(shares)

    def keep_seeds(self, round_: int, shares: Mapping[str, int]) -> None:
        """Keep this site's shares of the self-mask seeds of a round to come."""
        self._seeds[round_] = dict(shares)

    def answered(self, round_: int) -> None:
        """Note that this site has sent its masked vector of a round."""
        self._answered = round_

    def open(self, round_: int, survivors: Sequence[str], lost: Sequence[str]) -> tuple[list[int], list[int]]:
        """Give out shares of the survivors' seeds and of the lost sites' keys, in that order, or refuse."""
        self._check(round_, survivors, lost)
        seeds = self._seeds.pop(round_)
        given = [seeds[name] for name in survivors], [self._keys[name] for name in lost]
        self._opened = round_
        self._keys.clear()
        self.members = tuple(name for name in self.members if name in survivors)
        return given

    def _check(self, round_: int, survivors: Sequence[str], lost: Sequence[str]) -> None:
        if round_ <= self._opened:
            raise _refusal(f"asks to open sum {round_ + 1} a second time")
        if round_ != self._answered:
            raise _refusal(f"asks to open sum {round_ + 1}, which this site was not asked for")
        both = set(survivors) & set(lost)
        if both:
            raise _refusal(f"asks for both kinds of shares of site '{min(both)}'")
        named = [*survivors, *lost]
        strangers = set(named) - set(self.members)
        if strangers:
            raise _refusal(f"names site '{one_line(min(strangers))}', which is not in this session")
        if len(set(named)) != len(named) or len(named) != len(self.members):
            raise _refusal("does not name every site of the session once")
        if self._owner not in survivors:
            raise ProtocolError("the coordinator went on without this site, which was too slow for it")
        if len(survivors) < self._least:
            raise _refusal(
                f"asks to open a sum of {len(survivors)} sites; at least {self._least} must be in it"
            )
        if lost and self._opened >= 0:
            raise _refusal(f"asks to go on without site '{min(lost)}' after sums with it were opened")


def _refusal(what: str) -> ProtocolError:
    return ProtocolError(f"refused: the coordinator {what}")
