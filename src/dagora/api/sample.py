"""The front door to posteriors: draw graphs given data, a score and a prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dagora.base.dask_cluster import check_cluster, connected
from dagora.base.errors import DataError, OptionError, announce
from dagora.base.events import Budget, Observer, ignore
from dagora.base.version import version_of, versions
from dagora.base.wording import option, render
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.data.interventions import Said
from dagora.data.schema import Kind, Schema
from dagora.graph.knowledge import Knowledge, as_knowledge
from dagora.learners.checks import check_circumstances, numbers_for, split_options
from dagora.learners.request import plain
from dagora.learners.run import Run
from dagora.learners.source import read_source
from dagora.posterior.draws import Draws
from dagora.posterior.registry import SAMPLERS, Sampler, check_score, sampler_named
from dagora.posterior.summary.mixing import diagnose, mixing_warnings
from dagora.posterior.summary.posterior import Posterior
from dagora.posterior.summary.reweighting import reweight as reweight_draws
from dagora.scores.estimation import estimation
from dagora.scores.registry import Score, default_score, score_named
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Statistics

FEWEST_ROWS = 3
ESTIMATORS = ("qmc", "bridge")  # by which draws under a Laplace approximation can be re-weighted


@takes_reading()
def sample(
    data: object,
    method: str = "partition",
    *,
    score: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    max_parents: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    jobs: int = 1,
    on_event: Observer = ignore,
    budget: Budget | None = None,
    reweight: str | None = None,
    interventions: Said | None = None,
    dask: Any = None,  # noqa: ANN401 - Dask need not be installed
    **options: Any,  # noqa: ANN401 - checked against the registry
) -> Posterior:
    """Sample graphs from their posterior given data.

    Parameters
    ----------
    data : path, data frame, matrix, mapping of columns, Table or Statistics
        One row per observation. Types of columns are inferred; `inspect` shows how.
    method : str, default "partition"
        A sampler: a name from `methods()`.
    score : str, optional
        The log marginal likelihood of a graph. Default: "bge" for continuous, "bdeu" for discrete columns,
        "bic-mixed" for both. The samplers dibs and dibs-neural have models of their own and take none.
    draws : int, optional
        Graphs that each chain keeps. Default: 1000 (dibs: 30, dibs-neural: 10).
    chains : int, optional
        Independent chains. Default: 4 (dibs and dibs-neural: 1).
    knowledge : Knowledge, mapping or path, optional
        Required and forbidden edges, tiers and the most parents (docs/reference.md).
    max_parents : int, optional
        Most parents of a variable; no limit by default.
    seed : int, default 0
        The same seed gives the same result.
    time_limit : float, optional
        Seconds, counted from before the data are read. The best graph by then is returned.
    jobs : int, default 1
        Threads or processes to use; they do not change the result.
    on_event : callable, optional
        Called with every `Event` of progress, for example a `ProgressBar`.
    budget : Budget, optional
        A time limit that can be stopped from another thread, instead of `time_limit`.
    reweight : str, optional
        "qmc" or "bridge": graphs are sampled under the Laplace approximation of a Gaussian-process score and
        weighted by that more accurate estimator.
    interventions : str, mapping or list, optional
        Column that says which variables were set from outside in a row, such a column with the meaning of
        its levels ({column: {level: variables}}), or the variables of each row. Such a row does not count
        for what these variables depend on.
    dask : client of Dask or address of a scheduler, optional
        The workers of that cluster run the chains: the same draws.
    {reading}
    **options
        Options of the sampler and of the score; `dagora methods NAME` lists them.

    Returns
    -------
    Posterior
        `.edge_probability` and other summaries, the draws, and diagnostics. Its `.warnings` are also given to
        Python's `warnings`.

    Examples
    --------
    >>> from dagora.data.table import Table
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> sample(table, "exact", draws=10).edge_probability.round(3).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    entry = sampler_named(method)
    draws = entry.draws if draws is None else draws
    chains = entry.chains if chains is None else chains
    check_numbers(draws, chains)
    if entry.own_model and (score is not None or reweight is not None):
        raise OptionError(f"the sampler {entry.name} has a model of its own and takes no score")
    if dask is not None:
        check_on_cluster(entry)
        check_cluster(dask)
    known = as_knowledge(knowledge, max_parents)
    clock = budget or Budget(check_circumstances(seed, time_limit, jobs))
    needs = f"the sampler {entry.name}" if entry.own_model else numbers_for(None, score)
    reading, options = split_reading(options, known.mentioned, needs)
    source = read_source(data, jobs, replace(reading, clock=clock, constants=False), interventions)
    if source.rows is None:
        raise OptionError("a .jkl file holds scores of some parent sets only: sample from a table")
    if source.noise is not None:
        raise OptionError(
            "these are sums with noise for privacy, of which a posterior would not know: use learn"
        )
    statistics = source.rows
    if entry.own_model and isinstance(statistics, InterventionalStatistics):
        raise OptionError(
            f"the sampler {entry.name} has a model of its own, which knows of no interventions: take another"
        )
    check_rows(statistics.n_rows)
    known.check_nodes(source.names)
    chosen = None if entry.own_model else sampled_score(score, statistics.schema)
    if reweight is not None and chosen is not None:
        options = laplace_options(chosen, reweight, options)
    sampler_options, score_options = split_options(entry, chosen, options)
    with connected(dask) as cluster:  # before families are scored, which may take long
        run = Run(known, seed, clock, jobs, on_event, cluster)
        asking = partial(entry.load(), run=run, draws=draws, chains=chains, **sampler_options)
        notes: list[str] = []
        errors: dict[str, float] = {}
        if chosen is None:
            found = asking(statistics.rows())
        else:
            found, notes, errors = scored_draws(asking, chosen, statistics, score_options, reweight, run)
    told = (found.message, source.dropped_rows, source.rows_set)
    found = replace(
        found, message=render("; ".join(filter(None, told))), warnings=tuple(map(render, found.warnings))
    )
    judged = diagnose(found)
    mixed = mixing_warnings(judged) if found.log_scores.size else []
    settings = {
        **sampler_options,
        **score_options,
        "draws": draws,
        "chains": chains,
        "reweight": reweight,
        "knowledge": known.to_dict(),
        "time_limit": time_limit,
    }
    posterior = Posterior(
        draws=found,
        diagnostics=judged,
        method=entry.name,
        score_name=None if chosen is None else chosen.name,
        seconds=clock.elapsed,
        seed=seed,
        stats={"rows": float(statistics.n_rows), **errors, **found.stats},
        settings={key: plain(value) for key, value in settings.items()},
        versions={**versions(), **({"jax": version_of("jax")} if entry.own_model else {})},
        data=source.account,
        warnings=(*source.reading_warnings, *source.data_warnings, *notes, *found.warnings, *mixed),
    )
    announce(posterior.warnings[len(source.reading_warnings) :])  # the first ones were given already
    return posterior


