"""Draw rows of a network given evidence, exactly.

Ancestors of observed nodes are drawn from their posterior: discrete ones backwards through an elimination
order (each given those eliminated later), then continuous ones from the normal distribution of their
component. All other nodes are drawn forward, given their parents.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dagora.network.drawing import Columns, draw_forward, draw_levels, draw_node
from dagora.network.inference.arithmetic import Overspan
from dagora.network.inference.components import Component
from dagora.network.inference.exact import ReducedQuestion, impossible_evidence, reduce_question
from dagora.network.inference.factors import Factor, MemoryLimit, Product, find_order
from dagora.network.inference.problem import NodeEvidence, relevant_nodes
from dagora.network.model import NetworkModel


def draw_given(
    model: NetworkModel, known: NodeEvidence, rows: int, rng: np.random.Generator, limits: MemoryLimit
) -> Columns:
    """Draw all nodes; observed and set ones have their value in every row."""
    if not known.values:
        return draw_forward(model, rows, rng)
    columns: Columns = {
        node: np.full(rows, value, dtype=np.float64 if node in model.lines else np.uint16)
        for node, value in known.values.items()
    }
    if known.seen:
        above = [node for node in relevant_nodes(model, (), known) if node not in known.values]
        reduced = reduce_question(model, above, known, limits)
        draw_discrete(model, reduced, known, columns, rows, rng, limits)
        for component in reduced.components:
            draw_component(component, reduced.problem.sizes, columns, rows, rng)
    for node in model.order:
        if node not in columns:
            columns[node] = draw_node(model, node, columns, rows, rng)
    return columns


def draw_discrete(
    model: NetworkModel,
    reduced: ReducedQuestion,
    known: NodeEvidence,
    columns: Columns,
    rows: int,
    rng: np.random.Generator,
    limits: MemoryLimit,
) -> None:
    """Draw the discrete nodes backwards through an elimination order."""
    variables = {v for factor in reduced.factors for v in factor.variables}
    order = find_order(reduced.factors, reduced.problem.sizes, [variables], limits)
    try:
        product, conditionals = forward(Product(reduced.factors), order)
    except Overspan:
        product, conditionals = forward(Product(reduced.factors, logs=True), order)
    if product.is_impossible or reduced.log_scale == -np.inf:
        raise impossible_evidence(model, known)
    for variable, conditional in zip(reversed(order), reversed(conditionals), strict=True):
        parents, table = conditional.variables[:-1], conditional.table
        flat = flat_index(parents, table.shape[:-1], columns, rows)
        columns[variable] = draw_levels(table.reshape(-1, table.shape[-1])[flat], np.arange(rows), rng)


def forward(product: Product, order: list[str]) -> tuple[Product, list[Factor]]:
    """Eliminate all variables; keep of each the product that held it."""
    conditionals = []
    for variable in order:
        conditionals.append(product.conditional(variable))
        product.sum_out(variable)
    return product, conditionals


def flat_index(
    names: tuple[str, ...], shape: tuple[int, ...], columns: Columns, rows: int
) -> NDArray[np.int64]:
    """Position of each row's configuration in a flat table."""
    if not names:
        return np.zeros(rows, dtype=np.int64)
    return np.asarray(np.ravel_multi_index(tuple(columns[name].astype(np.int64) for name in names), shape))


def draw_component(
    component: Component, sizes: Mapping[str, int], columns: Columns, rows: int, rng: np.random.Generator
) -> None:
    """Draw the continuous nodes of a component, configuration by configuration."""
    if not component.nodes:
        return
    shape = tuple(sizes[v] for v in component.discrete)
    flat = flat_index(component.discrete, shape, columns, rows)
    values = np.empty((rows, len(component.nodes)))
    noise = rng.standard_normal((rows, len(component.nodes)))
    for configuration in np.unique(flat):
        where = flat == configuration
        # Eigenvectors, not Cholesky: what was seen may determine a node.
        spread, vectors = np.linalg.eigh(component.covariances[configuration])
        root = vectors * np.sqrt(np.maximum(spread, 0.0))
        values[where] = component.means[configuration] + noise[where] @ root.T
    for position, node in enumerate(component.nodes):
        columns[node] = np.ascontiguousarray(values[:, position])
