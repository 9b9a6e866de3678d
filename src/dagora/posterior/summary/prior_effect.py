"""The effect of probabilities of edges on a posterior: edge probabilities with the prior and without it.

Draws under the prior have the weight exp(−Σ log odds of the edges they have) in the posterior without it:
that is exact but for Monte Carlo error, and `worth` says how many draws the weights are worth. Where edge
probabilities are summed without draws, so are those without the prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.graph.bits import unpack
from dagora.posterior.draws import Draws
from dagora.posterior.summary.diagnostics import weight_ess

Floats = NDArray[np.float64]
# Edges whose probability changed by less are not listed in words, and the most that are.
LEAST, MOST_LINES = 0.005, 10
# Weights that are worth fewer draws tell little.
FEW = 50


class PriorEffect(NamedTuple):
    """Edge probabilities with a prior and without it, [i, j] is i → j; `worth` is None if both are exact."""

    names: tuple[str, ...]
    with_prior: Floats
    without: Floats
    worth: float | None

    def changed(self) -> list[tuple[int, int]]:
        """The edges whose probability changed by more than `LEAST`, by how much.

        >>> with_prior, without = np.array([[0, 0.9], [0, 0]]), np.array([[0, 0.4], [0, 0]])
        >>> PriorEffect(("a", "b"), with_prior, without, None).changed()
        [(0, 1)]
        """
        change = np.abs(self.with_prior - self.without)
        order = np.argsort(-change, axis=None, kind="stable").tolist()
        return [divmod(k, len(self.names)) for k in order if change.flat[k] >= LEAST]

    def lines(self) -> list[str]:
        """The edges that the prior changed most, in words."""
        places = self.changed()[:MOST_LINES]
        if not places:
            return ["the prior changed no edge's probability by more than 0.005"]
        doubt = ""
        if self.worth is not None:
            few = ", too few to rely on" if self.worth < FEW else ""
            doubt = f" (by weights worth {self.worth:.0f} draws{few})"
        return [
            f"edge probabilities with the prior, and without it{doubt}:",
            *(
                f"  {self.names[i]} → {self.names[j]}  {self.with_prior[i, j]:.3f}  {self.without[i, j]:.3f}"
                for i, j in places
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """JSON form: a row for each edge with both probabilities."""
        edges = [
            [tail, head, float(self.with_prior[i, j]), float(self.without[i, j])]
            for i, tail in enumerate(self.names)
            for j, head in enumerate(self.names)
            if i != j
        ]
        return {"edges": edges, "worth": self.worth}

    @classmethod
    def from_dict(cls, names: Sequence[str], content: Mapping[str, Any]) -> PriorEffect:
        """Undo `to_dict`."""
        place = {name: k for k, name in enumerate(names)}
        found = np.zeros((2, len(names), len(names)))
        for tail, head, one, other in content["edges"]:
            found[:, place[tail], place[head]] = float(one), float(other)
        worth = content["worth"]
        return cls(tuple(names), found[0], found[1], None if worth is None else float(worth))


def effect_by_weights(draws: Draws, odds: Floats) -> PriorEffect | None:
    """The effect of a prior with these log odds, by the weights of draws made under it."""
    if not draws.log_scores.size:
        return None
    nodes = len(draws.names)
    before = np.zeros(draws.log_scores.shape) if draws.log_weights is None else draws.log_weights
    graphs = [
        unpack(draws.parents[:, :, child].reshape(draws.log_scores.size, -1), nodes) for child in range(nodes)
    ]
    log_prior = np.zeros(draws.log_scores.size)
    for child, present in enumerate(graphs):
        log_prior += present @ odds[:, child]
    after = before.ravel() - log_prior
    with_prior, without = (
        np.column_stack([weights @ present for present in graphs])
        for weights in (normalised(before.ravel()), normalised(after))
    )
    known = draws.edges if draws.edges is not None else with_prior
    return PriorEffect(draws.names, known, without, float(weight_ess(after)))


def normalised(log_weights: Floats) -> Floats:
    """Weights that sum to 1."""
    weights = np.exp(log_weights - log_weights.max(initial=-np.inf))
    return np.asarray(weights / weights.sum(), dtype=np.float64)
