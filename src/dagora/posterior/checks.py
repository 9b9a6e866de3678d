"""Checks of a request to a sampler: numbers of draws and rows, score, cluster, weights of the draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.base.wording import option
from dagora.data.schema import Kind, Schema
from dagora.graph.knowledge import Knowledge
from dagora.posterior.registry import SAMPLERS, Sampler
from dagora.scores.registry import Score, default_score, score_named

FEWEST_ROWS = 3  # in two rows, all columns are perfectly correlated
ESTIMATORS = ("qmc", "bridge")  # by which draws under a Laplace approximation can be re-weighted


def check_numbers(draws: int, chains: int) -> None:
    """Refuse a number of draws or chains that is not a positive whole number."""
    for name, value in (("draws", draws), ("chains", chains)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
            raise OptionError(option=name, value=value, must="be a whole number, 1 or more")


def check_rows(number: int) -> None:
    """Refuse data with too few rows to tell graphs apart."""
    if number < FEWEST_ROWS:
        raise DataError(f"there are {number} rows: a posterior over graphs needs at least {FEWEST_ROWS}")


def check_on_cluster(entry: Sampler) -> None:
    """Refuse a sampler without chains that workers could run."""
    if not entry.on_cluster:
        able = " and ".join(sampler.name for sampler in SAMPLERS if sampler.on_cluster)
        raise OptionError(
            f"the sampler {entry.name} does not run on a Dask cluster: leave {option('dask')} out, or choose "
            f"one of {able}"
        )


def check_sampled_knowledge(entry: Sampler, knowledge: Knowledge) -> None:
    """Refuse parts of knowledge that a sampler cannot obey."""
    able = " or ".join(sampler.name for sampler in SAMPLERS if not sampler.particles)
    if knowledge.has_prior and entry.own_model:
        raise KnowledgeError(
            f"the sampler {entry.name} cannot obey a prior of edges: it has a model of its own and no score "
            f"that odds are added to: choose {able}"
        )
    if knowledge.ancestral and entry.particles:
        key = "causes" if knowledge.causes else "not_causes"
        raise KnowledgeError(
            f"the sampler {entry.name} cannot obey {key}: its particles are few, and cannot be drawn again: "
            f"choose {able}"
        )


def choose_sampled_score(name: str | None, schema: Schema) -> Score:
    """Find the named score; else a marginal likelihood, or the mixed BIC for columns of both kinds."""
    if name is not None:
        return score_named(name)
    if len(schema.kinds) > 1:
        return default_score(schema)
    return score_named("bge" if Kind.CONTINUOUS in schema.kinds else "bdeu")


def laplace_options(score: Score, estimator: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the score that is sampled if draws are re-weighted afterwards; refuses what does not fit."""
    declared = next((option for option in score.options if option.name == "estimator"), None)
    if declared is None:
        raise OptionError(
            f"{option('reweight')} goes with the scores gp and gp2, whose estimators differ; not {score.name}"
        )
    if estimator not in ESTIMATORS:
        raise OptionError(f"{option('reweight')} is one of {', '.join(ESTIMATORS)}, not '{estimator}'")
    declared.check(estimator)
    if options.get("estimator", "laplace") != "laplace":
        raise OptionError(
            f"{option('reweight', estimator)} goes with estimator=laplace, "
            f"not estimator={options['estimator']}: leave one of them out"
        )
    return {**options, "estimator": "laplace"}
