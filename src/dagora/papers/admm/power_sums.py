"""Every site's covariance from the sums of several rounds of ADMM at one ρ, whoever masks them.

With N_k = S_k (S_k + ρI)⁻¹, equations (7) and (10) give for P_kt = β_k + ρ(B_k − W_t)

    P_kt = N_k (P_k,t−1 + C_t),      C_0 = ρ(I − W_0),   C_t = ρ(I − 2W_t + W_t−1),

so that round t adds Σ_k N_kᵗ⁺¹ C_0 to terms that earlier rounds gave: the coordinator, who knows every W_t,
has the power sums M_j = Σ_k N_kʲ for j = 1, 2, … (`power_sums`). Let the N_k together have r eigenpairs
(λ, v) of λ > 0. Then M_j = Σ λʲ v vᵀ, and the block Hankel matrices H = [M_a+b+1], H′ = [M_a+b+2] have the
eigenvalues λ as a pencil, with eigenvectors that contain v (Prony 1795, in blocks). The eigenvectors of one
site are orthogonal, those of different sites are not, which tells whose are whose. From N_k follows S_k.
Names of sites do not follow, unless something else tells them apart.

Sums that are linear in S_k say nothing of this: Σ S_k is all that they give.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from dagora.papers.admm.attack import Record, covariance_from

Matrix = NDArray[np.float64]

# Eigenvalues of a Hankel matrix below this share of the largest are rounding.
RANK = 1e-14
# No eigenvalue of N is 1; this keeps I − N invertible where the attack fails.
LARGEST = 1.0 - 1e-9


def covariances_from(record: Record, sites: int) -> list[Matrix]:
    """The S_k of all sites in the original units, in no particular order."""
    values, vectors = eigenpairs(power_sums(record))
    scale = np.outer(record.unit, record.unit)
    found = []
    for members in orthogonal_groups(vectors, sites):
        own = vectors[:, members]
        shrunk = (own * np.clip(values[members], 0.0, LARGEST)) @ own.T
        found.append(covariance_from(shrunk, record.rho) * scale)
    return found


def power_sums(record: Record) -> list[Matrix]:
    """M_1, M_2, … from the sums and the W of the rounds.

    >>> N = np.array([[0.5, 0.1], [0.1, 0.2]])
    >>> W = np.zeros((2, 2)), np.array([[0.0, 0.3], [0.0, 0.0]])
    >>> first = N @ np.eye(2)  # ρ = 1
    >>> record = Record(1.0, np.ones(2), W, (first, N @ (first + np.eye(2) - 2 * W[1])))
    >>> [bool(np.allclose(found, power)) for found, power in zip(power_sums(record), (N, N @ N))]
    [True, True]
    """
    W, one = record.weights, np.eye(len(record.unit))
    steps = [record.rho * (one - W[0])]
    steps += [record.rho * (one - 2.0 * after + before) for before, after in pairwise(W)]
    inverse = np.linalg.inv(steps[0])
    powers: list[Matrix] = []
    for t, total in enumerate(record.sums):
        known = sum((powers[t - s] @ steps[s] for s in range(1, t + 1)), np.zeros_like(one))
        powers.append((total - known) @ inverse)
    return [(power + power.T) / 2 for power in powers]


def eigenpairs(powers: list[Matrix]) -> tuple[Matrix, Matrix]:
    """The eigenvalues of all N_k together, and their eigenvectors as columns."""
    d = len(powers[0])
    for size in range(1, len(powers) // 2 + 1):
        values, vectors = np.linalg.eigh(hankel(powers, size, 0))
        kept = values > RANK * values[-1]
        # With a matrix larger than the number of eigenpairs, all of them are in it.
        if not kept.all():
            break
    basis = vectors[:, kept] / np.sqrt(values[kept])
    found, mixed = np.linalg.eigh(basis.T @ hankel(powers, size, 1) @ basis)
    pairs = (hankel(powers, size, 0) @ basis @ mixed)[:d]
    return found, pairs / np.linalg.norm(pairs, axis=0)


def hankel(powers: list[Matrix], size: int, shift: int) -> Matrix:
    """The block matrix [M_a+b+1+shift] of size × size blocks."""
    return np.block([[powers[a + b + shift] for b in range(size)] for a in range(size)])


def orthogonal_groups(vectors: Matrix, groups: int) -> list[NDArray[np.intp]]:
    """Divide vectors into groups such that the largest products within groups are small (complete linkage).

    >>> turned = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> [group.tolist() for group in orthogonal_groups(np.hstack([np.eye(2), turned]), 2)]
    [[0, 1], [2, 3]]
    """
    products = np.abs(vectors.T @ vectors)
    joined = linkage(products[np.triu_indices(len(products), 1)], "complete")
    label = fcluster(joined, groups, "maxclust")
    return [np.flatnonzero(label == group) for group in np.unique(label)]
