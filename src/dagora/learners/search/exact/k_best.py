"""The k best classes of equivalent networks, with the outcome that tells of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.graph.class_sizes import ClassSizes
from dagora.graph.cpdag import require_dag
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.k_best_sets import above, neighbours_of
from dagora.learners.outcome import Outcome, RankedClass
from dagora.learners.run import Run
from dagora.learners.search.exact.class_key import ClassKey, class_of, dag_of
from dagora.learners.search.exact.k_best_dynamic import MOST_VARIABLES, k_best_by_subsets


def best_by_subsets(first: Outcome, candidates: Candidates, run: Run, k: int) -> Outcome:
    """The k best classes by dynamic programming; `first` is the outcome with the best network."""
    if len(candidates) > MOST_VARIABLES:
        raise OptionError(
            f"dynamic finds the best classes of up to {MOST_VARIABLES} columns, not of {len(candidates)}: "
            f"{option('method', 'ilp')} finds those of more"
        )
    if first.status != "optimal" or not candidates.complete:
        return without_classes(first)
    found = k_best_by_subsets(near(first, candidates, k), run, k)
    if found is None:
        return without_classes(first, run.budget.reason)
    return outcome_with(first, found, candidates, k, "dynamic programming", "optimal", run)


def best_by_cuts(
    first: Outcome, candidates: Candidates, run: Run, k: int, *, facets: bool, memory: float
) -> Outcome:
    """The k best classes by integer programming; `first` is the outcome with the best network."""
    from dagora.learners.search.exact.k_best_ilp import k_best_by_cuts

    if first.status != "optimal" or not candidates.complete:
        return without_classes(first)
    found, status = k_best_by_cuts(near(first, candidates, k), run, k, facets=facets, memory=memory)
    return outcome_with(first, found, candidates, k, "integer programming", status, run)


def near(first: Outcome, candidates: Candidates, k: int) -> Candidates:
    """The sets that a network among the k best classes may have.

    The k-th best of the classes that differ from the best network in one variable's parents is a bound.
    """
    dag = require_dag(first.graph)
    parents = tuple(int(row[0]) for row in dag.parent_rows)
    scored = [
        dict(zip(child.masks[:, 0].tolist(), child.scores.tolist(), strict=True)) for child in candidates
    ]
    values: dict[ClassKey, float] = {}
    for changed in (parents, *neighbours_of(parents, candidates)):
        values.setdefault(ClassKey.of(changed), sum(scored[x][mask] for x, mask in enumerate(changed)))
    if len(values) < k:
        return candidates
    return above(candidates, float(np.sort(list(values.values()))[-k]))


def without_classes(first: Outcome, reason: str = "") -> Outcome:
    """The best network alone, where there was no time for more."""
    late = (
        f"{reason}; the other classes were not found" if reason else f"{first.message}; no classes were found"
    )
    status = "time-limit" if reason else first.status
    return replace(first, status=status, message=late)


def outcome_with(
    first: Outcome,
    found: list[tuple[float, tuple[int, ...]]],
    candidates: Candidates,
    k: int,
    phase: str,
    status: str,
    run: Run,
) -> Outcome:
    """The outcome of the best network, with the classes in the order of their scores."""
    names = candidates.names
    sizes = ClassSizes()
    listed = []
    for score, parents in found:
        class_ = class_of(parents, names)
        listed.append(RankedClass(class_, score, sizes.size(class_.to_numpy())))
    if status == "optimal":
        proof = f"no other class scores higher than the last of them: proved by {phase}"
        if len(found) < k:
            proof = f"there are no more: proved by {phase}"
        message = f"the {len(found)} best classes of networks; {proof}"
    else:
        why = run.budget.reason if status == "time-limit" else "the memory limit was reached"
        message = f"{why}; the {len(found)} best of {k} classes were found and proved by {phase}"
    graph, total = (dag_of(found[0][1], names), found[0][0]) if found else (first.graph, first.score)
    stats = {**first.stats, "classes": float(len(found))}
    return replace(
        first, graph=graph, score=total, status=status, message=message, stats=stats, classes=tuple(listed)
    )
