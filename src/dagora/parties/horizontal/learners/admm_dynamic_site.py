"""What a site does in ADMM over series: it fits its own weights within a step and from earlier steps.

As in `admm_site`, with S_k the second moments of the windows of its series about the means of all sites, and
B_k = (W; A_1; …; A_p) with a column for each variable. The answer of the first round gives S_k: who takes
part shows the coordinator the covariance of the windows of its series.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.data.series import Panel
from dagora.parties.horizontal.checked_fields import (
    MOST_ROWS,
    check_names,
    finite_answer,
    real,
    reals,
    refuse,
    whole,
)
from dagora.parties.horizontal.learners.admm_site import (
    LeastSquaresPart,
    SiteState,
    answer_loss,
    remembered,
)
from dagora.parties.horizontal.session.federation import Answer, Question, Site
from dagora.stats.lagged import window_moments

Vector = NDArray[np.float64]

STEP, LOSS = "admm-lagged-step", "admm-lagged-loss"
# Key of a site's memory.
MEMORY = "admm-lagged"


def series_of(task: str, site: Site) -> tuple[Panel, tuple[int, int]]:
    """The site's series, and the shape of the weights: the columns of a window, and the variables."""
    if site.panel is None or not site.lags:
        raise refuse(task, "windows of time are asked for, and the plan is not about series")
    d = len(site.table.names)
    return replace(site.panel, table=site.table), (d * (site.lags + 1), d)


def step(site: Site, question: Question) -> Answer:
    """Task `admm-lagged-step`: one round; the first question also has the means and units of windows."""
    panel, shape = series_of(STEP, site)
    begins = "mean" in question
    check_names(STEP, question, ("weights", "rho", *(("n", "mean", "unit") if begins else ())))
    weights = reals(STEP, question, "weights", shape)
    rho = real(STEP, question, "rho", open_low=True)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if begins:
            part = LeastSquaresPart.of_covariance(*scaled_covariance(panel, site.lags, question, shape[0]))
            site.memory[MEMORY] = SiteState.begin(part, shape)
        return finite_answer(STEP, remembered(site, MEMORY).step(weights, rho))


def scaled_covariance(panel: Panel, lags: int, question: Question, columns: int) -> tuple[Vector, Vector]:
    """S_k of windows divided by the units asked for, about the means asked for; and the units."""
    unit = reals(STEP, question, "unit", (columns,))
    if not (unit > 0).all():
        raise refuse(STEP, "every 'unit' must be above 0")
    mean = reals(STEP, question, "mean", (columns,))
    n = whole(STEP, question, "n", 1, MOST_ROWS)
    own = window_moments(panel, np.flatnonzero(panel.lengths > lags), lags)
    away = own.mean - mean
    products = own.scatter + own.n * np.outer(away, away)
    return products / np.outer(unit, unit) / n, unit


def loss(site: Site, question: Question) -> Answer:
    """Task `admm-lagged-loss`: this site's part of the loss of given weights."""
    return answer_loss(site, LOSS, MEMORY, series_of(LOSS, site)[1], question)
