"""The order in which variables are eliminated, which determines the size of the largest table.

Eliminating a variable joins its neighbours. Min-fill takes the variable that adds the fewest edges, among
several the one whose clique has the fewest cells; min-weight takes the fewest cells first. Neither is always
better (Kjærulff 1990), so both are run and the order with fewer cells in all is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from dagora.graph.bit_sets import members


@dataclass(frozen=True)
class EliminationOrder:
    """An order, and the neighbours of each variable when it is eliminated, as a bit set."""

    order: tuple[int, ...]
    neighbours: tuple[int, ...]
    cells: int
    """Cells of all cliques together."""
    most_cells: int
    """Cells of the largest clique."""
    width: int
    """Variables in the largest clique, less one."""


def moral_bits(families: Sequence[Sequence[int]], variables: int) -> list[int]:
    """Neighbours of each variable, as bit sets, where the variables of each family are joined.

    >>> [bin(bits) for bits in moral_bits([(0, 1), (1, 2)], 3)]
    ['0b10', '0b101', '0b10']
    """
    bits = [0] * variables
    for family in families:
        joined = sum(1 << member for member in set(family))
        for member in family:
            bits[member] |= joined
    return [found & ~(1 << position) for position, found in enumerate(bits)]


def eliminate(
    neighbours: Sequence[int], sizes: Sequence[int], stages: Sequence[int] | None = None
) -> EliminationOrder:
    """Find a good order; `stages` are bit sets of variables that go one after the other, all by default.

    >>> square = moral_bits([(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    >>> eliminate(square, [2, 2, 9, 2]).width
    2
    """
    stages = [(1 << len(sizes)) - 1] if stages is None else stages
    orders = [greedy_order(neighbours, sizes, stages, fill_first=fill) for fill in (True, False)]
    return min(orders, key=lambda found: found.cells)


def greedy_order(
    neighbours: Sequence[int], sizes: Sequence[int], stages: Sequence[int], *, fill_first: bool
) -> EliminationOrder:
    """Repeatedly eliminate the cheapest variable: by fill and then cells, or by cells and then fill."""
    near = list(neighbours)
    order: list[int] = []
    cliques = [0] * len(near)
    total = largest = width = 0

    def cost(v: int) -> tuple[int, int, int]:
        around = near[v]
        inside = list(members(around))
        missing = sum((around & ~near[u]).bit_count() - 1 for u in inside)
        cells = prod(sizes[u] for u in inside) * sizes[v]
        return (missing, cells, v) if fill_first else (cells, missing, v)

    for stage in stages:
        costs = {v: cost(v) for v in members(stage)}
        while costs:
            v = min(costs, key=costs.__getitem__)
            first, second, _ = costs.pop(v)
            missing, cells = (first, second) if fill_first else (second, first)
            around = near[v]
            cliques[v] = around
            order.append(v)
            total += cells
            largest = max(largest, cells)
            width = max(width, around.bit_count())
            touched = around
            for u in members(around):
                if missing and around & ~near[u] & ~(1 << u):
                    touched |= near[u]
                    near[u] |= around & ~(1 << u)
                near[u] &= ~(1 << v)
            for u in members(touched & ~(1 << v)):
                if u in costs:
                    costs[u] = cost(u)
    return EliminationOrder(tuple(order), tuple(cliques), total, largest, width)
