"""The common part of order and partition MCMC: check options, score families, run chains, keep a checkpoint.

Chains sample from the families that were scored. If time runs out before all of them are, larger parent sets
are left out, and the result says which. If no parent set at all could be scored, or no time is left for the
chains, there are no draws.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.base.files import PathLike
from dagora.graph.bits import words_for
from dagora.learners.run import Run
from dagora.posterior.chains.build_target import SamplingSpec, build_target
from dagora.posterior.chains.chain_state import Schedule
from dagora.posterior.chains.checkpoint import Checkpoint
from dagora.posterior.chains.run_chains import check_counts, sample_chains
from dagora.posterior.chains.sampling_target import SamplingTarget
from dagora.posterior.chains.walks import Walk
from dagora.posterior.draws import Draws
from dagora.posterior.space.space import Space
from dagora.scores.local_score import LocalScore


def draw_by_chains(
    walk: Walk,
    score: LocalScore,
    run: Run,
    *,
    draws: int = 1000,
    chains: int = 4,
    prior: str = "uniform",
    edge_penalty: float = 0.0,
    space: str | Space = "auto",
    alpha: float = 0.05,
    grow: str = "auto",
    thin: int | None = None,
    warmup: int | None = None,
    checkpoint: PathLike | None = None,
    memory: float = 4.0,
) -> Draws:
    """Draw graphs by chains of one kind.

    A chain makes `warmup` steps and then keeps a draw after every `thin` steps; without these numbers they
    depend on the number of variables. `SamplingSpec` explains the options about prior and space.
    """
    check_counts(draws, chains, thin, warmup)
    spec = SamplingSpec(prior, edge_penalty, space, alpha, grow, memory)
    spec.check()
    usual = walk.usual_plan(len(score.schema))
    plan = Schedule(usual.warmup if warmup is None else warmup, usual.thin if thin is None else thin)
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
    assumed = f"{target.prior.sentence}{walk.adds_to_prior}"
    if walk.adds_to_prior and target.windows is not None:
        assumed += " at the present step"
    names = score.schema.names
    if not target.missing:
        found = sample_chains(
            walk, target, run, plan, draws=draws, chains=chains, prior=assumed, checkpoint=file
        )
        return with_earlier_steps(found, target, names, run.seed)
    if run.budget.exhausted or target.has_one_graph or (file and file.has_chains):
        return no_draws(target, names, chains, assumed, file)
    # These draws are of smaller parent sets only: a checkpoint of them would spoil a later, complete run.
    found = sample_chains(walk, target, run, plan, draws=draws, chains=chains, prior=assumed)
    found = with_earlier_steps(found, target, names, run.seed)
    return found if file is None else replace(found, warnings=(*found.warnings, checkpoint_note(file)))


def with_earlier_steps(found: Draws, target: SamplingTarget, names: tuple[str, ...], seed: int) -> Draws:
    """Draw the parents of earlier steps where the chains ran over the present step alone."""
    if target.windows is None:
        return found
    masks, log_scores = target.windows.add_earlier(
        found.parents[..., 0].astype(np.int64), found.log_scores, np.random.default_rng([seed, 1])
    )
    return replace(found, names=names, parents=masks[..., None].astype(np.uint64), log_scores=log_scores)


def no_draws(
    target: SamplingTarget, names: tuple[str, ...], chains: int, prior: str, file: Checkpoint | None
) -> Draws:
    """The answer without draws, where scoring ended too early for any draw to mean something."""
    nodes = len(names)
    advice = "allow more time, or ask for less: a narrower space, fewer parents (max_parents)"
    return Draws(
        names=names,
        parents=np.zeros((chains, 0, nodes, words_for(nodes)), dtype=np.uint64),
        log_scores=np.zeros((chains, 0)),
        prior=prior,
        space=target.note,
        status="failed",
        message=f"{target.late}, so that no graph was drawn; {checkpoint_note(file) if file else advice}",
        stats={"scoring_seconds": target.seconds},
    )


def checkpoint_note(file: Checkpoint) -> str:
    """The state from which the same command can continue, if scoring ended early."""
    if file.has_chains:
        return f"the chains in {file.path} are as they were: allow more time"
    if file.keeps_scores:
        return f"the families scored so far are kept in {file.path}: the same command goes on from there"
    return f"nothing is kept in {file.path} before all families are scored: allow more time"
