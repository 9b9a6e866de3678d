"""From a question to its answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.base.errors import QueryError
from dagora.network.inference.answer import Answer, Density, Distribution, Estimated, Explanation
from dagora.network.inference.exact import joint_table, mixture, most_probable, reduce_question
from dagora.network.inference.knowing import check_known, check_targets, check_value, kinds_of
from dagora.network.inference.problem import Known, set_up
from dagora.network.inference.questions import Question
from dagora.network.inference.settings import Settings
from dagora.network.inference.weighting import draw_weighted
from dagora.network.model import Model


def ask(model: Model, question: Question, settings: Settings) -> Answer:
    """Answer a question: exactly, or by weighted samples where it is asked for or cannot be otherwise."""
    known = check_known(model, question.given, question.do)
    targets = check_targets(model, question, known)
    if not targets:
        raise QueryError("all variables are given: nothing is left to ask for")
    discrete, continuous = kinds_of(model, targets)
    if discrete and continuous:
        raise QueryError(
            f"'{discrete[0]}' is discrete and '{continuous[0]}' is continuous: ask for one kind at a time, "
            "and give levels of the other"
        )
    for name, value in question.event.items():
        if name in continuous:
            raise QueryError(
                f"'{name}' is continuous: a single value has no probability; ask P({name} | ...)"
            )
        check_value(model, name, value)
    sampling = settings.method == "sampling"
    if settings.method == "auto" and set_up(model, targets, known).open_choices:
        sampling = True
    if question.kind == "MAP":
        return explain(model, question, targets, known, settings, sampling=sampling)
    if sampling:
        return estimate(model, question, targets, known, settings)
    if continuous:
        found = mixture(model, targets, known, settings.limits)
        return Density(question, targets, None, found.weights, found.means, found.covariances)
    reduced = reduce_question(model, targets, known, settings.limits)
    table = joint_table(model, reduced, targets, known, settings.limits)
    return Distribution(question, targets, None, {v: model.levels[v] for v in targets}, table)


def explain(
    model: Model,
    question: Question,
    targets: Sequence[str],
    known: Known,
    settings: Settings,
    *,
    sampling: bool,
) -> Explanation:
    """The most probable levels; of a Gaussian network the most probable values, which are the means."""
    if sampling:
        raise QueryError("MAP has exact answers only: it cannot be estimated from samples")
    if targets[0] in model.levels:
        codes, probability = most_probable(model, targets, known, settings.limits)
        levels = {name: model.levels[name][code] for name, code in codes.items()}
        return Explanation(question, tuple(targets), None, levels, probability)
    found = mixture(model, targets, known, settings.limits)
    if len(found.weights) > 1:
        raise QueryError(
            f"'{targets[0]}' has a mixture of {len(found.weights)} normal distributions: MAP needs one; "
            "give the levels of its discrete ancestors"
        )
    values = dict(zip(targets, found.means[0].tolist(), strict=True))
    return Explanation(question, tuple(targets), None, values, None)


def estimate(
    model: Model, question: Question, targets: Sequence[str], known: Known, settings: Settings
) -> Answer:
    """Estimate a distribution from weighted samples."""
    drawn = draw_weighted(model, list(targets), known, settings.samples, settings.seed)
    estimated = Estimated(settings.samples, drawn.effective, settings.seed)
    if targets[0] in model.levels:
        levels = {name: model.levels[name] for name in targets}
        shape = [len(levels[name]) for name in targets]
        flat = np.ravel_multi_index(tuple(drawn.columns[name].astype(np.int64) for name in targets), shape)
        share = np.asarray(np.bincount(flat, drawn.weights, int(np.prod(shape))), dtype=np.float64)
        # Of an indicator f, Σ w²(f − m)² = (1 − 2m) Σ w² over its rows + m² Σ w² over all.
        squares = np.asarray(np.bincount(flat, drawn.weights**2, len(share)), dtype=np.float64)
        errors = np.sqrt(np.maximum((1 - 2 * share) * squares + share**2 * squares.sum(), 0.0))
        return Distribution(
            question, tuple(targets), estimated, levels, share.reshape(shape), errors.reshape(shape)
        )
    values = np.stack([drawn.columns[name] for name in targets], axis=1)
    mean = drawn.weights @ values
    off = values - mean
    covariance = np.einsum("n,ni,nj->ij", drawn.weights, off, off)
    errors = np.array([drawn.mean_and_error(column)[1] for column in values.T])
    return Density(question, tuple(targets), estimated, np.ones(1), mean[None], covariance[None], errors)