def scored_draws(
    asking: Callable[..., Draws],
    chosen: Score,
    statistics: Statistics,
    options: dict[str, Any],
    reweight: str | None,
    run: Run,
) -> tuple[Draws, list[str], dict[str, float]]:
    """Draws under a score, what there is to say about that, and numbers about its estimates."""
    notes = check_score(chosen)
    local = asked = chosen.make(statistics, **options)
    local.capabilities.check_knowledge(run.knowledge)
    found = asking(local)
    messages = (found.message, *local.capabilities.messages())
    found = replace(found, message="; ".join(filter(None, messages)))
    if reweight is not None and found.log_scores.size:
        asked = chosen.make(statistics, **{**options, "estimator": reweight})
        found = reweight_draws(found, local, asked, run)
    errors, doubts = estimation(asked)
    return found, [*notes, *doubts], errors


def check_rows(number: int) -> None:
    """Refuse data with too few rows to tell graphs apart."""
    if number < FEWEST_ROWS:
        raise DataError(f"there are {number} rows: a posterior over graphs needs at least {FEWEST_ROWS}")


def check_numbers(draws: int, chains: int) -> None:
    """Refuse a number of draws or chains that is not a positive whole number."""
    for name, value in (("draws", draws), ("chains", chains)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
            raise OptionError(option=name, value=value, must="be a whole number, 1 or more")


def check_on_cluster(entry: Sampler) -> None:
    """Refuse a sampler without chains that workers could run."""
    if not entry.on_cluster:
        able = " and ".join(sampler.name for sampler in SAMPLERS if sampler.on_cluster)
        raise OptionError(
            f"the sampler {entry.name} does not run on a Dask cluster: leave {option('dask')} out, or choose "
            f"one of {able}"
        )


def sampled_score(name: str | None, schema: Schema) -> Score:
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
