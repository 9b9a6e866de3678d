"""Gradient and Hessian of the log likelihood with interactions, in closed form and in few dimensions.

With S = FFᵀ + s I (see `interaction_density`), every derivative of S is FTFᵀ with a small, block-diagonal T:
a parent's kernel K = QCQᵀ with C = VΛVᵀ has Z = QVΛ^½ and T = Λ^(−½)VᵀĊVΛ^(−½); of products, K̇ᵢ∘Kⱼ has Tᵢ ⊗ I
and K̇ᵢ∘K̇ⱼ has Tᵢ ⊗ Tⱼ, among the columns that are kept; an amplitude has I. With R = FᵀS⁻¹F and b = FᵀS⁻¹y,
  ∂ᵢ = ½ (bᵀTᵢb − tr RTᵢ),   ∂ᵢⱼ = ½ tr(RTᵢRTⱼ) − bᵀTᵢRTⱼb + ½ (bᵀTᵢⱼb − tr RTᵢⱼ),
and those in s follow from S⁻². All of it is known from A = FᵀF + s I:
  FᵀS⁻¹F = I − sA⁻¹,   FᵀS⁻²F = A⁻¹(I − sA⁻¹),   FᵀS⁻¹y = A⁻¹Fᵀy,
so that a Hessian costs a few times the density. Where S itself is factored, F = I.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
from numpy.typing import NDArray

from dagora.scores.gp.interaction_density import (
    Kernel,
    Products,
    Variances,
    dense_covariance,
    dense_parts,
    factor,
    likelihood_of,
    pick_products,
    width_of,
)

Array = NDArray[np.float64]
# A matrix that is zero but for some blocks on its diagonal, by the block's number; a vector is a diagonal.
Blocks = dict[int, Array]

# If F has more columns than this share of the rows, factoring S itself is faster, derivatives included.
DENSE = 1.5


@dataclass(frozen=True)
class ReducedSystem:
    """The functions of S and y that derivatives need.

    F's blocks, R = FᵀS⁻¹F, E with FᵀS⁻²F = ER, FᵀS⁻¹y and FᵀS⁻²y; the traces of S⁻¹ and S⁻²; yᵀS⁻²y and
    yᵀS⁻³y.
    """

    blocks: list[slice]
    r: Array
    e: Array
    solved: Array
    solved2: Array
    traces: tuple[float, float]
    quadratics: tuple[float, float]


@dataclass(frozen=True)
class InteractionTerms:
    """First and second derivatives of S as FTFᵀ, by parameter: log ρ₁ … log ρ_p, log m, log q."""

    first: list[Blocks]
    second: dict[tuple[int, int], Blocks]


def likelihood_derivatives(
    y: Array, kernels: list[Kernel], variances: Variances
) -> tuple[float, Array, Array]:
    """Log likelihood, gradient and Hessian in (log ρ₁, …, log ρ_p, log m, log q, log σ)."""
    products = pick_products(kernels, variances)
    if width_of(kernels, products) > DENSE * len(y):
        value, reduced = reduce_dense(y, kernels, variances)
        return value, *derivatives(reduced, dense_terms(kernels, variances), variances.s)
    rows = factor(kernels, products, variances, y)
    value, reduced = reduce(rows @ rows.T, len(y), blocks_of(kernels, products), variances.s)
    return value, *derivatives(reduced, terms(kernels, products), variances.s)


def blocks_of(kernels: list[Kernel], products: list[Products]) -> list[slice]:
    """The positions of the columns of each main effect and of each product, after the constant."""
    sizes = [len(kernel.rows) for kernel in kernels] + [len(some.k) for some in products]
    ends = np.cumsum([1, *sizes]).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def reduce(gram: Array, rows: int, blocks: list[slice], s: float) -> tuple[float, ReducedSystem]:
    """Log likelihood, and what its derivatives need, by the products of F's columns and y."""
    from scipy.linalg.lapack import dpotri

    value, triangle = likelihood_of(gram, rows, s)
    width = len(gram) - 1
    # One triangle of A⁻¹, the other is zero.
    half, _ = dpotri(triangle[:width, :width].T, lower=0)
    a = half + half.T
    a[np.arange(width), np.arange(width)] *= 0.5
    once = a @ gram[:width, width]
    twice = a @ once
    quadratic2 = (triangle[width, width] ** 2 / s - once @ once) / s
    return value, ReducedSystem(
        blocks,
        np.eye(width) - s * a,
        a,
        once,
        twice,
        ((rows - width) / s + float(np.trace(a)), (rows - width) / s**2 + float((a * a).sum())),
        (quadratic2, (quadratic2 - once @ twice) / s),
    )


def terms(kernels: list[Kernel], products: list[Products]) -> InteractionTerms:
    """Derivatives of S among the columns of F."""
    p = len(kernels)
    numbered = list(enumerate(products, start=p))
    first: list[Blocks] = [{i: kernel.slope} for i, kernel in enumerate(kernels)]
    second: dict[tuple[int, int], Blocks] = {(i, i): {i: kernel.bend} for i, kernel in enumerate(kernels)}
    second |= {(i, p): {i: kernel.slope} for i, kernel in enumerate(kernels)}
    second |= {(i, p + 1): {} for i in range(p)}
    for block, some in numbered:
        i, j = some.one, some.other
        same_k, same_j = some.k[:, None] == some.k, some.j[:, None] == some.j
        slope_i, slope_j = kernels[i].slope[some.k][:, some.k], kernels[j].slope[some.j][:, some.j]
        first[i][block] = second[i, p + 1][block] = slope_i * same_j
        first[j][block] = second[j, p + 1][block] = slope_j * same_k
        second[i, j] = {block: slope_i * slope_j}
        second[i, i][block] = kernels[i].bend[some.k][:, some.k] * same_j
        second[j, j][block] = kernels[j].bend[some.j][:, some.j] * same_k
    first.append({i: np.ones(len(kernel.rows)) for i, kernel in enumerate(kernels)})
    second[p, p] = first[p]
    if products:
        first.append({block: np.ones(len(some.k)) for block, some in numbered})
        second[p + 1, p + 1] = first[p + 1]
    return InteractionTerms(first, second)


