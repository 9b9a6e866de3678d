"""Cluster inequalities, and the search for those that a point violates.

In a DAG, every set C of nodes has a member without parents in C:

    Σ_{x ∈ C} Σ_{P ∩ C = ∅} I(x, P) ≥ 1

(Jaakkola, Sontag, Globerson & Meila 2010). To find clusters that a fractional point violates, local search
adds and removes single nodes so that the sum becomes small. It starts from short cycles and from single arcs.
An arc of weight w, the total value of the sets that contain its tail, has length 1 − w. A cycle of an
integral point has length 0 and sum 0, so every one of them is found. (Bartlett & Cussens 2017 separate
exactly, by an integer program of its own, which takes longer.)

Example: a and b each take the other as their only parent, with value 1. The cluster {a, b} then has the sum
0, as no set of either avoids it, so its inequality is violated by 1. See `violated_clusters` for this in
code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bit_kernels import flip_bit, has_bit
from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row

# Sets of a smaller value count as unused: SCIP's feasibility tolerance.
LEAST_VALUE = 1e-6

# A sum must fall short of 1 by this much to be worth a cut.
LEAST_VIOLATION = 1e-3

# Arcs of less weight are no part of cycles, and no start of a search. Larger: violated clusters are missed;
# smaller: more starts for cuts that are hardly violated.
LEAST_ARC = 0.05

# Moves made from each start, and for how many of them a node that was moved stays where it is (tabu search).
# Larger: deeper searches from fewer starts, as `WORK` bounds both.
STEPS = 40
REST = 8

# Bounds the searches that start from arcs in one round: nodes examined, over all of their moves.
WORK = 1_000_000

# Room for violated clusters in one round.
MOST_FOUND = 1024


class LpPoint(NamedTuple):
    """A point of the linear program: the candidate sets with a positive value.

    The sets of child x are entries `starts[x]` to `starts[x + 1]` of `rows` and `values`: the set of entry k
    is the bit row `masks[rows[k]]`.
    """

    masks: NDArray[np.uint64]
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]


class Users(NamedTuple):
    """The entries of a point by node: entries `listed[begins[y]:begins[y + 1]]` contain y.

    Entry k belongs to child `owner[k]`; the values of all entries of child x sum to `full[x]`.
    """

    listed: NDArray[np.int64]
    begins: NDArray[np.int64]
    owner: NDArray[np.int64]
    full: NDArray[np.float64]


class Cluster(NamedTuple):
    """A cluster that nodes join and leave: who is `inside`, and what its sum is made of.

    `met[k]` counts the cluster's nodes in entry k, and `free[x]` is the value of the sets of x that contain
    none.
    """

    inside: NDArray[np.bool_]
    met: NDArray[np.int64]
    free: NDArray[np.float64]


@kernel
def positive_part(
    masks: NDArray[np.uint64], offsets: NDArray[np.int64], values: NDArray[np.float64]
) -> LpPoint:
    """The point in which candidate row k has the value `values[k]`; rows `offsets[x]` on are those of x."""
    d = len(offsets) - 1
    rows = np.empty(len(values), dtype=np.int64)
    starts = np.zeros(d + 1, dtype=np.int64)
    count = 0
    for x in range(d):
        for row in range(offsets[x], offsets[x + 1]):
            if values[row] > LEAST_VALUE:
                rows[count] = row
                count += 1
        starts[x + 1] = count
    kept = rows[:count].copy()
    return LpPoint(masks, kept, values[kept], starts)


@kernel
def arc_weights(point: LpPoint) -> NDArray[np.float64]:
    """Weight [i, j] of every arc i → j: the value of the sets of j that contain i."""
    d = len(point.starts) - 1
    weights = np.zeros((d, d))
    for j in range(d):
        for k in range(point.starts[j], point.starts[j + 1]):
            for i in range(d):
                if has_bit(point.masks[point.rows[k]], i):
                    weights[i, j] += point.values[k]
    return weights


@kernel
def users_of(point: LpPoint) -> Users:
    """List the entries of a point by the nodes that they contain."""
    d = len(point.starts) - 1
    owner = np.empty(len(point.rows), dtype=np.int64)
    full = np.zeros(d)
    for x in range(d):
        for k in range(point.starts[x], point.starts[x + 1]):
            owner[k] = x
            full[x] += point.values[k]
    begins = np.zeros(d + 1, dtype=np.int64)
    listed = np.empty(d * len(point.rows), dtype=np.int64)
    count = 0
    for y in range(d):
        for k in range(len(point.rows)):
            if has_bit(point.masks[point.rows[k]], y):
                listed[count] = k
                count += 1
        begins[y + 1] = count
    return Users(listed[:count].copy(), begins, owner, full)


@kernel
def toggle(y: int, cluster: Cluster, users: Users, values: NDArray[np.float64]) -> None:
    """Add a node to the cluster, or remove it."""
    inside, met, free = cluster
    step = -1 if inside[y] else 1
    inside[y] = not inside[y]
    for p in range(users.begins[y], users.begins[y + 1]):
        k = users.listed[p]
        if met[k] == 0:
            free[users.owner[k]] -= values[k]
        met[k] += step
        if met[k] == 0:
            free[users.owner[k]] += values[k]


@kernel
def change(y: int, cluster: Cluster, users: Users, values: NDArray[np.float64]) -> float:
    """The change of the cluster's sum when a node is toggled."""
    inside, met, free = cluster
    total = float(-free[y] if inside[y] else free[y])
    for p in range(users.begins[y], users.begins[y + 1]):
        k = users.listed[p]
        if inside[users.owner[k]]:
            if inside[y] and met[k] == 1:
                total += values[k]
            elif not inside[y] and met[k] == 0:
                total -= values[k]
    return total


