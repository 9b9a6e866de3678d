"""What chains sample from: the families of a search space, weighed by score and prior under knowledge."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dagora.options import find
from dagora.posterior.lookup import Lookup, lookup_of
from dagora.posterior.priors import Prior, prior_named
from dagora.posterior.space import Space, most_in_full
from dagora.posterior.tables import FamilyTables, weigh_families
from dagora.run import Run
from dagora.scores.local_score import LocalScore, is_dear

SPACES = ("auto", "full", "ges", "dual-pc", "candidates")
GROWTHS = ("auto", "draws", "best", "none")
# Edges in more than this share of short chains' draws belong in the cores.
OFTEN = 0.1
# Finding a space and scoring it take no more than this share of a limited time; the chains need the rest.
SCORING_SHARE = 0.6
# Share of that for growing the space: what it leads to must still be scored.
GROWING_SHARE = 0.5


@dataclass(frozen=True)
class Problem:
    """A posterior over the graphs of a space, as far as the knowledge permits them."""

    names: tuple[str, ...]
    tables: FamilyTables
    lookup: Lookup
    prior: Prior
    space: str
    seconds: float
    warnings: tuple[str, ...] = ()


def pose(
    score: LocalScore,
    run: Run,
    *,
    prior: str,
    edge_penalty: float,
    space: str | Space,
    alpha: float,
    grow: str,
    memory: float,
) -> Problem:
    """Choose the space, weigh its families and arrange them for the chains."""
    chosen = prior_named(prior, edge_penalty=edge_penalty)
    names = score.schema.names
    run.knowledge.check_nodes(names)
    begun = run.budget.elapsed
    early = replace(run, budget=run.budget.part(SCORING_SHARE))
    found = chosen_space(score, early, space, alpha)
    if not isinstance(space, Space):
        found = grown(score, chosen, early, found, grow, memory)
    tables, missing = weigh_families(score, found, chosen, early, memory=memory)
    told = found.note if run.knowledge.is_empty else f"{found.note}, as far as the knowledge permits"
    told += f", but {missing}" if missing else ""
    # The limit of this part alone is a number that nobody asked for.
    up = run.budget.reason if run.budget.exhausted else f"{SCORING_SHARE:.0%} of the time limit had passed"
    warnings = (f"{up} before all families were scored: {missing}",) if missing else ()
    seconds = run.budget.elapsed - begun
    return Problem(names, tables, lookup_of(tables), chosen, told, seconds, warnings)


def chosen_space(score: LocalScore, run: Run, space: str | Space, alpha: float) -> Space:
    """Make the space of a name, or take the one that is given."""
    if isinstance(space, Space):
        return space
    find("search space", space, dict.fromkeys(SPACES))
    nodes = len(score.schema)
    if space == "full" or (space == "auto" and nodes <= most_in_full(score)):
        return Space.full(nodes)
    from dagora.posterior.search_space import find_space

    return find_space(score, run, space, alpha=alpha)


def grown(score: LocalScore, prior: Prior, run: Run, start: Space, grow: str, memory: float) -> Space:
    """Enlarge a space that leaves something out: by the edges of short chains, or of the best graph alone.

    A space as a search proposes it can miss nearly all of the posterior. The best graph alone asks for fewer
    families, which is the default where each is dear to score.
    """
    find("way to grow the search space", grow, dict.fromkeys(GROWTHS))
    way = ("best" if is_dear(score) else "draws") if grow == "auto" else grow
    if start.complete or way == "none":
        return start
    from dagora.posterior.frequent_edges import frequent_edges
    from dagora.posterior.space_growth import find_space_iteratively

    run = replace(run, budget=run.budget.part(GROWING_SHARE))
    if way == "best":
        return find_space_iteratively(score, prior, run, start, memory=memory)
    return find_space_iteratively(
        score, prior, run, start, find_edges=frequent_edges, above=OFTEN, memory=memory
    )
