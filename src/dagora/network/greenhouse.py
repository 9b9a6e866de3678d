"""A small made-up network for demonstrations and tests.

Why is the greenhouse crop late? Eleven discrete variables with two or three levels each.
"""

from __future__ import annotations

import numpy as np

from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork

LEVELS = {
    "season": ("spring", "summer", "autumn"),
    "cloud": ("clear", "overcast"),
    "heating": ("off", "on"),
    "light": ("low", "medium", "high"),
    "temperature": ("cold", "mild", "hot"),
    "watering": ("sparse", "ample"),
    "soil": ("dry", "moist"),
    "pests": ("absent", "present"),
    "growth": ("slow", "steady", "fast"),
    "yellow_leaves": ("no", "yes"),
    "harvest": ("late", "on_time"),
}

# For each variable its parents and one row of probabilities per configuration; the last parent runs fastest.
TABLES: dict[str, tuple[tuple[str, ...], list[list[float]]]] = {
    "season": ((), [[0.35, 0.4, 0.25]]),
    "cloud": (("season",), [[0.5, 0.5], [0.75, 0.25], [0.35, 0.65]]),
    "heating": (("season",), [[0.4, 0.6], [0.92, 0.08], [0.25, 0.75]]),
    "light": (
        ("season", "cloud"),
        [[0.1, 0.4, 0.5], [0.45, 0.45, 0.1], [0.03, 0.17, 0.8],
         [0.2, 0.5, 0.3], [0.3, 0.5, 0.2], [0.8, 0.17, 0.03]],
    ),
    "temperature": (
        ("season", "heating"),
        [[0.6, 0.35, 0.05], [0.1, 0.7, 0.2], [0.05, 0.35, 0.6],
         [0.02, 0.13, 0.85], [0.7, 0.27, 0.03], [0.2, 0.7, 0.1]],
    ),
    "watering": (("temperature",), [[0.75, 0.25], [0.45, 0.55], [0.15, 0.85]]),
    "soil": (
        ("watering", "temperature"),
        [[0.4, 0.6], [0.6, 0.4], [0.9, 0.1], [0.05, 0.95], [0.1, 0.9], [0.3, 0.7]],
    ),
    "pests": (("temperature",), [[0.95, 0.05], [0.8, 0.2], [0.55, 0.45]]),
    "growth": (
        ("light", "soil"),
        [[0.85, 0.13, 0.02], [0.55, 0.4, 0.05], [0.6, 0.35, 0.05],
         [0.15, 0.6, 0.25], [0.4, 0.5, 0.1], [0.03, 0.27, 0.7]],
    ),
    "yellow_leaves": (("pests", "soil"), [[0.75, 0.25], [0.95, 0.05], [0.2, 0.8], [0.35, 0.65]]),
    "harvest": (
        ("growth", "pests"),
        [[0.85, 0.15], [0.97, 0.03], [0.35, 0.65], [0.7, 0.3], [0.05, 0.95], [0.4, 0.6]],
    ),
}  # fmt: skip


def greenhouse() -> DiscreteNetwork:
    """Return the greenhouse network.

    >>> len(greenhouse().graph), len(greenhouse().graph.edges)
    (11, 16)
    """
    nodes = tuple(LEVELS)
    graph = DAG(nodes, [(parent, node) for node, (parents, _) in TABLES.items() for parent in parents])
    tables = {}
    for node, (parents, rows) in TABLES.items():
        shape = [len(LEVELS[name]) for name in (*parents, node)]
        axes = [*(parents.index(parent) for parent in graph.parents(node)), len(parents)]
        tables[node] = np.array(rows).reshape(shape).transpose(axes)
    return DiscreteNetwork(graph, LEVELS, tables, name="greenhouse")
