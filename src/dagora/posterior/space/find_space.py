"""Find a search space before sampling: for each node the parents that may be combined freely.

With up to a dozen variables nothing is left out. With more, a fast method gives each node a core of promising
parents; all 2^k subsets of the core are scored, alone and with any one further parent (Kuipers, Suter & Moffa
2022). The methods: `dual-pc` tests partial correlations; `ges` climbs over equivalence classes (or over
graphs, if the score or the knowledge distinguishes equivalent graphs); `candidates` takes the parents in each
node's best small parent sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError, OptionError
from dagora.base.events import Event
from dagora.base.options import find
from dagora.base.phrases import some_of
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.constraint.dual_pc import dual_pc_skeleton
from dagora.learners.run import Run
from dagora.learners.search.ges.ges import ges, limits_of
from dagora.learners.search.greedy.hill_climb import hill_climb
from dagora.posterior.space.space import Space, none_left_out
from dagora.scores.local_score import TIE, LocalScore

Matrix = NDArray[np.bool_]

# Parents that occur only in sets this many nats below a node's best set are not promising: e^−10 is 5e-5.
MARGIN = 10.0
# `candidates` looks at sets of up to this many parents.
SMALL = 3
# Finding a space may take this share of the time left.
SHARE = 0.25


def find_space(
    score: LocalScore, run: Run, kind: str = "auto", *, alpha: float = 0.05, most: int = 14
) -> Space:
    """Find a search space. Cores have at most `most` parents: those that score highest as the only parent."""
    names = score.schema.names
    run.knowledge.check_nodes(names)
    if kind == "auto":
        kind = choose_kind(score, run.knowledge)
    finder = find("search space", kind, KINDS)
    if finder is None:
        return Space.full(len(names))
    quiet = replace(run, budget=run.budget.part(SHARE), on_event=lambda event: pass_on(run, event))
    found = finder(score, quiet, alpha)
    note = f"{found.note}, stopped early ({quiet.budget.reason})" if found.cut else found.note
    allowed = found.adjacent & ~run.knowledge.forbidden_matrix(names)
    space = limited_cores(score, allowed, run.knowledge, most, note)
    return replace(space, cut=found.cut and not space.complete)


def choose_kind(score: LocalScore, knowledge: Knowledge) -> str:
    """All parent sets if there are few, else the method that suits the score."""
    if none_left_out(score, knowledge):
        return "full"
    if not score.capabilities.is_expensive and is_equivalent(score):
        return "ges"
    # The tests of dual-pc need no scores, which may be slow.
    return "candidates" if score.capabilities.moments is None else "dual-pc"


def is_equivalent(score: LocalScore) -> bool:
    """Return True if equivalent graphs on a few pairs and triples of variables have equal scores."""
    nodes = len(score.schema)
    step = max(1, nodes // 6)
    groups = [
        tuple(sorted({(i + k * step) % nodes for k in range(size)}))
        for size in (2, 3)
        for i in range(0, nodes, step)
    ]
    families = []
    for group in groups:
        for order in (group, group[::-1]):
            families += [(child, tuple(sorted(order[:place]))) for place, child in enumerate(order)]
    values = iter(score.families(families).tolist())
    for group in groups:
        ahead, back = ([next(values) for _ in group] for _ in range(2))
        if np.isfinite([*ahead, *back]).all() and abs(sum(ahead) - sum(back)) > 10 * TIE * abs(sum(ahead)):
            return False
    return True


@dataclass(frozen=True)
class Promising:
    """Promising parents ([i, j]: i of j), how they were found, and whether time ran out on the way."""

    adjacent: Matrix
    note: str
    cut: bool


def by_tests(score: LocalScore, run: Run, alpha: float) -> Promising:
    """Neighbours in the skeleton of the dual PC algorithm."""
    moments = score.capabilities.moments
    if moments is None:
        raise OptionError(
            "the search space dual-pc tests correlations, and this score does not know any: "
            "use ges or candidates"
        )
    skeleton = dual_pc_skeleton(moments, alpha, run)
    note = f"neighbours by the dual PC algorithm (level {alpha:g})"
    return Promising(skeleton, note, run.budget.exhausted)


def by_climbing(score: LocalScore, run: Run, alpha: float) -> Promising:  # noqa: ARG001
    """Neighbours in the class that GES finds; where GES does not apply, Markov blankets by hill climbing."""
    names = score.schema.names
    try:
        limits_of(run.knowledge, names)
        classes = is_equivalent(score)
    except KnowledgeError:
        classes = False
    outcome = ges(score, run) if classes else hill_climb(score, run)
    cut = outcome.status == "time-limit"
    matrix = outcome.plain_graph.to_numpy()
    if classes:
        return Promising(matrix | matrix.T, "neighbours by greedy equivalence search", cut)
    # If two parents of a child are joined, either direction is possible: each may need the other in its core.
    spouses = (matrix.astype(np.int64) @ matrix.T.astype(np.int64)) > 0
    np.fill_diagonal(spouses, val=False)
    return Promising(matrix | matrix.T | spouses, "Markov blankets by hill climbing", cut)


def by_candidates(score: LocalScore, run: Run, alpha: float) -> Promising:  # noqa: ARG001
    """The parents in each node's best small parent sets."""
    names = score.schema.names
    known = run.knowledge
    needed = int(known.required_matrix(names).sum(axis=0).max(initial=0))
    largest = max(SMALL, needed)
    if known.max_parents is not None:
        largest = min(largest, known.max_parents)
    small = replace(known, max_parents=largest)
    found = find_candidates(score, replace(run, knowledge=small))
    adjacent = np.zeros((len(names), len(names)), dtype=np.bool_)
    for child in found:
        near = child.scores >= child.scores[0] - MARGIN
        for parents, kept in zip(child.parents, near.tolist(), strict=True):
            if kept:
                adjacent[list(parents), child.child] = True
    return Promising(adjacent, f"parents in the best sets of up to {largest}", run.budget.exhausted)


Finder = Callable[[LocalScore, Run, float], Promising]

KINDS: dict[str, Finder | None] = {
    "full": None,
    "dual-pc": by_tests,
    "ges": by_climbing,
    "candidates": by_candidates,
}


def limited_cores(score: LocalScore, adjacent: Matrix, knowledge: Knowledge, most: int, note: str) -> Space:
    """Cores of at most `most` parents: first the required ones, then those that score highest alone."""
    names = score.schema.names
    required = knowledge.required_matrix(names)
    cores = []
    shortened = []
    for child in range(len(names)):
        core = np.flatnonzero(adjacent[:, child] | required[:, child]).tolist()
        if len(core) > most:
            shortened.append(names[child])
            values = score.families([(child, (parent,)) for parent in core])
            ranked = sorted(zip(core, values.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
            needed = [parent for parent in core if required[parent, child]]
            others = [parent for parent, _ in ranked if not required[parent, child]]
            core = [*needed, *others[: max(0, most - len(needed))]]
        cores.append(core)
    if shortened:
        named = some_of([f"'{name}'" for name in shortened])
        note = f"{note}; only the {most} strongest for {named}"
    space = Space.plus_one(cores, f"{note}; and any one further parent")
    return Space.full(len(names)) if space.complete else space


def pass_on(run: Run, event: Event) -> None:
    """Pass progress on without its scores: those are the search's, not the sampler's."""
    run.on_event(Event("finding the space", event.step, total=event.total, message=event.phase))
