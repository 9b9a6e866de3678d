"""Cluster inequalities, and where they cut a point off.

In a DAG, every set C of nodes has a member without parents in C:

    Σ_{x ∈ C} Σ_{P ∩ C = ∅} I(x, P) ≥ 1

(Jaakkola, Sontag, Globerson & Meila 2010). To find clusters that a fractional point violates, walks add and
remove single nodes, from short cycles and from arcs, towards small sums. An arc with weight w, the value of
the sets P that contain its tail, is 1 − w long; a cycle of an integral point has length 0 and sum 0, so none
escapes. (Bartlett & Cussens 2017 separate exactly, by a program of its own, which takes longer.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.compiled import kernel
from dagora.graph.bit_kernels import flip_bit, has_bit, is_subset

# A sum must fall short of 1 by this much to be worth a cut.
LEAST_VIOLATION = 1e-3

# Arcs that clusters grow from have at least this weight.
LEAST_ARC = 0.05

# Moves made from each start, and for how many a moved node rests.
STEPS = 40
REST = 8

# Looks at a node's move in one round, beyond those from cycles.
WORK = 1_000_000

# Room for violated clusters in one round.
ROOM = 1024


@kernel
def support(
    values: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Candidate rows with a positive value, those values, and where each child's begin."""
    d = len(offsets) - 1
    rows = np.empty(len(values), dtype=np.int64)
    starts = np.zeros(d + 1, dtype=np.int64)
    count = 0
    for x in range(d):
        for row in range(offsets[x], offsets[x + 1]):
            if values[row] > 1e-6:
                rows[count] = row
                count += 1
        starts[x + 1] = count
    kept = rows[:count].copy()
    return kept, values[kept], starts


@kernel
def arc_weights(
    masks: NDArray[np.uint64], rows: NDArray[np.int64], values: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Weight [i, j] of every arc i → j."""
    d = len(starts) - 1
    weights = np.zeros((d, d))
    for j in range(d):
        for k in range(starts[j], starts[j + 1]):
            for i in range(d):
                if has_bit(masks[rows[k]], i):
                    weights[i, j] += values[k]
    return weights


@kernel
def users(
    masks: NDArray[np.uint64], rows: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in `rows` of the sets that contain each node, and where each node's begin."""
    d = len(starts) - 1
    begins = np.zeros(d + 1, dtype=np.int64)
    for k in range(len(rows)):
        for i in range(d):
            if has_bit(masks[rows[k]], i):
                begins[i + 1] += 1
    for i in range(d):
        begins[i + 1] += begins[i]
    listed = np.empty(begins[d], dtype=np.int64)
    filled = begins[:-1].copy()
    for k in range(len(rows)):
        for i in range(d):
            if has_bit(masks[rows[k]], i):
                listed[filled[i]] = k
                filled[i] += 1
    return listed, begins


@kernel
def toggle(
    y: int,
    inside: NDArray[np.bool_],
    met: NDArray[np.int64],
    owner: NDArray[np.int64],
    values: NDArray[np.float64],
    free: NDArray[np.float64],
    listed: NDArray[np.int64],
    begins: NDArray[np.int64],
) -> None:
    """Add a node to the cluster or take it out.

    `met` counts the cluster's nodes in each set, `free` is the value of each node's sets that meet none.
    """
    step = -1 if inside[y] else 1
    inside[y] = not inside[y]
    for p in range(begins[y], begins[y + 1]):
        k = listed[p]
        if met[k] == 0:
            free[owner[k]] -= values[k]
        met[k] += step
        if met[k] == 0:
            free[owner[k]] += values[k]


@kernel
def change(
    y: int,
    inside: NDArray[np.bool_],
    met: NDArray[np.int64],
    owner: NDArray[np.int64],
    values: NDArray[np.float64],
    free: NDArray[np.float64],
    listed: NDArray[np.int64],
    begins: NDArray[np.int64],
) -> float:
    """How the cluster's sum changes when a node is toggled."""
    total = float(-free[y] if inside[y] else free[y])
    for p in range(begins[y], begins[y + 1]):
        k = listed[p]
        if inside[owner[k]]:
            if inside[y] and met[k] == 1:
                total += values[k]
            elif not inside[y] and met[k] == 0:
                total -= values[k]
    return total


@kernel
def shortest_cycle(weights: NDArray[np.float64], root: int, cycle: NDArray[np.int64]) -> int:
    """Write the shortest cycle through a node (Dijkstra) to `cycle`; return its size, 0 if there is none."""
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
    seed: NDArray[np.int64],
    size: int,
    full: NDArray[np.float64],
    owner: NDArray[np.int64],
    values: NDArray[np.float64],
    listed: NDArray[np.int64],
    begins: NDArray[np.int64],
    best_inside: NDArray[np.bool_],
) -> float:
    """Smallest sum met on a walk from the first `size` nodes of `seed`; its cluster goes to `best_inside`.

    Each step moves the node in or out that makes the sum smallest, beyond minima too, and lets it rest for a
    while. `full` is the value of all sets of each node.
    """
    d = len(full)
    inside = np.zeros(d, dtype=np.bool_)
    met = np.zeros(len(owner), dtype=np.int64)
    free = full.copy()
    moved = np.full(d, -REST)
    total = 0.0
    for k in range(size):
        total += change(seed[k], inside, met, owner, values, free, listed, begins)
        toggle(seed[k], inside, met, owner, values, free, listed, begins)
    best = total
    best_inside[:] = inside
    for step in range(STEPS):
        node = -1
        least = np.inf
        for y in range(d):
            if step - moved[y] < REST or (inside[y] and size <= 2):
                continue
            new = change(y, inside, met, owner, values, free, listed, begins)
            # To add a node that is in no set of a member is of no use.
            if new < least and (inside[y] or new < free[y] - 1e-9):
                node, least = y, new
        if node < 0:
            break
        size += -1 if inside[node] else 1
        toggle(node, inside, met, owner, values, free, listed, begins)
        moved[node] = step
        total += least
        if total < best - 1e-9:
            best = total
            best_inside[:] = inside
    return best


