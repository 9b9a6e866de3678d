"""Run many chains side by side: dispersed starts, warm-up, thinning, progress, time limits, checkpoints.

Chains advance together in rounds: short ones on threads (the kernels release the interpreter lock), longer
ones on the workers of a cluster. Between rounds the clock is read, progress is reported with R-hat and the
effective number of draws of the log score, and every few seconds a checkpoint is written. The length of a
round has no influence on the draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from dagora.base.dask_cluster import workers_of
from dagora.base.errors import KnowledgeError, OptionError
from dagora.base.events import Event
from dagora.base.phrases import amount
from dagora.kernels.threads import Threads
from dagora.learners.run import Run
from dagora.posterior.chains.chain_state import (
    ACCEPTED,
    KEPT,
    STEPS,
    ChainState,
    KeptDraws,
    Schedule,
    new_chain,
    room_for,
)
from dagora.posterior.chains.chains_on_cluster import ChainsOnCluster
from dagora.posterior.chains.checkpoint import Checkpoint
from dagora.posterior.chains.keep_graph import keep_graph
from dagora.posterior.chains.order_kernels import start_order
from dagora.posterior.chains.sampling_target import SamplingTarget
from dagora.posterior.chains.walks import Walk
from dagora.posterior.draws import Draws
from dagora.posterior.space.lookup import Lookup

# Seconds that a round takes here, and on a cluster, where states are sent to and fro; seconds between two
# reports of progress.
ROUND, ROUND_THERE, TELL_EVERY = 0.1, 2.0, 0.5
# Steps of the first round; later rounds are adapted to `ROUND`.
FIRST_ROUND = 200


def check_counts(draws: int, chains: int, thin: int | None, warmup: int | None) -> None:
    """Refuse numbers that are too small."""
    for name, value, least in (
        ("draws", draws, 1),
        ("chains", chains, 1),
        ("thin", thin, 1),
        ("warmup", warmup, 0),
    ):
        if value is not None and value < least:
            raise OptionError(f"option '{name}' must be at least {least}, not {value}")


def sample_chains(
    walk: Walk,
    target: SamplingTarget,
    run: Run,
    plan: Schedule,
    *,
    draws: int,
    chains: int,
    prior: str,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Run the chains to their end, or until time is up; all chains give equally many draws, at least one."""
    states = start(walk, target, run, chains)
    kept = [room_for(draws, len(target.names)) for _ in range(chains)]
    resumed = checkpoint is not None and checkpoint.begin(target.tables, target.space, states, kept)
    before = sum(int(state.counters[STEPS]) for state in states)
    total = plan.warmup + draws * plan.thin
    begun = run.budget.elapsed
    progress = ChainProgress(run, states, kept, plan, draws)
    try:
        with rounds_of(walk, target.lookup, plan, states, kept, run) as rounds:
            while not run.budget.exhausted and rounds.advance(total):
                progress.tell()
                if checkpoint and checkpoint.is_due:
                    checkpoint.save(states, kept)
    finally:
        if checkpoint and sum(int(state.counters[STEPS]) for state in states) > before:
            checkpoint.save(states, kept)
    progress.tell(last=True)
    seconds = run.budget.elapsed - begun
    steps = sum(int(state.counters[STEPS]) for state in states)
    most = min(draws, *(int(state.counters[KEPT]) for state in states))
    if most == 0:
        kept = [only_draw(walk, target.lookup, state) for state in states]
    stats = {
        "steps": float(steps),
        "steps_per_second": (steps - before) / seconds if seconds > 0 else 0.0,
        "accepted": sum(int(state.counters[ACCEPTED]) for state in states) / max(1, steps),
        "warmup": float(plan.warmup),
        "thin": float(plan.thin),
        "scoring_seconds": target.seconds,
        "families": float(np.count_nonzero(np.isfinite(target.tables.log_weights))),
    }
    early = most < draws
    how = f"{amount(chains, 'chain')} of {amount(max(1, most), 'draw')}, one every {plan.thin} steps"
    if most:
        how += f" after {plan.warmup} steps of warm-up from random orders"
    else:
        done = min(int(state.counters[STEPS]) for state in states)
        how += f"; of {plan.warmup} steps of warm-up, at least {done} were made"
    if resumed or (checkpoint and checkpoint.recalled):
        how += ", taken up from a checkpoint"
    if early:
        how += f"; {run.budget.reason} before {draws} draws"
    if target.cut:
        how += f"; {target.cut}"
    warnings = target.warnings
    if most == 0:
        warnings += (
            "the chains were stopped during warm-up: the draws are where they stood then, and mean little",
        )
    return Draws(
        names=target.names,
        parents=np.stack([each.parents[: max(1, most)] for each in kept]),
        log_scores=np.stack([each.log_scores[: max(1, most)] for each in kept]),
        prior=prior,
        space=target.note,
        status="time-limit" if early or target.cut else "finished",
        message=how,
        independent=target.has_one_graph and not target.cut,
        stats=stats,
        warnings=warnings,
    )


