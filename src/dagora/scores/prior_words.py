"""The prior of a score over parameters, in words: results state it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BGE_SCALES = {
    "columns": "variances like the columns' own (units do not matter)",
    "unit": "variances of 1 in the columns' units (other units give other graphs)",
}


def parameter_prior(score: str | None, settings: Mapping[str, Any]) -> str | None:
    """The prior over parameters of a marginal likelihood with these settings; None for other scores.

    >>> parameter_prior("bge", {"alpha_mu": 1.0, "alpha_w": None, "prior_scale": "unit"})
    "normal-Wishart, variances of 1 in the columns' units (other units give other graphs), alpha_mu 1"
    >>> parameter_prior("bdeu", {"ess": 1.0}), parameter_prior("bic", {})
    ('uniform Dirichlet, equivalent sample size 1', None)
    """
    if score == "bge" and "prior_scale" in settings:
        freedom = settings.get("alpha_w")
        more = "" if freedom is None else f", alpha_w {freedom:g}"
        scale = BGE_SCALES[settings["prior_scale"]]
        return f"normal-Wishart, {scale}, alpha_mu {settings['alpha_mu']:g}{more}"
    if score == "bdeu" and "ess" in settings:
        return f"uniform Dirichlet, equivalent sample size {settings['ess']:g}"
    return "flat Dirichlet" if score == "k2" else None
