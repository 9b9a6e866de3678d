"""Exact messages over the steps of a discrete network in time: the interface algorithm, variable by variable.

A message holds, for every combination of the levels of the unseen variables that later ones still depend on,
the probability of what was seen so far. A variable enters when its turn comes, and leaves when the last of
its children has been: the interface between two steps is what is left (Murphy 2002, section 3.2). A variable
that was seen never takes a place. A way back along the same moves gives, at each of them, the probability of
all that comes later, and so the distribution of every unseen variable given the whole history. With the
largest term in the place of the sum, the same moves give the most probable history (Viterbi).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.time.step_model import At, StepModel

Array = NDArray[np.float64]

MOST_CELLS = 1 << 24
"""Cells of the largest message (128 MiB)."""

MOST_KEPT = 1 << 27
"""Cells of all messages that a way back needs (1 GiB)."""


@dataclass(frozen=True, eq=False)
class FrontierMove:
    """One move of a message: a variable enters with its table, or a seen one weighs it; or one leaves.

    `axes` are the unseen variables that the table is over; the one that enters is the last of them.
    """

    at: At
    table: Array | None
    axes: tuple[At, ...] = ()
    enters: bool = False

    @property
    def leaves(self) -> bool:
        """Return True where a variable leaves."""
        return self.table is None


@dataclass(frozen=True, eq=False)
class Message:
    """Relative probabilities over some unseen variables, and the logarithm of what they are scaled by."""

    over: tuple[At, ...]
    cells: Array
    log_scale: float = 0.0


START = Message((), np.ones(()))


@dataclass(frozen=True, eq=False)
class DiscreteHistory:
    """The moves of the steps of a series: `codes[s, k]` was seen where `seen[s, k]`.

    `set_at` are variables that are set from outside, with their codes: they depend on nothing.
    """

    steps: StepModel
    codes: NDArray[np.int64]
    seen: NDArray[np.bool_]
    set_at: Mapping[At, int]

    def code(self, at: At) -> int | None:
        """The level of a variable at a step; None where it is not known."""
        if at in self.set_at:
            return self.set_at[at]
        step, k = at[1], self.steps.place(at[0])
        return int(self.codes[step, k]) if self.seen[step, k] else None

    def factor(self, at: At) -> tuple[Array, tuple[At, ...]]:
        """The table of a variable given its parents, at what is known of them, and its axes."""
        family = (*self.steps.parents(*at), at)
        known = [self.code(member) for member in family]
        table = self.steps.model.distributions[self.steps.node(*at)]
        cells = table[tuple(slice(None) if code is None else code for code in known)]
        return cells, tuple(member for member, code in zip(family, known, strict=True) if code is None)

    def moves(self, stay: bool = False) -> list[list[FrontierMove]]:
        """The moves of every step; `stay` keeps the variables of a step until it ends."""
        last = self.last_uses(stay)
        found: list[list[FrontierMove]] = []
        for step in range(len(self.codes)):
            own: list[FrontierMove] = []
            for name in self.steps.order(step):
                at = (name, step)
                table, axes = self.factor(at)
                given = step < self.steps.lags and not axes  # what was seen at first is taken as given
                if at not in self.set_at and not given:
                    own.append(FrontierMove(at, table, axes, enters=self.code(at) is None))
                own += [FrontierMove(each, None) for each in last.get(at, ()) if self.code(each) is None]
            found.append(own)
        return found

    def last_uses(self, stay: bool) -> dict[At, list[At]]:
        """After each variable, those that are not needed any more."""
        until: dict[At, At] = {}
        for step in range(len(self.codes)):
            names = self.steps.order(step)
            for name in names:
                at = (name, step)
                until[at] = (names[-1], step) if stay else at
                for parent in self.steps.parents(*at):
                    if not stay or parent[1] < step:
                        until[parent] = at
        found: dict[At, list[At]] = {}
        for at, end in until.items():
            found.setdefault(end, []).append(at)
        return found


def check_moves(moves: Sequence[Sequence[FrontierMove]], steps: StepModel, *, back: bool) -> None:
    """Refuse, before anything is computed, messages that do not fit into memory."""
    over: dict[At, int] = {}
    largest = kept = 1
    for move in (move for own in moves for move in own):
        if move.leaves:
            over.pop(move.at)
        elif move.enters:
            over[move.at] = len(steps.model.levels[move.at[0]])
        cells = prod(over.values())
        largest, kept = max(largest, cells), kept + cells
    if largest > MOST_CELLS or (back and kept > MOST_KEPT):
        raise QueryError(
            f"exact messages over the steps would have {max(largest, kept if back else 0):,} cells: at most "
            f"{MOST_CELLS:,} at once and {MOST_KEPT:,} in all are possible; use fewer variables that are not "
            "seen, fewer lags or fewer levels"
        )


def step_on(
    message: Message, move: FrontierMove, best: bool = False
) -> tuple[Message, NDArray[np.int64] | None]:
    """The message after a move, scaled to sum to 1; where a variable leaves as the `best`, its levels."""
    chosen: NDArray[np.int64] | None = None
    over, cells = message.over, message.cells
    if move.table is None:
        axis = over.index(move.at)
        if best:
            chosen = cells.argmax(axis=axis)
        cells = cells.max(axis=axis) if best else cells.sum(axis=axis)
        over = (*over[:axis], *over[axis + 1 :])
    else:
        if move.enters:
            over, cells = (*over, move.at), cells[..., None]
        cells = cells * aligned(move.table, move.axes, over)
    total = float(cells.sum())
    if not total > 0:
        return Message(over, cells, -np.inf), chosen
    return Message(over, cells / total, message.log_scale + log(total)), chosen


def aligned(table: Array, axes: Sequence[At], over: Sequence[At]) -> Array:
    """A table with its axes where a message has them, to be multiplied with it."""
    order = sorted(range(len(axes)), key=lambda k: over.index(axes[k]))
    sizes = dict(zip(axes, table.shape, strict=True))
    return table.transpose(order).reshape([sizes.get(at, 1) for at in over])


def step_back(later: Array, before: Message, move: FrontierMove, after: Message) -> Array:
    """The relative probability of all that comes later, before a move, from that after it."""
    if move.table is None:
        axis = before.over.index(move.at)
        found = np.broadcast_to(np.expand_dims(later, axis), before.cells.shape)
    else:
        found = later * aligned(move.table, move.axes, after.over)
        if move.enters:
            found = found.sum(axis=-1)
    total = float(found.sum())
    return np.asarray(found / total if total > 0 else found)


def run_forward(moves: Sequence[FrontierMove], start: Message = START) -> list[Message]:
    """The messages before each move and after the last one."""
    messages = [start]
    for move in moves:
        messages.append(step_on(messages[-1], move)[0])
    return messages


def marginals_of(moves: Sequence[FrontierMove], messages: Sequence[Message]) -> dict[At, Array]:
    """The distribution of every variable that is unseen, given all that the moves saw.

    Those that have not left at the end are there, too.
    """
    found: dict[At, Array] = {}
    last = messages[-1]
    later = np.ones(last.cells.shape)
    for at in last.over:
        found[at] = marginal(last.over, last.cells, at)
    for k in range(len(moves) - 1, -1, -1):
        before = messages[k]
        later = step_back(later, before, moves[k], messages[k + 1])
        if moves[k].leaves:
            at = moves[k].at
            found[at] = marginal(before.over, before.cells * later, at)
    return found


def marginal(over: Sequence[At], cells: Array, at: At) -> Array:
    """The distribution of one variable of a message."""
    axis = list(over).index(at)
    found = cells.sum(axis=tuple(k for k in range(len(over)) if k != axis))
    return np.asarray(found / found.sum())


def trace_back(
    moves: Sequence[FrontierMove],
    messages: Sequence[Message],
    rng: np.random.Generator | None = None,
    best: Mapping[int, NDArray[np.int64]] | None = None,
) -> dict[At, int]:
    """A level of every unseen variable, from the last move to the first: the `best`, or a draw of all."""
    levels: dict[At, int] = {}
    for k in range(len(moves) - 1, -1, -1):
        if not moves[k].leaves:
            continue
        before, at = messages[k], moves[k].at
        rest = tuple(slice(None) if each == at else levels[each] for each in before.over)
        if best is not None:
            levels[at] = int(best[k][tuple(one for one in rest if not isinstance(one, slice))])
        elif rng is not None:
            chances = np.cumsum(before.cells[rest])
            levels[at] = int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))
    return levels