def start(walk: Walk, target: SamplingTarget, run: Run, chains: int) -> list[ChainState]:
    """Place chains at random starts, each with its own stream of random numbers."""
    nodes = len(target.names)
    states = []
    for seed in np.random.SeedSequence(run.seed).spawn(chains):
        chain = new_chain(nodes, seed.generate_state(1, np.uint64).astype(np.uint64))
        if start_order(target.lookup, chain):
            stuck = ", ".join(f"'{target.names[i]}'" for i in np.flatnonzero(chain.places == nodes))
            raise KnowledgeError(
                f"no graph is possible: {stuck} can have no permitted parents in any order; look at the "
                "required and forbidden edges, tiers, max_parents and the search space"
            )
        if walk.from_order is not None:
            walk.from_order(target.lookup, chain, room_for(1, nodes))
        states.append(chain)
    return states


def only_draw(walk: Walk, lookup: Lookup, chain: ChainState) -> KeptDraws:
    """Make one draw from where a chain stands, without moving it."""
    spare = room_for(1, len(chain.places))
    counters = np.zeros_like(chain.counters)
    standing = ChainState(chain.places, chain.values, chain.random.copy(), counters)
    keep_graph(lookup, standing, spare, walk.in_blocks)
    return spare


@contextmanager
def rounds_of(
    walk: Walk, lookup: Lookup, plan: Schedule, states: list[ChainState], kept: list[KeptDraws], run: Run
) -> Iterator[Rounds]:
    """Rounds on the cluster of a run, or on its threads."""
    jobs = min(run.jobs, len(states))
    if run.cluster is not None:
        with workers_of(run.cluster) as workers:
            there = ChainsOnCluster(workers, walk, lookup, plan, states, kept, run.budget)
            yield Rounds(states, there.advance, ROUND_THERE)
        return
    with Threads(jobs) as threads:
        yield Rounds(states, ChainsHere(walk, lookup, plan, states, kept, threads).advance, ROUND)


class ChainsHere:
    """Advances chains in this process, on threads."""

    def __init__(
        self,
        walk: Walk,
        lookup: Lookup,
        plan: Schedule,
        states: list[ChainState],
        kept: list[KeptDraws],
        threads: Threads,
    ) -> None:
        self._walk = walk
        self._lookup = lookup
        self._plan = plan
        self._states = states
        self._kept = kept
        self._threads = threads

    def advance(self, chosen: Sequence[int], target: int) -> None:
        """Bring some chains to a number of steps."""
        self._threads.map(lambda k: self._run(k, target), chosen)

    def _run(self, k: int, target: int) -> None:
        state = self._states[k]
        self._walk.steps(self._lookup, state, self._kept[k], self._plan, target - int(state.counters[STEPS]))


class Rounds:
    """Advances all chains to the same number of steps, by as many as take about some `seconds`."""

    def __init__(
        self, states: list[ChainState], advance: Callable[[Sequence[int], int], None], seconds: float
    ) -> None:
        self._states = states
        self._advance = advance
        self._seconds = seconds
        self._few = FIRST_ROUND

    def advance(self, total: int) -> bool:
        """Make one round; False where all chains are at their end."""
        # A run that broke off within a round left chains at different steps: those behind catch up first.
        target = min(total, min(int(state.counters[STEPS]) for state in self._states) + self._few)
        behind = [k for k, state in enumerate(self._states) if state.counters[STEPS] < target]
        if not behind:
            return False
        begun = time.monotonic()
        self._advance(behind, target)
        taken = max(time.monotonic() - begun, 1e-6)
        self._few = max(1, min(int(self._few * self._seconds / taken), 4 * self._few))
        return True


class ChainProgress:
    """Reports how far the chains are, and how well they agree."""

    def __init__(
        self, run: Run, states: list[ChainState], kept: list[KeptDraws], plan: Schedule, draws: int
    ) -> None:
        self._run = run
        self._states = states
        self._kept = kept
        self._plan = plan
        self._draws = draws
        self._told = -TELL_EVERY
        self._every = TELL_EVERY

    def tell(self, *, last: bool = False) -> None:
        """Report, unless the last report was a moment ago."""
        begun = time.monotonic()
        if not last and begun - self._told < self._every:
            return
        step = min(int(state.counters[STEPS]) for state in self._states)
        most = min(self._draws, *(int(state.counters[KEPT]) for state in self._states))
        values = np.stack([each.log_scores[:most] for each in self._kept])
        self._run.on_event(
            Event(
                "sampling",
                step,
                score=float(values.max()) if most else None,
                total=self._plan.warmup + self._draws * self._plan.thin,
                message=agreement(values) if most else "warm-up",
            )
        )
        self._told = time.monotonic()
        # Long runs have many draws to look at: reports take no more than a twentieth of the time.
        self._every = max(TELL_EVERY, 20 * (self._told - begun))


def agreement(values: NDArray[np.float64]) -> str:
    """R-hat and effective number of draws of the log scores, [chains, draws], in words."""
    from dagora.posterior.summary.diagnostics import bulk_ess, rhat

    text = f"{values.shape[1]} draws per chain"
    worst = float(rhat(values))
    if np.isnan(worst):
        return text
    return f"{text}, R-hat {worst:.3f}, ESS {float(bulk_ess(values)):.0f}"
