"""The terms that two owners agree on before they send anything about their rows but numbers of levels.

Each sends the names of its columns, how many levels each has, and its proposal: the order of all variables,
the limit on parents, score, mode, encryption and what becomes of the parameters. The guest may leave these to
the host; the fewest common rows are the larger of the two that are proposed; parameters, and security against
a malicious party, must be asked for by both. Both then combine the proposals by the same rules and exchange a
digest of the agreed terms. Any disagreement ends both sides with one line, which names columns and options
but never a value or a level. (The tag of the proposals is "wishes", from the first version of the protocol.)

    agreement/wishes  <>  version, role, names of columns, numbers of levels, options, security
    agreement/digest  <>  SHA-256 of the terms
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, DisagreementError, OptionError
from dagora.base.wording import option
from dagora.data.table import Table
from dagora.learners.search.k2 import read_order
from dagora.parties.crypto.channel import Channel
from dagora.parties.transport.messages import Field, encode
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.columns import MOST_LEVELS, column_levels, indicator_columns, number_of_sets

Role = Literal["host", "guest"]

# Two protocols, which differ from the first message about rows on: a party says which of them it speaks.
VERSIONS = {"semi-honest": 3, "malicious": 4}
COMPUTATIONAL_BITS = 128
STATISTICAL_BITS = 40
CHOICES = {
    "score": ("f", "g"),
    "mode": ("hidden", "adaptive"),
    "crypto": ("rlwe", "paillier"),
    "parameters": ("none", "shares", "open"),
}
SECURITY = tuple(VERSIONS)
# Limits on what a peer may propose: far beyond what a run can compute, small enough to be read at once. The
# number of moments grows as the number of columns to the power of parents + 1, and with it time and memory.
MOST_PARENTS = 6
MOST_MOMENTS = 200_000
MOST_CELLS = 4096  # of the table of a family: circuits of more take minutes and gigabytes to build
MOST_NAMES = 1000
LONGEST_NAME = 500
LONGEST_ORDER = 100_000
FEWEST_ROWS = 2

_FIELDS: dict[str, Field] = {
    "version": int,
    "role": str,
    "names": list,
    "levels": list,
    "expected": str,
    "min_rows": int,
    "order": str,
    "max_parents": int,
    "score": str,
    "mode": str,
    "crypto": str,
    "parameters": str,
    "computational": int,
    "statistical": int,
}


@dataclass(frozen=True, slots=True)
class TermsProposal:
    """The terms that a party proposes; the guest leaves what is None to the host.

    If the host's `order` is None, its own columns come first and the guest's after them. `levels` names
    columns of either party with the number of levels that is expected of them, as in "age=3,sex=2", and
    `min_rows` is the fewest common rows with which this party goes on.
    """

    order: str | None = None
    max_parents: int | None = None
    score: str | None = None
    mode: str | None = None
    crypto: str | None = None
    levels: str | None = None
    min_rows: int | None = None
    parameters: str | None = None
    security: str | None = None

    def __post_init__(self) -> None:
        for name, choices in {**CHOICES, "security": SECURITY}.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise OptionError(f"option '{name}' must be {' or '.join(choices)}, not '{value}'")
        if self.order is not None and not (
            isinstance(self.order, str) and self.order.isprintable() and len(self.order) <= LONGEST_ORDER
        ):
            raise OptionError("option 'order' must be one line of names with commas between them")
        read_levels(self.levels or "")
        if self.min_rows is not None and (type(self.min_rows) is not int or self.min_rows < FEWEST_ROWS):
            raise OptionError(f"option 'min_rows' must be {FEWEST_ROWS} or more, not {self.min_rows!r}")
        limit = self.max_parents
        if limit is not None and (type(limit) is not int or not 1 <= limit <= MOST_PARENTS):
            raise OptionError(f"option 'max_parents' must be from 1 to {MOST_PARENTS}, not {limit!r}")
        if self.security == "malicious":
            for name, only in (("mode", "hidden"), ("parameters", "none"), ("crypto", "rlwe")):
                if getattr(self, name) not in {None, only}:
                    raise OptionError(
                        f"{option('security', 'malicious')} learns the graph by garbled circuits in hidden "
                        f"mode: leave out {option(name)}"
                    )

    def complete(self) -> TermsProposal:
        """Fill in the defaults, as the host does."""
        return replace(
            self,
            max_parents=self.max_parents or 3,
            score=self.score or "f",
            mode=self.mode or "hidden",
            crypto=self.crypto or "rlwe",
            parameters=self.parameters or "none",
            security=self.security or "semi-honest",
        )


@dataclass(frozen=True, slots=True)
class AgreedTerms:
    """The terms both have agreed on; variables are numbered, the host's first.

    Without `levels` all have two.
    """

    host: tuple[str, ...]
    guest: tuple[str, ...]
    order: tuple[int, ...]
    max_parents: int
    score: str
    mode: str
    crypto: str
    levels: tuple[int, ...] = ()
    min_rows: int = FEWEST_ROWS
    parameters: str = "none"
    security: str = "semi-honest"

    def __post_init__(self) -> None:
        if not self.levels:
            object.__setattr__(self, "levels", (2,) * len(self.names))

    @property
    def names(self) -> tuple[str, ...]:
        """All variables."""
        return self.host + self.guest

    @property
    def limit(self) -> int:
        """The most parents that a variable can get."""
        return min(self.max_parents, len(self.names) - 1)

    @property
    def n_moments(self) -> int:
        """The number of sets of indicators whose moments the search may need."""
        return number_of_sets(self.levels, self.limit + 1)

    @property
    def most_cells(self) -> int:
        """The cells of the largest table that a family can have."""
        return prod(sorted(self.levels)[-self.limit - 1 :])

    def digest(self) -> bytes:
        """A hash of all terms."""
        content = {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}
        del content["security"]  # the version says it
        version = VERSIONS[self.security]
        security = {"computational": COMPUTATIONAL_BITS, "statistical": STATISTICAL_BITS}
        return hashlib.sha256(encode({"version": version, **content, **security})).digest()

    def describe(self) -> str:
        """Describe the terms in one line.

        >>> AgreedTerms(("a",), ("b",), (0, 1), 3, "f", "hidden", "rlwe").describe()
        'order a, b; at most 1 parent; score f; mode hidden; encryption rlwe'
        """
        order = ", ".join(
            self.names[variable] + f" ({self.levels[variable]} levels)" * (max(self.levels) > 2)
            for variable in self.order
        )
        parents = f"at most {self.limit} parent{'s' * (self.limit > 1)}"
        terms = f"order {order}; {parents}; score {self.score}; mode {self.mode}"
        if self.security == "malicious":
            return f"{terms}; security malicious"
        more = "" if self.parameters == "none" else f"; parameters {self.parameters}"
        return f"{terms}; encryption {self.crypto}{more}"


def binary_columns(table: Table) -> NDArray[np.uint8]:
    """The columns of a table as bits, uint8[columns, rows], for protocols that take two levels only.

    >>> binary_columns(Table.from_numpy([[0, 1], [1, 1], [1, 0]], names=["a", "b"])).tolist()
    [[0, 1, 1], [1, 1, 0]]
    """
    for name, levels in zip(table.names, column_levels(table), strict=True):
        if levels > 2:
            raise DataError(
                f"column '{name}' has {levels} levels, but this takes columns of two levels: "
                "leave it out, or merge its levels to two"
            )
    return indicator_columns(table)


def read_levels(text: str) -> dict[str, int]:
    """Read the option `levels`.

    >>> read_levels("age=3, sex=2")
    {'age': 3, 'sex': 2}
    """
    numbers: dict[str, int] = {}
    if len(text) > LONGEST_ORDER or not text.isprintable():
        raise OptionError("option 'levels' must be one line such as age=3,sex=2")
    for entry in filter(None, map(str.strip, text.split(","))):
        name, _, number = entry.rpartition("=")
        if not name or number not in map(str, range(2, MOST_LEVELS + 1)):
            raise OptionError(
                f"option 'levels' must be like age=3,sex=2 with numbers from 2 to {MOST_LEVELS}, "
                f"not '{entry[:60]}'"
            )
        if numbers.setdefault(name, int(number)) != int(number):
            raise OptionError(f"option 'levels' names '{name}' twice")
    return numbers


def agree(
    transport: Transport,
    role: Role,
    names: tuple[str, ...],
    proposal: TermsProposal,
    *,
    levels: tuple[int, ...] = (),
    on_offer: Callable[[AgreedTerms], None] | None = None,
    peer: str | None = None,
    tag: str = "agreement",
) -> AgreedTerms:
    """Agree with the peer; only names of columns, numbers of levels (2 if not given) and options are sent.

    `on_offer` is called with the terms before this party agrees to them, and may raise to end the run. What a
    party expects of its own columns is checked before anything is sent.
    """
    levels = levels or (2,) * len(names)
    check_own_levels(proposal, names, levels)
    channel = Channel.to_peer(transport, peer, tag)
    own = proposal.complete() if role == "host" else proposal
    channel.send(
        "wishes",
        version=VERSIONS[own.security or "semi-honest"],
        role=role,
        names=list(names),
        levels=list(levels),
        expected=own.levels or "",
        min_rows=own.min_rows or 0,
        order=own.order or "",
        max_parents=own.max_parents or 0,
        score=own.score or "",
        mode=own.mode or "",
        crypto=own.crypto or "",
        parameters=own.parameters or "",
        computational=COMPUTATIONAL_BITS,
        statistical=STATISTICAL_BITS,
    )
    message = channel.receive("wishes", _FIELDS)
    other_names, other_levels, other = _read_proposal(channel, role, message)
    mine, theirs = (names, levels, own), (other_names, other_levels, other)
    host, guest = (mine, theirs) if role == "host" else (theirs, mine)
    terms = combine_proposals(host[0], guest[0], host[2], guest[2], host[1] + guest[1])
    if on_offer is not None:
        on_offer(terms)
    digest = terms.digest()
    channel.send("digest", digest=hashlib.sha256(role.encode() + digest).digest())
    peer_role = b"guest" if role == "host" else b"host"
    if channel.receive("digest", {"digest": bytes})["digest"] != hashlib.sha256(peer_role + digest).digest():
        channel.refuse("digest", "its terms differ from the terms here")
    return terms


def combine_proposals(
    host: tuple[str, ...],
    guest: tuple[str, ...],
    wanted: TermsProposal,
    expected: TermsProposal,
    levels: tuple[int, ...] = (),
) -> AgreedTerms:
    """The host's terms, unless the guest's proposal contradicts them; both sides compute the same.

    `levels` are those of all columns, the host's first; 2 if they are not given.
    """
    shared = next((name for name in host if name in guest), None)
    if shared is not None:
        raise DisagreementError(f"both parties have a column '{shared}': one must rename it or leave it out")
    for name, usual in (("security", "semi-honest"), ("parameters", "none")):
        values = [getattr(proposal, name) or usual for proposal in (wanted, expected)]
        if values[0] != values[1]:
            raise DisagreementError(
                f"option '{name}' is '{values[0]}' at the host and '{values[1]}' at the guest: "
                "both must ask for it"
            )
    for name in ("max_parents", "score", "mode", "crypto", "order"):
        here, there = getattr(wanted, name), getattr(expected, name)
        if there is not None and here != there:
            text = "not given" if here is None else f"'{here}'"
            raise DisagreementError(f"option '{name}' is {text} at the host and '{there}' at the guest")
    names = host + guest
    levels = levels or (2,) * len(names)
    for role, proposal in (("host", wanted), ("guest", expected)):
        check_levels(role, proposal, names, levels, len(host))
    try:
        order = list(range(len(names))) if wanted.order is None else read_order(wanted.order, names)
    except OptionError as error:
        raise DisagreementError(str(error)) from None
    wanted = wanted.complete()
    terms = AgreedTerms(
        host,
        guest,
        tuple(order),
        wanted.max_parents or 0,
        wanted.score or "",
        wanted.mode or "",
        wanted.crypto or "",
        levels,
        max(wanted.min_rows or 0, expected.min_rows or 0, FEWEST_ROWS),
        wanted.parameters or "",
        wanted.security or "",
    )
    if terms.score == "g" and max(levels) > 2:
        name = next(name for name, count in zip(names, levels, strict=True) if count > 2)
        raise DisagreementError(
            f"the score g is of columns with two levels, and column '{name}' has more: take the score f"
        )
    if terms.n_moments > MOST_MOMENTS:
        raise DisagreementError(
            f"{len(names)} variables with up to {terms.limit} parents are too many "
            f"({terms.n_moments} moments, at most {MOST_MOMENTS}): take fewer columns or a lower "
            f"{option('max_parents')}"
        )
    if terms.most_cells > MOST_CELLS:
        raise DisagreementError(
            f"a family of {terms.limit + 1} columns could have a table of {terms.most_cells} cells, at most "
            f"{MOST_CELLS} are accepted: take fewer levels or a lower {option('max_parents')}"
        )
    return terms


def check_own_levels(proposal: TermsProposal, names: tuple[str, ...], levels: tuple[int, ...]) -> None:
    """Refuse columns of one's own that have other numbers of levels than one expects."""
    expected = read_levels(proposal.levels or "")
    for name, count in zip(names, levels, strict=True):
        if expected.get(name, count) != count:
            raise OptionError(
                f"column '{name}' has {count} levels here, and {option('levels')} says {expected[name]}"
            )


