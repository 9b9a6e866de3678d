"""Build the target of chains: choose a search space, enlarge it, and score its families.

Enlarging runs short chains (`frequent_edges`), so this module imports the chains and not the other way round.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import ignore
from dagora.base.options import find
from dagora.graph.bits import unpack
from dagora.learners.run import Run
from dagora.posterior.chains.chain_state import Schedule
from dagora.posterior.chains.checkpoint import Checkpoint
from dagora.posterior.chains.run_chains import sample_chains
from dagora.posterior.chains.sampling_target import SamplingTarget
from dagora.posterior.chains.walks import ORDERS
from dagora.posterior.exact.earlier_steps import WindowWeights
from dagora.posterior.space.best_graph import best_graph
from dagora.posterior.space.family_tables import FamilyTables, family_tables_in_time
from dagora.posterior.space.find_space import find_space
from dagora.posterior.space.growth import find_space_iteratively
from dagora.posterior.space.lookup import lookup_of
from dagora.posterior.space.priors import GraphPrior, prior_named
from dagora.posterior.space.space import Space, none_left_out
from dagora.scores.local_score import LocalScore

SPACES = ("auto", "full", "ges", "dual-pc", "candidates")
GROWTHS = ("auto", "draws", "best", "none")
# Edges in more than this share of the draws of short chains are added to the cores.
OFTEN = 0.1
# Draws per short chain, and chains: the standard error of a frequency of 0.1 is then about 0.015.
DRAWS, CHAINS = 200, 2
# Steps per node of short chains: before the first draw, and between two.
SHORT_WARMUP, SHORT_THIN = 100, 2
# Finding a space and scoring it may take this share of a time limit; the chains need the rest.
SCORING_SHARE = 0.6
# Growing the space may take this share of that time: the grown space must still be scored.
GROWING_SHARE = 0.5


@dataclass(frozen=True)
class SamplingSpec:
    """Options that say which posterior is sampled.

    `prior` and `edge_penalty` name the prior over graphs. `space` is a search space, or the name of a method
    that finds one (`alpha` is the level of the tests of dual-pc), `grow` the way to enlarge it. `memory` in
    GiB bounds the tables.
    """

    prior: str = "uniform"
    edge_penalty: float = 0.0
    space: str | Space = "auto"
    alpha: float = 0.05
    grow: str = "auto"
    memory: float = 4.0

    def check(self) -> None:
        """Refuse unknown names, before any work is done."""
        prior_named(self.prior, edge_penalty=self.edge_penalty)
        if not isinstance(self.space, Space):
            find("search space", self.space, dict.fromkeys(SPACES))
        find("way to grow the search space", self.grow, dict.fromkeys(GROWTHS))

    def settings(self) -> dict[str, object]:
        """Settings in which two runs must agree for one to continue the other."""
        return {
            "prior": self.prior,
            "edge_penalty": self.edge_penalty,
            "space": "as given" if isinstance(self.space, Space) else self.space,
            "alpha": self.alpha,
            "grow": self.grow,
        }


def build_target(
    score: LocalScore, run: Run, spec: SamplingSpec, checkpoint: Checkpoint | None = None
) -> SamplingTarget:
    """Choose the space, score its families and arrange them for the chains."""
    prior = prior_named(spec.prior, edge_penalty=spec.edge_penalty)
    names = score.schema.names
    run.knowledge.check_nodes(names)
    begun = run.budget.elapsed
    early = replace(run, budget=run.budget.part(SCORING_SHARE))
    with checkpoint.scoring(early) if checkpoint else nullcontext(early) as watched:
        known = checkpoint.space if checkpoint else None
        found = known or chosen_space(score, prior, watched, spec)
        tables, missing = family_tables_in_time(score, found, prior, watched, memory=spec.memory)
    note = found.note if run.knowledge.is_empty else f"{found.note}, as far as the knowledge permits"
    note += f", but {missing}" if missing else ""
    roots = run.knowledge.without_parents(names)
    windows = WindowWeights.of(tables, roots) if found.complete and roots.any() else None
    if windows is not None:
        tables, names = windows.tables, names[: len(windows.families)]
    # The budget of this part has a limit that the user never set: name the user's limit instead.
    up = run.budget.reason if run.budget.exhausted else f"{SCORING_SHARE:.0%} of the time limit had passed"
    return SamplingTarget(
        tables=tables,
        lookup=lookup_of(tables),
        prior=prior,
        space=found,
        names=names,
        note=note,
        seconds=run.budget.elapsed - begun,
        missing=missing,
        windows=windows,
        late=f"{up} before all families were scored" if missing else "",
    )


def chosen_space(score: LocalScore, prior: GraphPrior, run: Run, spec: SamplingSpec) -> Space:
    """Take the given space, or find and enlarge one by the named method."""
    space = spec.space
    if isinstance(space, Space):
        return space
    nodes = len(score.schema)
    if space == "full" or (space == "auto" and none_left_out(score, run.knowledge)):
        return Space.full(nodes)
    found = find_space(score, run, space, alpha=spec.alpha)
    return enlarge_space(score, prior, run, found, spec.grow, spec.memory)


def enlarge_space(
    score: LocalScore, prior: GraphPrior, run: Run, start: Space, grow: str, memory: float
) -> Space:
    """Enlarge a space that leaves something out: by the edges of short chains, or of the best graph alone.

    A space as a search proposes it can miss nearly all of the posterior. The best graph alone needs fewer
    families, and is the default where each is expensive to score.
    """
    way = ("best" if score.capabilities.is_expensive else "draws") if grow == "auto" else grow
    if start.complete or way == "none":
        return start
    run = replace(run, budget=run.budget.part(GROWING_SHARE))
    if way == "best":
        return find_space_iteratively(score, prior, run, start, memory=memory)
    return find_space_iteratively(
        score, prior, run, start, find_edges=frequent_edges, above=OFTEN, memory=memory
    )


def frequent_edges(tables: FamilyTables, run: Run) -> NDArray[np.float64]:
    """Frequency of each edge among the draws, [i, j] is i → j; 1 for the edges of the best graph.

    The best graph alone does not show which parents the rest of the posterior needs. A space that is grown by
    all edges in at least a tenth of the draws holds more of the posterior: tests/posterior/space/
    test_find_space.py sums up how much. Its cores are larger, which costs much if families are expensive.
    """
    nodes = len(tables.starts)
    names = tuple(f"x{i}" for i in range(nodes))
    quiet = replace(run, on_event=ignore, cluster=None)  # these chains are too short to be worth sending
    # The weights contain the prior already; the one named here is not used.
    target = SamplingTarget(tables, lookup_of(tables), prior_named("uniform"), Space((), (), ""), names)
    plan = Schedule(SHORT_WARMUP * nodes, SHORT_THIN * nodes)
    draws = sample_chains(ORDERS, target, quiet, plan, draws=DRAWS, chains=CHAINS, prior="")
    rows = draws.parents.reshape(-1, draws.parents.shape[-1])
    present = unpack(rows, nodes).reshape(-1, nodes, nodes)
    often: NDArray[np.float64] = np.maximum(present.mean(axis=0).T, best_graph(tables, quiet))
    return often
