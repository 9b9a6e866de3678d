"""The chains over orders and partitions: steps per second, whether their law is right, and convergence.

    python benchmarks/samplers.py [--parts speed stationarity convergence] [--nodes 10 20 50] [--seconds 3]
        [--repeats 5] [--draws 100000] [--quick] [--output FILE.md]
        [--columns 100] [--rows 1000] [--degrees 1 2] [--data gaussian discrete] [--methods order partition]
        [--seeds 1]

Speed: rows are drawn from random linear-Gaussian networks (two parents per node on average) and scored by BGe
(`prior_scale=unit`). Up to 12 nodes every parent set may be drawn; above, each node's core are its neighbours
in the true graph, filled up at random to six, and any one parent beyond. Scoring is not timed: a step is a
proposal, accepted or not. Time is CPU time of the one thread, so that a busy machine disturbs little.
Stationarity: see `stationarity.py`. Convergence on many columns (not run by default): see `convergence.py`.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from convergence import CALIBRATION_HEADER, SCORES, calibration, compile_chains, measure_convergence
from convergence import HEADER as CONVERGENCE_HEADER
from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.chains.build_target import SamplingSpec, build_target
from dagora.posterior.chains.chain_state import Schedule, room_for
from dagora.posterior.chains.keep_graph import keep_graph
from dagora.posterior.chains.run_chains import start
from dagora.posterior.chains.sampling_target import SamplingTarget
from dagora.posterior.chains.walks import ORDERS, PARTITIONS, Walk
from dagora.posterior.space.space import MOST_IN_FULL, Space
from dagora.stats.table import TableStatistics
from report import deliver, machine, markdown_table, promises, verdict
from runs import note
from stationarity import EDGE_ERROR, POINTS, TIMES_USUAL, Agreement, measure_all

ROWS, SEED, CORE = 500, 1, 6
HEADER = ("nodes", "chain", "steps/s", "accepted", "draws/s", "families")
# Nodes of the promise, and steps per second.
PROMISED_AT = 20
PROMISES = {"order": 1_000_000, "partition": 200_000}
PROMISED_DRAWS = 100_000
PARTS = ("speed", "stationarity", "convergence")
# The promise about convergence: at so many columns, so many CPU seconds, and R-hat of any edge.
CONVERGED_AT, CONVERGED_WITHIN, CONVERGED_RHAT = 100, 600.0, 1.05
KEPT_DRAWS = 1000
CONVERGENCE = (
    "4 chains of {draws:,} draws, two runs with other seeds, one thread. Degree: expected neighbours of a "
    "column. R-hat of the log score and of the worst edge, and the fewest effective draws of an edge: the "
    "worse run. Apart: difference of edge probabilities between the runs. True, false, of: expected "
    "adjacencies that are in the network and not, and how many the network has. Space: families. CPU seconds "
    "without compilation."
)
AGREEMENT_HEADER = (
    "nodes", "score", "data", "chain", "edge error", "distance", "usual", "ratio", "effective", "CPU s",
)  # fmt: skip
AGREEMENT = (
    "{draws:,} kept draws of 4 chains against all graphs, uniform prior; order MCMC against all graphs times "
    "the orders they agree with. Edge error: the largest of an edge's probability. Distance: total variation "
    "over graphs; usual: what independent draws have on average, as many as the chains are worth (the fewest "
    "over log score and edges). gp: qmc with {points} points. CPU seconds: the chains' alone."
)
EXPLANATION = (
    "Proposals per CPU second of one chain on one thread, after its warm-up; median (range) of {repeats} "
    "runs of {seconds:g} s. Draws per second with the usual thinning, drawing the graphs included."
)


@dataclass(frozen=True)
class Rate:
    """What one run measured."""

    steps: float
    draws: float
    accepted: float


def target_of_size(nodes: int) -> SamplingTarget:
    """The posterior that chains of this size sample from."""
    rng = np.random.default_rng([SEED, nodes])
    rows = rng.normal(size=(ROWS, nodes))
    parents = [sorted(rng.choice(j, min(j, rng.binomial(4, 0.5)), replace=False)) for j in range(nodes)]
    for j, chosen in enumerate(parents):
        for i in chosen:
            rows[:, j] += rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.5) * rows[:, i]
    score = make_score(TableStatistics(Table.from_numpy(rows)), "bge", prior_scale="unit")
    space = Space.full(nodes)
    if nodes > MOST_IN_FULL:
        space = Space.plus_one([core_of(j, parents, rng) for j in range(nodes)], "true neighbours and others")
    return build_target(score, Run(), SamplingSpec(space=space, grow="none"))


def core_of(node: int, parents: list[list[int]], rng: np.random.Generator) -> list[int]:
    """True neighbours of a node, filled up at random."""
    near = set(parents[node]) | {j for j, chosen in enumerate(parents) if node in chosen}
    others = [j for j in range(len(parents)) if j != node and j not in near]
    rng.shuffle(others)
    return [*sorted(near), *others][:CORE]


def measure(walk: Walk, plan: Schedule, target: SamplingTarget, seconds: float) -> Rate:
    """Steps and draws per CPU second, after the warm-up."""
    chain = start(walk, target, Run(budget=Budget()), 1)[0]
    kept = room_for(1, len(target.names))
    never = Schedule(0, 1 << 60)
    walk.steps(target.lookup, chain, kept, never, plan.warmup)
    few, total = plan.thin, 0
    before = chain.counters.copy()
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        walk.steps(target.lookup, chain, kept, never, few)
        total += few
        few = min(2 * few, 1 << 20)
    taken = time.thread_time() - begun
    accepted = (chain.counters - before)[1] / total
    begun, drawn = time.thread_time(), 0
    while time.thread_time() - begun < seconds / 4:
        chain.counters[2] = 0
        keep_graph(target.lookup, chain, kept, walk.in_blocks)
        drawn += 1
    per_draw = plan.thin * taken / total + (time.thread_time() - begun) / drawn
    return Rate(total / taken, 1 / per_draw, accepted)


def spread(values: list[float]) -> str:
    """The median in thousands, with the range where there are several."""
    middle = f"{median(values) / 1000:,.0f} k"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values) / 1000:,.0f}–{max(values) / 1000:,.0f})"


def speed(sizes: list[int], seconds: float, repeats: int) -> list[str]:
    """The report about steps per second."""
    lines: list[list[str]] = []
    judged: list[list[str]] = []
    for nodes in sizes:
        target = target_of_size(nodes)
        for walk in (ORDERS, PARTITIONS):
            plan = walk.usual_plan(nodes)
            note(f"{nodes} nodes, {walk.name}")
            rates = [measure(walk, plan, target, seconds) for _ in range(repeats)]
            families = int(np.isfinite(target.tables.log_weights).sum())
            lines.append(
                [
                    f"{nodes}",
                    walk.name,
                    spread([rate.steps for rate in rates]),
                    f"{rates[0].accepted:.2f}",
                    f"{median(rate.draws for rate in rates):,.0f}",
                    f"{families:,}",
                ]
            )
            if nodes == PROMISED_AT:
                least, got = PROMISES[walk.name], median(rate.steps for rate in rates)
                promise = f"at least {least / 1000:,.0f} k {walk.name} steps/s"
                judged.append([f"{nodes} nodes", promise, f"{got / 1000:,.0f} k", verdict(got >= least)])
    return [
        "## Samplers: speed",
        EXPLANATION.format(repeats=repeats, seconds=seconds),
        markdown_table(HEADER, lines),
        *([promises(judged)] if judged else []),
    ]


def stationarity(draws: int) -> list[str]:
    """The report about agreement with enumeration."""
    found = measure_all(draws, note)
    lines = [
        [
            f"{nodes}",
            score,
            how,
            sampler,
            f"{one.edge_error:.4f}",
            f"{one.distance:.4f}",
            f"{one.usual:.4f}",
            f"{one.distance / one.usual:.2f}",
            f"{one.effective:,.0f}",
            f"{one.seconds:.1f}",
        ]
        for nodes, score, how, sampler, one in found
    ]
    empty = [
        [score, sampler, f"{one.empty:.4f}", f"{one.empty_drawn:.4f}"]
        for nodes, score, how, sampler, one in found
        if nodes == 4 and how == "noise"
    ]
    judged = []
    # The promise is about so many draws; fewer have larger errors.
    for nodes in sorted({line[0] for line in found} if draws >= PROMISED_DRAWS else ()):
        some = [line[-1] for line in found if line[0] == nodes]
        judged += judge(f"{nodes} nodes, {len(some)} runs", some)
    return [
        "## Samplers: stationarity",
        AGREEMENT.format(draws=draws, points=POINTS),
        markdown_table(AGREEMENT_HEADER, lines),
        "Probability of the empty graph on 4 nodes of noise:",
        markdown_table(("score", "chain", "exact", "drawn"), empty),
        *([promises(judged)] if judged else []),
    ]


def convergence(options: argparse.Namespace) -> list[str]:
    """The report about convergence on many columns."""
    compile_chains(options.methods)
    found = []
    for nodes, seed, data, degree, method in itertools.product(
        options.columns, options.seeds, options.data, options.degrees, options.methods
    ):
        note(f"{nodes} columns, {data}, degree {2 * degree:g}, seed {seed}, {method}")
        found.append(measure_convergence(data, method, nodes, degree, options.rows, seed, KEPT_DRAWS))
        note(" | ".join(found[-1].line()))
    judged = []
    for one in found:
        if len(one.truth) == CONVERGED_AT:
            for run, spent in zip(one.runs, one.seconds, strict=True):
                edges = run.diagnostics.edge_rhat
                judged.append(
                    [
                        f"{run.method}, {one.data}, degree {2 * one.degree:g}, seed {one.seed}",
                        f"R-hat ≤ {CONVERGED_RHAT} in {CONVERGED_WITHIN:g} CPU s",
                        f"{edges:.3f} in {spent:.0f} s",
                        verdict(edges <= CONVERGED_RHAT and spent <= CONVERGED_WITHIN),
                    ]
                )
    return [
        "## Samplers: convergence",
        CONVERGENCE.format(draws=KEPT_DRAWS),
        markdown_table(CONVERGENCE_HEADER, [one.line() for one in found]),
        "Pairs of columns by the probability that they are adjacent, and the share that is:",
        markdown_table(CALIBRATION_HEADER, list(calibration(found))),
        *([promises(judged)] if judged else []),
    ]


def judge(where: str, found: list[Agreement]) -> list[list[str]]:
    """The worst run against each promise."""
    edges = max(one.edge_error for one in found)
    ratio = max(one.distance / one.usual for one in found)
    return [
        [where, f"edges within {EDGE_ERROR}", f"{edges:.4f}", verdict(edges <= EDGE_ERROR)],
        [where, f"distance within {TIMES_USUAL:g} × usual", f"{ratio:.2f}", verdict(ratio <= TIMES_USUAL)],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and law of the chains over orders and partitions.")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS[:2]))
    parser.add_argument("--nodes", type=int, nargs="*", default=[10, 20, 50])
    parser.add_argument("--seconds", type=float, default=3.0, help="CPU seconds of each run for speed")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each for speed")
    parser.add_argument(
        "--draws", type=int, default=PROMISED_DRAWS, help="draws in all of each run for stationarity"
    )
    parser.add_argument("--quick", action="store_true", help="one run of half a second, a tenth of the draws")
    parser.add_argument("--columns", type=int, nargs="*", default=[CONVERGED_AT], help="for convergence")
    parser.add_argument("--rows", type=int, default=1000, help="for convergence")
    parser.add_argument("--degrees", type=float, nargs="*", default=[1.0, 2.0], help="edges per column")
    parser.add_argument("--data", nargs="*", choices=list(SCORES), default=list(SCORES))
    parser.add_argument(
        "--methods", nargs="*", choices=["order", "partition"], default=["order", "partition"]
    )
    parser.add_argument("--seeds", type=int, nargs="*", default=[1], help="of tables, for convergence")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    repeats, seconds = (1, 0.5) if options.quick else (options.repeats, options.seconds)
    draws = options.draws // 10 if options.quick else options.draws
    if repeats < 1:
        parser.error("--repeats must be at least 1")
    if draws < 100:
        parser.error("--draws must be at least 100, with --quick 1000")
    where = machine("dagora", "numpy", "numba")
    text = [
        *(speed(options.nodes, seconds, repeats) if "speed" in options.parts else []),
        *(stationarity(draws) if "stationarity" in options.parts else []),
        *(convergence(options) if "convergence" in options.parts else []),
        where,
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
