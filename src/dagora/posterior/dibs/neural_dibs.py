"""DiBS+ with neural networks in place of a score: particles are graphs and the weights of their networks.

While α and β grow with every step, each particle climbs, in the latent numbers of its graph, ln p(Z) +
ln E[p(D, Θ | G)] − β E[h(G)], and in its weights the second term (`networks`); in the end it is one graph
with networks. DiBS+ weighs each particle by p(D, Θ, G). This is the version that the paper on
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

from dagora.accelerated import require_jax
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.errors import OptionError
from dagora.events import Event
from dagora.posterior.dibs.dibs import (
    BIAS,
    CYCLE_GRAPHS,
    LIKELIHOOD_GRAPHS,
    STEP,
    distinct_acyclic,
    parent_rows,
)
from dagora.posterior.draws import Draws
from dagora.run import Run
from dagora.scores.digraph_scores import MOST_NODES
from dagora.wording import counted

if TYPE_CHECKING:
    from dagora.posterior.dibs.networks import Terms

Graphs = NDArray[np.bool_]

# How fast α and β grow with each step; widths of the kernels of latent numbers and of weights.
SHARPNESS, CYCLE_PENALTY, LATENT_WIDTH, WEIGHT_WIDTH = 0.05, 1.0, 5.0, 500.0
POINTS = (
    "a particle is weighed by the density of one set of weights of its networks, and not by all that fit: "
    "particles of the same graph may differ by many nats"
)


def neural_dibs(
    table: Table,
    run: Run,
    *,
    draws: int = 1,
    chains: int = 1,
    steps: int = 2000,
    hidden: int = 5,
    noise: float = 0.1,
    edge_penalty: float = 0.0,
) -> Draws:
    """Move `draws` particles, `chains` times over, and weigh the graphs they become.

    `hidden` is the number of units of each network, `noise` the variance of its noise, of columns that are
    standardised, `edge_penalty` what an edge costs, in nats.
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
    terms = terms_of(table, run, noise, edge_penalty)
    graphs, values = [], []
    done = True
    for chain in range(chains):
        rng = np.random.default_rng([run.seed, chain])
        cloud = Cloud(terms, run, draws, hidden, rng)
        done = cloud.move(steps, chain * steps, chains * steps)
        became, weight = cloud.found()
        graphs.append(became)
        values.append(weight)
        if not done:
            break
    distinct, weights = combined(np.concatenate(graphs), np.concatenate(values))
    particles = len(graphs) * draws
    said = f"{counted(particles, 'particle')} became {counted(len(distinct), 'distinct DAG')}"
    finished = done and len(graphs) == chains
    penalty = f", {edge_penalty:g} nats less for each edge" if edge_penalty else ""
    return Draws(
        names=names,
        parents=parent_rows(distinct)[None],
        log_scores=weights[None],
        log_weights=weights[None],
        prior=f"all graphs alike{penalty}; normal weights of networks",
        space="every graph that the knowledge permits and a particle can become",
        status="finished" if finished else "time-limit",
        message=said if finished else f"{run.budget.reason}: {said}",
        stats={"particles": float(particles)},
        particles=True,
        warnings=(BIAS, POINTS),
    )


def terms_of(table: Table, run: Run, noise: float, edge_penalty: float) -> Terms:
    """What the particles are judged by."""
    import jax.numpy as jnp

    from dagora.posterior.dibs.networks import Terms

    rows = standardised(table)
    required = run.knowledge.required_matrix(table.names)
    free = ~(run.knowledge.forbidden_matrix(table.names) | required)
    numbers = (np.float32(each) for each in (noise, edge_penalty, 1.0 / np.sqrt(len(table.names))))
    return Terms(jnp.asarray(rows), jnp.asarray(free), jnp.asarray(required), *map(jnp.asarray, numbers))


def standardised(table: Table) -> NDArray[np.float32]:
    """The rows, with mean 0 and variance 1 in every column; a constant one is 0."""
    rows = np.column_stack([table.values(place) for place in range(len(table.names))])
    rows = rows - rows.mean(axis=0)
    spread = rows.std(axis=0)
    return np.asarray(rows / np.where(spread > 0, spread, 1.0), dtype=np.float32)


def combined(graphs: Graphs, values: NDArray[np.float64]) -> tuple[Graphs, NDArray[np.float64]]:
    """Each acyclic graph once, with the sum of its particles' weights, as a logarithm.

    >>> one, cycle = [[0, 1], [0, 0]], [[0, 1], [1, 0]]
    >>> found = combined(np.array([one, cycle, one], bool), np.log([1.0, 5.0, 2.0]))
    >>> found[0].astype(int).tolist(), np.exp(found[1]).round(3).tolist()
    ([[[0, 1], [0, 0]]], [3.0])
    """
    distinct = distinct_acyclic(graphs)
    same = (graphs[None] == distinct[:, None]).all(axis=(2, 3))
    return distinct, np.array([logsumexp(values[own]) for own in same], dtype=np.float64)


class Cloud:
    """Particles that move together."""

    def __init__(self, terms: Terms, run: Run, particles: int, hidden: int, rng: np.random.Generator) -> None:
        import jax.numpy as jnp

        from dagora.posterior.dibs.networks import Particles, Weights

        nodes = terms.rows.shape[1]
        self._terms, self._run, self._rng = terms, run, rng
        latents = rng.normal(0.0, float(terms.spread), (2, particles, nodes, nodes))
        placed = jnp.asarray(latents.astype(np.float32))
        weights = Weights.drawn(rng, particles, nodes, hidden)
        unmoved = Weights(*(jnp.zeros_like(each) for each in weights))
        self._particles = Particles(placed, weights, jnp.zeros_like(placed), unmoved)

    def move(self, steps: int, before: int, total: int) -> bool:
        """Take steps as long as there is time; returns whether all were taken."""
        from dagora.posterior.dibs.networks import Pace, moved

        for step in range(1, steps + 1):
            if self._run.budget.exhausted:
                return False
            sharpness, penalty = np.float32(SHARPNESS * step), np.float32(CYCLE_PENALTY * step)
            pace = Pace(sharpness, penalty, STEP, LATENT_WIDTH, WEIGHT_WIDTH)
            noise, cycles = self._logistic(LIKELIHOOD_GRAPHS), self._logistic(CYCLE_GRAPHS)
            self._particles = moved(self._particles, noise, cycles, self._terms, pace)
            self._run.on_event(Event("moving particles", before + step, total=total))
        return True

    def _logistic(self, number: int) -> NDArray[np.float32]:
        """Noise that decides edges, for `number` graphs a particle; numpy draws it, alike on any device."""
        _, particles, nodes, _ = self._particles.latents.shape
        uniform = self._rng.random((particles, number, nodes, nodes), dtype=np.float32)
        inside = np.clip(uniform, 1e-7, 1.0 - 1e-7)
        return np.asarray(np.log(inside) - np.log1p(-inside), dtype=np.float32)

    def found(self) -> tuple[Graphs, NDArray[np.float64]]:
        """The graph that each particle became, and the logarithm of its weight."""
        import jax

        from dagora.posterior.dibs.networks import edge_logits, joint_of

        latents = np.swapaxes(np.asarray(self._particles.latents), 0, 1)
        graphs = np.asarray(
            jax.vmap(lambda each: edge_logits(each, self._terms, np.float32(1.0)) > 0)(latents)
        )
        values = joint_of(graphs, self._particles.weights, self._terms)
        return graphs, np.asarray(values, dtype=np.float64)
