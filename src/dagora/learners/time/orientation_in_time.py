"""Directions within a step: colliders, then the rules of Meek, without an order of the pairs (Runge 2020).

Links from earlier steps have their direction by time. A path x → k — y or x — k — y whose ends are not
adjacent is a collider if no set that separates x and y has k; by `majority` if fewer than half of those have
it (exactly half is ambiguous), by the `conservative` rule only if none has it (some but not all is
ambiguous). All sets of neighbours are tested anew for that. With `none`, the set that removed the link
decides.

Where two colliders or two rules ask for both directions of an edge, it is in conflict: it has no direction
and no rule uses it. So are the edges of directed cycles. Otherwise the result would depend on the order of
the pairs. What is known beforehand always wins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dagora.learners.run import Run
from dagora.learners.time.link_tests import LinkTests, TestedLink
from dagora.learners.time.momentary_skeleton import MomentaryLinks

Matrix = NDArray[np.bool_]
ColliderRule = Literal["majority", "conservative", "none"]
# Nodes x, k and y of a path; within a step x < y.
Triple = tuple[int, int, int]


@dataclass
class Within:
    """Edges within a step: [i, j] of `directed` is i → j; both ways in `conflicts` is an edge in conflict."""

    links: MomentaryLinks
    directed: Matrix
    known: Matrix
    ambiguous: set[Triple] = field(default_factory=set)
    overruled: int = 0

    def __post_init__(self) -> None:
        self.conflicts: Matrix = np.zeros_like(self.directed)

    @property
    def open(self) -> Matrix:
        """The edges without a direction that are not in conflict; symmetric."""
        either: Matrix = self.links.within & ~(self.directed | self.directed.T | self.conflicts)
        return either

    def direct(self, wanted: Matrix) -> bool:
        """Direct edges all at once; those wanted both ways, or the other way before, come into conflict.

        Returns True if anything changed.
        """
        wanted = wanted & self.links.within & ~self.conflicts & ~self.directed
        against = wanted & self.known.T
        self.overruled += int(against.sum())
        wanted &= ~against
        clash = wanted & (wanted.T | self.directed.T)
        clash |= clash.T
        self.conflicts |= clash
        self.directed = (self.directed | wanted) & ~clash
        return bool(wanted.any())

    def ends_apart(self, x: int, y: int) -> bool:
        """Return True if two nodes are not adjacent; y is of the present."""
        return not self.links.adjacent(x, y)


def orient_within(
    tests: LinkTests, links: MomentaryLinks, known: Matrix, rule: ColliderRule, run: Run
) -> Within:
    """Find the directions that colliders and rules determine, as far as time allows."""
    within = Within(links, known & links.within, known & links.within)
    wanted = np.zeros_like(within.directed)
    for x, k, y in colliders_in_time(tests, within, rule, run) if links.finished else ():
        wanted[y, k] = True
        if x < links.variables:
            wanted[x, k] = True
    if not links.finished:
        return within  # without all tests nothing is directed by them
    within.direct(wanted)
    while within.direct(after_parents(within)) or within.direct(after_chains(within) | after_pairs(within)):
        pass
    break_cycles(within)
    return within


def paths_in_time(links: MomentaryLinks) -> list[Triple]:
    """All x → k — y with x of an earlier step, and all x — k — y within one, whose ends are not adjacent.

    Contexts have known directions: paths by them, and those that are sure to collide, are left out.
    """
    found: list[Triple] = []
    for k in range(links.inside):
        around = links.neighbours(k)
        earlier = np.flatnonzero(links.lagged[:, k]).tolist()
        for y in around:
            if y >= links.inside:
                found.extend((x, k, y) for x in around if x < links.inside and not links.within[x, y])
                continue
            found.extend((x, k, y) for x in around if x < y and not links.within[x, y])
            found.extend((x, k, y) for x in earlier if not links.lagged[x, y])
    return found


def colliders_in_time(tests: LinkTests, within: Within, rule: ColliderRule, run: Run) -> list[Triple]:
    """The paths that are colliders; those on which sets disagree become ambiguous."""
    links = within.links
    tested: dict[tuple[int, int], TestedLink] = {}
    found = []
    for x, k, y in paths_in_time(links):
        if run.budget.exhausted or not links.finished:
            links.finished = False
            break
        if rule == "none" and (x, y) in links.separating:
            if k not in links.separating[x, y]:
                found.append((x, k, y))
            continue
        if rule == "none" and (x, y) in links.removed_first:
            found.append((x, k, y))  # the set that removed it has nothing of the step
            continue
        if (x, y) not in tested:
            tested[x, y] = try_all_sets(tests, links, x, y, run)
        votes = tested[x, y]
        if not votes.separated:
            within.ambiguous.add((x, k, y))
            continue
        share = votes.votes.get(k, 0) / votes.separated
        if share == 0 or (rule != "conservative" and share < 0.5):
            found.append((x, k, y))
        elif share == 0.5 if rule != "conservative" else share < 1:
            within.ambiguous.add((x, k, y))
    return found


def try_all_sets(tests: LinkTests, links: MomentaryLinks, x: int, y: int, run: Run) -> TestedLink:
    """Test a pair given all sets of neighbours, of every size that is allowed."""
    link = links.link(x, y)
    most = link.widest if links.most_given is None else min(link.widest, links.most_given)
    found = TestedLink()
    for size in range(most + 1):
        if run.budget.exhausted:
            found.finished = False
        if not found.finished:
            break
        found.add(tests.given_sets(link, size, run))
    links.tests += found.tests
    links.finished &= found.finished
    return found


def is_ambiguous(within: Within, x: int, k: int, y: int) -> bool:
    """Return True if it is open whether a path is a collider."""
    if x < within.links.variables and x > y:
        x, y = y, x
    return (x, k, y) in within.ambiguous


def after_parents(within: Within) -> Matrix:
    """Rule 1: x → k — y with x and y not adjacent gives k → y, else k were a collider."""
    links, open_edges = within.links, within.open
    wanted = np.zeros_like(within.directed)
    for k, y in np.argwhere(open_edges).tolist():
        into = [*np.flatnonzero(within.directed[:, k]).tolist(), *np.flatnonzero(links.lagged[:, k]).tolist()]
        wanted[k, y] = any(within.ends_apart(x, y) and not is_ambiguous(within, x, k, y) for x in into)
    return wanted


def after_chains(within: Within) -> Matrix:
    """Rule 2: x → k → y gives x → y, else there were a cycle."""
    chains = within.directed.astype(np.int64) @ within.directed.astype(np.int64) > 0
    found: Matrix = within.open & chains
    return found


def after_pairs(within: Within) -> Matrix:
    """Rule 3: x — k → y and x — l → y with k and l not adjacent gives x → y."""
    open_edges = within.open
    wanted = np.zeros_like(within.directed)
    for x, y in np.argwhere(open_edges).tolist():
        middle = np.flatnonzero(open_edges[x] & within.directed[:, y]).tolist()
        wanted[x, y] = any(
            within.ends_apart(k, other) and not is_ambiguous(within, k, x, other)
            for place, k in enumerate(middle)
            for other in middle[place + 1 :]
        )
    return wanted


def break_cycles(within: Within) -> None:
    """Bring the edges of directed cycles into conflict, but for those known beforehand, which form none."""
    reach = within.directed.copy()
    for k in range(len(reach)):
        reach |= np.outer(reach[:, k], reach[k])
    cyclic = within.directed & reach.T & ~within.known
    within.conflicts |= cyclic | cyclic.T
    within.directed &= ~cyclic
