"""Estimate how long a method would take on these data, on this machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dagora.api.learn import EM_ROUNDS, learn
from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.base.options import LARGEST_INTEGER
from dagora.data.columns.reading_options import READING, takes_reading
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.checks import check_circumstances
from dagora.learners.effort.extrapolation import TimeEstimate
from dagora.learners.effort.measuring import Clock, Trial, measure
from dagora.learners.request import GivenData, prepare

SECONDS = 2.0  # of work for an estimate, besides reading and compiling
MOST_SECONDS = 86400.0  # that may be asked for


@takes_reading(missing="auto")
def estimate_time(
    data: object,
    method: str = "auto",
    *,
    score: str | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    max_parents: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    seconds: float = SECONDS,
    samples: int = 0,
    em_rounds: int = EM_ROUNDS,
    budget: Budget | None = None,
    clock: Clock = time.perf_counter,
    **options: Any,  # noqa: ANN401 - checked by prepare
) -> TimeEstimate:
    """Estimate how long `learn` would take with the same arguments on this machine, without a time limit.

    Parameters
    ----------
    {data}
    method : str, default "auto"
        A name from `methods()`.
    score : str, optional
        As in `learn`.
    {knowledge, max_parents, seed, jobs}
    seconds : float, default 2
        For about so long, the method learns from parts of the columns; reading the data and compiling kernels
        come on top.
    samples : int, default 0
        Include the time of a bootstrap of so many samples.
    {em_rounds}
    budget : Budget, optional
        Ends the work early when it is exhausted.
    clock : callable, optional
        The clock that time is measured by; default: `time.perf_counter`.
    {reading}
    **options
        Options of the method and of the score; `dagora.methods()[NAME]` lists them.

    Returns
    -------
    TimeEstimate
        A range of seconds, `.low` to `.high`; both None where there is a `.reason` for none.

    Examples
    --------
    >>> import dagora
    >>> table = {"smoker": ["no", "yes"] * 20, "cough": [0, 1] * 20}
    >>> found = dagora.estimate_time(table, "hill-climb")
    >>> found.low < found.high < 60, found.parts[-1].columns
    (True, 2)
    """
    check_circumstances(seed, None, jobs)
    check_effort(seconds, samples, budget)
    whole = budget or Budget()
    chosen = {name: value for name, value in options.items() if name not in READING}
    prepared = prepare(
        GivenData(data, jobs),
        method,
        options,
        clock=whole,
        score=score,
        knowledge=as_knowledge(knowledge, max_parents),
        em_rounds=em_rounds,
    )
    estimate = measure(Trial(learn, prepared, chosen, seed, jobs, clock), seconds, whole)
    return estimate.times(1 + samples / jobs)


def check_effort(seconds: float, samples: int, budget: Budget | None) -> None:
    """Refuse a time for the estimate, a number of samples or a budget that is none."""
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not (number and 0 < seconds <= MOST_SECONDS):
        raise OptionError(
            option="seconds", value=seconds, must=f"be a number above 0, at most {MOST_SECONDS:g}"
        )
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 0:
        raise OptionError(option="samples", value=samples, must="be a whole number, 0 or more")
    if samples > LARGEST_INTEGER:
        raise OptionError("samples must be a whole number of at most 64 bits")
    if budget is not None and not isinstance(budget, Budget):
        raise OptionError(option="budget", value=budget, must="be a Budget or None")
