"""Draw the missing values of a group, discrete ones by elimination, then continuous ones; and weight them.

If no discrete node has a missing continuous parent, draws are exact. Otherwise they are candidates: half of
them from each of two approximations q₁ and q₂ of the distribution p (`softmax_approximation`), with the
importance weight p / ½ (q₁ + q₂). One of a row's candidates, or its current value, is chosen in proportion to
the weights. This leaves p invariant, whatever the number of candidates, and converges to it over the sweeps
(i-SIR; Andrieu, Lee & Vihola 2018). The mean weight estimates the probability of the observed values, and
(Σ w)² / Σ w² is the effective number of candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import Noise
from dagora.network.model import NetworkModel
from dagora.network.node_likelihood import node_log_likelihoods
from dagora.network.proposals.gaussian_block import BlockDistribution, regression_terms
from dagora.network.proposals.proposal_plan import GaussianBlock, ProposalPlan
from dagora.network.proposals.row_factors import Floats, RowElimination, RowFactor
from dagora.network.proposals.softmax_approximation import SoftmaxApproximation, approximate_softmax

Columns = dict[str, NDArray[Any]]
# Candidates for each draw: more cost time in every sweep, fewer leave a row's value unchanged more often.
CANDIDATES = 8


class MissingValueProposal:
    """The distribution of a group's missing values given the observed ones, or two approximations of it."""

    def __init__(
        self,
        model: NetworkModel,
        plan: ProposalPlan,
        given: Mapping[str, NDArray[Any]],
        cases: int,
        scales: Mapping[str, tuple[float, float]],
    ) -> None:
        self._model, self._plan, self._given = model, plan, given
        sizes = {name: len(model.levels[name]) for name in plan.discrete}
        factors = exact_factors(model, plan, given, cases)
        self._expansions: list[SoftmaxApproximation] = []
        ways: list[list[BlockDistribution]] = [[], []]
        for block in plan.blocks:
            columns, shape = block_columns(model, block, given, sizes, cases)
            terms = (regression_terms(model, block, columns, shape, scales),) * 2
            if block.children:
                expansion = approximate_softmax(model, block, terms[0], columns, scales)
                self._expansions.append(expansion)
                terms = (expansion.by_tangent(terms[0]), expansion.by_curvature(terms[0]))
            for way, own in zip(ways, terms, strict=True):
                way.append(BlockDistribution(block, own, scales))
        self._ways = [
            (blocks, RowElimination([*factors, *(one.factor for one in blocks)], plan.order, sizes, cases))
            for blocks in (ways if self._expansions else ways[:1])
        ]

    @property
    def log_masses(self) -> Floats:
        """Log normalising constant of each case; if draws are exact, the probability of what was observed."""
        return self._ways[0][1].log_masses

    def draw(self, draws: int, rng: Noise) -> Columns:
        """Draw all missing values, an array of draws × cases each, in equal parts from each approximation."""
        parts: list[Columns] = []
        for share, (blocks, eliminated) in enumerate(self._ways):
            own = (draws + share) // len(self._ways)
            levels = eliminated.draw(own, rng)
            part: Columns = dict(levels)
            for block in blocks:
                part.update(block.draw(levels, own, rng))
            parts.append(part)
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def log_weights(self, drawn: Mapping[str, NDArray[Any]]) -> Floats:
        """Log importance weights: the joint density of missing and observed values over the proposal's."""
        columns = {**self._given, **drawn}
        logs = [
            node_log_likelihoods(self._model, node, columns, self._model.distributions)
            for node in self._plan.reweighted
        ]
        true = np.asarray(sum(logs[1:], start=logs[0]))
        approximated = [expansion.approximations(drawn) for expansion in self._expansions]
        densities = [
            sum((one[way] for one in approximated), start=np.zeros_like(true)) - eliminated.log_masses
            for way, (_, eliminated) in enumerate(self._ways)
        ]
        return np.asarray(true - log_mean(np.stack(densities)))


