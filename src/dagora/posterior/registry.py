"""The registry of samplers: every way to draw graphs from a posterior, by name.

To add a sampler, add an entry here: the command, the contract tests and `dagora methods` then list it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from dagora.base.errors import OptionError
from dagora.base.loading import load
from dagora.base.options import MEMORY, Option, find_in_any_case
from dagora.base.wording import by_door
from dagora.learners.registry import METHODS
from dagora.posterior.draws import Draws
from dagora.posterior.space.priors import PRIORS
from dagora.scores.registry import Score


@dataclass(frozen=True)
class Sampler:
    """A sampler's entry, with its default numbers; `sampler` is imported only when it is used.

    `on_cluster` says that its chains can run on the workers of a Dask cluster, `own_model` that it has a
    model of its own instead of a score, and is given the rows, `particles` that it moves few graphs.
    """

    name: str
    summary: str
    promise: str
    reference: str
    sampler: str
    options: tuple[Option, ...] = ()
    draws: int = 1000
    chains: int = 4
    on_cluster: bool = False
    own_model: bool = False
    particles: bool = False

    def load(self) -> Callable[..., Draws]:
        """Import the sampler."""
        return cast("Callable[..., Draws]", load(self.sampler))


PRIOR = (
    Option("prior", "text", "uniform", "prior over graphs", choices=PRIORS),
    Option("edge_penalty", "float", 0.0, "penalty for each edge, in nats, on top of the prior"),
)
CHAIN = (
    *PRIOR,
    Option(
        "space",
        "text",
        "auto",
        "parent sets that may be drawn: all, or those that a search proposes, with any one more parent "
        "(auto: all up to 12 variables, or 7 if scores are expensive; in time all up to a million)",
        choices=("auto", "full", "ges", "dual-pc", "candidates"),
    ),
    Option("alpha", "float", 0.05, "level of the tests of space=dual-pc", low=0.0, high=1.0, open_low=True),
    Option(
        "grow",
        "text",
        "auto",
        "how an incomplete space is enlarged before sampling: by the edges that short chains draw, by those "
        "of the best graph (auto: if scores are expensive), or not at all",
        choices=("auto", "draws", "best", "none"),
    ),
    Option(
        "thin",
        "int",
        None,
        "steps between two kept draws; without it, chosen by the number of variables",
        low=1,
    ),
    Option(
        "warmup",
        "int",
        None,
        "steps of warm-up before draws are kept; without it, chosen by the number of variables",
        low=0,
    ),
    Option("checkpoint", "text", None, "file from which an interrupted run continues"),
    MEMORY,
)

SAMPLERS = (
    Sampler(
        name="partition",
        summary="Markov chains over ordered partitions of the variables",
        promise="graphs in proportion to score and prior, once the chains have mixed",
        reference="Kuipers & Moffa 2017; Kuipers, Suter & Moffa 2022",
        sampler="dagora.posterior.chains.partition_mcmc:partition_mcmc",
        options=CHAIN,
        on_cluster=True,
    ),
    Sampler(
        name="order",
        summary="Markov chains over orders of the variables; faster, but favours graphs with many orders",
        promise="graphs in proportion to score, prior and the number of orders they agree with, once mixed",
        reference="Friedman & Koller 2003; Kuipers, Suter & Moffa 2022",
        sampler="dagora.posterior.chains.order_mcmc:order_mcmc",
        options=CHAIN,
        on_cluster=True,
    ),
    Sampler(
        name="exact",
        summary="exact edge probabilities and independent draws; to about 15 variables",
        promise="no chains: draws are independent, and edge probabilities carry no Monte Carlo error",
        reference="Tian & He 2009; Talvitie, Vuoksenmaa & Koivisto 2020",
        sampler="dagora.posterior.exact.exact_posterior:exact",
        options=(*PRIOR, MEMORY),
    ),
    Sampler(
        name="dibs",
        summary="DiBS+: particles moved by gradients, weighted by their graphs' scores; a baseline",
        promise="none: graphs that no particle became are left out, and edges look surer than they are",
        reference="Lorch, Rothfuss, Schölkopf & Krause 2021, with marginal likelihoods",
        sampler="dagora.posterior.dibs.dibs:dibs",
        options=(*PRIOR, Option("steps", "int", 2000, "steps that each particle takes", low=1)),
        draws=30,
        chains=1,
        particles=True,
    ),
    Sampler(
        name="dibs-neural",
        summary="DiBS+ with a neural network for each variable in place of a score; a baseline",
        promise="none: as dibs, and each graph is weighted by one set of weights of its networks",
        reference="Lorch, Rothfuss, Schölkopf & Krause 2021; one hidden layer, as in Giudice et al. 2023",
        sampler="dagora.posterior.dibs.neural_dibs:neural_dibs",
        options=(
            Option("steps", "int", 2000, "steps that each particle takes", low=1),
            Option("hidden", "int", 5, "hidden units of each network", low=1, high=1000),
            Option(
                "noise", "float", 0.1, "variance of the noise, of standardised columns", low=1e-6, high=1e6
            ),
            Option(
                "weight_sd",
                "float",
                1.0,
                "prior standard deviation of the weights of networks",
                low=1e-6,
                high=1e6,
            ),
            Option(
                "prior",
                "text",
                "uniform",
                "prior over graphs; scale-free: (1 + parents)⁻³ for each variable",
                choices=("uniform", "scale-free"),
            ),
            Option("edge_penalty", "float", 0.0, "penalty for each edge, in nats", low=-1e6, high=1e6),
            Option(
                "particle_weights",
                "text",
                "density",
                "particles count by their density (DiBS+), or all alike (DiBS)",
                choices=("density", "equal"),
            ),
        ),
        draws=10,
        chains=1,
        own_model=True,
        particles=True,
    ),
)

# Scores that are no log marginal likelihoods: some approximate one, others cannot be used.
APPROXIMATIONS = {
    "bic": "exp(BIC) approximates a marginal likelihood only with many rows: prefer bdeu, a real one",
    "bic-gaussian": "exp(BIC) approximates a marginal likelihood only with many rows: prefer bge, a real one",
    "bic-mixed": "exp(BIC) approximates a marginal likelihood only with many rows: where discrete columns "
    "come before continuous ones, prefer bayes-mixed, a real one",
    "aic": "exp(AIC) is no marginal likelihood and favours many edges: prefer bdeu, a real one",
}
REFUSED = {"lasso": "the score lasso is an objective and no log probability: sample with bge or gp"}


def sampler_named(name: str) -> Sampler:
    """Find a sampler by its name; an unknown name is refused with a list of the known ones.

    >>> sampler_named("exact").promise
    'no chains: draws are independent, and edge probabilities carry no Monte Carlo error'
    """
    known = {sampler.name: sampler for sampler in SAMPLERS}
    if isinstance(name, str) and name.lower() in {method.name for method in METHODS} - set(known):
        learns = by_door(python=f"learn(data, {name!r})", command=f"`dagora learn DATA -m {name}`")
        raise OptionError(
            f"'{name}' learns one graph and does not sample ({learns}): known are {', '.join(known)}"
        )
    return find_in_any_case("sampler", name, known)


def check_score(score: Score) -> list[str]:
    """Refuse a score that is no log probability; return a warning for one that only approximates it."""
    if score.name in REFUSED:
        raise OptionError(REFUSED[score.name])
    return [APPROXIMATIONS[score.name]] if score.name in APPROXIMATIONS else []