@kernel
def violated_clusters(
    masks: NDArray[np.uint64],
    rows: NDArray[np.int64],
    values: NDArray[np.float64],
    starts: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Clusters whose inequality a point violates, each once, and by how much.

    Walks start at the shortest cycle through each node, then at arcs between nodes that are on cycles.
    """
    d = len(starts) - 1
    listed, begins = users(masks, rows, starts)
    owner = np.empty(len(rows), dtype=np.int64)
    full = np.zeros(d)
    for x in range(d):
        for k in range(starts[x], starts[x + 1]):
            owner[k] = x
            full[x] += values[k]
    found = np.empty((ROOM, masks.shape[1]), dtype=np.uint64)
    violations = np.empty(ROOM)
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
        best = least_sum(seed, size, full, owner, values, listed, begins, best_inside)
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
            if count == ROOM:
                break
    return found[:count], violations[:count]


@kernel
def cluster_row(
    masks: NDArray[np.uint64], offsets: NDArray[np.int64], cluster: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Rows of the members' sets that meet the cluster, rows of those that do not, and the cluster's size.

    As every member has one parent set, the inequality also says that at most size − 1 of the former occur.
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
def topological(masks: NDArray[np.uint64], choice: NDArray[np.int64], order: NDArray[np.int64]) -> bool:
    """Bring nodes into an order where each stands after its chosen parents; False where there is a cycle."""
    d = len(choice)
    placed = np.zeros(masks.shape[1], dtype=np.uint64)
    is_placed = np.zeros(d, dtype=np.bool_)
    count = 0
    again = True
    while again:
        again = False
        for x in range(d):
            if is_placed[x]:
                continue
            if is_subset(masks[choice[x]], placed):
                is_placed[x] = True
                flip_bit(placed, x)
                order[count] = x
                count += 1
                again = True
    return count == d


@kernel
def order_along(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """An order that most weight follows: next is the node with the least weight from those still to come."""
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
