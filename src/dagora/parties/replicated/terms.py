"""The terms that three or more owners agree on before they send any byte that depends on their rows.

Each owner sends the host the names of its columns and its proposal: the order of all variables, the limit on
parents, the score, the least number of rows, the owners. All but the host may leave these open. The host
combines them, and every owner gets the same terms or the same line that says what does not fit. An owner that
gets terms other than it proposed, or without its own columns as they are, ends the run.

    agreement/wishes   >  version, names of columns, options
    agreement/terms    <  a refusal, or the terms
    agreement/digest   >  SHA-256 of the terms
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import Any

from dagora.base.errors import DisagreementError, OptionError
from dagora.base.wording import option
from dagora.learners.search.k2 import read_order
from dagora.parties.crypto.channel import Channel
from dagora.parties.replicated.replicated_party import PARTIES
from dagora.parties.transport.messages import Field, encode
from dagora.parties.transport.transport import Transport, check_name
from dagora.parties.vertical.agreement import LONGEST_NAME, MOST_MOMENTS, MOST_NAMES, TermsProposal

VERSION = 1
MOST_OWNERS = 32  # bounds what the terms of a peer make us hold
LEAST_ROWS = 10  # by default, as for opened parameters of two owners
FEWEST_ROWS, MOST_LEAST_ROWS = 2, 1 << 30  # bounds of `min_rows`
LONGEST_REFUSAL = 1000  # characters that a peer may make us show

_WISHES: dict[str, Field] = {
    "version": int,
    "names": list,
    "order": str,
    "max_parents": int,
    "score": str,
    "min_rows": int,
    "owners": list,
}
_TERMS: dict[str, Field] = {
    "refusal": str,
    "owners": list,
    "columns": list,
    "order": list,
    "max_parents": int,
    "score": str,
    "min_rows": int,
}


@dataclass(frozen=True, slots=True)
class GroupProposal:
    """The terms that an owner proposes; all but the host leave to it what is None.

    `owners` are all owners, the host first; the first three compute. `min_rows` is the least number of rows
    with which this owner takes part; the largest of all counts.
    """

    order: str | None = None
    max_parents: int | None = None
    score: str | None = None
    min_rows: int = LEAST_ROWS
    owners: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        TermsProposal(self.order, self.max_parents, self.score)  # refuses what is out of range
        if type(self.min_rows) is not int or not FEWEST_ROWS <= self.min_rows <= MOST_LEAST_ROWS:
            raise OptionError(
                f"option 'min_rows' must be from {FEWEST_ROWS} to {MOST_LEAST_ROWS}, not {self.min_rows!r}"
            )
        if self.owners is not None:
            check_owners(self.owners)


@dataclass(frozen=True, slots=True)
class GroupTerms:
    """The terms all have agreed on; variables are numbered owner by owner."""

    owners: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    order: tuple[int, ...]
    max_parents: int
    score: str
    min_rows: int = field(default=LEAST_ROWS)

    @property
    def host(self) -> str:
        """The owner that the others connect to."""
        return self.owners[0]

    @property
    def computing(self) -> tuple[str, ...]:
        """The three owners that compute on shares."""
        return self.owners[:PARTIES]

    @property
    def names(self) -> tuple[str, ...]:
        """All variables."""
        return tuple(name for columns in self.columns for name in columns)

    @property
    def limit(self) -> int:
        """The most parents that a variable can get."""
        return min(self.max_parents, len(self.names) - 1)

    def variables_of(self, owner: str) -> range:
        """The numbers of an owner's variables."""
        place = self.owners.index(owner)
        first = sum(len(columns) for columns in self.columns[:place])
        return range(first, first + len(self.columns[place]))

    def to_message(self) -> dict[str, Any]:
        """The terms as values of a message."""
        return {
            "owners": list(self.owners),
            "columns": [list(columns) for columns in self.columns],
            "order": list(self.order),
            "max_parents": self.max_parents,
            "score": self.score,
            "min_rows": self.min_rows,
        }

    def digest(self) -> bytes:
        """A hash of all terms."""
        return hashlib.sha256(encode({"version": VERSION, **self.to_message()})).digest()

    def describe(self) -> str:
        """Describe the terms in one line.

        >>> terms = GroupTerms(("a", "b", "c"), (("x",), ("y",), ("z",)), (0, 1, 2), 3, "f")
        >>> terms.describe()
        'order x, y, z; at most 2 parents; score f; at least 10 rows; a, b and c compute'
        """
        order = ", ".join(self.names[variable] for variable in self.order)
        parents = f"at most {self.limit} parent{'s' * (self.limit > 1)}"
        one, two, three = self.computing
        return (
            f"order {order}; {parents}; score {self.score}; at least {self.min_rows} rows; "
            f"{one}, {two} and {three} compute"
        )


