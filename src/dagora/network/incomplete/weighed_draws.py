"""Draws of the missing cells of a group, levels by elimination, then numbers; and their weights.

Where no discrete node depends on a missing number, draws are exact. Else they are candidates: half of them
from each of two approximations q₁ and q₂ of the distribution p (`judged_numbers`), with the weight
p / ½ (q₁ + q₂). One of all the candidates of a row, or what stood there before, is taken in proportion to the
weights. This leaves the right distribution as it is, whatever the number of candidates, and reaches it
over the sweeps (Andrieu, Lee & Vihola 2018 call it i-SIR). The mean weight estimates the probability of what
was seen, and (Σ w)² / Σ w² is the number of independent candidates that they are worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.incomplete.group_plan import GroupPlan
from dagora.network.incomplete.judged_numbers import JudgedNumbers, judge_numbers
from dagora.network.incomplete.level_elimination import Elimination, Floats, LevelFactor
from dagora.network.incomplete.number_piece import NumberPiece, terms_of_lines
from dagora.network.model import Model
from dagora.network.node_likelihood import node_log_likelihoods

Columns = dict[str, NDArray[Any]]
# Candidates for each draw that is taken of them.
CANDIDATES = 8


class Proposal:
    """The distribution of the holes of a group given what was seen, or approximations of it."""

    def __init__(
        self,
        model: Model,
        plan: GroupPlan,
        given: Mapping[str, NDArray[Any]],
        cases: int,
        scales: Mapping[str, tuple[float, float]],
    ) -> None:
        self._model, self._plan, self._given = model, plan, given
        sizes = {name: len(model.levels[name]) for name in plan.levels}
        factors = []
        for node in plan.weighing:
            family = (node, *model.parents[node])
            levels = tuple(name for name in plan.levels if name in family)
            columns, shape = spread_out(given, family, levels, sizes, cases)
            logs = node_log_likelihoods(model, node, columns, model.distributions)
            factors.append(LevelFactor(levels, np.broadcast_to(logs, shape)))
        self._judged: list[JudgedNumbers] = []
        ways: list[list[NumberPiece]] = [[], []]
        for piece in plan.pieces:
            nodes = (*piece.families, *piece.judges)
            family = tuple(dict.fromkeys(one for node in nodes for one in (node, *model.parents[node])))
            columns, shape = spread_out(given, family, piece.levels, sizes, cases)
            terms = (terms_of_lines(model, piece, columns, shape, scales),) * 2
            if piece.judges:
                judged = judge_numbers(model, piece, terms[0], columns, scales)
                self._judged.append(judged)
                terms = (judged.by_tangent(terms[0]), judged.by_curvature(terms[0]))
            for way, own in zip(ways, terms, strict=True):
                way.append(NumberPiece(piece, own, scales))
        self._ways = [
            (pieces, Elimination([*factors, *(one.factor for one in pieces)], plan.order, sizes, cases))
            for pieces in (ways if self._judged else ways[:1])
        ]

    @property
    def log_masses(self) -> Floats:
        """Ln of the sum of all weights of a case: exact where nothing judges."""
        return self._ways[0][1].log_masses

    def draw(self, draws: int, rng: np.random.Generator) -> Columns:
        """Levels and numbers, an array of draws × cases each; half of them in each way, if there are two."""
        parts: list[Columns] = []
        for share, (pieces, eliminated) in enumerate(self._ways):
            own = (draws + share) // len(self._ways)
            levels = eliminated.draw(own, rng)
            part: Columns = dict(levels)
            for piece in pieces:
                part.update(piece.draw(levels, own, rng))
            parts.append(part)
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def log_weights(self, drawn: Mapping[str, NDArray[Any]]) -> Floats:
        """Ln of the density of what was drawn and seen over the density that it was drawn with."""
        columns = {**self._given, **drawn}
        logs = [
            node_log_likelihoods(self._model, node, columns, self._model.distributions)
            for node in self._plan.judging
        ]
        true = np.asarray(sum(logs[1:], start=logs[0]))
        approximated = [judged.approximations(drawn) for judged in self._judged]
        densities = [
            sum((one[way] for one in approximated), start=np.zeros_like(true)) - eliminated.log_masses
            for way, (_, eliminated) in enumerate(self._ways)
        ]
        return np.asarray(true - log_mean(np.stack(densities)))


@dataclass(frozen=True, eq=False)
class Picked:
    """Draws (picks × cases), ln of the estimated mass of each case, and what its candidates are worth."""

    columns: Columns
    log_masses: Floats
    effective: Floats


def pick(
    proposal: Proposal, picks: int, before: Mapping[str, NDArray[Any]] | None, rng: np.random.Generator
) -> Picked:
    """Draw candidates for each case, and pick some; `before` is what stood in place of each pick."""
    candidates = proposal.draw(CANDIDATES * picks, rng)
    weights = proposal.log_weights(candidates)
    own = proposal.log_weights(before) if before else None
    chosen, stays = choose(weights, own, picks, rng)
    columns = {name: np.take_along_axis(column, chosen, axis=0) for name, column in candidates.items()}
    if before:
        columns = {name: np.where(stays, before[name], column) for name, column in columns.items()}
    relative = np.exp(weights - np.maximum(weights.max(axis=0), -1e300))
    with np.errstate(invalid="ignore"):
        worth = relative.sum(axis=0) ** 2 / (relative**2).sum(axis=0)
    return Picked(columns, log_mean(weights), np.nan_to_num(worth))


def choose(
    weights: Floats, own: Floats | None, picks: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each pick and case, the place of a candidate, and whether what stood there stays instead.

    >>> weights = np.log(np.array([[1.0, 1e-9], [1e-9, 1.0]]))
    >>> choose(weights, None, 3, np.random.default_rng(1))[0].tolist()
    [[0, 1], [0, 1], [0, 1]]
    >>> choose(weights, np.array([[30.0, -30.0]]), 1, np.random.default_rng(1))[1].tolist()
    [[True, False]]
    """
    drawn, cases = weights.shape
    top = np.maximum(weights.max(axis=0), -1e300)
    if own is not None:
        top = np.maximum(top, own.max(axis=0))
    cumulative = np.cumsum(np.exp(weights - top), axis=0)
    whole = cumulative[-1]
    kept = np.zeros((picks, cases)) if own is None else np.exp(own - top)
    place = rng.random((picks, cases)) * (whole + kept)
    stays = place >= whole if own is not None else np.zeros((picks, cases), dtype=np.bool_)
    # All cases in one sorted row: case c between c and c + 1.
    case = np.arange(cases)
    sizes = np.where(whole > 0, whole, 1.0)
    ladder = (cumulative / sizes + case).T.ravel()
    found = np.searchsorted(ladder, place / sizes + case, side="right") - case * drawn
    return np.clip(found, 0, drawn - 1), stays


def spread_out(
    given: Mapping[str, NDArray[Any]],
    names: Sequence[str],
    levels: Sequence[str],
    sizes: Mapping[str, int],
    cases: int,
) -> tuple[Columns, tuple[int, ...]]:
    """Columns that broadcast to cases × all levels of some of them, and that shape."""
    columns: Columns = {}
    for name in names:
        if name in levels:
            axes = [1] * (len(levels) + 1)
            axes[1 + levels.index(name)] = sizes[name]
            columns[name] = np.arange(sizes[name]).reshape(axes)
        else:
            columns[name] = given[name].reshape(cases, *([1] * len(levels)))
    return columns, (cases, *(sizes[name] for name in levels))


def log_mean(logs: Floats) -> Floats:
    """Ln of the mean of exp(logs) along the first axis.

    >>> log_mean(np.log([[1.0, 0.5], [3.0, 0.5]])).round(4)
    array([ 0.6931, -0.6931])
    """
    top = np.maximum(logs.max(axis=0), -1e300)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = top + np.log(np.exp(logs - top).sum(axis=0)) - log(len(logs))
    return np.asarray(np.where(np.isposinf(top), np.inf, found))
