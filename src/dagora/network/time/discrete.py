"""Exact answers of a discrete network in time: filtered and smoothed levels, best histories, surprises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.time.frontier import (
    START,
    DiscreteHistory,
    FrontierMove,
    Message,
    check_moves,
    marginals_of,
    run_forward,
    step_on,
    trace_back,
)
from dagora.network.time.histories import SeriesHistory
from dagora.network.time.step_model import At, StepModel

Array = NDArray[np.float64]

MOST_JOINT = 1 << 16
"""Combinations of the levels of a step up to which the probabilities of all of them are compared."""


def discrete_history(
    steps: StepModel, history: SeriesHistory, set_at: Mapping[At, float] | None = None
) -> DiscreteHistory:
    """The moves of a history."""
    known = {at: int(value) for at, value in (set_at or {}).items()}
    return DiscreteHistory(steps, history.values.astype(np.int64), history.seen, known)


def smoothed_levels(rows: DiscreteHistory) -> dict[str, Array]:
    """The distribution of every variable at every step given the whole history."""
    by_step = rows.moves()
    check_moves(by_step, rows.steps, back=True)
    moves = [move for own in by_step for move in own]
    messages = run_forward(moves)
    check_possible(by_step, messages)
    return as_arrays(rows, marginals_of(moves, messages))


def filtered_levels(rows: DiscreteHistory) -> tuple[dict[str, Array], Array]:
    """The distribution of every variable given its step and the earlier ones, and log P(step | earlier)."""
    by_step = rows.moves(stay=True)
    check_moves(by_step, rows.steps, back=False)
    found: dict[At, Array] = {}
    logs = np.zeros(len(by_step))
    message = START
    for step, own in enumerate(by_step):
        messages = run_forward(own, replace(message, log_scale=0.0))
        message = messages[-1]
        logs[step] = message.log_scale
        if np.isneginf(logs[step]):
            raise impossible(step)
        found |= {at: chances for at, chances in marginals_of(own, messages).items() if at[1] == step}
    return as_arrays(rows, found), logs


def best_levels(rows: DiscreteHistory) -> NDArray[np.int64]:
    """The most probable history: the levels of all variables at all steps together."""
    by_step = rows.moves()
    check_moves(by_step, rows.steps, back=True)
    moves = [move for own in by_step for move in own]
    messages, best = [START], {}
    for k, move in enumerate(moves):
        message, chosen = step_on(messages[-1], move, best=True)
        messages.append(message)
        if chosen is not None:
            best[k] = chosen
    check_possible(by_step, messages)
    return with_levels(rows, trace_back(moves, messages, best=best))


def drawn_levels(rows: DiscreteHistory, rng: np.random.Generator) -> NDArray[np.int64]:
    """A history drawn at random, given all that was seen."""
    by_step = rows.moves()
    check_moves(by_step, rows.steps, back=True)
    moves = [move for own in by_step for move in own]
    messages = run_forward(moves)
    check_possible(by_step, messages)
    return with_levels(rows, trace_back(moves, messages, rng))


def surprises(rows: DiscreteHistory) -> tuple[Array, Array]:
    """Of every step, log P(what was seen | earlier steps), and the probability of no more probable levels.

    The second is that of all combinations of levels of the variables seen at that step whose probability is
    at most that of what was seen; NaN where they are too many to be listed, or nothing was seen.
    """
    by_step = rows.moves()
    check_moves(by_step, rows.steps, back=False)
    logs, tails = np.zeros(len(by_step)), np.full(len(by_step), np.nan)
    message = START
    for step, own in enumerate(by_step):
        joint = joint_of_step(rows, step, message)
        if joint is not None:
            mine = joint[tuple(int(c) for c in rows.codes[step][rows.seen[step]])]
            tails[step] = float(joint[joint <= mine * (1 + 1e-9)].sum())
        for move in own:
            message = step_on(message, move)[0]
        logs[step] = message.log_scale
        message = replace(message, log_scale=0.0)
        if np.isneginf(logs[step]):
            raise impossible(step)
    return logs, np.minimum(tails, 1.0)


def joint_of_step(rows: DiscreteHistory, step: int, message: Message) -> Array | None:
    """The distribution of the variables seen at a step given the earlier ones; None where it is too large."""
    seen = [name for k, name in enumerate(rows.steps.variables) if rows.seen[step, k]]
    asked = [(name, step) for name in seen if (name, step) not in rows.set_at]
    levels = rows.steps.model.levels
    size = prod(len(levels[name]) for name in rows.steps.variables) * max(1, message.cells.size)
    if not asked or len(asked) < len(seen) or size > MOST_JOINT:
        return None
    unseen = rows.seen.copy()
    unseen[step] = False
    blank = replace(rows, seen=unseen)
    for name in rows.steps.order(step):
        at = (name, step)
        if at not in rows.set_at:
            table, axes = blank.factor(at)
            message = step_on(message, FrontierMove(at, table, axes, enters=True))[0]
    for at in [each for each in message.over if each not in asked]:
        message = step_on(message, FrontierMove(at, None))[0]
    cells = message.cells.transpose([message.over.index(at) for at in asked])
    return np.asarray(cells / cells.sum())


def as_arrays(rows: DiscreteHistory, found: Mapping[At, Array]) -> dict[str, Array]:
    """Distributions by variable, a row for each step; what is known has probability 1."""
    arrays = {}
    for name in rows.steps.variables:
        chances = np.zeros((len(rows.codes), len(rows.steps.model.levels[name])))
        for step in range(len(rows.codes)):
            code = rows.code((name, step))
            if code is None:
                chances[step] = found[name, step]
            else:
                chances[step, code] = 1.0
        arrays[name] = chances
    return arrays


def with_levels(rows: DiscreteHistory, levels: Mapping[At, int]) -> NDArray[np.int64]:
    """The codes of all steps, with levels where nothing was seen."""
    codes = rows.codes.copy()
    for (name, step), level in levels.items():
        codes[step, rows.steps.place(name)] = level
    for (name, step), code in rows.set_at.items():
        codes[step, rows.steps.place(name)] = code
    return codes


def check_possible(by_step: list[list[FrontierMove]], messages: list[Message]) -> None:
    """Refuse a history of probability 0, by the first step that makes it so."""
    at = 0
    for step, own in enumerate(by_step):
        at += len(own)
        if np.isneginf(messages[at].log_scale):
            raise impossible(step)


def impossible(step: int) -> QueryError:
    """The error about a history that cannot be."""
    return QueryError(
        f"what was seen has probability 0 under the network from step {step + 1} of a series on: fit the "
        "network with a pseudocount"
    )