def check_owners(owners: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the owners, or refuse them."""
    for name in owners:
        check_name(name)
    if not PARTIES <= len(owners) <= MOST_OWNERS or len(set(owners)) != len(owners):
        raise OptionError(f"option 'owners' must name {PARTIES} to {MOST_OWNERS} owners, each once")
    return tuple(owners)


def agree(
    transport: Transport, owners: Sequence[str], names: tuple[str, ...], proposal: GroupProposal
) -> GroupTerms:
    """Agree with all others, as the host (the first of the owners) or as another."""
    if transport.name == owners[0]:
        return _agree_as_host(transport, owners, names, proposal)
    channel = Channel(transport, owners[0], "agreement")
    channel.send(
        "wishes",
        version=VERSION,
        names=list(names),
        order=proposal.order or "",
        max_parents=proposal.max_parents or 0,
        score=proposal.score or "",
        min_rows=proposal.min_rows,
        owners=list(proposal.owners or ()),
    )
    message = channel.receive("terms", _TERMS)
    raise_refusal(channel, "terms", message["refusal"])
    terms = _read_terms(channel, message)
    place = terms.owners.index(transport.name)
    wrong = (
        "columns" if terms.columns[place] != names
        else "owners" if proposal.owners is not None and terms.owners != proposal.owners
        else "max_parents" if proposal.max_parents not in (None, terms.max_parents)
        else "score" if proposal.score not in (None, terms.score)
        else "min_rows" if terms.min_rows < proposal.min_rows
        else "order" if proposal.order is not None
        and tuple(read_order(proposal.order, terms.names)) != terms.order
        else ""
    )  # fmt: skip
    if wrong:
        channel.refuse("terms", f"its terms have other {wrong} than we proposed")
    channel.send("digest", digest=terms.digest())
    return terms


def _agree_as_host(
    transport: Transport, owners: Sequence[str], names: tuple[str, ...], proposal: GroupProposal
) -> GroupTerms:
    channels = [Channel(transport, name, "agreement") for name in owners[1:]]
    proposals = {channel.peer: _read_wishes(channel) for channel in channels}
    columns = {owners[0]: names, **{peer: wish[0] for peer, wish in proposals.items()}}
    nothing: dict[str, Any] = {
        "owners": [], "columns": [], "order": [], "max_parents": 0, "score": "", "min_rows": 0,
    }  # fmt: skip
    try:
        terms = combine(columns, proposal, {peer: wish[1] for peer, wish in proposals.items()})
    except DisagreementError as error:
        for channel in channels:
            channel.send("terms", refusal=str(error)[:LONGEST_REFUSAL], **nothing)
        raise
    for channel in channels:
        channel.send("terms", refusal="", **terms.to_message())
    for channel in channels:
        if channel.receive("digest", {"digest": bytes})["digest"] != terms.digest():
            channel.refuse("digest", "its terms differ from the terms here")
    return terms


def combine(
    columns: Mapping[str, tuple[str, ...]], wanted: GroupProposal, others: Mapping[str, GroupProposal]
) -> GroupTerms:
    """The host's terms, unless columns clash or another owner's proposal contradicts them."""
    owners = tuple(columns)
    for one, two in combinations(owners, 2):
        shared = next((name for name in columns[one] if name in columns[two]), None)
        if shared is not None:
            raise DisagreementError(
                f"'{one}' and '{two}' both have a column '{shared}': one must rename it or leave it out"
            )
    wanted = replace(wanted, max_parents=wanted.max_parents or 3, score=wanted.score or "f", owners=owners)
    for peer, expected in others.items():
        for name in ("owners", "max_parents", "score", "order"):
            here, there = getattr(wanted, name), getattr(expected, name)
            if there is not None and here != there:
                text = "not given" if here is None else f"'{_option_text(here)}'"
                raise DisagreementError(
                    f"option '{name}' is {text} at '{owners[0]}' and '{_option_text(there)}' at '{peer}'"
                )
    names = tuple(name for some in columns.values() for name in some)
    try:
        order = list(range(len(names))) if wanted.order is None else read_order(wanted.order, names)
    except OptionError as error:
        raise DisagreementError(str(error)) from None
    least = max([wanted.min_rows, *(each.min_rows for each in others.values())])
    terms = GroupTerms(
        owners, tuple(columns.values()), tuple(order), wanted.max_parents or 0, wanted.score or "", least
    )
    moments = sum(comb(len(names), size) for size in range(1, terms.limit + 2))
    if moments > MOST_MOMENTS:
        raise DisagreementError(
            f"{len(names)} variables with up to {terms.limit} parents are too many "
            f"({moments} moments, at most {MOST_MOMENTS}): take fewer columns or a lower "
            f"{option('max_parents')}"
        )
    return terms


def _option_text(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def raise_refusal(channel: Channel, step: str, refusal: str) -> None:
    """Raise the host's refusal, if there is one."""
    if refusal:
        if len(refusal) > LONGEST_REFUSAL or not refusal.isprintable():
            channel.refuse(step, "its refusal is not a line")
        raise DisagreementError(refusal)


def _are_names(names: object) -> bool:
    return (
        isinstance(names, list)
        and 0 < len(names) <= MOST_NAMES
        and all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME for name in names)
        and all(name.isprintable() for name in names)
        and len(set(names)) == len(names)
    )


