"""What all samplers by chains do: check what is asked, weigh families, run chains, keep both on disk.

Chains sample from the families that were scored. Where time runs out before all are, larger parent sets are
left out, and the answer says which; where nothing is left to draw from, or no time, there are no draws.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.files import PathLike
from dagora.graph.bits import words_for
from dagora.posterior.chain_state import Plan
from dagora.posterior.chains import Walk, check_counts, sample_chains
from dagora.posterior.checkpoint import Checkpoint
from dagora.posterior.draws import Draws
from dagora.posterior.problem import Problem, Question, pose
from dagora.run import Run
from dagora.scores.local_score import LocalScore


def draw_by_chains(
    walk: Walk,
    score: LocalScore,
    run: Run,
    question: Question,
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
    question.check()
    plan = Plan(usual.warmup if warmup is None else warmup, usual.thin if thin is None else thin)
    settings = {
        "sampler": walk.name,
        "seed": run.seed,
        "chains": chains,
        **plan._asdict(),
        **question.settings(),
        "knowledge": run.knowledge.to_dict(),
    }
    file = None if checkpoint is None else Checkpoint(checkpoint, score, settings)
    problem = pose(score, run, question, file)
    prior = f"{problem.prior.sentence}{prior_besides}"
    if not problem.missing:
        return sample_chains(
            walk, problem, run, plan, draws=draws, chains=chains, prior=prior, checkpoint=file
        )
    if run.budget.exhausted or problem.has_one_graph or (file and file.has_chains):
        return no_draws(problem, chains, prior, file)
    found = sample_chains(walk, problem, run, plan, draws=draws, chains=chains, prior=prior)
    return found if file is None else replace(found, warnings=(*found.warnings, what_is_kept(file)))


def no_draws(problem: Problem, chains: int, prior: str, file: Checkpoint | None) -> Draws:
    """What is said where scoring ended too early for any draw to mean something."""
    nodes = len(problem.names)
    advice = "allow more time, or ask for less: a narrower space, fewer parents (max_parents)"
    return Draws(
        names=problem.names,
        parents=np.zeros((chains, 0, nodes, words_for(nodes)), dtype=np.uint64),
        log_scores=np.zeros((chains, 0)),
        prior=prior,
        space=problem.note,
        status="failed",
        message=f"{problem.late}, so that no graph was drawn; {what_is_kept(file) if file else advice}",
        stats={"scoring_seconds": problem.seconds},
    )


def what_is_kept(file: Checkpoint) -> str:
    """What the same command can go on from, where scoring ended early."""
    if file.has_chains:
        return f"the chains in {file.path} are as they were: allow more time"
    if file.keeps_scores:
        return f"the families scored so far are kept in {file.path}: the same command goes on from there"
    return f"nothing is kept in {file.path} before all families are scored: allow more time"
