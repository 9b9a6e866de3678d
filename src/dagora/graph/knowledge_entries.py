"""The entries of knowledge, checked: pairs of names, tiers, probabilities of edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dagora.base.errors import KnowledgeError
from dagora.graph.dag import Edge

# Two variables and a probability.
Opinion = tuple[str, str, float]


def pairs(key: str, edges: Iterable[object]) -> tuple[Edge, ...]:
    """Check that edges are pairs of names."""
    if not isinstance(edges, Iterable):
        raise KnowledgeError(f"'{key}' is a list of pairs of variable names, not {edges!r}")
    checked = []
    for edge in edges:
        if (
            isinstance(edge, str)
            or not isinstance(edge, Sequence)
            or [type(end) for end in edge] != [str, str]
        ):
            raise KnowledgeError(f"'{key}' is a list of pairs of variable names, not {edge!r}")
        checked.append((edge[0], edge[1]))
    return tuple(checked)


def groups(tiers: object) -> tuple[tuple[str, ...], ...]:
    """Check that tiers are lists of names."""
    if isinstance(tiers, Sequence) and not isinstance(tiers, str):
        checked = [tier for tier in tiers if isinstance(tier, Sequence) and not isinstance(tier, str)]
        if len(checked) == len(tiers) and all(isinstance(name, str) for tier in checked for name in tier):
            return tuple(tuple(tier) for tier in checked)
    raise KnowledgeError("'tiers' is a list of lists of variable names, one list per tier")


def listed_names(key: str, names: object) -> tuple[str, ...]:
    """Check that something is a list of names."""
    if isinstance(names, Sequence) and not isinstance(names, str) and all(isinstance(n, str) for n in names):
        return tuple(dict.fromkeys(names))
    raise KnowledgeError(f"'{key}' is a list of variable names, not {names!r}")


def opinions(key: str, entries: object, *, directed: bool) -> tuple[Opinion, ...]:
    """Check that entries are two names and a probability, each pair once.

    >>> opinions("prior", [["a", "b", 0.8]], directed=True)
    (('a', 'b', 0.8),)
    >>> opinions("prior", [["a", "b", 1]], directed=True)
    Traceback (most recent call last):
    dagora.KnowledgeError: the probability of a → b in 'prior' is 1: what is certain is written as ...
    """
    if not isinstance(entries, Iterable) or isinstance(entries, str):
        raise KnowledgeError(f"'{key}' is a list of two variable names and a probability, not {entries!r}")
    checked: list[Opinion] = []
    seen = set()
    for entry in entries:
        whole = isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 3
        if not whole or not all(isinstance(name, str) for name in entry[:2]):
            raise KnowledgeError(f"'{key}' is a list of two variable names and a probability, not {entry!r}")
        a, b, chance = entry
        sign = "→" if directed else "—"
        number = isinstance(chance, int | float) and not isinstance(chance, bool) and not math.isnan(chance)
        if not number or not 0 <= chance <= 1:
            raise KnowledgeError(
                f"the probability of {a} {sign} {b} in '{key}' is between 0 and 1, not {chance!r}"
            )
        if chance in (0, 1):
            raise KnowledgeError(
                f"the probability of {a} {sign} {b} in '{key}' is {chance:g}: what is certain is written as "
                "required or forbidden"
            )
        if a == b:
            raise KnowledgeError(f"'{key}' has an edge from '{a}' to itself: leave it out")
        pair = (a, b) if directed else frozenset((a, b))
        if pair in seen:
            raise KnowledgeError(f"'{key}' has {a} {sign} {b} twice: keep one probability")
        seen.add(pair)
        checked.append((a, b, float(chance)))
    return tuple(checked)


def log_odds(chance: float) -> float:
    """Ln p / (1 − p).

    >>> round(log_odds(0.8), 4)
    1.3863
    """
    return math.log(chance) - math.log1p(-chance)
