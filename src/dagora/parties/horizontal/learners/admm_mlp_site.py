"""The site's part of NOTEARS-MLP-ADMM: it fits networks to its rows, pulled towards the common networks.

The site minimises 1/(2n) Σ_j ‖x_j − f_j(x)‖² + β·(θ − W) + (ρ/2) ‖θ − W‖² over all parameters θ of its
networks (`optimise/mlp/network`), where n counts the rows of all sites, by L-BFGS from its last θ. Few steps
are enough, because the next round continues from there; as published, it goes on to the end, and a network
may use its own variable. θ and W are vectors: the weights of the first layer, as [unit, input, output] and
zero where an edge is not free, then its biases, the outward weights and the outward biases. As in the linear
case the site shows θ − W and β.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.jax import require_jax
from dagora.parties.horizontal.learners.admm_site import SiteState, answer_loss, state_of
from dagora.parties.horizontal.learners.checked_fields import (
    check_names,
    finite_answer,
    real,
    reals,
    refuse,
    truths,
    whole,
)
from dagora.parties.horizontal.learners.columns import Preparation
from dagora.parties.horizontal.session.federation import Answer, Site, TaskQuestion

Vector = NDArray[np.float64]

# Largest number of steps of one local fit, and the relative change of its objective that ends it.
LOCAL_STEPS = 15
LOCAL_TOLERANCE = 1e-7
# With `published`: SciPy's own limits on steps and on the change of the objective.
PUBLISHED_STEPS, PUBLISHED_TOLERANCE = 15_000, 2.2e-9
# Key of a site's memory.
MEMORY = "admm-mlp"
# The most hidden units that a coordinator may ask for, as in the method's options.
MOST_HIDDEN = 1000


@dataclass(frozen=True)
class NetworkShape:
    """The arrangement of the weights of networks with `hidden` units for `d` variables in one vector."""

    hidden: int
    d: int

    @property
    def inward(self) -> int:
        """Entries of the first layer."""
        return self.hidden * self.d * self.d

    @property
    def size(self) -> int:
        """Entries in all."""
        return self.inward + 2 * self.hidden * self.d + self.d

    @property
    def outward(self) -> slice:
        """The positions of the outward weights."""
        return slice(self.inward + self.hidden * self.d, self.inward + 2 * self.hidden * self.d)

    def first_layer(self, vector: Vector) -> Vector:
        """First layer as [unit, input, output]."""
        return vector[: self.inward].reshape(self.hidden, self.d, self.d)

    def weights(self, vector: Vector) -> Any:  # noqa: ANN401 - its module needs JAX
        """The vector as the weights that the networks take."""
        from dagora.learners.optimise.mlp.network import NetworkWeights

        units = (self.hidden, self.d)
        rest = vector[self.inward :]
        bias, outward, outward_bias = np.split(rest, [self.hidden * self.d, 2 * self.hidden * self.d])
        inward = np.ascontiguousarray(self.first_layer(vector).transpose(0, 2, 1))
        return NetworkWeights(inward, bias.reshape(units), outward.reshape(units), outward_bias)

    def vector(self, weights: Any) -> Vector:  # noqa: ANN401
        """The inverse of `weights`."""
        inward, *rest = (np.asarray(part, dtype=np.float64) for part in weights)
        return np.concatenate([inward.transpose(0, 2, 1).ravel(), *(part.ravel() for part in rest)])


@dataclass(eq=False)
class NetworkPart:
    """The site's part of the networks' loss; `free` edges may be used, and `fitted` is θ of the last fit."""

    shape: NetworkShape
    columns: Vector
    n: int
    free: NDArray[np.bool_]
    steps: int = LOCAL_STEPS
    tolerance: float = LOCAL_TOLERANCE
    fitted: Vector | None = None

    def __post_init__(self) -> None:
        import jax

        device = jax.devices("cpu")[0]
        self._columns = jax.device_put(self.columns, device)
        self._share = self.columns.shape[1] / self.n

    def value_and_gradient(self, vector: Vector) -> tuple[float, Vector]:
        """Loss and gradient."""
        if self._share == 0:
            return 0.0, np.zeros_like(vector)
        value, gradient = compiled_fit()(self.shape.weights(vector), self._columns)
        return self._share * float(value), self._share * self.shape.vector(gradient)

    def loss(self, weights: Vector) -> float:
        """The loss alone."""
        return self.value_and_gradient(weights)[0]

    def proximal(self, weights: Vector, beta: Vector, rho: float) -> Vector:
        """θ − W after a fit that starts at the last θ; edges that are not free keep weights of 0."""
        from scipy.optimize import minimize

        free = np.ones(len(weights), dtype=np.bool_)
        free[: self.shape.inward] = np.tile(self.free.ravel(), self.shape.hidden)
        start = weights if self.fitted is None else self.fitted

        def objective(entries: Vector) -> tuple[float, Vector]:
            theta = weights.copy()
            theta[free] = entries
            away = theta - weights
            value, gradient = self.value_and_gradient(theta)
            pull = beta + rho * away
            total = value + float(np.vdot(beta, away)) + 0.5 * rho * float(np.vdot(away, away))
            return total, (gradient + pull)[free]

        options = {"maxiter": self.steps, "maxfun": 3 * self.steps, "ftol": self.tolerance, "gtol": 1e-10}
        found = minimize(objective, start[free], jac=True, method="L-BFGS-B", options=options)
        theta = weights.copy()
        theta[free] = found.x
        self.fitted = theta
        difference: Vector = theta - weights
        return difference


@cache
def compiled_fit() -> Any:  # noqa: ANN401
    """Value and gradient of the networks' fit, compiled once for all sites of a process."""
    import jax

    from dagora.learners.optimise.mlp.network import fit

    return jax.jit(jax.value_and_grad(fit))