@kernel
def shortest_cycle(weights: NDArray[np.float64], root: int, cycle: NDArray[np.int64]) -> int:
    """Write the shortest cycle through a node (Dijkstra) to `cycle`; return its size, 0 if there is none.

    The cycle is written against its arcs: from the root to the tail of the arc into it, and so on.
    """
    d = len(weights)
    distance = np.full(d, np.inf)
    previous = np.full(d, root)
    done = np.zeros(d, dtype=np.bool_)
    for y in range(d):
        if weights[root, y] >= LEAST_ARC:
            distance[y] = max(0.0, 1.0 - weights[root, y])
    while True:
        here = -1
        for y in range(d):
            if not done[y] and distance[y] < np.inf and (here < 0 or distance[y] < distance[here]):
                here = y
        if here < 0:
            return 0
        if here == root:
            break
        done[here] = True
        for y in range(d):
            if weights[here, y] >= LEAST_ARC and not done[y]:
                way = distance[here] + max(0.0, 1.0 - weights[here, y])
                if way < distance[y]:
                    distance[y] = way
                    previous[y] = here
    count = 0
    y = root
    while count == 0 or y != root:
        cycle[count] = y
        count += 1
        y = previous[y]
    return count


@kernel
def least_sum(
    seed: NDArray[np.int64], users: Users, values: NDArray[np.float64], best_inside: NDArray[np.bool_]
) -> float:
    """Smallest sum seen in a local search from the nodes `seed`; its cluster goes to `best_inside`.

    Each step toggles the node that makes the sum smallest, even where it grows, and then lets that node rest.
    """
    d = len(users.full)
    size = len(seed)
    cluster = Cluster(
        np.zeros(d, dtype=np.bool_), np.zeros(len(users.owner), dtype=np.int64), users.full.copy()
    )
    inside, _, free = cluster
    moved = np.full(d, -REST)
    total = 0.0
    for y in seed:
        total += change(y, cluster, users, values)
        toggle(y, cluster, users, values)
    best = total
    copy_row(inside, best_inside)
    for step in range(STEPS):
        node = -1
        least = np.inf
        for y in range(d):
            if step - moved[y] < REST or (inside[y] and size <= 2):
                continue
            new = change(y, cluster, users, values)
            # A node that is in no set of a member only adds to the sum: not worth adding.
            if new < least and (inside[y] or new < free[y] - 1e-9):
                node, least = y, new
        if node < 0:
            break
        size += -1 if inside[node] else 1
        toggle(node, cluster, users, values)
        moved[node] = step
        total += least
        if total < best - 1e-9:
            best = total
            copy_row(inside, best_inside)
    return best