def check_levels(
    role: str, proposal: TermsProposal, names: tuple[str, ...], levels: tuple[int, ...], n_host: int
) -> None:
    """Refuse columns that have other numbers of levels than a party expects."""
    for name, count in read_levels(proposal.levels or "").items():
        if name not in names:
            raise DisagreementError(f"option 'levels' of the {role} names '{name}', which nobody has")
        place = names.index(name)
        if levels[place] != count:
            owner = "host" if place < n_host else "guest"
            raise DisagreementError(
                f"column '{name}' has {levels[place]} levels at the {owner}, and the {role} expects {count}"
            )


def _read_proposal(
    channel: Channel, role: Role, message: dict[str, Any]
) -> tuple[tuple[str, ...], tuple[int, ...], TermsProposal]:
    """Check the peer's names, numbers of levels and proposal."""

    def refuse(reason: str) -> NoReturn:
        channel.refuse("wishes", reason)

    # Python refuses to print a number of thousands of digits.
    if any(abs(message[name]) > 1 << 30 for name, kind in _FIELDS.items() if kind is int):
        refuse("a number is out of its range")
    security = next((name for name, number in VERSIONS.items() if number == message["version"]), None)
    if security is None:
        known = " or ".join(map(str, VERSIONS.values()))
        refuse(f"it has version {message['version']} of the protocol, not {known}: use the same dagora")
    if (message["computational"], message["statistical"]) != (COMPUTATIONAL_BITS, STATISTICAL_BITS):
        refuse(f"its security level is not {COMPUTATIONAL_BITS} and {STATISTICAL_BITS} bits")
    if message["role"] not in ("host", "guest"):
        refuse("its role is neither host nor guest")
    if message["role"] == role:
        raise DisagreementError(f"both parties are the {role}: one must host, the other join")
    names = message["names"]
    if not 0 < len(names) <= MOST_NAMES:
        refuse(f"it has {len(names)} columns, not 1 to {MOST_NAMES}")
    for name in names:
        # Names are printed on a terminal later.
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            refuse("a column's name is not a short printable text")
    if len(set(names)) < len(names):
        refuse("two of its columns have the same name")
    levels = message["levels"]
    if len(levels) != len(names) or not all(type(n) is int and 2 <= n <= MOST_LEVELS for n in levels):
        refuse(f"its columns have not 2 to {MOST_LEVELS} levels each")
    if role == "guest" and not all((message["max_parents"], *(message[name] for name in CHOICES))):
        refuse("the host leaves an option open")
    try:
        proposal = TermsProposal(
            message["order"] or None,
            message["max_parents"] or None,
            message["score"] or None,
            message["mode"] or None,
            message["crypto"] or None,
            message["expected"] or None,
            message["min_rows"] or None,
            message["parameters"] or None,
            security,
        )
    except OptionError as error:
        refuse(str(error)[:200] if str(error).isprintable() else "an option is out of its range")
    return tuple(names), tuple(levels), proposal
