"""The questions of a method to each site alone, for the plan of a run: noted from a run over no rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dagora.base.loading import load
from dagora.data.schema import Schema
from dagora.data.table import Table
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.checks import split_options
from dagora.learners.registry import method_named
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.local_learning import NO_LIMIT
from dagora.parties.horizontal.learners.tasks import tasks_to_show
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.plan import SHOWN_ONCE
from dagora.parties.horizontal.session.federation import Answer, OpenFederation, Site, Task, TaskQuestion


def questions_to_show(
    codebook: Codebook, sites: Sequence[str], method: str, settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The questions of a method to each site alone, once; `settings` are those of `learn`.

    >>> from dagora.parties.horizontal.plan.codebook import ColumnCoding
    >>> book = Codebook((ColumnCoding("x", low=0.0, high=1.0), ColumnCoding("y", low=0.0, high=1.0)))
    >>> questions_to_show(book, ["north", "south"], "vote", {"model": "pc", "time_limit": 10})
    {'local-graph': {'model': 'pc', 'alpha': 0.01, 'knowledge': {}, 'seconds': 5.0, 'seed': 0}}
    """
    once = [task for task in tasks_to_show(method, settings) if task in SHOWN_ONCE]
    if not once:
        return {}
    asked: dict[str, dict[str, Any]] = {}
    square = (len(codebook.columns),) * 2
    nothing: Answer = {
        "weights": np.zeros(square),
        "graph": np.zeros(square, bool),
        "learned": np.ones(1, bool),
    }

    def recorder(task: str) -> Task:
        def answer(_site: Site, question: TaskQuestion) -> Answer:
            asked[task] = dict(question)
            return nothing

        return answer

    entry = method_named(method)
    given = {option.name: settings[option.name] for option in entry.options if option.name in settings}
    known = as_knowledge(settings.get("knowledge"), settings.get("max_parents"))
    places = [Site(name, Table(Schema(()), ())) for name in sites]
    federation = OpenFederation(places, {task: recorder(task) for task in once}, codebook)
    run = Run(known, settings.get("seed", 0))
    load(entry.learner)(federation, run, **split_options(entry, None, given)[0])
    return {
        task: {**question, "seconds": share_of_time(settings, len(sites))} for task, question in asked.items()
    }


def share_of_time(settings: Mapping[str, Any], sites: int) -> float:
    """The seconds of each site, which may share a machine; −1 is no limit."""
    limit, budget = settings.get("time_limit"), settings.get("budget")
    if limit is None and budget is not None:
        limit = budget.limit
    return NO_LIMIT if limit is None else limit / sites