def _read_wishes(channel: Channel) -> tuple[tuple[str, ...], GroupProposal]:
    """Check an owner's names and proposal."""
    message = channel.receive("wishes", _WISHES)
    if not all(0 <= message[name] <= 1 << 30 for name in ("version", "max_parents", "min_rows")):
        channel.refuse("wishes", "a number is out of its range")
    if message["version"] != VERSION:
        reason = f"it has version {message['version']} of the protocol, not {VERSION}: use the same dagora"
        channel.refuse("wishes", reason)
    if not _are_names(message["names"]):
        channel.refuse("wishes", "its columns are not different short printable names")
    if not all(isinstance(name, str) for name in message["owners"]):
        channel.refuse("wishes", "its owners are not names")
    try:
        proposal = GroupProposal(
            message["order"] or None,
            message["max_parents"] or None,
            message["score"] or None,
            message["min_rows"],
            tuple(message["owners"]) or None,
        )
    except OptionError as error:
        channel.refuse("wishes", str(error)[:200] if str(error).isprintable() else "an option is wrong")
    return tuple(message["names"]), proposal


def _read_terms(channel: Channel, message: dict[str, Any]) -> GroupTerms:
    """Check the terms that the host sent."""
    owners, columns, order = message["owners"], message["columns"], message["order"]
    if not all(isinstance(name, str) for name in owners):
        channel.refuse("terms", "its owners are not names")
    try:
        check_owners(owners)
        GroupProposal(None, message["max_parents"], message["score"], message["min_rows"])
    except OptionError:
        channel.refuse("terms", "an option is out of its range")
    if channel.transport.name not in owners or owners[0] != channel.peer:
        channel.refuse("terms", "its owners lack us or itself")
    if len(columns) != len(owners) or not all(_are_names(some) for some in columns):
        channel.refuse("terms", "its columns are not different short printable names")
    names = [name for some in columns for name in some]
    if len(set(names)) != len(names) or sorted(order) != list(range(len(names))):
        channel.refuse("terms", "its order does not name every column once")
    return GroupTerms(
        tuple(owners), tuple(map(tuple, columns)), tuple(order),
        message["max_parents"], message["score"], message["min_rows"],
    )  # fmt: skip
