"""Continuous nodes, eliminated before the discrete ones (a strong elimination order; Lauritzen 1992).

Connected continuous nodes form a component. Given a configuration of its discrete parents, a component is a
multivariate normal distribution, built node by node from the regressions. The observed nodes have a density
per configuration, which is a factor over the discrete parents, and leave a conditional normal distribution of
the rest. So the answer for a continuous node is a mixture over configurations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi, prod

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.inference.factors import Factor, MemoryLimit
from dagora.network.inference.problem import ReducedRegression

Array = NDArray[np.float64]

RELATIVE_RANK = 1e-12
"""Eigenvalues below this share of the largest count as zero: what was observed is determined."""


@dataclass(frozen=True, eq=False)
class Component:
    """Connected continuous nodes, given the observed ones among them.

    One entry per configuration of `discrete`, in the order of the axes of a table over them.
    """

    discrete: tuple[str, ...]
    nodes: tuple[str, ...]
    """Those that were not observed."""
    means: Array
    covariances: Array
    log_densities: Array
    """ln of the density of what was observed."""

    def factor(self, sizes: Mapping[str, int]) -> tuple[Factor, float]:
        """The densities as a table with a largest entry of 1, and the logarithm of its scale."""
        most = float(self.log_densities.max())
        logs = self.log_densities - most if most > -np.inf else self.log_densities
        return Factor.of_logs(self.discrete, logs.reshape([sizes[v] for v in self.discrete])), most


def split_components(
    lines: Sequence[ReducedRegression],
    seen: Mapping[str, float],
    sizes: Mapping[str, int],
    limits: MemoryLimit,
) -> list[Component]:
    """Make the components of the continuous nodes."""
    leader = {line.node: line.node for line in lines}

    def find(node: str) -> str:
        while leader[node] != node:
            node = leader[node]
        return node

    for line in lines:
        for parent in line.continuous:
            leader[find(parent)] = find(line.node)
    groups: dict[str, list[ReducedRegression]] = {}
    for line in lines:
        groups.setdefault(find(line.node), []).append(line)
    return [make_component(group, seen, sizes, limits) for group in groups.values()]


def make_component(
    lines: Sequence[ReducedRegression],
    seen: Mapping[str, float],
    sizes: Mapping[str, int],
    limits: MemoryLimit,
) -> Component:
    """Build the joint distribution per configuration, and condition it on the observed nodes."""
    discrete = tuple(dict.fromkeys(parent for line in lines for parent in line.discrete))
    configurations = prod(sizes[v] for v in discrete)
    needed = 8 * configurations * len(lines) ** 2
    if needed > limits.memory:
        raise QueryError(
            f"{len(lines)} continuous variables hang together over {len(discrete)} discrete ones: "
            f"{configurations:,} normal distributions need {needed:,} bytes, and {limits.memory:,} are "
            f"allowed: {limits.way_out_if_too_large()}"
        )
    means, covariances = joint_moments(lines, discrete, sizes)
    nodes = [line.node for line in lines]
    observed = [i for i, node in enumerate(nodes) if node in seen]
    hidden = [i for i, node in enumerate(nodes) if node not in seen]
    values = np.array([seen[nodes[i]] for i in observed])
    names = tuple(nodes[i] for i in hidden)
    if not observed:
        return Component(discrete, names, means, covariances, np.zeros(configurations))
    log_densities, gain, residuals = density_and_gain(means, covariances, observed, hidden, values, nodes)
    cross = covariances[:, observed][:, :, hidden]
    return Component(
        discrete,
        names,
        means[:, hidden] + np.einsum("kho,ko->kh", gain, residuals),
        covariances[:, hidden][:, :, hidden] - gain @ cross,
        log_densities,
    )


def joint_moments(
    lines: Sequence[ReducedRegression], discrete: Sequence[str], sizes: Mapping[str, int]
) -> tuple[Array, Array]:
    """Mean and covariance of the nodes for each configuration, parents before children."""
    shape = [sizes[v] for v in discrete]
    count = prod(shape)
    means, covariances = np.zeros((count, len(lines))), np.zeros((count, len(lines), len(lines)))
    position: dict[str, int] = {}
    for i, line in enumerate(lines):
        intercepts, sds = (
            np.broadcast_to(Factor(line.discrete, part).align(discrete), shape).reshape(count)
            for part in (line.lines.intercepts, line.lines.sds)
        )
        parents = [position[parent] for parent in line.continuous]
        slopes = np.zeros((count, len(parents)))
        for k in range(len(parents)):
            column = Factor(line.discrete, line.lines.slopes[..., k]).align(discrete)
            slopes[:, k] = np.broadcast_to(column, shape).reshape(count)
        with np.errstate(over="ignore", invalid="ignore"):
            means[:, i] = intercepts + (slopes * means[:, parents]).sum(axis=1)
            before = np.einsum("kp,kpj->kj", slopes, covariances[:, parents, :])
            covariances[:, i, :] = before
            covariances[:, :, i] = before
            covariances[:, i, i] = (slopes * before[:, parents]).sum(axis=1) + sds**2
        if not (np.isfinite(means[:, i]).all() and np.isfinite(covariances[:, i]).all()):
            raise QueryError(f"the numbers of '{line.node}' are so large that no float holds its variance")
        position[line.node] = i
    return means, covariances


def density_and_gain(
    means: Array,
    covariances: Array,
    observed: list[int],
    hidden: list[int],
    values: Array,
    nodes: Sequence[str],
) -> tuple[Array, Array, Array]:
    """Log density of the observed values, the regression of the hidden nodes on them, and the residuals."""
    residuals = values - means[:, observed]
    square = covariances[:, observed][:, :, observed]
    cross = covariances[:, hidden][:, :, observed]
    try:
        factor = np.linalg.cholesky(square)
        scale = np.einsum("kii->ki", factor)
        if (scale**2 <= RELATIVE_RANK * np.einsum("kii->ki", square)).any():
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        return singular_density(square, cross, residuals, [nodes[i] for i in observed])
    white = np.linalg.solve(factor, residuals[:, :, None])[:, :, 0]
    gain = np.linalg.solve(square, cross.transpose(0, 2, 1)).transpose(0, 2, 1)
    logs = -0.5 * (white**2).sum(axis=1) - np.log(scale).sum(axis=1) - 0.5 * len(observed) * np.log(2 * pi)
    return np.asarray(logs), np.asarray(gain, dtype=np.float64), residuals


def singular_density(
    square: Array, cross: Array, residuals: Array, names: Sequence[str]
) -> tuple[Array, Array, Array]:
    """Do the same if some observed values determine others, as with a node without noise.

    The density is that on the set of possible values; other values have none. Densities on sets of different
    dimensions cannot be compared.
    """
    eigenvalues, vectors = np.linalg.eigh(square)
    kept = eigenvalues > RELATIVE_RANK * np.maximum(eigenvalues.max(axis=1, keepdims=True), 1e-300)
    if len(set(kept.sum(axis=1).tolist())) > 1:
        raise QueryError(
            f"{', '.join(repr(name) for name in names)}: some configurations determine these values and "
            "others do not, so their densities cannot be compared: give them standard deviations above 0"
        )
    turned = np.einsum("kij,ki->kj", vectors, residuals)
    size = np.abs(residuals).max(axis=1, keepdims=True)
    off = (np.abs(turned) > 1e-9 * np.maximum(size, 1.0)) & ~kept
    safe = np.where(kept, eigenvalues, 1.0)
    logs = np.where(kept, -0.5 * turned**2 / safe - 0.5 * np.log(2 * pi * safe), 0.0).sum(axis=1)
    logs = np.where(off.any(axis=1), -np.inf, logs)
    inverse = np.einsum("kij,kj,klj->kil", vectors, np.where(kept, 1 / safe, 0.0), vectors)
    return logs, cross @ inverse, residuals
