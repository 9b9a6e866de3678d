"""Find the parent sets that could be part of a best network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.base.events import Observer, ignore
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.checks import check_circumstances, numbers_for, orders_numbers
from dagora.learners.large_sources import scan_if_large
from dagora.learners.run import Run
from dagora.learners.source import read_rows
from dagora.stats.data_warnings import check_learnable
from dagora.stats.statistics import Statistics


@takes_reading()
def candidates(
    data: object,
    score: str | None = None,
    *,
    max_parents: int | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    jobs: int = 1,
    on_event: Observer = ignore,
    budget: Budget | None = None,
    interventions: str | Mapping[str, Any] | Sequence[Any] | None = None,
    **options: Any,  # noqa: ANN401
) -> Candidates:
    """Find the parent sets of each column that could be part of a best network, with their scores.

    Parameters
    ----------
    {data}
    score : str, optional
        A name from `methods()`. Default: "bic" for discrete, "bic-gaussian" for continuous columns,
        "bic-mixed" for both.
    {knowledge, max_parents, jobs, on_event}
    budget : Budget, optional
        A time limit that can be stopped from another thread.
    {interventions, reading}
    **options
        Options of the score; `dagora.methods()[NAME]` lists them.

    Returns
    -------
    Candidates
        The parent sets and scores of each column; `learn` takes them as data.

    Examples
    --------
    >>> table = {"a": [0, 1] * 20, "b": [0, 1] * 20}
    >>> [(child.parents, child.scores.round(2).tolist()) for child in candidates(table, score="bic")]
    [(((1,), ()), [-3.69, -29.57]), (((0,), ()), [-3.69, -29.57])]
    """
    check_circumstances(0, None, jobs)
    known = as_knowledge(knowledge, max_parents)
    reading, options = split_reading(options, known.mentioned, numbers_for(None, score))
    reading = replace(reading, constants=False, trends=orders_numbers(score))
    statistics: Statistics | None = None
    if interventions is None:
        statistics = scan_if_large(data, None, score, options, reading, jobs)
    if statistics is None:
        statistics = read_rows(data, jobs, reading, interventions)
    check_learnable(statistics.schema, statistics.n_rows)
    local = make_score(statistics, score, **options)
    known.check_nodes(local.schema.names)
    local.capabilities.check_knowledge(known)
    if known.has_prior or known.ancestral:
        raise OptionError(
            "scores of parent sets are written without a prior and without 'causes': leave them out here, "
            "and give them to learn"
        )
    return find_candidates(local, Run(known, budget=budget or Budget(), jobs=jobs, on_event=on_event))
