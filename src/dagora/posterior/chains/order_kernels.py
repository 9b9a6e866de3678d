"""Steps of a chain over orders (Friedman & Koller 2003).

The log score of an order is Σ_i log Σ weight of the families of i with all parents before i. A step swaps two
neighbours, swaps any two nodes, or moves one node elsewhere. Each proposal is as likely as its reverse, so it
is accepted with probability min(1, ratio of scores). Only nodes between the two positions are summed anew. A
graph is drawn only when one is kept (see `keep_graph`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.random import random_below, random_unit
from dagora.posterior.chains.chain_state import (
    ACCEPTED,
    STEPS,
    ChainState,
    KeptDraws,
    Schedule,
    is_kept,
    steps_to_draw,
)
from dagora.posterior.chains.keep_graph import keep_graph
from dagora.posterior.chains.order_relocation import relocate_anywhere
from dagora.posterior.space.lookup import Lookup, quick_before, sum_before

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# A number below MOVES is drawn: below NEIGHBOURS it swaps neighbours, below SWAPS any two nodes, below
# RELOCATIONS it proposes another place for one, and above that it draws one. Half of the proposals are the
# cheapest. Drawing a place costs as much as eight proposals: one in eight and one in two steps give equally
# many effective draws per second on 100 columns, and with fewer the other steps are not slowed down.
MOVES, NEIGHBOURS, SWAPS, RELOCATIONS = 64, 28, 42, 56


@kernel
def order_steps(lookup: Lookup, chain: ChainState, kept: KeptDraws, plan: Schedule, steps: int) -> None:
    """Make `steps` steps, and keep a graph whenever the plan says so."""
    order = order_of(lookup, chain)
    left = steps
    while left > 0:
        few = min(left, steps_to_draw(chain.counters[STEPS], plan))
        chain.counters[ACCEPTED] += walk_orders(lookup, chain.places, chain.values, chain.random, order, few)
        chain.counters[STEPS] += few
        left -= few
        if is_kept(chain, kept, plan):
            keep_graph(lookup, chain, kept, in_blocks=False)


@kernel
def order_of(lookup: Lookup, chain: ChainState) -> Ints:
    """The order in which a chain stands, by its places; its sums are written anew."""
    order = np.empty_like(chain.places)
    for node in range(len(order)):
        order[chain.places[node]] = node
        chain.values[node] = sum_before(lookup, node, chain.places, chain.places[node])
    return order


@kernel
def walk_orders(
    lookup: Lookup, places: Ints, values: Floats, random: NDArray[np.uint64], order: Ints, steps: int
) -> int:
    """Propose and accept or reject; return how many proposals were accepted.

    In the order (a, b, c) a swap of the positions 0 and 1 gives (b, a, c). Only a and b see other nodes
    before them: `fresh` holds their new log sums, the gain is the sum of new minus old, and c is not looked
    at. A rejected proposal is undone by the reverse change.
    """
    nodes = len(order)
    fresh = np.empty(nodes)
    room = np.empty((3, nodes))
    accepted = 0
    for _ in range(steps if nodes > 1 else 0):
        kind = random_below(random, MOVES)
        if kind >= RELOCATIONS:
            accepted += relocate_anywhere(lookup, places, values, random, order, room)
            continue
        if kind < NEIGHBOURS:
            one = random_below(random, nodes - 1)
            other = one + 1
        elif kind < SWAPS:
            one = random_below(random, nodes)
            other = random_below(random, nodes - 1)
            other += other >= one
        else:
            # A node may also stay where it is: a chain that always moves could be periodic.
            one = random_below(random, nodes)
            other = random_below(random, nodes)
        change_order(order, places, one, other, kind >= SWAPS)
        low, high = min(one, other), max(one, other)
        gain = 0.0
        for position in range(low, high + 1):
            node = order[position]
            fresh[node] = quick_before(lookup, node, places, position)
            gain += fresh[node] - values[node]
        if np.isnan(gain):
            gain = careful_gain(lookup, places, values, order, low, high, fresh)
        if random_unit(random) <= np.exp(min(gain, 0.0)):
            accepted += 1
            for position in range(low, high + 1):
                values[order[position]] = fresh[order[position]]
        else:
            change_order(order, places, other, one, kind >= SWAPS)
    return accepted


@kernel
def careful_gain(
    lookup: Lookup, places: Ints, values: Floats, order: Ints, low: int, high: int, fresh: Floats
) -> float:
    """Gain of an order, where the scaled sums of `quick_before` underflow."""
    gain = 0.0
    for position in range(low, high + 1):
        node = order[position]
        fresh[node] = sum_before(lookup, node, places, position)
        gain += fresh[node] - values[node]
    return gain


@inlined
def change_order(order: Ints, places: Ints, one: int, other: int, relocation: bool) -> None:
    """Swap the nodes at two positions, or move the node at the first to the second."""
    if relocation:
        node = order[one]
        step = 1 if other > one else -1
        for position in range(one, other, step):
            order[position] = order[position + step]
            places[order[position]] = position
        order[other] = node
        places[node] = other
    else:
        order[one], order[other] = order[other], order[one]
        places[order[one]] = one
        places[order[other]] = other


@kernel
def start_order(lookup: Lookup, chain: ChainState) -> int:
    """Bring a chain to a random order that permits a graph; return how many nodes found no place.

    Nodes are placed one after the other, each drawn from those that have a family among the nodes placed so
    far. More predecessors never take a family away, so a node that is left over means that no order exists.
    """
    nodes = len(chain.places)
    places = chain.places
    for node in range(nodes):
        places[node] = nodes
    for position in range(nodes):
        ready = 0
        chosen = -1
        for node in range(nodes):
            if places[node] == nodes and sum_before(lookup, node, places, position) > -np.inf:
                ready += 1
                if random_below(chain.random, ready) == 0:
                    chosen = node
        if chosen < 0:
            return nodes - position
        places[chosen] = position
    return 0
