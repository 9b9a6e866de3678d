"""Build what chains sample from: choose a search space, enlarge it, and score its families.

Enlarging runs short chains (`frequent_edges`), which is why this stands above the chains themselves.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

from dagora.options import find
from dagora.posterior.chains.checkpoint import Checkpoint
from dagora.posterior.chains.frequent_edges import frequent_edges
from dagora.posterior.chains.sampling_target import SamplingTarget
from dagora.posterior.space.family_tables import weigh_families
from dagora.posterior.space.find_space import find_space
from dagora.posterior.space.growth import find_space_iteratively
from dagora.posterior.space.lookup import lookup_of
from dagora.posterior.space.priors import Prior, prior_named
from dagora.posterior.space.space import Space, most_in_full
from dagora.run import Run
from dagora.scores.local_score import LocalScore, is_expensive

SPACES = ("auto", "full", "ges", "dual-pc", "candidates")
GROWTHS = ("auto", "draws", "best", "none")
# Edges in more than this share of short chains' draws belong in the cores.
OFTEN = 0.1
# Finding a space and scoring it take no more than this share of a limited time; the chains need the rest.
SCORING_SHARE = 0.6
# Share of that for growing the space: what it leads to must still be scored.
GROWING_SHARE = 0.5


@dataclass(frozen=True)
class SamplingSpec:
    """What is asked about: a prior, a search space and how it grows; `memory` in GiB bounds tables."""

    prior: str = "uniform"
    edge_penalty: float = 0.0
    space: str | Space = "auto"
    alpha: float = 0.05
    grow: str = "auto"
    memory: float = 4.0

    def check(self) -> None:
        """Refuse names that nobody knows, before any work is done."""
        prior_named(self.prior, edge_penalty=self.edge_penalty)
        if not isinstance(self.space, Space):
            find("search space", self.space, dict.fromkeys(SPACES))
        find("way to grow the search space", self.grow, dict.fromkeys(GROWTHS))

    def settings(self) -> dict[str, object]:
        """What must be the same for a run to go on."""
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
    """Choose the space, weigh its families and arrange them for the chains."""
    prior = prior_named(spec.prior, edge_penalty=spec.edge_penalty)
    names = score.schema.names
    run.knowledge.check_nodes(names)
    begun = run.budget.elapsed
    early = replace(run, budget=run.budget.part(SCORING_SHARE))
    with checkpoint.scoring(early) if checkpoint else nullcontext(early) as watched:
        known = checkpoint.space if checkpoint else None
        found = known or chosen_space(score, prior, watched, spec)
        tables, missing = weigh_families(score, found, prior, watched, memory=spec.memory)
    note = found.note if run.knowledge.is_empty else f"{found.note}, as far as the knowledge permits"
    note += f", but {missing}" if missing else ""
    # The limit of this part alone is a number that nobody asked for.
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
        late=f"{up} before all families were scored" if missing else "",
    )


def chosen_space(score: LocalScore, prior: Prior, run: Run, spec: SamplingSpec) -> Space:
    """Take the space that is given, or make and enlarge the one of a name."""
    space = spec.space
    if isinstance(space, Space):
        return space
    nodes = len(score.schema)
    if space == "full" or (space == "auto" and nodes <= most_in_full(score)):
        return Space.full(nodes)
    found = find_space(score, run, space, alpha=spec.alpha)
    return grown(score, prior, run, found, spec.grow, spec.memory)


def grown(score: LocalScore, prior: Prior, run: Run, start: Space, grow: str, memory: float) -> Space:
    """Enlarge a space that leaves something out: by the edges of short chains, or of the best graph alone.

    A space as a search proposes it can miss nearly all of the posterior. The best graph alone asks for fewer
    families, which is the default where each is expensive to score.
    """
    way = ("best" if is_expensive(score) else "draws") if grow == "auto" else grow
    if start.complete or way == "none":
        return start
    run = replace(run, budget=run.budget.part(GROWING_SHARE))
    if way == "best":
        return find_space_iteratively(score, prior, run, start, memory=memory)
    return find_space_iteratively(
        score, prior, run, start, find_edges=frequent_edges, above=OFTEN, memory=memory
    )
