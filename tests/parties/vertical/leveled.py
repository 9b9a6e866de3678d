"""Tables of columns with 2 to 5 levels, split between two owners, and what the central search learns from them."""

from collections.abc import Sequence

import numpy as np

import dagora
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.parties.vertical.private_k2 import PartyData


def random_levels(rng: np.random.Generator, columns: int, most: int = 4) -> tuple[int, ...]:
    return tuple(int(count) for count in rng.integers(2, most + 1, columns))


def leveled_data(rng: np.random.Generator, rows: int, levels: Sequence[int]) -> np.ndarray:
    """Columns that depend on each other, copy each other, leave levels out, or have nothing to do with any."""
    data = np.stack([rng.integers(0, count, rows) for count in levels], axis=1)
    for column in range(1, len(levels)):
        a, b = rng.integers(0, column, 2)
        kind = rng.integers(0, 7)
        noise = rng.random(rows) < rng.choice([0.02, 0.15, 0.4])
        if kind < 3:
            formula = [data[:, a], data[:, a] + data[:, b], data[:, a] * data[:, b]][kind] % levels[column]
            data[:, column] = np.where(noise, data[:, column], formula)
        elif kind == 3:
            data[:, column] = data[:, a] % levels[column]
        elif kind == 4:
            data[:, column] = np.minimum(data[:, column], 1)  # a level that does not occur
    return data


def leveled_table(data: np.ndarray, levels: Sequence[int]) -> Table:
    """A table in which all levels are declared, also where one does not occur."""
    variables = [
        Variable(f"x{column}", Kind.DISCRETE, tuple(f"level {code}" for code in range(count)))
        for column, count in enumerate(levels)
    ]
    return Table(Schema(variables), tuple(np.ascontiguousarray(column, dtype=np.uint16) for column in data.T))


def central_edges(
    data: np.ndarray, levels: Sequence[int], order: Sequence[int], limit: int
) -> set[tuple[int, int]]:
    """Edges that the library learns with the exact score."""
    table = leveled_table(data, levels)
    written = ",".join(table.schema.names[column] for column in order)
    result = dagora.learn(table, "k2", score="k2", order=written, knowledge=Knowledge(max_parents=limit))
    return {(int(tail[1:]), int(head[1:])) for tail, head in result.graph.edges}


def leveled_owners(
    data: np.ndarray, levels: Sequence[int], n_host: int, *, seed: int = 0, extra: int = 3
) -> list[PartyData]:
    """The first columns and the others, rows in sequences of their own, and rows that the other does not have."""
    rng = np.random.default_rng(seed)
    holdings = []
    names = [f"x{column}" for column in range(len(levels))]
    for letter, columns in (("h", names[:n_host]), ("g", names[n_host:])):
        more = np.stack([rng.integers(0, count, extra) for count in levels], axis=1)
        table = leveled_table(np.concatenate([data, more]), levels).select(columns)
        keys = [f"row-{i}" for i in range(len(data))] + [f"{letter}-{i}" for i in range(extra)]
        sequence = rng.permutation(len(keys))
        holdings.append(PartyData(table.take(sequence), [keys[i] for i in sequence]))
    return holdings