@dataclass(frozen=True, eq=False)
class NetworkRound:
    """A checked question of one round; the first one also says how to prepare rows."""

    weights: Vector
    rho: float
    free: NDArray[np.bool_]
    shape: NetworkShape
    published: bool
    first: Preparation | None

    @classmethod
    def read(cls, site: Site, question: TaskQuestion) -> NetworkRound:
        """Check a question `admm-mlp-step`; later rounds have the shape of the first."""
        task, d = "admm-mlp-step", len(site.table.names)
        begins = "centre" in question
        names = ("weights", "rho", "free", *(("hidden", "published", *Preparation.FIELDS) if begins else ()))
        check_names(task, question, names)
        if begins:
            first = Preparation.read(task, site, question)
            shape = NetworkShape(whole(task, question, "hidden", 1, MOST_HIDDEN), d)
            published = bool(whole(task, question, "published", 0, 1))
        else:
            part = network_part(site)
            first, shape, published = None, part.shape, part.steps == PUBLISHED_STEPS
        weights = reals(task, question, "weights", (shape.size,))
        free = truths(task, question, "free", (d, d))
        if free.diagonal().any() and not published:
            raise refuse(task, "no column may be its own input in 'free'")
        return cls(weights, real(task, question, "rho", open_low=True), free, shape, published, first)


def step(site: Site, question: TaskQuestion) -> Answer:
    """Task `admm-mlp-step`: one round."""
    asked = NetworkRound.read(site, question)
    with np.errstate(all="ignore"):
        if asked.first is not None:
            require_jax("the method admm-mlp")
            part = NetworkPart(asked.shape, asked.first.columns(site), asked.first.n, asked.free)
            if asked.published:
                part.steps, part.tolerance = PUBLISHED_STEPS, PUBLISHED_TOLERANCE
            site.memory[MEMORY] = SiteState.begin(part, asked.weights.shape)
        network_part(site).free = asked.free
        return finite_answer("admm-mlp-step", state_of(site, MEMORY).step(asked.weights, asked.rho))


def loss(site: Site, question: TaskQuestion) -> Answer:
    """Task `admm-mlp-loss`: this site's part of the loss of given networks."""
    return answer_loss(site, "admm-mlp-loss", MEMORY, (network_part(site).shape.size,), question)


def network_part(site: Site) -> NetworkPart:
    """The networks of this site, after the first question of a session."""
    return cast("NetworkPart", state_of(site, MEMORY).model)
