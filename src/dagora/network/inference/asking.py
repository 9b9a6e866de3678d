"""Answers to questions, exactly or by weighted samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dagora.base.errors import QueryError
from dagora.network.inference.answer import Answer, Density, Distribution, Explanation
from dagora.network.inference.chance import in_ranges
from dagora.network.inference.contrast import contrast_of
from dagora.network.inference.estimating import estimate, require_one_kind
from dagora.network.inference.exact import joint_table, mixture, most_probable, reduce_question
from dagora.network.inference.problem import NodeEvidence, set_up
from dagora.network.inference.question import Question, check_known, check_targets, check_value
from dagora.network.inference.settings import QuerySettings
from dagora.network.inference.soft_evidence import as_values
from dagora.network.model import NetworkModel


def ask(model: NetworkModel, question: Question, settings: QuerySettings) -> Answer:
    """Answer a question: exactly, or by weighted samples where it is asked for or cannot be otherwise."""
    if question.against is not None:
        sign, other = question.against
        first = ask(model, replace(question, against=None), settings)
        return contrast_of(question, sign, first, ask(model, other, settings))
    if question.likelihood or question.soft or any(name in model.levels for name in question.given_within):
        return replace(ask(*as_values(model, question, settings.limits), settings), question=question)
    if question.within or question.given_within:
        return in_ranges(model, question, settings)
    known = check_known(model, question.given, question.do)
    targets = check_targets(model, question, known)
    if not targets:
        raise QueryError("all variables are given: nothing is left to ask for")
    continuous = require_one_kind(model, targets)
    for name, value in question.event.items():
        if name in continuous:
            raise QueryError(
                f"'{name}' is continuous: a single value has no probability; ask P({name} | ...), or for a "
                f"range such as P({name} > {value})"
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
    model: NetworkModel,
    question: Question,
    targets: Sequence[str],
    known: NodeEvidence,
    settings: QuerySettings,
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
