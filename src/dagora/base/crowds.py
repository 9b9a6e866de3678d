"""Who gives way where more come than there is room for: one rule for everything that listens.

A caller has two seconds for its first byte and five until it has shown that it may come in. Each stage on the
way has a number of places, and only callers of the same stage compete for them, so that silent ones never
push out one that has said something. If a stage is full, a caller of the address with most callers gives way:
the oldest that had the stage's time, or if none had, one at random, so that no flood is certain to keep a
slow caller out.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Iterable
from operator import attrgetter, itemgetter
from typing import NamedTuple, Protocol, TypeVar

FIRST_BYTE_SECONDS = 2.0  # larger: silent callers hold places longer; smaller: slow ones are lost
HELLO_SECONDS = 5.0  # the same, for all that a caller must say to come in
FAIR_SHARE = 16  # callers of one address that are no flood: sites behind a router, or of one machine


class StageRoom(NamedTuple):
    """The most callers of a stage, and the seconds that each should have there."""

    places: int
    seconds: float


class Waiting(Protocol):
    """A caller that is not in yet."""

    @property
    def host(self) -> str:
        """Its address."""

    @property
    def since(self) -> float:
        """When it reached its stage."""


C = TypeVar("C", bound=Waiting)


def surplus(callers: Iterable[C], room: StageRoom) -> list[C]:
    """The callers of one stage that give way, so that the others have room."""
    staying, leaving = list(callers), []
    while len(staying) > room.places:
        leaving.append(weakest(staying, room.seconds))
        staying.remove(leaving[-1])
    return leaving


def weakest(callers: list[C], seconds: float) -> C:
    """Of the address with most callers the oldest that had so many seconds; if none had, one at random."""
    crowd = crowd_of(callers)
    oldest = min(crowd, key=attrgetter("since"))
    return oldest if time.monotonic() - oldest.since >= seconds else secrets.choice(crowd)


def crowd_of(callers: list[C]) -> list[C]:
    """The callers of the address with most of them, if these are more than its share; otherwise all."""
    host, most = max(Counter(caller.host for caller in callers).items(), key=itemgetter(1))
    return [caller for caller in callers if caller.host == host] if most > FAIR_SHARE else callers
