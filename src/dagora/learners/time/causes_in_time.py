"""Known causes among the nodes of a window, and all that follows from them.

Of each pair of nodes it is known that one is a cause of the other, that it is none, or neither. Four things
follow, at all steps alike (Claassen & Heskes 2011):

- a cause of a cause is a cause, and nothing is a cause of its own causes;
- if x causes y and not z, then y does not cause z; if y causes z and x does not, then x does not cause y;
- a node of a smallest set that separates x and y is a cause of x or of y (a choice): if it is no cause of
  one, it is a cause of the other;
- what follows from both sides of a choice holds.

Rules R1 to R3 and R8 to R10 of Zhang (2008) are cases of these. They do not ask which nodes are adjacent, so
they hold while superfluous edges are still there. What contradicts something known is left out, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.bool_]


class Choice(NamedTuple):
    """The node is a cause of `one` or of `other`."""

    node: int
    one: int
    other: int


@dataclass
class CausesInTime:
    """Causes among nodes that are numbered slice by slice, the present first, with `d` nodes a slice.

    `conflicts` is the largest number of marks that were left out at once.

    >>> known = CausesInTime.of_time(2, 3)  # x, y, x[t-1], y[t-1], x[t-2], y[t-2]
    >>> known.choices.add(Choice(2, 4, 0))  # x[t-1] is in what separates x[t-2] and x
    >>> known.conclude()
    >>> bool(known.yes[2, 0]), bool(known.yes[4, 2]), bool(known.yes[4, 0])
    (True, True, True)
    """

    d: int
    yes: Matrix
    no: Matrix
    choices: set[Choice] = field(default_factory=set)
    conflicts: int = 0

    @classmethod
    def of_time(cls, d: int, slices: int) -> CausesInTime:
        """Nothing is known but that later nodes are no causes of earlier ones."""
        back = np.arange(slices * d) // d
        return cls(d, np.zeros((len(back), len(back)), dtype=np.bool_), back[:, None] < back[None, :])

    def copy(self) -> CausesInTime:
        """The same knowledge, to be tried out."""
        return CausesInTime(self.d, self.yes.copy(), self.no.copy(), self.choices)

    @property
    def count(self) -> int:
        """The number of pairs of which something is known."""
        return int(self.yes.sum() + self.no.sum())

    def learn(self, yes: Matrix, no: Matrix) -> None:
        """Take in what is found, at all steps; what contradicts itself or what is known is left out."""
        yes, no = self.at_all_steps(yes), self.at_all_steps(no)
        both_ways = yes & yes.T
        wrong = (yes & (self.no | no | both_ways)) | (no & (self.yes | yes))
        np.fill_diagonal(wrong, val=True)
        self.conflicts = max(self.conflicts, int(wrong.sum()) - len(wrong))
        self.yes |= yes & ~wrong
        self.no |= no & ~wrong

    def conclude(self) -> None:
        """Add all that follows directly."""
        self.choices = {each for each in self.choices if not self.yes[each.node, each[1:]].any()}
        choices = np.array(sorted(self.choices), dtype=np.int64).reshape(-1, 3).T
        before = -1
        while before != self.count:
            before = self.count
            causes, none = self.yes.astype(np.float32), self.no.astype(np.float32)
            yes = self.yes | (causes @ causes > 0)
            no = self.no | self.yes.T | (causes.T @ none > 0) | (none @ causes.T > 0)
            self.choose(choices, yes, no)
            self.learn(yes, no)

    def choose(self, choices: NDArray[np.int64], yes: Matrix, no: Matrix) -> None:
        """Write what follows from choices: the other side, if one is excluded, and what both sides imply."""
        node, *sides = choices
        for one, other in (sides, sides[::-1]):
            excluded = self.no[node, one]
            yes[node[excluded], other[excluded]] = True
        one, other = sides
        for k in range(len(node)):
            no[:, node[k]] |= self.no[:, one[k]] & self.no[:, other[k]]
            yes[node[k]] |= self.yes[one[k]] & self.yes[other[k]]

    def try_choices(self) -> None:
        """Add what follows from both sides of an open choice, or from one if the other is impossible."""
        self.conclude()
        for node, one, other in sorted(self.choices):
            if self.yes[node, [one, other]].any() or self.no[node, [one, other]].any():
                continue
            sides = []
            for end in (one, other):
                side = self.copy()
                side.yes[node, end] = True
                side.conclude()
                if side.conflicts <= self.conflicts:
                    sides.append(side)
            if sides:
                self.learn(
                    np.logical_and.reduce([side.yes for side in sides]),
                    np.logical_and.reduce([side.no for side in sides]),
                )
                self.conclude()

    def at_all_steps(self, found: Matrix) -> Matrix:
        """Take what is found for two nodes as found for the same two at all other steps."""
        d, slices = self.d, len(found) // self.d
        steps = found.reshape(slices, d, slices, d)
        repeated = np.zeros_like(steps)
        for back in range(1 - slices, slices):
            late = np.arange(max(0, -back), slices - max(0, back))
            repeated[late + back, :, late] = steps[late + back, :, late].any(axis=0)
        return repeated.reshape(found.shape)