def exact_factors(
    model: NetworkModel, plan: ProposalPlan, given: Mapping[str, NDArray[Any]], cases: int
) -> list[RowFactor]:
    """The factors of families of discrete variables only."""
    sizes = {name: len(model.levels[name]) for name in plan.discrete}
    factors = []
    for node in plan.exact:
        family = (node, *model.parents[node])
        levels = tuple(name for name in plan.discrete if name in family)
        columns, shape = broadcast_columns(given, family, levels, sizes, cases)
        logs = node_log_likelihoods(model, node, columns, model.distributions)
        factors.append(RowFactor(levels, np.broadcast_to(logs, shape)))
    return factors


def block_columns(
    model: NetworkModel,
    block: GaussianBlock,
    given: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    cases: int,
) -> tuple[Columns, tuple[int, ...]]:
    """Columns of the families of a block, which broadcast to cases × its discrete variables."""
    nodes = (*block.families, *block.children)
    family = tuple(dict.fromkeys(one for node in nodes for one in (node, *model.parents[node])))
    return broadcast_columns(given, family, block.discrete, sizes, cases)


@dataclass(frozen=True, eq=False)
class ImportanceDraws:
    """Draws (an array of draws × cases each), log estimated mass of each case, and effective candidates."""

    columns: Columns
    log_masses: Floats
    effective: Floats


def resample(
    proposal: MissingValueProposal,
    picks: int,
    before: Mapping[str, NDArray[Any]] | None,
    rng: np.random.Generator,
) -> ImportanceDraws:
    """Draw candidates for each case and choose among them; `before` are the current values."""
    candidates = proposal.draw(CANDIDATES * picks, rng)
    weights = proposal.log_weights(candidates)
    own = proposal.log_weights(before) if before else None
    chosen, stays = choose_candidates(weights, own, picks, rng)
    columns = {name: np.take_along_axis(column, chosen, axis=0) for name, column in candidates.items()}
    if before:
        columns = {name: np.where(stays, before[name], column) for name, column in columns.items()}
    relative = np.exp(weights - np.maximum(weights.max(axis=0), -1e300))
    with np.errstate(invalid="ignore"):
        worth = relative.sum(axis=0) ** 2 / (relative**2).sum(axis=0)
    return ImportanceDraws(columns, log_mean(weights), np.nan_to_num(worth))


def choose_candidates(
    weights: Floats, own: Floats | None, picks: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each draw and case, choose a candidate; the second array is True where the current value stays.

    >>> weights = np.log(np.array([[1.0, 1e-9], [1e-9, 1.0]]))
    >>> choose_candidates(weights, None, 3, np.random.default_rng(1))[0].tolist()
    [[0, 1], [0, 1], [0, 1]]
    >>> choose_candidates(weights, np.array([[30.0, -30.0]]), 1, np.random.default_rng(1))[1].tolist()
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


def broadcast_columns(
    given: Mapping[str, NDArray[Any]],
    names: Sequence[str],
    levels: Sequence[str],
    sizes: Mapping[str, int],
    cases: int,
) -> tuple[Columns, tuple[int, ...]]:
    """Return columns that broadcast to cases × all levels of the missing ones, and that shape."""
    columns: Columns = {}
    for name in names:
        if name in levels:
            axes = [1] * (len(levels) + 1)
            axes[1 + levels.index(name)] = sizes[name]
            columns[name] = np.arange(sizes[name]).reshape(axes)
        else:
            # A missing number is integrated out: whatever stands here is not used.
            column = given[name] if name in given else np.zeros(cases)
            columns[name] = column.reshape(cases, *([1] * len(levels)))
    return columns, (cases, *(sizes[name] for name in levels))


def log_mean(logs: Floats) -> Floats:
    """Log of the mean of exp(logs) along the first axis.

    >>> log_mean(np.log([[1.0, 0.5], [3.0, 0.5]])).round(4)
    array([ 0.6931, -0.6931])
    """
    top = np.maximum(logs.max(axis=0), -1e300)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = top + np.log(np.exp(logs - top).sum(axis=0)) - log(len(logs))
    return np.asarray(np.where(np.isposinf(top), np.inf, found))