@kernel
def violated_clusters(
    point: LpPoint, weights: NDArray[np.float64]
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Clusters whose inequality a point violates, each once as a bit row, and by how much.

    Searches start at the shortest cycle through each node, then at arcs between nodes that are on cycles.
    `weights` are the point's `arc_weights`.

    >>> masks = np.array([[2], [0], [1], [0]], dtype=np.uint64)  # a: {b}, {}; b: {a}, {}
    >>> point = positive_part(masks, np.array([0, 2, 4]), np.array([1.0, 0.0, 1.0, 0.0]))
    >>> violated_clusters(point, arc_weights(point))
    (array([[3]], dtype=uint64), array([1.]))
    """
    d = len(point.starts) - 1
    users = users_of(point)
    found = np.empty((MOST_FOUND, point.masks.shape[1]), dtype=np.uint64)
    violations = np.empty(MOST_FOUND)
    count = 0
    seed = np.empty(d, dtype=np.int64)
    on_cycle = np.zeros(d, dtype=np.bool_)
    best_inside = np.zeros(d, dtype=np.bool_)
    arcs_left = WORK // (STEPS * d)
    for start in range(d + d * d):
        if start < d:
            size = shortest_cycle(weights, start, seed)
            on_cycle[start] = size > 0
            if size == 0:
                continue
        else:
            tail, head = (start - d) // d, start % d
            if weights[tail, head] < LEAST_ARC or not (on_cycle[tail] and on_cycle[head]):
                continue
            if arcs_left == 0:
                break
            arcs_left -= 1
            seed[0], seed[1] = tail, head
            size = 2
        best = least_sum(seed[:size], users, point.values, best_inside)
        if best > 1.0 - LEAST_VIOLATION:
            continue
        found[count] = np.uint64(0)
        for x in range(d):
            if best_inside[x]:
                flip_bit(found[count], x)
        known = False
        for k in range(count):
            known = known or np.array_equal(found[k], found[count])
        if not known:
            violations[count] = 1.0 - best
            count += 1
            if count == MOST_FOUND:
                break
    return found[:count], violations[:count]


@kernel
def cluster_row(
    masks: NDArray[np.uint64], offsets: NDArray[np.int64], cluster: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Rows of the members' sets that meet the cluster, rows of those that do not, and the cluster's size.

    As every member has exactly one parent set, the inequality also says that the former rows sum to size − 1
    at most.
    """
    meeting = np.empty(len(masks), dtype=np.int64)
    free = np.empty(len(masks), dtype=np.int64)
    met = spared = size = 0
    for x in range(len(offsets) - 1):
        if not has_bit(cluster, x):
            continue
        size += 1
        for row in range(offsets[x], offsets[x + 1]):
            meets = False
            for w in range(len(cluster)):
                meets = meets or masks[row, w] & cluster[w] != 0
            if meets:
                meeting[met] = row
                met += 1
            else:
                free[spared] = row
                spared += 1
    return meeting[:met].copy(), free[:spared].copy(), size


@kernel
def order_along(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """An order that most weight follows: next is the node with the least weight from nodes not yet placed."""
    d = len(weights)
    left = weights.sum(axis=0)
    placed = np.zeros(d, dtype=np.bool_)
    order = np.empty(d, dtype=np.int64)
    for place in range(d):
        x = -1
        for y in range(d):
            if not placed[y] and (x < 0 or left[y] < left[x]):
                x = y
        placed[x] = True
        order[place] = x
        left -= weights[x]
    return order
