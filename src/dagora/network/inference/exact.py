"""Exact answers: continuous nodes are eliminated into factors first, then discrete ones in a good order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.inference.arithmetic import Overspan
from dagora.network.inference.components import Component, split_components
from dagora.network.inference.factors import Factor, MemoryLimit, Product, find_order
from dagora.network.inference.problem import InferenceProblem, NodeEvidence, bearing_on, set_up
from dagora.network.inference.question import describe
from dagora.network.model import NetworkModel

Array = NDArray[np.float64]

CHECKED_CELLS = 1 << 20
"""Evidence that does not bear on the answer is still checked to be possible, up to tables of this size."""


@dataclass(frozen=True, eq=False)
class ReducedQuestion:
    """A question after the continuous nodes were eliminated."""

    problem: InferenceProblem
    components: list[Component]
    factors: list[Factor]
    log_scale: float
    """ln of what was divided out of the factors of components."""


def reduce_question(
    model: NetworkModel, targets: Sequence[str], known: NodeEvidence, limits: MemoryLimit
) -> ReducedQuestion:
    """Insert the evidence and eliminate the continuous nodes."""
    problem = set_up(model, targets, known)
    if problem.open_choices:
        node = problem.open_choices[0]
        parent = next(name for name in model.continuous_parents(node) if name not in known.values)
        raise QueryError(
            f"'{node}' is discrete and depends on continuous '{parent}', which is not given: there is no "
            f"exact answer; {limits.way_out_if_open(parent)}"
        )
    components = split_components(problem.lines, known.seen, problem.sizes, limits)
    factors, log_scale = list(problem.factors), 0.0
    for component in components:
        if component.log_densities.any():  # zeros: nothing was observed
            factor, scale = component.factor(problem.sizes)
            factors.append(factor)
            log_scale += scale
    return ReducedQuestion(problem, components, factors, log_scale)


def eliminate_all(factors: list[Factor], order: Sequence[str]) -> Product:
    """Sum variables out of a product; on logarithms if floats would underflow."""
    try:
        return sum_all(Product(factors), order)
    except Overspan:
        return sum_all(Product(factors, logs=True), order)


def sum_all(product: Product, order: Sequence[str]) -> Product:
    """Sum variables out, one after the other."""
    for variable in order:
        product.sum_out(variable)
    return product


def joint_table(
    model: NetworkModel,
    reduced: ReducedQuestion,
    targets: Sequence[str],
    known: NodeEvidence,
    limits: MemoryLimit,
) -> Array:
    """P(targets | evidence), one axis per target; all are discrete."""
    sizes = reduced.problem.sizes
    check_joint(targets, sizes, limits)
    near, far = bearing_on(targets, reduced.factors)
    refuse_impossible(model, far, reduced, known, sizes)
    hidden = {v for factor in near for v in factor.variables} - set(targets)
    order = find_order(near, sizes, [hidden], limits)
    try:
        table = sum_all(Product(near), order).over(targets)
    except Overspan:
        table = sum_all(Product(near, logs=True), order).over(targets)
    table = np.broadcast_to(table, [sizes[v] for v in targets])
    if not table.sum() > 0:
        raise impossible_evidence(model, known)
    return np.asarray(table / table.sum())


def check_joint(targets: Sequence[str], sizes: Mapping[str, int], limits: MemoryLimit) -> None:
    """Refuse a joint distribution that is larger than memory."""
    cells = prod(sizes[v] for v in targets)
    if 8 * cells > limits.memory:
        raise QueryError(
            f"the joint distribution of {len(targets)} variables needs {8 * cells:,} bytes, and "
            f"{limits.memory:,} are allowed: ask for fewer at a time"
        )


def refuse_impossible(
    model: NetworkModel,
    far: list[Factor],
    reduced: ReducedQuestion,
    known: NodeEvidence,
    sizes: Mapping[str, int],
) -> None:
    """Refuse evidence of probability zero in parts that do not bear on the answer, unless they are large."""
    if reduced.log_scale == -np.inf:
        raise impossible_evidence(model, known)
    scalars = [factor for factor in far if not factor.variables]
    if any(factor.is_impossible for factor in scalars):
        raise impossible_evidence(model, known)
    rest = [factor for factor in far if factor.variables]
    if not rest:
        return
    try:
        order = find_order(
            rest, sizes, [{v for f in rest for v in f.variables}], MemoryLimit(8 * CHECKED_CELLS)
        )
    except QueryError:
        return
    if eliminate_all(rest, order).is_impossible:
        raise impossible_evidence(model, known)


def impossible_evidence(model: NetworkModel, known: NodeEvidence) -> QueryError:
    """The error for evidence of probability zero."""
    return QueryError(
        f"the evidence has probability zero, so there is no answer: {describe(model, known.values)}"
    )


def log_evidence(model: NetworkModel, known: NodeEvidence, limits: MemoryLimit) -> float:
    """Log of the probability (or density) of the evidence; −∞ if it is impossible.

    >>> from dagora.graph.dag import DAG
    >>> coin = NetworkModel(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.25, 0.75])})
    >>> round(log_evidence(coin, NodeEvidence({"coin": 1}), MemoryLimit()), 4)
    -0.2877
    """
    reduced = reduce_question(model, (), known, limits)
    variables = {v for factor in reduced.factors for v in factor.variables}
    order = find_order(reduced.factors, reduced.problem.sizes, [variables], limits)
    return reduced.log_scale + eliminate_all(reduced.factors, order).log_scale


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """Normal distributions with weights."""

    weights: Array
    means: Array
    covariances: Array


def mixture(
    model: NetworkModel, targets: Sequence[str], known: NodeEvidence, limits: MemoryLimit
) -> GaussianMixture:
    """The distribution of continuous targets: one normal distribution per possible configuration."""
    reduced = reduce_question(model, targets, known, limits)
    used = [c for c in reduced.components if any(target in c.nodes for target in targets)]
    discrete = tuple(dict.fromkeys(v for component in used for v in component.discrete))
    table = joint_table(model, reduced, discrete, known, limits)
    occurring = np.argwhere(table > 0)
    weights = table[table > 0].reshape(-1)
    means = np.zeros((len(weights), len(targets)))
    covariances = np.zeros((len(weights), len(targets), len(targets)))
    for component in used:
        axes = [discrete.index(v) for v in component.discrete]
        shape = [table.shape[axis] for axis in axes]
        flat = (
            np.ravel_multi_index(tuple(occurring[:, axes].T), shape) if axes else np.zeros(len(weights), int)
        )
        here = [(i, component.nodes.index(t)) for i, t in enumerate(targets) if t in component.nodes]
        for i, a in here:
            means[:, i] = component.means[flat, a]
            for j, b in here:
                covariances[:, i, j] = component.covariances[flat, a, b]
    return GaussianMixture(weights, means, covariances)


def most_probable(
    model: NetworkModel, targets: Sequence[str], known: NodeEvidence, limits: MemoryLimit
) -> tuple[dict[str, int], float]:
    """The most probable codes of discrete targets jointly, and their probability given the evidence."""
    reduced = reduce_question(model, targets, known, limits)
    sizes = reduced.problem.sizes
    near, far = bearing_on(targets, reduced.factors)
    refuse_impossible(model, far, reduced, known, sizes)
    hidden = {v for factor in near for v in factor.variables} - set(targets)
    order = find_order(near, sizes, [hidden, targets], limits)
    total = eliminate_all(near, find_order(near, sizes, [hidden | set(targets)], limits)).log_scale
    if total == -np.inf:
        raise impossible_evidence(model, known)
    try:
        codes, best = maximise(Product(near), order, set(targets))
    except Overspan:
        codes, best = maximise(Product(near, logs=True), order, set(targets))
    return {target: codes[target] for target in targets}, float(np.exp(best - total))


def maximise(product: Product, order: Sequence[str], targets: set[str]) -> tuple[dict[str, int], float]:
    """Sum some variables out, maximise over the targets, and trace the best levels back."""
    choices: list[tuple[str, Factor]] = []
    for variable in order:
        if variable in targets:
            choices.append((variable, product.max_out(variable)))
        else:
            product.sum_out(variable)
    codes: dict[str, int] = {}
    for variable, choice in reversed(choices):
        codes[variable] = int(choice.restrict(codes).table)
    return codes, product.log_scale
