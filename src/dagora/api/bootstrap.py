"""Learn from many samples of the rows, and count how often each edge is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dagora.api.graph_source import with_start
from dagora.api.learn import EM_ROUNDS
from dagora.base.budget import Budget
from dagora.base.dask_cluster import check_cluster
from dagora.base.errors import announce
from dagora.base.events import Observer, ignore
from dagora.base.files import PathLike
from dagora.base.version import versions
from dagora.data.columns.reading_options import takes_reading
from dagora.data.series import Timing
from dagora.graph.bits import words_for
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.checks import check_circumstances
from dagora.learners.registry import method_named
from dagora.learners.request import GivenData, prepare
from dagora.learners.run import Run
from dagora.posterior.resample.completions import graph_to_impute
from dagora.posterior.resample.row_draws import (
    IMPUTE,
    check_drawable,
    check_number,
    drawn_as_seen,
    in_words,
    way_for,
)
from dagora.posterior.resample.run_samples import identity, run_samples
from dagora.posterior.resample.sample_file import SampleFile
from dagora.posterior.resample.series_blocks import SeriesBlocks
from dagora.posterior.resample.strengths import Strengths
from dagora.stats.capabilities import row_numbers


@takes_reading(missing="auto")
def bootstrap(
    data: object,
    method: str = "auto",
    *,
    samples: int = 200,
    resample: str = "auto",
    score: str | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    max_parents: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    jobs: int = 1,
    on_event: Observer = ignore,
    budget: Budget | None = None,
    checkpoint: PathLike | None = None,
    interventions: str | Mapping[str, Any] | Sequence[Any] | None = None,
    em_rounds: int = EM_ROUNDS,
    time: str | None = None,
    series: str | None = None,
    lags: int | str | None = None,
    block: int | None = None,
    dask: Any = None,  # noqa: ANN401 - Dask need not be installed
    **options: Any,  # noqa: ANN401 - checked by prepare
) -> Strengths:
    """Learn a graph from each of many samples of the rows, and count how often each edge was found.

    Parameters
    ----------
    {data}
    method : str, default "auto"
        A name from `methods()`: any method that learns from rows.
    samples : int, default 200
        Number of samples.
    resample : str, default "auto"
        How rows are drawn: "rows" (as many, with replacement), "halves" (half of them, without replacement),
        "half-rows" (half as many, with replacement), or "impute" (all rows, with the missing values drawn:
        multiple imputation, for any method). "auto" is "halves" for methods that test
        independence, whose tests fail on rows that occur twice, and "rows" for all others.
    score : str, optional
        As in `learn`.
    {knowledge, max_parents}
    seed : int, default 0
        The graphs depend on the seed alone, not on `jobs`.
    time_limit : float, optional
        Seconds; samples finished by then count.
    jobs : int, default 1
        Number of processes.
    {on_event, budget}
    checkpoint : path, optional
        A file that keeps finished samples: the same call continues from it, also with more samples.
    {interventions, em_rounds}
    time : str, optional
        Column that says when a row was. Samples are then blocks of steps that follow each other.
    series : str, optional
        Column that says which series a row belongs to; by default there is one.
    lags : int or str, optional
        Steps back that a variable may depend on, with `time`, as in `learn`; chosen once, on all rows.
    block : int, optional
        Steps of a block, with `time`. Default: 1.75 times the cube root of the number of windows, and at
        least `lags` + 1.
    dask : client of Dask or address of a scheduler, optional
        The workers of that cluster learn from the samples: the same graphs.
    {reading}
    **options
        Options of the method and of the score; `dagora.methods()[NAME]` lists them.

    Returns
    -------
    Strengths
        The share of the graphs that have an edge: `.adjacency_frequency` and more.

    Examples
    --------
    >>> rows = {"smoker": ["no", "yes"] * 20, "cough": [0, 1] * 18 + [1, 0] * 2}
    >>> strengths = bootstrap(rows, "hill-climb", samples=20)
    >>> strengths.adjacency_frequency.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    >>> strengths.message
    '20 samples of as many rows, drawn with replacement'
    """
    check_number(samples)
    if dask is not None:
        check_cluster(dask)
    way = way_for(resample, method_named(method))
    clock = budget or Budget(check_circumstances(seed, time_limit, jobs))
    prepared = prepare(
        GivenData(data, jobs, interventions, Timing.read(time, series), lags),
        method,
        with_start(options),
        clock=clock,
        score=score,
        knowledge=as_knowledge(knowledge, max_parents),
        em_rounds=em_rounds,
        completes=way == IMPUTE,
    )
    source, searching = prepared.source, prepared.searching
    check_drawable(source.statistics)
    blocks = SeriesBlocks.of(prepared, way, block)
    if way == IMPUTE:
        prepared = replace(
            prepared, imputing=graph_to_impute(source.statistics, Run(seed=seed, budget=clock))
        )
    elif searching.score is not None:
        local = searching.make(source.statistics, prepared.knowledge)
        local.capabilities.check_knowledge(prepared.knowledge)
    settings = {**prepared.settings(time_limit), "resample": way, "samples": samples}
    if blocks is not None:
        settings["block"] = blocks.length
    warnings = [*filter(None, [prepared.penalty.warning]), *source.data_warnings]
    if way == IMPUTE and (caution := drawn_as_seen(searching.entry)):
        warnings.append(caution)
    announce(warnings)
    file = SampleFile(checkpoint, identity(prepared, settings, seed) if checkpoint is not None else {})
    found, recalled = run_samples(
        prepared,
        blocks or way,
        samples,
        seed,
        budget=searching.entry.time_to_search(len(source.names), clock),
        jobs=jobs,
        cluster=dask,
        file=file,
        on_event=on_event,
    )
    learned = [found[number].marks for number in sorted(found)]
    graphs = [marks for marks in learned if marks is not None]
    refused = [found[number].refused for number in sorted(found) if found[number].refused]
    drawn = in_words(way, source.statistics) if blocks is None else blocks.in_words
    words = f"{len(graphs)} samples of {drawn}"
    if recalled:
        words += f", {recalled} of them from a file"
    if len(found) < samples:
        words += f"; {clock.reason} before {samples} samples"
    if refused:
        warnings.append(f"{len(refused)} of {len(found)} samples could not be learned from: {refused[0]}")
        announce(warnings[-1:])
    nodes = len(prepared.nodes)
    chosen_lags = "" if prepared.chosen_lags is None else prepared.chosen_lags.message
    return Strengths(
        nodes=prepared.nodes,
        marks=np.array(graphs, dtype=np.uint64).reshape(-1, nodes, words_for(nodes)),
        directed=searching.entry.returns == "dag",
        method=searching.entry.name,
        status="finished" if len(found) == samples else "time-limit" if graphs else "failed",
        message="; ".join(
            filter(
                None,
                (
                    words,
                    chosen_lags,
                    prepared.order,
                    prepared.penalty.message,
                    *source.lost_cells,
                    source.rows_set,
                ),
            )
        ),
        score_name=None if searching.score is None else searching.score.name,
        seconds=clock.elapsed,
        seed=seed,
        stats={**row_numbers(source.statistics), "samples_refused": float(len(refused))},
        settings=settings,
        versions=versions(),
        warnings=(*source.reading_warnings, *warnings),
        data=source.account,
        interventions=source.regimes,
    )
