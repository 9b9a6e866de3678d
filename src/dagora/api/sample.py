"""Sample graphs from their posterior given data, a score and a prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dagora.api.pooled_posterior import check_completions, pooled_posterior
from dagora.base.budget import Budget
from dagora.base.dask_cluster import check_cluster, connect_cluster
from dagora.base.errors import OptionError, announce
from dagora.base.events import Observer, ignore
from dagora.base.version import version_of, versions
from dagora.base.wording import option, render
from dagora.data.columns.reading_options import always, split_reading, takes_reading
from dagora.data.incomplete import IncompleteTable
from dagora.data.series import Timing
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.checks import check_circumstances, numbers_for, orders_numbers, split_options
from dagora.learners.in_windows import knowing_time, score_of_the_past, windows_as_rows
from dagora.learners.request import plain
from dagora.learners.run import Run
from dagora.learners.source import Source, read_source
from dagora.posterior.checks import (
    check_numbers,
    check_on_cluster,
    check_rows,
    check_sampled_knowledge,
    choose_sampled_score,
    laplace_options,
)
from dagora.posterior.draws import Draws
from dagora.posterior.registry import check_score, sampler_named
from dagora.posterior.summary.mixing import diagnose, mixing_warnings
from dagora.posterior.summary.permitted_draws import permitted_draws
from dagora.posterior.summary.posterior import Posterior
from dagora.posterior.summary.prior_effect import PriorEffect, effect_by_weights
from dagora.posterior.summary.reweighting import reweight as reweight_draws
from dagora.scores.edge_prior import EdgePriorScore, with_prior
from dagora.scores.estimation import estimation
from dagora.scores.local_score import LocalScore
from dagora.scores.registry import Score
from dagora.stats.capabilities import row_numbers
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics

# The most independent draws of a chain that are tried, and how many more than are expected to be needed.
MOST_TRIED, MARGIN = 100_000, 1.3


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
    interventions: str | Mapping[str, Any] | Sequence[Any] | None = None,
    time: str | None = None,
    series: str | None = None,
    lags: int | None = None,
    dask: Any = None,  # noqa: ANN401 - Dask need not be installed
    impute: int | None = None,
    **options: Any,  # noqa: ANN401 - checked against the registry
) -> Posterior:
    """Sample graphs from their posterior given data.

    Parameters
    ----------
    {data}
    method : str, default "partition"
        A sampler: a name from `methods()`.
    score : str, optional
        The log marginal likelihood of a graph. Default: "bge" for continuous, "bdeu" for discrete columns,
        "bic-mixed" for both. The samplers dibs and dibs-neural have models of their own and take none.
    draws : int, optional
        Graphs that each chain keeps. Default: 1000 (dibs: 30, dibs-neural: 10).
    chains : int, optional
        Independent chains. Default: 4 (dibs and dibs-neural: 1).
    {knowledge, max_parents, seed, time_limit, jobs, on_event, budget}
    reweight : str, optional
        "qmc" or "bridge": graphs are sampled under the Laplace approximation of a Gaussian-process score and
        weighted by that more accurate estimator.
    {interventions}
    time : str, optional
        Column that says when a row was. The rows are then series, and the graphs are graphs in time.
    series : str, optional
        Column that says which series a row belongs to; by default there is one.
    lags : int, optional
        Steps back that a variable may depend on, with `time`. Default: 1.
    dask : client of Dask or address of a scheduler, optional
        The workers of that cluster run the chains: the same draws.
    impute : int, optional
        Where cells are missing: draw them so often, sample given each completed table, and pool the draws.
        `draws` is the number of each chain in all.
    {reading}
    **options
        Options of the sampler and of the score; `dagora.methods()[NAME]` lists them.

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
    if impute is not None:
        number = check_completions(impute)
        others = {
            "interventions": interventions,
            "reweight": reweight,
            "checkpoint": options.get("checkpoint"),
            "time": time,
        }
        for other, value in others.items():
            if value is not None:
                raise OptionError(
                    f"{option('impute')} does not go with {option(other)}: leave one of them out"
                )
        clock = budget or Budget(check_circumstances(seed, time_limit, jobs))
        needs = f"the sampler {entry.name}" if entry.own_model else numbers_for(None, score)
        wanted = as_knowledge(knowledge, max_parents).mentioned
        was_read = isinstance(data, Table | IncompleteTable | IncompleteStatistics | TableStatistics)
        given = options if was_read else {"missing": "model", **options}
        reading, options = split_reading(given, wanted, needs, why_not_model=always)
        source = read_source(data, jobs, replace(reading, clock=clock, constants=False))

        def sample_one(table: Table, own: int, share: Budget) -> Posterior:
            return sample(
                table,
                method,
                score=score,
                draws=max(1, -(-draws // number)),
                chains=chains,
                knowledge=knowledge,
                max_parents=max_parents,
                seed=own,
                jobs=jobs,
                on_event=on_event,
                budget=share,
                dask=dask,
                **options,
            )

        pooled = pooled_posterior(source.rows, number, seed, clock, sample_one)
        settings = {**pooled.settings, "draws": draws, "impute": number, "time_limit": time_limit}
        return replace(pooled, settings=settings, seconds=clock.elapsed, data=source.account)
    if entry.own_model and (score is not None or reweight is not None):
        raise OptionError(f"the sampler {entry.name} has a model of its own and takes no score")
    if dask is not None:
        check_on_cluster(entry)
        check_cluster(dask)
    known = as_knowledge(knowledge, max_parents)
    clock = budget or Budget(check_circumstances(seed, time_limit, jobs))
    needs = f"the sampler {entry.name}" if entry.own_model else numbers_for(None, score)
    reading, options = split_reading(options, known.mentioned, needs)
    source = read_source(
        data,
        jobs,
        replace(
            reading,
            clock=clock,
            constants=False,
            trends=orders_numbers(score),
            imputes=interventions is None and time is None and reweight is None,
        ),
        interventions,
        Timing.read(time, series),
    )
    if source.rows is None:
        raise OptionError("a .jkl file holds scores of some parent sets only: sample from a table")
    if source.noise is not None:
        raise OptionError(
            "these are sums with noise for privacy, of which a posterior would not know: use learn"
        )
    source = windows_as_rows(source, lags, jobs)
    statistics = source.statistics
    if entry.own_model and source.interventions is not None:
        raise OptionError(
            f"the sampler {entry.name} has a model of its own, which knows of no interventions: take another"
        )
    check_rows(statistics.n_rows)
    known = knowing_time(known, source)
    known.check_nodes(source.names)
    check_sampled_knowledge(entry, known)
    chosen = None if entry.own_model else choose_sampled_score(score, statistics.schema)
    if reweight is not None and chosen is not None:
        options = laplace_options(chosen, reweight, options)
    sampler_options, score_options = split_options(entry, chosen, options)
    with connect_cluster(dask) as cluster:  # before families are scored, which may take long
        run = Run(known, seed, clock, jobs, on_event, cluster)
        draw = partial(entry.load(), run=run, draws=draws, chains=chains, **sampler_options)
        notes: list[str] = []
        errors: dict[str, float] = {}
        effect: PriorEffect | None = None
        if chosen is None:
            found = draw(statistics.rows())
        else:
            found, notes, errors, effect = draw_under_score(
                draw, chosen, source, score_options, reweight, run
            )
    messages = (found.message, source.windows_made, *source.lost_cells, source.rows_set)
    found = replace(
        found, message=render("; ".join(filter(None, messages))), warnings=tuple(map(render, found.warnings))
    )
    diagnostics = diagnose(found)
    mixed = mixing_warnings(diagnostics) if found.log_scores.size else []
    settings = {
        **sampler_options,
        **score_options,
        "draws": draws,
        "chains": chains,
        "reweight": reweight,
        "knowledge": known.to_dict(),
        "time_limit": time_limit,
        **({} if source.windows is None else {"lags": source.windows.lags}),
    }
    posterior = Posterior(
        draws=found,
        diagnostics=diagnostics,
        method=entry.name,
        score_name=None if chosen is None else chosen.name,
        seconds=clock.elapsed,
        seed=seed,
        stats={**row_numbers(statistics), **errors, **found.stats},
        settings={key: plain(value) for key, value in settings.items()},
        versions={**versions(), **({"jax": version_of("jax")} if entry.own_model else {})},
        data=source.account,
        warnings=(*source.reading_warnings, *source.data_warnings, *notes, *found.warnings, *mixed),
        prior_effect=effect,
    )
    announce(posterior.warnings[len(source.reading_warnings) :])  # the first ones were given already
    return posterior


def draw_under_score(
    draw: Callable[..., Draws],
    chosen: Score,
    source: Source,
    options: dict[str, Any],
    reweight: str | None,
    run: Run,
) -> tuple[Draws, list[str], dict[str, float], PriorEffect | None]:
    """Draw graphs under a score; also return warnings about it, errors of estimates, what a prior did."""
    notes, statistics = check_score(chosen), source.statistics

    def made(**more: Any) -> LocalScore:  # noqa: ANN401
        plain = chosen.make(statistics, **{**options, **more})
        return with_prior(plain, run.knowledge, in_nats=chosen.in_nats, name=chosen.name)

    local = asked = made()
    local.capabilities.check_knowledge(run.knowledge)
    found = permitted(draw, local, run.knowledge)
    messages = (found.message, *local.capabilities.messages())
    found = replace(found, message="; ".join(filter(None, messages)))
    if reweight is not None and found.log_scores.size:
        asked = made(estimator=reweight)
        found = reweight_draws(found, local, asked, run)
    effect = effect_of_prior(draw, local, found)
    errors, warnings = estimation(asked)
    found = replace(found, log_scores=found.log_scores - score_of_the_past(local, source))
    return found, [*notes, *warnings], errors, effect


def permitted(draw: Callable[..., Draws], local: LocalScore, known: Knowledge) -> Draws:
    """Draws that have the paths that must be there; independent ones are drawn until there are enough."""
    found = draw(local)
    if not known.ancestral:
        return found
    asked = found.per_chain
    kept = permitted_draws(found, known, asked)
    if found.independent and kept.per_chain < asked:
        share = max(kept.stats["permitted_share"], asked / MOST_TRIED)
        kept = permitted_draws(draw(local, draws=round(MARGIN * asked / share)), known, asked)
    return kept


def effect_of_prior(draw: Callable[..., Draws], local: LocalScore, found: Draws) -> PriorEffect | None:
    """Edge probabilities with the prior of edges and without it; None where there is no prior."""
    if not isinstance(local, EdgePriorScore):
        return None
    if found.edges is not None:
        plain = draw(local.behind, draws=1, chains=1).edges
        if plain is not None:
            return PriorEffect(found.names, found.edges, plain, None)
    return effect_by_weights(found, local.odds)
