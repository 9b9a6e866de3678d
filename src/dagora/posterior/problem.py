"""What chains sample from: the families of a search space, weighed by score and prior under knowledge."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dagora.options import find
from dagora.posterior.lookup import Lookup, lookup_of
from dagora.posterior.priors import Prior, prior_named
from dagora.posterior.space import Space
from dagora.posterior.tables import FamilyTables, weigh_families
from dagora.run import Run
from dagora.scores.local_score import LocalScore

# Up to so many variables no parent set is left out, unless a narrower space is asked for.
MOST_IN_FULL = 12
SPACES = ("auto", "full", "ges", "dual-pc", "candidates")
# Finding a space and scoring it take no more than this share of a limited time; the chains need the rest.
SCORING_SHARE = 0.6


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
    memory: float,
) -> Problem:
    """Choose the space, weigh its families and arrange them for the chains."""
    chosen = prior_named(prior, edge_penalty=edge_penalty)
    names = score.schema.names
    run.knowledge.check_nodes(names)
    begun = run.budget.elapsed
    early = replace(run, budget=run.budget.part(SCORING_SHARE))
    found = chosen_space(score, early, space, alpha)
    tables, missing = weigh_families(score, found, chosen, early, memory=memory)
    told = found.note if run.knowledge.is_empty else f"{found.note}, as far as the knowledge permits"
    warnings = (f"{early.budget.reason} before all families were scored: {missing}",) if missing else ()
    seconds = run.budget.elapsed - begun
    return Problem(names, tables, lookup_of(tables), chosen, told, seconds, warnings)


def chosen_space(score: LocalScore, run: Run, space: str | Space, alpha: float) -> Space:
    """Make the space of a name, or take the one that is given."""
    if isinstance(space, Space):
        return space
    find("search space", space, dict.fromkeys(SPACES))
    nodes = len(score.schema)
    if space == "full" or (space == "auto" and nodes <= MOST_IN_FULL):
        return Space.full(nodes)
    from dagora.posterior.search_space import find_space

    return find_space(score, run, space, alpha=alpha)
