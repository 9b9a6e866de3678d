"""Cuckoo hashing without a stash: every item lies in one of its three bins, at most one item per bin.

The three bins of an item are random, from a keyed hash. Augmenting paths find a matching of items to bins
whenever there is one. By Hall's theorem there is none only if for some k all bins of k + 1 items are among k
bins; for the smallest such k, each of these bins belongs to at least two of the items.
The union bound over k,

    Σ_k C(m, k) C(n, k+1) min{ [C(k, 3) / C(m, 3)]^(k+1),
                               (3k+3)! min_z (e^z − 1 − z)^k z^(−3k−3) / [m (m−1) (m−2)]^(k+1) },

is below 2⁻⁴⁰ for every n if there are m = ⌈1.3 n⌉ + 128 bins (`log2_failure`; the tests evaluate it). The
number of bins depends on the number of items alone. Fotakis, Pagh, Sanders & Spirakis 2005; thresholds:
Dietzfelbinger et al. 2010.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

HASHES = 3  # two need 2 n bins, three 1.1 n (Dietzfelbinger et al. 2010)
SPARE_BINS = 128  # for small n (see above)


def number_of_bins(items: int) -> int:
    """The number of bins for a number of items.

    >>> number_of_bins(0), number_of_bins(100_000)
    (128, 130128)
    """
    return (13 * items + 9) // 10 + SPARE_BINS


def log2_failure(items: int, bins: int) -> float:
    """The logarithm to base 2 of the bound on the probability that the items cannot be placed.

    >>> round(log2_failure(100_000, number_of_bins(100_000)), 1)
    -83.3
    """
    from scipy.special import gammaln

    if items <= HASHES:
        return -np.inf
    k = np.arange(HASHES, items, dtype=np.float64)
    n, m = float(items), float(bins)
    choices = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    choices += gammaln(n + 1) - gammaln(k + 2) - gammaln(n - k)
    triples = (k + 1) * np.log(m * (m - 1) * (m - 2))
    inside = (k + 1) * np.log(k * (k - 1) * (k - 2)) - triples
    balls = 3 * k + 3
    # Any z gives a bound; the best solves z (e^z − 1) / (e^z − 1 − z) = balls / k, which grows with z.
    low, high = np.full_like(k, 1e-3), np.full_like(k, 20.0)
    for _ in range(40):
        z = (low + high) / 2
        below = z * np.expm1(z) / (np.expm1(z) - z) < balls / k
        low, high = np.where(below, z, low), np.where(below, high, z)
    covered = gammaln(balls + 1) + k * np.log(np.expm1(low) - low) - balls * np.log(low) - triples
    return float(np.logaddexp.reduce(choices + np.minimum(inside, covered)) / np.log(2))


@kernel
def three_bins(hashes: NDArray[np.uint64], bins: int) -> NDArray[np.int64]:
    """Three different bins from three hashes of an item, each triple equally likely."""
    result = np.empty((len(hashes), 3), dtype=np.int64)
    for i in range(len(hashes)):
        a = np.int64(hashes[i, 0] % np.uint64(bins))
        b = np.int64(hashes[i, 1] % np.uint64(bins - 1))
        c = np.int64(hashes[i, 2] % np.uint64(bins - 2))
        # Step over the bins already taken.
        if b >= a:
            b += 1
        if c >= min(a, b):
            c += 1
        if c >= max(a, b):
            c += 1
        result[i, 0], result[i, 1], result[i, 2] = a, b, c
    return result


@kernel
def place(candidates: NDArray[np.int64], bins: int) -> NDArray[np.int64]:
    """The item in each bin, −1 where there is none; an empty array if the items cannot be placed."""
    table = np.full(bins, -1, dtype=np.int64)
    came_from = np.empty(bins, dtype=np.int64)
    seen_by = np.full(bins, -1, dtype=np.int64)
    queue = np.empty(bins, dtype=np.int64)
    for item in range(len(candidates)):
        # Breadth first over bins: from a full bin to the other bins of the item in it.
        head, tail, free = 0, 0, -1
        for k in range(3):
            bin_ = candidates[item, k]
            if seen_by[bin_] != item:
                seen_by[bin_] = item
                came_from[bin_] = -1
                queue[tail] = bin_
                tail += 1
        while head < tail:
            bin_ = queue[head]
            head += 1
            if table[bin_] < 0:
                free = bin_
                break
            for k in range(3):
                other = candidates[table[bin_], k]
                if seen_by[other] != item:
                    seen_by[other] = item
                    came_from[other] = bin_
                    queue[tail] = other
                    tail += 1
        if free < 0:
            return table[:0]
        while came_from[free] >= 0:
            table[free] = table[came_from[free]]
            free = came_from[free]
        table[free] = item
    return table
