"""The registry of samplers: every way to draw graphs from a posterior, by name.

A new sampler adds an entry here; the command, the contract tests and `dagora methods` then know it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from dagora.errors import OptionError
from dagora.loading import load
from dagora.options import MEMORY, Option, find
from dagora.posterior.draws import Draws
from dagora.posterior.space.priors import PRIORS
from dagora.scores.registry import Score


@dataclass(frozen=True)
class Sampler:
    """A sampler's entry; `sampler` is imported only when it is used."""

    name: str
    summary: str
    promise: str
    reference: str
    sampler: str
    options: tuple[Option, ...] = ()

    def load(self) -> Callable[..., Draws]:
        """Import the sampler."""
        return cast("Callable[..., Draws]", load(self.sampler))


PRIOR = (
    Option("prior", "text", "uniform", "what is assumed about graphs before data are seen", choices=PRIORS),
    Option("edge_penalty", "float", 0.0, "nats that each edge costs besides"),
)
CHAIN = (
    *PRIOR,
    Option(
        "space",
        "text",
        "auto",
        "parents that may be drawn: all of them, or those that a search proposes and any one more "
        "(auto: all up to 12 variables, or 7 where scores are expensive)",
        choices=("auto", "full", "ges", "dual-pc", "candidates"),
    ),
    Option("alpha", "float", 0.05, "level of the tests with space=dual-pc", low=0.0, high=1.0, open_low=True),
    Option(
        "grow",
        "text",
        "auto",
        "how a space that leaves something out is enlarged first: by what short chains draw, by the best "
        "graph (auto: where scores are expensive), or not at all",
        choices=("auto", "draws", "best", "none"),
    ),
    Option(
        "thin", "int", None, "steps between two kept draws; without it, by the number of variables", low=1
    ),
    Option(
        "warmup",
        "int",
        None,
        "steps before the first kept draw; without it, by the number of variables",
        low=0,
    ),
    Option("checkpoint", "text", None, "file from which a run that was stopped goes on"),
    MEMORY,
)

SAMPLERS = (
    Sampler(
        name="partition",
        summary="Markov chains over ordered partitions of the variables",
        promise="graphs with the probability that score and prior say, once the chains have mixed",
        reference="Kuipers & Moffa 2017; Kuipers, Suter & Moffa 2022",
        sampler="dagora.posterior.chains.partition_mcmc:partition_mcmc",
        options=CHAIN,
    ),
    Sampler(
        name="order",
        summary="Markov chains over orders of the variables; faster, with a prior of its own",
        promise="graphs once the chains have mixed, favoured by the number of orders they agree with",
        reference="Friedman & Koller 2003; Kuipers, Suter & Moffa 2022",
        sampler="dagora.posterior.chains.order_mcmc:order_mcmc",
        options=CHAIN,
    ),
    Sampler(
        name="exact",
        summary="exact edge probabilities and independent draws; to about 15 variables",
        promise="no chains: draws are independent, and edge probabilities carry no Monte Carlo error",
        reference="Tian & He 2009; Talvitie, Vuoksenmaa & Koivisto 2020",
        sampler="dagora.posterior.exact.exact_posterior:exact",
        options=(*PRIOR, MEMORY),
    ),
)

# Scores that are no log marginal likelihoods: some come near one, others have no business here.
APPROXIMATIONS = {
    "bic": "exp(BIC) only approximates a marginal likelihood, for many rows: bdeu is one",
    "bic-gaussian": "exp(BIC) only approximates a marginal likelihood, for many rows: bge is one",
    "aic": "exp(AIC) is no marginal likelihood and favours many edges: bdeu is one",
}
REFUSED = {
    "lasso": "the score lasso is the objective of a program and no log probability: sample with bge or gp",
}


def sampler_named(name: str) -> Sampler:
    """Find a sampler, or say which there are.

    >>> sampler_named("exact").promise
    'no chains: draws are independent, and edge probabilities carry no Monte Carlo error'
    """
    return find("sampler", name, {sampler.name: sampler for sampler in SAMPLERS})


def judge_score(score: Score) -> list[str]:
    """Refuse a score that has no meaning as a log probability; say where one is only near to it."""
    if score.name in REFUSED:
        raise OptionError(REFUSED[score.name])
    return [APPROXIMATIONS[score.name]] if score.name in APPROXIMATIONS else []
