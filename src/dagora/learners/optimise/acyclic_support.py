"""From weights to a graph: drop small weights, then the weakest edges that still close a cycle.

Edges are added from the strongest to the weakest, and an edge that would close a cycle with those already
added is left out. Required edges come first, so they are never lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.graph.topological import topological_order
from dagora.kernels.decorators import kernel
from dagora.stats.data_warnings import listing

Support = NDArray[np.bool_]


def dropped_edges_warning(
    names: tuple[str, ...], weights: NDArray[np.float64], dropped: list[tuple[int, int]]
) -> tuple[str, ...]:
    """A warning that lists the edges dropped to reach a DAG; empty if there are none."""
    if not dropped:
        return ()
    edges = [f"{names[i]} → {names[j]} ({weights[i, j]:.3g})" for i, j in dropped]
    return (f"dropped to reach a DAG: {listing(edges)}",)


def acyclic_support(
    strength: NDArray[np.float64], threshold: float, required: Support
) -> tuple[Support, list[tuple[int, int]]]:
    """Acyclic support of the weights of at least `threshold`, and the edges dropped because of cycles.

    >>> strength = np.array([[0.0, 2.0, 0.1], [1.0, 0.0, -3.0], [0.0, 0.0, 0.0]])
    >>> support, dropped = acyclic_support(strength, 0.3, np.zeros((3, 3), dtype=bool))
    >>> np.argwhere(support).tolist(), dropped
    ([[0, 1], [1, 2]], [(1, 0)])
    """
    size = np.abs(strength)
    wanted = ((size >= threshold) & (size > 0)) | required
    if topological_order(wanted) is not None:
        return wanted, []
    tails, heads = np.nonzero(wanted)
    ranks = np.where(required, np.inf, size)[tails, heads]
    best_first = np.argsort(-ranks, kind="stable")
    tails, heads = tails[best_first], heads[best_first]
    kept = keep_acyclic(len(size), tails, heads)
    support = np.zeros_like(wanted)
    support[tails[kept], heads[kept]] = True
    dropped = [(int(i), int(j)) for i, j in zip(tails[~kept], heads[~kept], strict=True)]
    return support, dropped


@kernel
def keep_acyclic(d: int, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Go through the edges in order and keep each that closes no cycle with those kept before it."""
    # Bit j of row i is set if i reaches j.
    words = (d + 63) // 64
    reaches = np.zeros((d, words), dtype=np.uint64)
    one = np.uint64(1)
    for i in range(d):
        reaches[i, i >> 6] = one << np.uint64(i & 63)
    kept = np.zeros(len(tails), dtype=np.bool_)
    for k in range(len(tails)):
        tail, head = tails[k], heads[k]
        if reaches[head, tail >> 6] >> np.uint64(tail & 63) & one:
            continue
        kept[k] = True
        if reaches[tail, head >> 6] >> np.uint64(head & 63) & one:
            continue
        word, bit = tail >> 6, np.uint64(tail & 63)
        for i in range(d):
            if reaches[i, word] >> bit & one:
                for w in range(words):
                    reaches[i, w] |= reaches[head, w]
    return kept