def derivatives(reduced: ReducedSystem, terms: InteractionTerms, s: float) -> tuple[Array, Array]:
    """Gradient and Hessian in the terms' parameters and, last, log σ."""
    r, b, blocks = reduced.r, reduced.solved, reduced.blocks
    size = len(terms.first)
    outer = np.outer(b, b) - r
    gradient, hessian = np.zeros(size + 1), np.zeros((size + 1, size + 1))
    # RT and Tb of every parameter.
    turned = [{k: times(r[:, blocks[k]], t) for k, t in blocked.items()} for blocked in terms.first]
    pushed = np.zeros((size, len(b)))
    for vector, blocked in zip(pushed, terms.first, strict=True):
        for k, t in blocked.items():
            vector[blocks[k]] = times(b[blocks[k]], t)
    bilinear = pushed @ r @ pushed.T
    for i, blocked in enumerate(terms.first):
        gradient[i] = 0.5 * contract(outer, blocked, blocks)
        trace = sum(np.vdot(reduced.e[blocks[k]].T, rt) for k, rt in turned[i].items())
        hessian[i, size] = 2 * s * (0.5 * trace - reduced.solved2 @ pushed[i])
    for i, j in combinations_with_replacement(range(size), 2):
        trace = sum(
            np.vdot(one[blocks[m]], other[blocks[k]].T)
            for k, one in turned[i].items()
            for m, other in turned[j].items()
        )
        own = contract(outer, terms.second.get((i, j), {}), blocks)
        hessian[i, j] = 0.5 * (trace + own) - bilinear[i, j]
    in_s = 0.5 * (reduced.quadratics[0] - reduced.traces[0])
    gradient[size] = 2 * s * in_s
    hessian[size, size] = 4 * s * s * (0.5 * reduced.traces[1] - reduced.quadratics[1]) + 4 * s * in_s
    lower = np.tril_indices(size + 1, -1)
    hessian[lower] = hessian.T[lower]
    return gradient, hessian


def times(left: Array, t: Array) -> Array:
    """A matrix or vector times a block."""
    product: Array = left @ t if t.ndim > 1 else left * t
    return product


def contract(matrix: Array, blocked: Blocks, blocks: list[slice]) -> float:
    """tr(matrix · T) of symmetric matrices."""
    total = 0.0
    for k, t in blocked.items():
        block = matrix[blocks[k], blocks[k]]
        total += float(np.vdot(block, t) if t.ndim > 1 else np.diag(block) @ t)
    return total


def reduce_dense(y: Array, kernels: list[Kernel], variances: Variances) -> tuple[float, ReducedSystem]:
    """The same as `reduce`, with F = I and from the N × N matrix S."""
    from scipy.linalg import cho_solve

    rows = len(y)
    triangle = np.linalg.cholesky(dense_covariance(kernels, variances))
    inverse = cho_solve((triangle, True), np.eye(rows))
    once = inverse @ y
    twice = inverse @ once
    value = -0.5 * (rows * np.log(2 * np.pi) + y @ once) - np.log(np.diag(triangle)).sum()
    return float(value), ReducedSystem(
        [slice(0, rows)],
        inverse,
        inverse,
        once,
        twice,
        (float(np.trace(inverse)), float((inverse * inverse).sum())),
        (float(once @ once), float(once @ twice)),
    )


def dense_terms(kernels: list[Kernel], variances: Variances) -> InteractionTerms:
    """Derivatives of S as N × N matrices (F = I)."""
    p, main, product = len(kernels), variances.main, variances.product
    plain = [kernel.rows.T @ kernel.rows for kernel in kernels]
    slopes = [kernel.rows.T @ kernel.slope @ kernel.rows for kernel in kernels]
    bends = [kernel.rows.T @ kernel.bend @ kernel.rows for kernel in kernels]
    # The others' kernels, with which each parent's is multiplied.
    beside = [product * (np.sum(plain, axis=0) - own) for own in plain]
    first = [slope * (main + other) for slope, other in zip(slopes, beside, strict=True)]
    second = {(i, i): {0: bends[i] * (main + beside[i])} for i in range(p)}
    second |= {(i, p): {0: main * slopes[i]} for i in range(p)}
    second |= {(i, p + 1): {0: slopes[i] * beside[i]} for i in range(p)}
    second |= {(i, j): {0: product * slopes[i] * slopes[j]} for i, j in combinations(range(p), 2)}
    amplitudes = dense_parts(plain, variances)[: 2 if p > 1 else 1]
    second |= {(p + k, p + k): {0: part} for k, part in enumerate(amplitudes)}
    return InteractionTerms([{0: part} for part in (*first, *amplitudes)], second)
