"""Distributions from weighted samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.base.errors import QueryError
from dagora.network.inference.answer import Answer, Density, Distribution, SampleEstimate
from dagora.network.inference.problem import NodeEvidence
from dagora.network.inference.question import Question, kinds_of
from dagora.network.inference.settings import QuerySettings
from dagora.network.inference.weighting import WeightedRows, draw_weighted_rows
from dagora.network.model import NetworkModel


def require_one_kind(model: NetworkModel, targets: Sequence[str]) -> list[str]:
    """The continuous ones of the variables asked for; refuse both kinds at once."""
    discrete, continuous = kinds_of(model, targets)
    if discrete and continuous:
        raise QueryError(
            f"'{discrete[0]}' is discrete and '{continuous[0]}' is continuous: ask for one kind at a time, "
            "and give levels of the other"
        )
    return continuous


def estimate_of(drawn: WeightedRows, settings: QuerySettings) -> SampleEstimate:
    """The number of samples behind an answer, and their worth."""
    return SampleEstimate(settings.samples, drawn.effective, settings.seed)


def estimate(
    model: NetworkModel,
    question: Question,
    targets: Sequence[str],
    known: NodeEvidence,
    settings: QuerySettings,
    drawn: WeightedRows | None = None,
) -> Answer:
    """Estimate a distribution from weighted samples, which are drawn unless they are given."""
    if drawn is None:
        drawn = draw_weighted_rows(model, list(targets), known, settings.samples, settings.seed)
    estimated = estimate_of(drawn, settings)
    if targets[0] in model.levels:
        levels = {name: model.levels[name] for name in targets}
        shape = [len(levels[name]) for name in targets]
        flat = np.ravel_multi_index(tuple(drawn.columns[name].astype(np.int64) for name in targets), shape)
        share = np.asarray(np.bincount(flat, drawn.weights, int(np.prod(shape))), dtype=np.float64)
        # Of an indicator f, Σ w²(f − m)² = (1 − 2m) Σ w² over its rows + m² Σ w² over all.
        squares = np.asarray(np.bincount(flat, drawn.weights**2, len(share)), dtype=np.float64)
        errors = np.sqrt(np.maximum((1 - 2 * share) * squares + share**2 * squares.sum(), 0.0))
        # A level that no sample has, or all have, may still be off by the weight of one more sample.
        errors = np.maximum(errors, 1 / (drawn.effective + 1)).reshape(shape)
        return Distribution(
            question,
            tuple(targets),
            estimated,
            levels,
            share.reshape(shape),
            errors if estimated.reliable else None,
        )
    values = np.stack([drawn.columns[name] for name in targets], axis=1)
    mean = drawn.weights @ values
    off = values - mean
    covariance = np.einsum("n,ni,nj->ij", drawn.weights, off, off)
    errors = np.array([drawn.mean_and_error(column)[1] for column in values.T])
    return Density(
        question,
        tuple(targets),
        estimated,
        np.ones(1),
        mean[None],
        covariance[None],
        errors if estimated.reliable else None,
    )
