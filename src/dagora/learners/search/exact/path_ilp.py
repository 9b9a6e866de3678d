"""The best network in which some paths must be there: one integer program of all columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.options import GIBIBYTE
from dagora.graph.bits import unpack
from dagora.graph.dag import DAG
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.components import NO_ROW, LocalProblem
from dagora.learners.search.exact.component_solver import Watch
from dagora.learners.search.path_rules import PathRules

BYTES_A_SET = 10_000


def solve_with_paths(
    candidates: Candidates, run: Run, rules: PathRules, *, facets: bool, memory: float
) -> Outcome:
    """Find a best network that obeys the rules, starting from the one that the candidates bring."""
    from dagora.learners.search.exact.path_program import AncestralProgram

    problem = LocalProblem.whole(candidates)
    first = first_rows(problem, candidates)
    score = float(problem.scores[first].sum())
    best = np.repeat(problem.scores[problem.offsets[:-1]], np.diff(problem.offsets))
    loss = problem.bound - score + problem.tie(score)
    kept = (best - problem.scores <= loss) & (problem.rows != NO_ROW)
    kept[first] = True
    rows = np.flatnonzero(kept)
    stats = {"sets": float(len(rows))}
    if len(rows) * BYTES_A_SET > memory * GIBIBYTE:
        message = f"the program of {len(rows):,} parent sets takes too much memory: a tabu search's graph"
        return Outcome(graph_of_rows(problem, first, candidates), "memory-limit", message, score, stats)
    watch = Watch(run, "integer programming", 0.0, 0.0)
    program = AncestralProgram(problem, rows, first, rules, watch, facets=facets, memory=memory)
    try:
        status = program.solve(run.budget.left)
        choice, bound = program.choice, program.bound
        stats.update(program.stats)
    finally:
        program.free()
    score = float(problem.scores[choice].sum())
    graph = graph_of_rows(problem, choice, candidates)
    gap = max(0.0, bound - score)
    stats["gap"] = gap
    if status == "optimal" and gap <= 1e-6 * max(1.0, problem.bound - score) + problem.tie(score):
        message = "no network that has the paths which must be there scores higher"
        return Outcome(graph, "optimal", message, score, {**stats, "gap": 0.0})
    reason = "memory-limit" if status == "memlimit" else "time-limit"
    why = run.budget.reason if reason == "time-limit" else "its memory was used up"
    return Outcome(
        graph, reason, f"{why}; the best network found scores at most {gap:.6g} too little", score, stats
    )


def first_rows(problem: LocalProblem, candidates: Candidates) -> NDArray[np.int64]:
    """The rows of the graph that the candidates bring, which obeys the rules."""
    graph = candidates.permitted
    assert graph is not None, "candidates under rules about paths bring a graph that obeys them"
    found = []
    for child in range(len(problem)):
        own = slice(int(problem.offsets[child]), int(problem.offsets[child + 1]))
        same = (problem.masks[own] == graph.parent_rows[child]).all(axis=1) & (problem.rows[own] != NO_ROW)
        found.append(own.start + int(np.flatnonzero(same)[0]))
    return np.array(found, dtype=np.int64)


def graph_of_rows(problem: LocalProblem, choice: NDArray[np.int64], candidates: Candidates) -> DAG:
    """The network of a set for each column."""
    return DAG.from_numpy(unpack(problem.masks[choice], len(problem)).T, candidates.names)
