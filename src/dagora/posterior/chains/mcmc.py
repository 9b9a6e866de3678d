"""What all samplers by chains do: check what is asked, weigh families, run chains, keep both on disk.

Chains sample from the families that were scored. Where time runs out before all are, larger parent sets are
left out, and the answer says which; where nothing is left to draw from, or no time, there are no draws.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.files import PathLike
from dagora.graph.bits import words_for
from dagora.posterior.chains.build_target import SamplingSpec, build_target
from dagora.posterior.chains.chain_state import Plan
from dagora.posterior.chains.checkpoint import Checkpoint
from dagora.posterior.chains.run_chains import Walk, check_counts, sample_chains
from dagora.posterior.chains.sampling_target import SamplingTarget
from dagora.posterior.draws import Draws
from dagora.run import Run
from dagora.scores.local_score import LocalScore


def draw_by_chains(
    walk: Walk,
    score: LocalScore,
    run: Run,
    spec: SamplingSpec,
    usual: Plan,
    *,
    draws: int,
    chains: int,
    thin: int | None,
    warmup: int | None,
    checkpoint: PathLike | None,
    prior_besides: str = "",
) -> Draws:
    """Draw graphs by chains of one kind; `prior_besides` is what these add to the prior that is asked for."""
    check_counts(draws, chains, thin, warmup)
    spec.check()
    plan = Plan(usual.warmup if warmup is None else warmup, usual.thin if thin is None else thin)
    settings = {
        "sampler": walk.name,
        "seed": run.seed,
        "chains": chains,
        **plan._asdict(),
        **spec.settings(),
        "knowledge": run.knowledge.to_dict(),
    }
    file = None if checkpoint is None else Checkpoint(checkpoint, score, settings)
    target = build_target(score, run, spec, file)
    prior = f"{target.prior.sentence}{prior_besides}"
    if not target.missing:
        return sample_chains(
            walk, target, run, plan, draws=draws, chains=chains, prior=prior, checkpoint=file
        )
    if run.budget.exhausted or target.has_one_graph or (file and file.has_chains):
        return no_draws(target, chains, prior, file)
    found = sample_chains(walk, target, run, plan, draws=draws, chains=chains, prior=prior)
    return found if file is None else replace(found, warnings=(*found.warnings, what_is_kept(file)))


def no_draws(target: SamplingTarget, chains: int, prior: str, file: Checkpoint | None) -> Draws:
    """What is said where scoring ended too early for any draw to mean something."""
    nodes = len(target.names)
    advice = "allow more time, or ask for less: a narrower space, fewer parents (max_parents)"
    return Draws(
        names=target.names,
        parents=np.zeros((chains, 0, nodes, words_for(nodes)), dtype=np.uint64),
        log_scores=np.zeros((chains, 0)),
        prior=prior,
        space=target.note,
        status="failed",
        message=f"{target.late}, so that no graph was drawn; {what_is_kept(file) if file else advice}",
        stats={"scoring_seconds": target.seconds},
    )


def what_is_kept(file: Checkpoint) -> str:
    """What the same command can go on from, where scoring ended early."""
    if file.has_chains:
        return f"the chains in {file.path} are as they were: allow more time"
    if file.keeps_scores:
        return f"the families scored so far are kept in {file.path}: the same command goes on from there"
    return f"nothing is kept in {file.path} before all families are scored: allow more time"
