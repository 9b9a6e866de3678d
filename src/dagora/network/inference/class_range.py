"""The range of an answer about do(...) over all DAGs that the data cannot tell apart.

All DAGs of a class have the same joint distribution P. What they disagree on is the parents of the variables
that are set: P(v | do(x)) = P(v) / Π P(x_i | parents of x_i) for the v that agree with x (the truncated
factorisation). So the choices of these parents give every answer that the class gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.graph.adjustment import Adjustment
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import without_arrows
from dagora.graph.parent_sets import MOST_CHOICES, parent_choices
from dagora.network.gaussian_moments import implied_moments
from dagora.network.inference.answer import Density, Distribution
from dagora.network.inference.asking import ask
from dagora.network.inference.exact import joint_table, reduce_question
from dagora.network.inference.problem import NodeEvidence
from dagora.network.inference.question import check_known, make_question
from dagora.network.inference.settings import QuerySettings
from dagora.network.model import NetworkModel
from dagora.network.regressions import Lines

Array = NDArray[np.float64]

MOST_CELLS = 1 << 22
"""Entries of a joint table from which a range is computed (32 MB)."""


def range_over_class(
    model: NetworkModel, answer: Distribution | Density, settings: QuerySettings, found: Sequence[Adjustment]
) -> tuple[Array, Array] | None:
    """The smallest and the largest value of every number of an answer; None where they are not known.

    `found` tells whether the graphs of the class differ about it. If so, the range is known for networks of
    one kind of column, and of both kinds where only discrete variables bear on it, if the class is not too
    large.
    """
    origin, question = model.origin, answer.question
    if origin is None or origin.directions is None:
        return None
    if not any(one.open_edges for one in found):
        return answer.numbers(), answer.numbers()
    if not question.is_certain:
        return None
    class_ = without_arrows(model.graph, origin.directions.open)
    choices = islice(parent_choices(class_, question.do), MOST_CHOICES + 1)
    members = [member for _, member in choices]
    if len(members) > MOST_CHOICES:
        return None
    known = check_known(model, question.given, question.do)
    try:
        if isinstance(answer, Distribution):
            values = list(tables_in(model, members, answer.variables, known, settings))
            values += [answer.table] if values and answer.estimated is not None else []  # by other samples
        elif model.kind == "gaussian":
            networks = (directed_as(model, member.extension()) for member in members)
            values = [ask(network, question, settings).numbers() for network in networks]
        else:
            return None
    except QueryError:
        return None
    if not values or not np.isfinite(values).all():
        return None
    return np.min(values, axis=0), np.max(values, axis=0)


def tables_in(
    model: NetworkModel,
    members: Sequence[CPDAG],
    targets: Sequence[str],
    known: NodeEvidence,
    settings: QuerySettings,
) -> Iterator[Array]:
    """P(targets | evidence, do) in each of the members, from the joint distribution that they share."""
    parents = {node: {one for member in members for one in member.parents(node)} for node in known.do}
    names = list(dict.fromkeys([*targets, *known.do, *known.seen, *(p for s in parents.values() for p in s)]))
    if not set(names) <= set(model.levels) or prod(len(model.levels[name]) for name in names) > MOST_CELLS:
        return
    joint = joint_of(model, names, settings)
    for member in members:
        weights = joint
        for node in known.do:
            family = [names.index(one) for one in (*member.parents(node), node)]
            others = tuple(axis for axis in range(joint.ndim) if axis not in family)
            together = joint.sum(axis=others, keepdims=True)
            given = together.sum(axis=names.index(node), keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                weights = np.where(weights > 0, weights / (together / given), 0.0)
        fixed = {names.index(node): int(code) for node, code in known.values.items()}
        weights = weights[tuple(fixed.get(axis, slice(None)) for axis in range(joint.ndim))]
        left = [name for axis, name in enumerate(names) if axis not in fixed]
        summed = weights.sum(axis=tuple(i for i, name in enumerate(left) if name not in targets))
        order = [name for name in left if name in targets]
        table = summed.transpose([order.index(name) for name in targets])
        yield table / table.sum() if table.sum() > 0 else np.full(table.shape, np.nan)


def joint_of(model: NetworkModel, names: Sequence[str], settings: QuerySettings) -> Array:
    """The joint distribution of discrete variables; estimated where the network has no exact answer."""
    if model.kind == "discrete":
        nothing = NodeEvidence()
        reduced = reduce_question(model, names, nothing, settings.limits)
        return joint_table(model, reduced, names, nothing, settings.limits)
    found = ask(model, make_question("P", names), settings)
    if not isinstance(found, Distribution):
        raise QueryError("no distribution of levels")
    return found.table.transpose([found.variables.index(name) for name in names])


def directed_as(model: NetworkModel, member: DAG) -> NetworkModel:
    """The Gaussian network with the same distribution whose arrows are those of another DAG of the class."""
    mean, covariance = implied_moments(model)
    lines = {}
    for node in member:
        place, parents = member.index(node), [member.index(parent) for parent in member.parents(node)]
        among, across = covariance[np.ix_(parents, parents)], covariance[parents, place]
        slopes = np.linalg.pinv(among, hermitian=True) @ across
        variance = covariance[place, place] - slopes @ across
        lines[node] = Lines(
            np.asarray(mean[place] - slopes @ mean[parents]), slopes, np.sqrt(np.maximum(variance, 0.0))
        )
    return NetworkModel(member, lines=lines)
