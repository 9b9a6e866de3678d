"""Importance weights that turn draws under one score into draws under another.

A graph G drawn under the score q gets the weight p(G | D) / q(G | D), p being the target score; prior and
normalising constants cancel (Giudice, Kuipers & Moffa 2023, algorithm 1 and eq. 14). It pays if q is cheap
and p expensive: only families that occur in some draw are scored by p, far fewer than a chain looks at.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Event
from dagora.graph.bits import unpack
from dagora.learners.run import Run
from dagora.posterior.draws import Draws
from dagora.posterior.summary.diagnostics import pareto_shape, weight_ess
from dagora.posterior.summary.mixing import LIMIT_SHAPE, WANTED_FOR_EDGES
from dagora.scores.local_score import Family, LocalScore

MOST_AT_ONCE = 1024  # families between two looks at the clock; fewer where they take long
QUICK_SECONDS, LONG_SECONDS = 0.1, 0.5  # how late a limit of time may be noticed
SMALL_SHARE = 0.1  # a warning is given if the weights are worth less than this share of the draws


def reweight(draws: Draws, sampled: LocalScore, target: LocalScore, run: Run) -> Draws:
    """Weight draws made under `sampled` so that they represent `target`; log scores become the target's.

    If time runs out the draws are returned unchanged, with a warning.
    """
    started = run.budget.elapsed
    families, places = distinct_families(draws)
    change = score_difference(families, sampled, target, run)
    if change is None:
        warning = f"the draws are not re-weighted, {run.budget.reason}: they represent the sampled score"
        message = f"{draws.message}; not re-weighted, {run.budget.reason}"
        return replace(draws, status="time-limit", message=message, warnings=(*draws.warnings, warning))
    log_ratio = change[places].sum(axis=2)
    before = 0.0 if draws.log_weights is None else draws.log_weights
    log_weights = np.asarray(log_ratio + before, dtype=np.float64)
    worth = weight_ess(log_weights) if np.isfinite(log_weights).any() else 0.0
    stats = {
        "reweighted_families": float(len(families)),
        "reweighting_seconds": run.budget.elapsed - started,
        "weight_ess": worth,
    }
    return replace(
        draws,
        log_scores=np.where(np.isfinite(log_ratio), draws.log_scores + log_ratio, draws.log_scores),
        log_weights=log_weights,
        edges=None,
        stats={**draws.stats, **stats},
        message=f"{draws.message}; re-weighted, worth {worth:.0f} of {log_weights.size} draws",
        warnings=(*draws.warnings, *weight_warnings(log_weights, worth)),
    )


def distinct_families(draws: Draws) -> tuple[list[Family], NDArray[np.int64]]:
    """List the families that occur in some draw; also the position in the list of each draw's families."""
    nodes = len(draws.names)
    families: list[Family] = []
    places = np.empty(draws.parents.shape[:3], dtype=np.int64)
    for child in range(nodes):
        rows = draws.parents[:, :, child].reshape(draws.log_scores.size, -1)
        some, inverse = np.unique(rows, axis=0, return_inverse=True)
        places[:, :, child] = inverse.reshape(draws.log_scores.shape) + len(families)
        families += [(child, np.flatnonzero(row).tolist()) for row in unpack(some, nodes)]
    return families, places


def score_difference(
    families: list[Family], sampled: LocalScore, target: LocalScore, run: Run
) -> NDArray[np.float64] | None:
    """Target minus sampled score of each family; −∞ if the target's is not finite, None if time ran out."""
    change = np.empty(len(families))
    done, size = 0, 1
    while done < len(families):
        if run.budget.exhausted:
            return None
        started = run.budget.elapsed
        some = families[done : done + size]
        change[done : done + len(some)] = target.families(some) - sampled.families(some)
        done += len(some)
        run.on_event(Event("re-weighting", done, total=len(families)))
        took = run.budget.elapsed - started
        if took < QUICK_SECONDS:
            size = min(2 * size, MOST_AT_ONCE)
        elif took > LONG_SECONDS:
            size = max(1, size // 4)
    return np.where(np.isfinite(change), change, -math.inf)


def weight_warnings(log_weights: NDArray[np.float64], worth: float) -> list[str]:
    """Warn if a few draws carry most of the weight, or the weights have a heavy tail."""
    size = log_weights.size
    if worth < max(SMALL_SHARE * size, min(WANTED_FOR_EDGES, size)):
        advice = "take more draws, or sample with the score itself"
        return [f"the weights are worth {worth:.0f} of {size} draws, so that few graphs dominate: {advice}"]
    shape = pareto_shape(log_weights)
    if shape > LIMIT_SHAPE:
        advice = "their means may be far off; sample with the score itself"
        return [f"the weights have a heavy tail (Pareto shape {shape:.2f}, limit {LIMIT_SHAPE}): {advice}"]
    return []
