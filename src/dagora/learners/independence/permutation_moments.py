"""The first three moments of Σ A_ij B_π(i)π(j) over all permutations π, for doubly centred symmetric A and B.

They approximate the permutation distribution of statistics like X², HSIC and distance covariance.
The m-th power of the sum has 2m indices. Tuples of indices fall into patterns, by which of them are equal; a
pattern with k different indices has the expectation D_A · D_B / (n (n − 1) … (n − k + 1)), where D is the sum
over all tuples of that pattern. By Möbius inversion D is a combination of sums over unrestricted indices.
Rows of A sum to 0, so most of these vanish. Products of eight sums remain (Kazi-Aoual, Hitier, Sabatier &
Lebreton 1995), with integer coefficients, which are computed here once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.kernels.decorators import kernel

Floats = NDArray[np.float64]
# A pattern: the block of each index, blocks numbered as they first appear.
Pattern = tuple[int, ...]

# The sums, in the order of the arrays: with d the diagonal of A,
# Σd, Σd², Σa_ij², Σd³, Σa_ij³, Σ d_i (A²)_ii, dᵀAd, tr A³.
TRACE, SQUARES, ENTRIES, CUBES, CUBED_ENTRIES, SQUARED, FORM, CYCLES = range(8)
# Products of sums that the moments are made of, by the sum of a connected part for each factor.
PRODUCTS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((TRACE,),),
    2: ((TRACE, TRACE), (SQUARES,), (ENTRIES,)),
    3: (
        (TRACE, TRACE, TRACE),
        (TRACE, SQUARES),
        (TRACE, ENTRIES),
        (CUBES,),
        (CUBED_ENTRIES,),
        (SQUARED,),
        (FORM,),
        (CYCLES,),
    ),
}


# A variance below this share of the second moment is rounding.
ROUNDING = 1e-12
# Below this skewness the distribution is taken for normal: the gamma's shape would be beyond 4e8.
NO_SKEWNESS = 1e-4


class Coefficients(NamedTuple):
    """`first[k, a, b]` is the factor of products a of A and b of B among patterns of k + 1 different indices.

    `second` and `third` are the same for the second and third moment.
    """

    first: Floats
    second: Floats
    third: Floats


@cache
def coefficients() -> Coefficients:
    """The coefficients of the three moments.

    >>> coefficients().first[:, 0, 0]
    array([1., 1.])
    """
    first, second, third = (moment_coefficients(order) for order in (1, 2, 3))
    return Coefficients(first, second, third)


def moment_coefficients(order: int) -> Floats:
    """Coefficients of one moment, by number of different indices and by the products of A and B."""
    kinds = PRODUCTS[order]
    out = np.zeros((2 * order, len(kinds), len(kinds)))
    for pattern in patterns(2 * order):
        blocks = max(pattern) + 1
        restricted = np.zeros(len(kinds))
        for merged in patterns(blocks):
            kind = product_of(tuple(merged[block] for block in pattern))
            if kind is not None:
                sizes = np.bincount(merged)
                restricted[kinds.index(kind)] += math.prod(
                    (-1) ** (int(size) - 1) * math.factorial(int(size) - 1) for size in sizes
                )
        out[blocks - 1] += np.outer(restricted, restricted)
    return out


def patterns(size: int) -> Iterator[Pattern]:
    """All patterns of equality among `size` indices.

    >>> list(patterns(2)), sum(1 for _ in patterns(6))
    ([(0, 0), (0, 1)], 203)
    """
    if not size:
        yield ()
        return
    for shorter in patterns(size - 1):
        for block in range(max(shorter, default=-1) + 2):
            yield (*shorter, block)


def product_of(pattern: Pattern) -> tuple[int, ...] | None:
    """The product of sums for a pattern of unrestricted indices; None if it vanishes.

    Indices are the nodes and factors of A the edges of a multigraph; each connected part gives one sum.

    >>> product_of((0, 0, 1, 1)), product_of((0, 1, 0, 1)), product_of((0, 1, 0, 2))
    ((0, 0), (2,), None)
    """
    edges = [(pattern[k], pattern[k + 1]) for k in range(0, len(pattern), 2)]
    degrees = np.bincount(pattern)
    if degrees.min() < 2:
        return None  # this index occurs once, and a row of A sums to 0
    parts: list[tuple[set[int], list[tuple[int, int]]]] = []
    for edge in edges:
        joined, nodes, inside = [], set(edge), [edge]
        for part in parts:
            if part[0] & nodes:
                nodes |= part[0]
                inside += part[1]
            else:
                joined.append(part)
        parts = [*joined, (nodes, inside)]
    return tuple(sorted(sum_of(len(nodes), inside) for nodes, inside in parts))


def sum_of(nodes: int, edges: list[tuple[int, int]]) -> int:
    """The sum for a connected multigraph."""
    loops = sum(tail == head for tail, head in edges)
    if len(edges) == 1:
        return TRACE
    if len(edges) == 2:
        return SQUARES if nodes == 1 else ENTRIES
    if nodes == 3:
        return CYCLES
    return (CUBED_ENTRIES, SQUARED, FORM, CUBES)[loops]


@kernel
def permutation_cumulants(rows: int, one: Floats, other: Floats, factors: Coefficients, out: Floats) -> None:
    """Mean, variance and third central moment over all permutations, from the sums of both matrices.

    >>> out = np.empty(3)
    >>> swap = np.array([1.0, 0.5, 1.0, 0.25, 0.0, 0.5, 0.0, 1.0])  # of [[0.5, −0.5], [−0.5, 0.5]]
    >>> permutation_cumulants(2, swap, swap, coefficients(), out)
    >>> out  # both permutations of two rows give the same
    array([1., 0., 0.])
    """
    mean = expected_product(factors.first, one, other, rows, 1)
    left = np.empty(8)
    right = np.empty(8)
    fill_products(one, left, 2)
    fill_products(other, right, 2)
    second = expected_product(factors.second, left, right, rows, 3)
    fill_products(one, left, 3)
    fill_products(other, right, 3)
    third = expected_product(factors.third, left, right, rows, 8)
    out[0] = mean
    out[1] = second - mean**2
    out[2] = third - 3 * mean * second + 2 * mean**3
    if out[1] <= ROUNDING * second:  # all permutations give the same
        out[1] = out[2] = 0.0


@kernel
def fill_products(sums: Floats, out: Floats, order: int) -> None:
    """Write the products of sums of one order, as `PRODUCTS` lists them."""
    trace = sums[TRACE]
    if order == 2:
        out[0], out[1], out[2] = trace**2, sums[SQUARES], sums[ENTRIES]
        return
    out[0], out[1], out[2] = trace**3, trace * sums[SQUARES], trace * sums[ENTRIES]
    for k in range(CUBES, CYCLES + 1):
        out[k] = sums[k]


@kernel
def expected_product(factors: Floats, left: Floats, right: Floats, rows: int, size: int) -> float:
    """Sum over the patterns of at most `rows` different indices."""
    total = 0.0
    falling = 1.0
    for k in range(min(len(factors), rows)):
        falling *= rows - k
        part = 0.0
        for a in range(size):
            inner = 0.0
            for b in range(size):
                inner += factors[k, a, b] * right[b]
            part += left[a] * inner
        total += part / falling
    return total


def upper_tail(values: ArrayLike, means: ArrayLike, variances: ArrayLike, thirds: ArrayLike) -> Floats:
    """P(T ≥ value) by Pearson's type III, a shifted gamma; `thirds` are third central moments.

    It is 1 if T does not vary. The exponential distribution has mean 1, variance 1 and third moment 2.

    >>> upper_tail([3.0, 5.0], [1.0, 1.0], [1.0, 0.0], [2.0, 0.0]).round(6)
    array([0.049787, 1.      ])
    """
    from scipy.special import gammainc, gammaincc, ndtr

    value, mean, variance, third = (
        np.asarray(each, dtype=np.float64) for each in (values, means, variances, thirds)
    )
    varies = variance > 0
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    z = (value - mean) / deviation
    skewness = np.where(varies, third / deviation**3, 0.0)
    skewed = np.abs(skewness) > NO_SKEWNESS
    shape = 4 / np.where(skewed, skewness, 1.0) ** 2
    # In units of a gamma of this shape; mirrored where the long tail is on the left.
    place = np.maximum(0.0, shape + np.sign(skewness) * z * np.sqrt(shape))
    tail = np.where(skewness > 0, gammaincc(shape, place), gammainc(shape, place))
    p: Floats = np.where(varies, np.where(skewed, tail, ndtr(-z)), 1.0)
    return p
