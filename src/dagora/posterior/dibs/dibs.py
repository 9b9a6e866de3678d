"""DiBS+: particles in the space of `latent_graphs`, moved by `stein`, and weighted by their graphs' scores.

While α and β grow with every step, each particle climbs ln p(Z) + ln E[p(D | G)] − β E[h(G)]: a normal prior,
the likelihood of the graphs it stands for, and how cyclic they are. In the end a particle is one graph. DiBS+
weights each graph that was reached by its posterior probability among those reached. This is the version with
marginal likelihoods of Lorch, Rothfuss, Schölkopf & Krause (2021), on any local score; α, β, step size,
kernel and numbers of samples are the defaults of the authors' package. What it cannot know: the graphs that
no particle became.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.events import Event
from dagora.base.phrases import amount
from dagora.graph.bits import Rows, pack, words_for
from dagora.learners.run import Run
from dagora.posterior.dibs.latent_graphs import Latents, cycle_gradient, drawn_graphs, likelihood_gradient
from dagora.posterior.dibs.stein import Ascent, stein_direction
from dagora.posterior.draws import Draws
from dagora.posterior.space.priors import prior_named
from dagora.scores.digraph_scores import MOST_NODES, DigraphScores
from dagora.scores.local_score import LocalScore

Floats = NDArray[np.float64]
Graphs = NDArray[np.bool_]

# How fast α and β grow with each step, size of a step, width of the kernel: the defaults of the authors' code
# (MarginalDiBS in github.com/larslorch/dibs), as are the next two.
SHARPNESS, CYCLE_PENALTY, STEP, WIDTH = 1.0, 1.0, 0.005, 5.0
# Graphs drawn per particle and step: for the likelihood, and for the cycles.
LIKELIHOOD_GRAPHS, CYCLE_GRAPHS = 128, 32
BIAS = (
    "DiBS+ weights only the graphs that its particles became: their probabilities sum to 1 whatever was "
    "missed, so edges look surer than they are"
)


def dibs(
    score: LocalScore,
    run: Run,
    *,
    draws: int = 30,
    chains: int = 1,
    prior: str = "uniform",
    edge_penalty: float = 0.0,
    steps: int = 2000,
) -> Draws:
    """Move `draws` particles, `chains` times over, and weight the graphs they become.

    >>> from dagora.data.table import Table
    >>> from dagora.scores.bdeu import bdeu
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> found = dibs(bdeu(TableStatistics(table)), Run(), draws=10, steps=200)
    >>> found.log_scores.round(2).tolist()  # a → b and b → a
    [[-32.73, -32.73]]
    """
    names = score.schema.names
    if len(names) > MOST_NODES:
        raise OptionError(
            f"the method dibs takes {MOST_NODES} variables at most, not {len(names)}: use the method order, "
            "or leave columns out"
        )
    assumed = prior_named(prior, edge_penalty=edge_penalty)
    scores = DigraphScores(score, run.knowledge.max_parents, assumed.log_factor)
    found = []
    for chain in range(chains):
        cloud = ParticleCloud.start(draws, run, names, np.random.default_rng([run.seed, chain]))
        done = cloud.move(scores, steps, run, chain * steps, chains * steps)
        found.append(cloud.latents.graphs())
        if not done:
            break
    finished = done and len(found) == chains
    graphs = distinct_acyclic(np.concatenate(found))
    values = scores.of(graphs) if len(graphs) else np.zeros(0)
    graphs, values = graphs[np.isfinite(values)], values[np.isfinite(values)]
    particles = len(found) * draws
    message = f"{amount(particles, 'particle')} became {amount(len(graphs), 'distinct DAG')}"
    return Draws(
        names=names,
        parents=parent_rows(graphs)[None],
        log_scores=values[None],
        log_weights=values[None],
        prior=assumed.sentence,
        space="every graph that the knowledge permits and a particle can become",
        status="finished" if finished else "time-limit",
        message=message if finished else f"{run.budget.reason}: {message}",
        stats={"families": float(scores.families), "particles": float(particles)},
        particles=True,
        warnings=(BIAS,),
    )


@dataclass(eq=False)
class ParticleCloud:
    """Particles that move together."""

    latents: Latents
    rng: np.random.Generator
    spread: float

    @classmethod
    def start(
        cls, particles: int, run: Run, names: tuple[str, ...], rng: np.random.Generator
    ) -> ParticleCloud:
        """Particles drawn from their prior, a normal one with the variance 1 / length."""
        nodes = len(names)
        spread = 1.0 / np.sqrt(nodes)
        required = run.knowledge.required_matrix(names)
        free = ~(run.knowledge.forbidden_matrix(names) | required)
        tails, heads = rng.normal(0.0, spread, (2, particles, nodes, nodes))
        return cls(Latents(tails, heads, free, required), rng, float(spread))

    def move(self, scores: DigraphScores, steps: int, run: Run, before: int, total: int) -> bool:
        """Take steps as long as there is time; returns whether all were taken."""
        ascent = Ascent(STEP)
        for step in range(1, steps + 1):
            if run.budget.exhausted:
                return False
            positions = np.stack([self.latents.tails, self.latents.heads])
            shape = positions.shape
            flat = np.swapaxes(positions, 0, 1).reshape(shape[1], -1)
            slopes = np.swapaxes(self.gradient(scores, step), 0, 1).reshape(flat.shape)
            flat = flat + ascent.step(stein_direction(flat, slopes, WIDTH))
            tails, heads = np.swapaxes(flat.reshape(shape[1], 2, *shape[2:]), 0, 1)
            self.latents = Latents(tails, heads, self.latents.free, self.latents.required)
            run.on_event(Event("moving particles", before + step, total=total))
        return True

    def gradient(self, scores: DigraphScores, step: int) -> Floats:
        """The gradient by tails and heads of what each particle climbs."""
        sharpness, penalty = SHARPNESS * step, CYCLE_PENALTY * step
        probabilities = self.latents.probabilities(sharpness)
        graphs = drawn_graphs(probabilities, LIKELIHOOD_GRAPHS, self.rng)
        by_logit = likelihood_gradient(probabilities, graphs, scores.of(graphs))
        logits = np.where(self.latents.free, sharpness * self.latents.products(), 0.0)
        settled = np.where(self.latents.required, np.inf, -np.inf)
        by_logit -= penalty * cycle_gradient(
            np.where(self.latents.free, logits, settled), CYCLE_GRAPHS, self.rng
        )
        climbs = np.stack(self.latents.pull_back(sharpness * by_logit))
        pulled_back = np.stack([self.latents.tails, self.latents.heads]) / self.spread**2
        return np.asarray(climbs - pulled_back, dtype=np.float64)


def parent_rows(graphs: Graphs) -> Rows:
    """Bit rows of parents, (graphs, nodes, words)."""
    number, nodes, _ = graphs.shape
    return pack(graphs.transpose(0, 2, 1).reshape(number * nodes, nodes)).reshape(
        number, nodes, words_for(nodes)
    )


def distinct_acyclic(graphs: Graphs) -> Graphs:
    """Each acyclic graph once.

    >>> distinct_acyclic(np.array([[[0, 1], [1, 0]], [[0, 1], [0, 0]], [[0, 1], [0, 0]]], bool)).astype(int)
    array([[[0, 1],
            [0, 0]]])
    """
    nodes = graphs.shape[-1]
    walks = np.linalg.matrix_power(np.eye(nodes) + graphs / nodes, nodes)
    acyclic = np.abs(np.trace(walks, axis1=-2, axis2=-1) - nodes) < 1e-9
    return np.unique(graphs[acyclic], axis=0)
