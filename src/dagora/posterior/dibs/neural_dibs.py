"""DiBS+ with neural networks in place of a score: particles are graphs and the weights of their networks.

While α and β grow with every step, each particle climbs, in the latent numbers of its graph, ln p(Z) +
ln E[p(D, Θ | G)] − β E[h(G)], and in its weights the second term (`networks`); in the end it is one graph
with networks. DiBS+ weights each particle by p(D, Θ, G). This is the version that the paper on
Gaussian-process networks compares itself with: one hidden layer of 5 units. α, β, step size, widths of the
kernels, noise and numbers of samples are the defaults of the authors' package; columns are standardised.

What it cannot know: the graphs that no particle became. And a weight is that of one point in the space of
weights, not of a graph: two particles of the same graph may differ by many nats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dagora.base.errors import OptionError
from dagora.base.events import Event
from dagora.base.memory import free_memory
from dagora.base.options import GIBIBYTE
from dagora.base.phrases import amount
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.kernels.jax import require_jax
from dagora.learners.run import Run
from dagora.posterior.dibs.dibs import (
    BIAS,
    CYCLE_GRAPHS,
    LIKELIHOOD_GRAPHS,
    STEP,
    distinct_acyclic,
    parent_rows,
)
from dagora.posterior.draws import Draws
from dagora.scores.digraph_scores import MOST_NODES
from dagora.scores.usable_moments import refuse_unusable
from dagora.stats.moments import table_moments

if TYPE_CHECKING:
    from jax import Array

    from dagora.posterior.dibs.networks import NeuralModel

Graphs = NDArray[np.bool_]

# How fast α and β grow with each step; widths of the kernels of latent numbers and of weights: the defaults
# of the authors' code (JointDiBS in github.com/larslorch/dibs).
SHARPNESS, CYCLE_PENALTY, LATENT_WIDTH, WEIGHT_WIDTH = 0.05, 1.0, 5.0, 500.0
# Arrays of the size of all hidden units that a step holds at a time, roughly.
ARRAYS = 6
UNIFORM, SCALE_FREE = "uniform", "scale-free"
PRIORS = {UNIFORM: "all graphs alike", SCALE_FREE: "(1 + parents)⁻³ for each variable"}
JOINT, ALIKE = "density", "equal"
EQUAL = "the particles count alike, whatever their density: graphs that none became are left out"
POINTS = (
    "a particle is weighted by the density of one set of weights of its networks, and not by all that fit: "
    "particles of the same graph may differ by many nats"
)


def neural_dibs(
    table: Table,
    run: Run,
    *,
    draws: int = 10,
    chains: int = 1,
    steps: int = 2000,
    hidden: int = 5,
    noise: float = 0.1,
    weight_sd: float = 1.0,
    prior: str = UNIFORM,
    edge_penalty: float = 0.0,
    particle_weights: str = JOINT,
) -> Draws:
    """Move `draws` particles, `chains` times over, and weight the graphs they become.

    `hidden` is the number of units of each network, `noise` the variance of its noise, of columns that are
    standardised, `weight_sd` the prior standard deviation of its weights, `edge_penalty` what an edge costs,
    in nats. Particles that count alike make it DiBS, without the plus.
    """
    require_jax("the sampler dibs-neural")
    names = table.names
    if any(variable.kind is Kind.DISCRETE for variable in table.schema):
        raise OptionError(
            "the sampler dibs-neural takes continuous columns only: choose another, such as dibs"
        )
    if len(names) > MOST_NODES:
        raise OptionError(
            f"the sampler dibs-neural takes {MOST_NODES} variables at most, not {len(names)}: leave "
            "columns out"
        )
    if run.knowledge.max_parents is not None:
        raise OptionError("the sampler dibs-neural knows no limit on parents: leave max_parents out")
    refuse_too_large(table.n_rows, len(names), hidden, draws)
    terms = neural_model(table, run, (noise, edge_penalty, weight_sd), prior)
    graphs, values = [np.zeros((0, len(names), len(names)), dtype=np.bool_)], [np.zeros(0)]
    taken = steps
    for chain in range(chains):
        rng = np.random.default_rng([run.seed, chain])
        cloud = NeuralParticles(terms, run, draws, hidden, rng)
        taken = cloud.move(steps, chain * steps, chains * steps)
        if taken:  # else the particles are where chance put them
            became, weight = cloud.weighted_graphs()
            graphs.append(became)
            values.append(weight)
        if taken < steps:
            break
    became, densities = np.concatenate(graphs), np.concatenate(values)
    distinct, weights = merge_equal_graphs(became, densities)
    log_scores = weights
    if particle_weights == ALIKE:
        _, weights = merge_equal_graphs(became, np.where(np.isfinite(densities), 0.0, densities))
    particles = sum(map(len, graphs))
    finished = taken == steps
    after = "" if finished else f" after {taken} of {steps} steps"
    message = f"{amount(particles, 'particle')} became {amount(len(distinct), 'distinct DAG')}{after}"
    if not len(distinct):
        message += ": allow more steps or draws"
    penalty = f", {edge_penalty:g} nats less for each edge" if edge_penalty else ""
    return Draws(
        names=names,
        parents=parent_rows(distinct)[None],
        log_scores=log_scores[None],
        log_weights=weights[None],
        prior=f"{PRIORS[prior]}{penalty}; normal weights of networks, standard deviation {weight_sd:g}",
        space="every graph that the knowledge permits and a particle can become",
        status="finished" if finished else "time-limit",
        message=message if finished else f"{run.budget.reason}: {message}",
        stats={"particles": float(particles), "steps": float(taken)},
        particles=True,
        warnings=(BIAS, POINTS) if particle_weights == JOINT else (EQUAL,),
    )


def refuse_too_large(rows: int, columns: int, hidden: int, draws: int) -> None:
    """Refuse what memory cannot hold: the hidden units of all rows, networks, graphs and particles."""
    needed = ARRAYS * 4 * LIKELIHOOD_GRAPHS * draws * rows * columns * hidden
    free = free_memory()
    if free is not None and needed > free:
        raise OptionError(
            f"the sampler dibs-neural needs about {needed / GIBIBYTE:.0f} GiB for {draws} particles and "
            f"{rows} rows, and {free / GIBIBYTE:.0f} GiB are free: take fewer draws, rows or hidden units"
        )


def neural_model(table: Table, run: Run, of_networks: tuple[float, float, float], prior: str) -> NeuralModel:
    """The model under which particles are scored, with its noise, price of an edge, and prior of weights."""
    import jax.numpy as jnp

    from dagora.posterior.dibs.networks import NeuralModel

    rows = standardised_rows(table)
    required = run.knowledge.required_matrix(table.names)
    free = ~(run.knowledge.forbidden_matrix(table.names) | required)
    noise, edge_penalty, weight_sd = of_networks
    settings = (noise, edge_penalty, 1.0 / np.sqrt(len(table.names)), weight_sd, prior == SCALE_FREE)
    numbers = (np.float32(each) for each in settings)
    return NeuralModel(
        jnp.asarray(rows), jnp.asarray(free), jnp.asarray(required), *map(jnp.asarray, numbers)
    )


def standardised_rows(table: Table) -> NDArray[np.float32]:
    """The rows, with mean 0 and variance 1 in every column; constant ones are refused."""
    moments = table_moments(table)
    variances = np.diag(moments.scatter) / table.n_rows
    refuse_unusable(table.names, moments.mean, variances, "the sampler dibs-neural")
    rows = np.column_stack([table.values(place) for place in range(len(table.names))])
    return np.asarray((rows - moments.mean) / np.sqrt(variances), dtype=np.float32)


def merge_equal_graphs(graphs: Graphs, values: NDArray[np.float64]) -> tuple[Graphs, NDArray[np.float64]]:
    """Each acyclic graph once, with the sum of its particles' weights, as a logarithm.

    >>> one, cycle = [[0, 1], [0, 0]], [[0, 1], [1, 0]]
    >>> found = merge_equal_graphs(np.array([one, cycle, one], bool), np.log([1.0, 5.0, 2.0]))
    >>> found[0].astype(int).tolist(), np.exp(found[1]).round(3).tolist()
    ([[[0, 1], [0, 0]]], [3.0])
    """
    sound = np.isfinite(values)
    graphs, values = graphs[sound], values[sound]
    distinct = distinct_acyclic(graphs)
    same = (graphs[None] == distinct[:, None]).all(axis=(2, 3))
    return distinct, np.array([logsumexp(values[own]) for own in same], dtype=np.float64)


class NeuralParticles:
    """Particles that move together."""

    def __init__(
        self, terms: NeuralModel, run: Run, particles: int, hidden: int, rng: np.random.Generator
    ) -> None:
        import jax.numpy as jnp

        from dagora.posterior.dibs.networks import NetWeights, Particles

        nodes = terms.rows.shape[1]
        self._terms, self._run, self._rng = terms, run, rng
        latents = rng.normal(0.0, float(terms.spread), (2, particles, nodes, nodes))
        placed = jnp.asarray(latents.astype(np.float32))
        weights = NetWeights.from_prior(rng, particles, nodes, hidden, float(terms.weight_sd))
        unmoved = NetWeights(*(jnp.zeros_like(each) for each in weights))
        self._particles = Particles(placed, weights, jnp.zeros_like(placed), unmoved)

    def move(self, steps: int, before: int, total: int) -> int:
        """Take steps as long as there is time; returns how many were taken."""
        from dagora.posterior.dibs.networks import StepPlan, take_step

        for step in range(1, steps + 1):
            if self._run.budget.exhausted:
                return step - 1
            sharpness, penalty = np.float32(SHARPNESS * step), np.float32(CYCLE_PENALTY * step)
            pace = StepPlan(sharpness, penalty, STEP, LATENT_WIDTH, WEIGHT_WIDTH)
            noise, cycles = self._logistic(LIKELIHOOD_GRAPHS), self._logistic(CYCLE_GRAPHS)
            self._particles = take_step(self._particles, noise, cycles, self._terms, pace)
            self._particles.latents.block_until_ready()  # else steps would queue up, and the clock run on
            self._run.on_event(Event("moving particles", before + step, total=total))
        return steps

    def _logistic(self, number: int) -> NDArray[np.float32]:
        """Noise that decides edges, for `number` graphs a particle; numpy draws it, alike on any device."""
        _, particles, nodes, _ = self._particles.latents.shape
        uniform = self._rng.random((particles, number, nodes, nodes), dtype=np.float32)
        inside = np.clip(uniform, 1e-7, 1.0 - 1e-7)
        return np.asarray(np.log(inside) - np.log1p(-inside), dtype=np.float32)

    def weighted_graphs(self) -> tuple[Graphs, NDArray[np.float64]]:
        """The graph that each particle became, and the logarithm of its weight."""
        import jax

        from dagora.posterior.dibs.networks import edge_logits, joint_of

        latents = np.swapaxes(np.asarray(self._particles.latents), 0, 1)
        graphs = np.asarray(
            jax.vmap(lambda each: edge_logits(each, self._terms, np.float32(1.0)) > 0)(latents)
        )
        # In double precision: sums over many rows differ by fractions of a nat otherwise.
        weights = type(self._particles.weights)(*(exact(each) for each in self._particles.weights))
        values = joint_of(graphs, weights, type(self._terms)(*(exact(each) for each in self._terms)))
        return graphs, np.asarray(values, dtype=np.float64)


def exact(values: Array) -> Array:
    """Numbers in double precision; marks stay as they are."""
    return values if values.dtype == np.bool_ else values.astype(np.float64)
